package objective

import (
	"fmt"
	"runtime"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/random"
)

// Explicit is explicit score matching, the Fisher divergence from a score that is known,
//
//	loss(x) = ½ ‖s(x) − ∇log p(x)‖²
//
// (Hyvärinen 2005, eq. 2). Averaged over data from p it is ½E_p‖s − ∇log p‖², which is 0 for the right score and
// no other. The expectations of [Implicit] and of the sliced losses are this one less a number that no score changes.
// Forms without the ½ are twice this, as E‖s − ∇log p‖² in "Lecture 02: Score Matching", eq. 8; the Fisher divergence of
// "Stein score and energy-based models" and the J of "Score Matching", §3, have the ½.
//
// The data need not come from p: the minimiser is ∇log p wherever there are data. For the score of noised data, take a
// noised target, such as Noised of a density gives, and noised data. The score is given no noise level. x is
// [batch, dims...].
type Explicit struct {
	Target scorekit.Model // has the known score: a density, for example; it is given neither weights nor a noise level
}

var _ scorekit.Objective = Explicit{}

// Validate returns an error if there is no target, for a trained model, and the target's own.
func (e Explicit) Validate() error {
	switch e.Target.(type) {
	case nil:
		return fmt.Errorf("explicit objective: target nil: must be a known score")
	case *scorekit.Fitted:
		return fmt.Errorf("explicit objective: target %T: its weights are not given to the objective: must be a score without weights", e.Target)
	}
	if v, ok := e.Target.(scorekit.Validator); ok {
		if err := v.Validate(); err != nil {
			return fmt.Errorf("explicit objective: target: %w", err)
		}
	}
	return nil
}

// Loss adds the loss of each example, [batch]. It panics with an error, as graph functions do, if the target's score
// has not the shape of x.
func (e Explicit) Loss(vars *mlctx.Context, _ *random.Source, score scorekit.Score, x *Node) *Node {
	const who = "explicit objective"
	checkPoints(who, x)
	x = differentiable(x)
	known := e.known(x)
	if !known.Shape().Equal(x.Shape()) {
		panic(fmt.Errorf("%s: target's score of shape %s for points of shape %s: must be equal", who, known.Shape(), x.Shape()))
	}
	return ofFinite(x, halfSquare(graph.Sub(ask(who, score, vars, x, nil), known)))
}

// known is the target's score. What goes wrong in it is said to be the target's, and so is that it has weights: it is given
// none.
func (e Explicit) known(x *Node) *Node {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case runtime.Error:
			panic(fmt.Errorf("explicit objective: target %T: must be a score that needs no weights and no noise level: %w", e.Target, r))
		case error:
			panic(fmt.Errorf("explicit objective: target: %w", r))
		default:
			panic(r)
		}
	}()
	return e.Target.Score(nil, x, nil)
}
