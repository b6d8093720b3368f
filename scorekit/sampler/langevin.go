package sampler

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/random"
)

// Node is a GoMLX graph node.
type Node = graph.Node

// Langevin is the unadjusted Langevin algorithm with step ε,
//
//	x ← x + ε s(x) + √(2ε) z,  z ~ N(0, I)
//
// (Roberts and Tweedie 1996). The other usual form, x + (α/2)s + √α z, is the same chain with α = 2ε. It is exact only
// as ε → 0: on N(μ, v) its stationary variance is v/(1 − ε/(2v)), and it diverges for ε ≥ 2v, v the smallest variance
// of the target.
//
// Chains start at draws from N(0, I) unless [scorekit.Sample] is told otherwise.
type Langevin struct {
	StepSize float64 // ε, in squared units of the data; positive
	Steps    int     // number of steps; 0 means 1,000
	Sigma    float64 // noise level given to the score; 0 gives none
}

var _ scorekit.Sampler = Langevin{}

// Schedule returns one row a step: ε and √(2ε). It returns an error for a step or a noise level that is not positive
// and finite, or a negative number of steps.
func (l Langevin) Schedule() (scorekit.Schedule, error) {
	fail := func(format string, args ...any) (scorekit.Schedule, error) {
		return scorekit.Schedule{}, fmt.Errorf("Langevin: "+format, args...)
	}
	if !(l.StepSize > 0) || math.IsInf(l.StepSize, 0) {
		return fail("step %v: must be positive and finite", l.StepSize)
	}
	if l.Steps < 0 {
		return fail("%d steps: must be positive, or 0 for 1,000", l.Steps)
	}
	if !(l.Sigma >= 0) || math.IsInf(l.Sigma, 0) {
		return fail("noise level %v: must be positive and finite, or 0 for none", l.Sigma)
	}
	steps := l.Steps
	if steps == 0 {
		steps = 1000
	}
	rows := make([][]float64, steps)
	for i := range rows {
		rows[i] = []float64{l.StepSize, math.Sqrt(2 * l.StepSize)}
	}
	return scorekit.Schedule{Columns: []string{"step", "noise"}, Rows: rows}, nil
}

// Init returns the chains as they start.
func (l Langevin) Init(_ *mlctx.Context, _ *random.Source, _ scorekit.Score, x *Node) scorekit.State {
	return scorekit.State{X: x}
}

// Step moves every chain once.
func (l Langevin) Step(vars *mlctx.Context, rng *random.Source, score scorekit.Score, state scorekit.State, row []*Node) (scorekit.State, scorekit.Info) {
	var sigma *Node
	if l.Sigma > 0 {
		sigma = levels(graph.Scalar(state.X.Graph(), state.X.DType(), l.Sigma), state.X)
	}
	s := score(vars, state.X, sigma)
	state.X = move(rng, state.X, s, row[0], row[1])
	return state, nil
}

// move is x + drift·s + noise·z.
func move(rng *random.Source, x, s, drift, noise *Node) *Node {
	z := rng.Normal(x.Shape().Dimensions...)
	return graph.Add(graph.Add(x, graph.Mul(drift, s)), graph.Mul(noise, z))
}

// levels gives one noise level to every chain, [chains].
func levels(sigma, x *Node) *Node { return graph.BroadcastToDims(sigma, x.Shape().Dimensions[0]) }
