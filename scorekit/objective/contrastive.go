package objective

import (
	"fmt"
	"math"
	"runtime"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/numbers"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/random"
)

// Contrastive is contrastive divergence, which trains an energy E with p ∝ e^{−E} by its likelihood,
//
//	loss(x) = E(x) − E(x⁻) + α (E(x)² + E(x⁻)²)
//
// where x⁻ is where a short chain of k steps on the model's own score ended (Hinton 2002). x⁻ is held fixed: the gradient
// for the weights θ is that of the energies alone,
//
//	∇_θ loss = ∇_θE(x) − ∇_θE(x⁻),   −∇_θ E_data[log p(x)] = E_data[∇_θE(x)] − E_p[∇_θE(x)]
//
// so that it is the gradient of the negative log-likelihood where x⁻ has the law p of the model. The sign is that of
// E_data − E_model: a step against the gradient lowers the energy of the data and raises that of the model's draws. The
// value of the loss tells no progress. It is 0 on the average of a model that has learnt the data, and of many that have
// not.
//
// Chains are of sampler.Langevin,
//
//	x ← x − ε∇E(x) + Noise √(2ε) z,  z ~ N(0, I)
//
// or with Metropolis of sampler.MALA, whose law at rest is p at any ε. They begin at the data (CD-k; with one step and
// ε → 0 the gradient is ε times that of [Implicit], Hyvärinen 2007; see package ebm), or with Spread at draws from
// N(0, Spread²I).
//
// # Persistent chains
//
// With Buffer chains go on from step to step: so many points are kept, of which each batch takes a run at a random place
// and puts back where its chains ended (Tieleman 2008; the buffer of Du and Mordatch 2019). A chain begins anew, at the data
// or at N(0, Spread²I), with probability Restart, and when its place in the buffer was not yet used. As the weights change
// slowly, such chains come near p with few steps each. All of it happens on the device; what is kept is in variables
// "/contrastive", which are stored in checkpoints, so that a resumed training goes on with its chains, and are no part of
// the trained model. scorekit.EvaluateLoss therefore begins all chains anew; a block of it, too, has at most Buffer examples.
//
// # The energy
//
// A loss is handed a score alone, and −∇E does not tell E(x) − E(x⁻). So the energy is a field: that of the very model that
// is trained, which shares its weights with the score because both ask vars for them by name,
//
//	model := net.EnergyMLP{}
//	scorekit.Fit(ctx, b, model, objective.Contrastive{Energy: model.Energy, StepSize: 0.01, Steps: 10}, data)
//
// and a function, because one's own energies are functions. An energy that asks for weights that the score has not made is
// that of another model, and refused. An energy that has none, or gives the same weights another meaning, is not found
// out: nothing then brings the two together. Neither is given a noise level.
//
// # When it stops
//
// Training stops at a loss that is not finite, and the loss tells why: it is +Inf for an energy of the data that is not finite
// or overflows, −Inf for such an energy where a chain ended, and NaN for a chain that is not finite itself (or for several of
// these in one batch). An energy overflows where its square does, beyond 10¹⁹ in float32 and 10¹⁵⁴ in float64: nothing then
// tells neighbours apart, and gradients are no numbers soon. The chain does not get into the buffer. An energy that falls
// without bound outside the data lets chains run away: see Limit, MaxGradient and Penalty, or give E a quadratic term.
//
// A training step does k more gradients in x than other losses. Several steps a call make long graphs: with large k give
// scorekit.WithUnroll(1). x is [batch, dims...].
type Contrastive struct {
	Energy     scorekit.Energy // that of the model that is trained
	StepSize   float64         // ε, in squared units of the data; positive
	Steps      int             // k; 0 means 1
	Metropolis bool            // chains of sampler.MALA; excludes Noise, MaxGradient and Limit
	Noise      float64         // factor of the noise; 0 means 1. Below 1 chains are too cold: they draw from p^{1/Noise²}

	Buffer  int     // how many chains are kept, at least a batch; 0 begins all anew in each step
	Restart float64 // probability that a kept chain begins anew, in [0, 1]
	Spread  float64 // standard deviation of the points at which chains begin; 0 means the data

	MaxGradient float64 // largest |∂E/∂xᵢ| that a chain follows; 0 means any (Du and Mordatch 2019 limit it)
	Limit       float64 // chains are kept within |xᵢ| ≤ Limit; 0 means anywhere
	Penalty     float64 // α, of energies far from 0 (Du and Mordatch 2019); 0 means none
}

var _ scorekit.Objective = Contrastive{}

const contrastive = "contrastive objective"

// Validate returns an error if there is no energy, if StepSize is not positive and finite, if a setting is negative or not
// finite or Restart above 1, for Restart without Buffer, and for Noise, MaxGradient or Limit with Metropolis.
func (c Contrastive) Validate() error {
	if err := c.check(); err != nil {
		return fmt.Errorf("%s: %w", contrastive, err)
	}
	return nil
}

func (c Contrastive) check() error {
	if c.Energy == nil {
		return fmt.Errorf("energy nil: must be the method Energy of the model that is trained")
	}
	if err := numbers.Positive("step", c.StepSize); err != nil {
		return err
	}
	if c.Steps < 0 {
		return fmt.Errorf("%d steps: must be positive, or 0 for 1", c.Steps)
	}
	if c.Buffer < 0 {
		return fmt.Errorf("buffer of %d chains: must be positive, or 0 for none", c.Buffer)
	}
	for _, s := range []struct {
		what   string
		value  float64
		unlike bool // it would change the law of sampler.MALA
	}{
		{"noise", c.Noise, true}, {"max gradient", c.MaxGradient, true}, {"limit", c.Limit, true},
		{"restart", c.Restart, false}, {"spread", c.Spread, false}, {"penalty", c.Penalty, false},
	} {
		if !(s.value >= 0) || math.IsInf(s.value, 0) {
			return fmt.Errorf("%s %v: must be finite and not negative", s.what, s.value)
		}
		if s.unlike && c.Metropolis && s.value != 0 {
			return fmt.Errorf("%s %v with Metropolis: must be 0", s.what, s.value)
		}
	}
	if c.Restart > 1 {
		return fmt.Errorf("restart %v: must be a probability, at most 1", c.Restart)
	}
	if c.Restart > 0 && c.Buffer == 0 {
		return fmt.Errorf("restart %v without a buffer: must be 0, as all chains begin anew", c.Restart)
	}
	return nil
}

// Loss adds the loss of each example, [batch]. It panics with an error, as graph functions do, if Buffer is smaller than
// the batch, if Energy gives another shape than [batch], and if it is that of another model than score.
func (c Contrastive) Loss(vars *mlctx.Context, rng *random.Source, score scorekit.Score, x *Node) *Node {
	checkPoints(contrastive, x)
	ask(contrastive, score, vars, x, nil) // from here on the model has its weights
	energy := c.ofTheModel(vars)
	low := energy(x)
	starts, store := c.begin(vars, rng, x)
	ends := graph.StopGradient(c.run(vars, rng, score, starts))
	high := energy(ends)
	store(ends, high)
	loss := graph.Sub(low, high)
	if c.Penalty > 0 {
		loss = graph.Add(loss, graph.MulScalar(graph.Add(graph.Square(low), graph.Square(high)), c.Penalty))
	}
	loss = ofFinite(ends, overflowing(high, loss, -1))
	return ofFinite(x, overflowing(low, loss, 1))
}

// overflowing is the loss of each example, and infinite with the given sign where the energy is not finite or its square is
// not.
func overflowing(energy, loss *Node, sign int) *Node {
	infinite := graph.BroadcastToDims(graph.Infinity(loss.Graph(), loss.DType(), sign), loss.Shape().Dimensions...)
	return graph.Where(graph.IsFinite(graph.Square(graph.StopGradient(energy))), loss, infinite)
}

// ofTheModel returns the energy with checks of its shape, that it has a use for the weights of the model, and that it brings
// none of its own: these would be trained and then lost.
func (c Contrastive) ofTheModel(vars *mlctx.Context) func(x *Node) *Node {
	known := map[*mlctx.Variable]bool{}
	if vars != nil {
		for v := range vars.IterVariables() {
			known[v] = true
		}
	}
	return func(x *Node) *Node {
		e := c.ask(vars, x)
		if e.Rank() != 1 || e.Shape().Dimensions[0] != x.Shape().Dimensions[0] {
			panic(fmt.Errorf("%s: energy of shape %v for points of shape %v: must be [batch]", contrastive, e.Shape().Dimensions, x.Shape().Dimensions))
		}
		if vars != nil {
			for v := range vars.IterVariables() {
				if !known[v] && v.Trainable {
					panic(fmt.Errorf("%s: the energy has weights that the model has not, %s first: it must be the method Energy of the model that is trained", contrastive, v.ScopeAndName()))
				}
			}
		}
		return e
	}
}

// ask adds the energy at x. Weights of a name that the model has, and of another shape, are those of another model, such as a
// network for scores: GoMLX then speaks of a variable.
func (c Contrastive) ask(vars *mlctx.Context, x *Node) *Node {
	defer func() {
		r := recover()
		if err, ok := r.(error); ok {
			if _, bug := r.(runtime.Error); !bug {
				panic(fmt.Errorf("%s: the energy does not go with the weights of the model: it must be the method Energy of the model that is trained, which must be an energy: %w", contrastive, err))
			}
		}
		if r != nil {
			panic(r)
		}
	}()
	return c.Energy(vars, x, nil)
}
