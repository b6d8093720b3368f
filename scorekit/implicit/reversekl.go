package implicit

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/given"
	"github.com/scorekit/lab/internal/rows"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/random"
)

// ReverseKL trains a generator towards a density that is known up to its scale, p ∝ e^{−E}, by
//
//	minimise over θ:  E_q[E(x)] − λ H(q)  =  KL(q‖p) − (λ−1) H(q) − log Z
//	gradient:         E_ε[ (∂g/∂θ)ᵀ (λ ∇ₓ log q − ∇ₓ log p)(g(ε)) ]
//
// λ is Entropy: 1 is the reverse Kullback–Leibler divergence, whose minimum is q = p; other λ aim at p^{1/λ}; at 0 nothing
// keeps points from meeting at the lowest energy. Only scores enter: that of p is Target's, that of q is told by Law.
//
// The loss shown in a training is E_q ½‖λ∇log q − ∇log p‖², at λ = 1 the Fisher divergence of p from q by the score of Law.
// It is not what is minimised, whose value would need log q. The reverse divergence weighs by q: a mode of p that no point
// has come near costs nothing. Start it wide: see [MLP.Spread].
type ReverseKL struct {
	Generator Generator
	Target    scorekit.Model // ∇ log p: a density, an energy, or a trained score
	Law       Law            // may be nil if Entropy is 0
	Entropy   float64        // λ, not negative
}

var _ Training = ReverseKL{}

// Validate returns an error for a part that is missing or has impossible settings, and for a negative or infinite Entropy.
func (k ReverseKL) Validate() error {
	const who = "reverse KL"
	if err := checkGenerator(k.Generator); err != nil {
		return fmt.Errorf("%s: %w", who, err)
	}
	if err := given.Check("target", k.Target); err != nil {
		return fmt.Errorf("%s: %w", who, err)
	}
	if f, ok := k.Target.(*scorekit.Fitted); ok && f.Model() == nil {
		return fmt.Errorf("%s: target *scorekit.Fitted without a model: must come from Fit or Load", who)
	}
	if v, ok := k.Target.(scorekit.Validator); ok {
		if err := v.Validate(); err != nil {
			return fmt.Errorf("%s: %w", who, err)
		}
	}
	if err := checkEntropy(k.Entropy, k.Law); err != nil {
		return fmt.Errorf("%s: %w", who, err)
	}
	return nil
}

func checkEntropy(weight float64, law Law) error {
	if !(weight >= 0) || math.IsInf(weight, 0) {
		return fmt.Errorf("entropy %v: must be finite and not negative", weight)
	}
	if law == nil {
		if weight > 0 {
			return fmt.Errorf("entropy %v without a law: must be Learned or Stein", weight)
		}
		return nil
	}
	if err := given.Check("law", law); err != nil {
		return err
	}
	return law.Validate()
}

func (k ReverseKL) parts() (Generator, Law, scorekit.Data) {
	return k.Generator, k.Law, nowhere{k.Generator.Dim()}
}

func (k ReverseKL) loss(vars *mlctx.Context, rng *random.Source, x *Node) *Node {
	in := newInner(vars, rng.Graph())
	s := newSample(in, k.Law, k.Generator, vars, rng, x.Shape().Dimensions[0])
	direction := graph.Neg(k.target(vars, s.points()))
	if e := s.entropyDirection(k.Entropy); e != nil {
		direction = graph.Add(direction, e)
	}
	value := graph.StopGradient(graph.MulScalar(rows.Sum(graph.Square(direction)), 0.5))
	return in.finish(graph.Add(value, pushed(s.x, direction)))
}

// target is ∇ log p at x. The weights of a trained one lie where they are neither trained nor saved.
func (k ReverseKL) target(vars *mlctx.Context, x *Node) *Node {
	vars = vars.In("target")
	if fitted, ok := k.Target.(*scorekit.Fitted); ok {
		vars = install(vars.InAbsPath(dataPath+"/target"), fitted)
	}
	known := map[*mlctx.Variable]bool{}
	for v := range vars.IterVariables() {
		known[v] = true
	}
	p := k.Target.Score(vars, x, nil)
	for v := range vars.IterVariables() {
		if !known[v] && v.Trainable {
			panic(fmt.Errorf("target %T has weights that were not given, %s first: give the result of Fit or Load", k.Target, v.ScopeAndName()))
		}
	}
	if !p.Shape().Equal(x.Shape()) {
		panic(fmt.Errorf("target %T gave a score of shape %s for points of shape %s: must be equal", k.Target, p.Shape(), x.Shape()))
	}
	return p
}

// nowhere is the data of a training that needs none.
type nowhere struct{ d int }

func (n nowhere) Shape() []int { return []int{n.d} }

func (n nowhere) Batch(_ *mlctx.Context, rng *random.Source, rows int) *Node {
	return graph.BroadcastToDims(graph.ScalarZero(rng.Graph(), rng.DType()), rows, n.d)
}
