package sampler

import (
	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/random"
)

// GradientAscent climbs the log-density,
//
//	x ← x + ε s(x),
//
// [Langevin] without its noise. It does not draw from p: every chain collapses to a mode, and which one depends only on
// where it starts. On N(μ, v) what is left of x − μ is (1 − ε/v)ᵏ of it after k steps; it diverges for ε > 2v, v the
// smallest variance of the target.
//
// Chains start at draws from N(0, I) unless [scorekit.Sample] is told otherwise.
type GradientAscent struct {
	StepSize float64 // ε, in squared units of the data; positive
	Steps    int     // number of steps; 0 means 1,000
	Sigma    float64 // noise level given to the score; 0 gives none
}

var (
	_ scorekit.Sampler   = GradientAscent{}
	_ scorekit.Predictor = GradientAscent{}
)

// Schedule returns one row a step: ε. It returns an error for a step or a noise level that is not positive and finite, or
// a negative number of steps.
func (a GradientAscent) Schedule() (scorekit.Schedule, error) {
	const who = "gradient ascent"
	if err := positive(who, "step", a.StepSize); err != nil {
		return scorekit.Schedule{}, err
	}
	steps, err := count(who, a.Steps)
	if err != nil {
		return scorekit.Schedule{}, err
	}
	if err := level(who, a.Sigma); err != nil {
		return scorekit.Schedule{}, err
	}
	return constantRows(steps, []string{"step"}, a.StepSize), nil
}

// Init returns the chains as they start.
func (a GradientAscent) Init(_ *mlctx.Context, _ *random.Source, _ scorekit.Score, x *Node) scorekit.State {
	return scorekit.State{X: x}
}

// Step moves every chain once.
func (a GradientAscent) Step(vars *mlctx.Context, _ *random.Source, score scorekit.Score, state scorekit.State, row []*Node) (scorekit.State, scorekit.Info) {
	state.X = graph.Add(state.X, graph.Mul(row[0], scoreAt(vars, score, state.X, a.Sigma)))
	return state, nil
}

// Predict returns the mean of the noiseless points given x, x + σ²s(x, σ) (Tweedie's formula); x itself without a noise
// level.
func (a GradientAscent) Predict(vars *mlctx.Context, score scorekit.Score, x *Node, _ []*Node) *Node {
	return noiseless(vars, score, x, a.Sigma)
}
