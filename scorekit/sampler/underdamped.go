package sampler

import (
	"math"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/random"
)

// Underdamped is kinetic Langevin dynamics with unit mass, dx = v dt, dv = s(x) dt − γv dt + √(2γ) dW, taken in steps of
// time h by the splitting BAOAB (Leimkuhler and Matthews 2013):
//
//	v ← v + (h/2) s(x)
//	x ← x + (h/2) v
//	v ← e^{−γh} v + √(1 − e^{−2γh}) z,  z ~ N(0, I)
//	x ← x + (h/2) v
//	v ← v + (h/2) s(x)
//
// The velocity carries a chain on in its direction for a time of about 1/γ, so that it comes through narrow valleys in
// fewer steps than [Langevin], whose ε is h²/2 here. A step takes one score: that of its end is kept for the next.
//
// Law at rest: on a Gaussian x has exactly the right variance at every h that is stable, h < 2√v with v the smallest
// variance of the target, whatever γ; the velocity has the variance 1 − h²/(4v) in place of 1. On other targets the
// error of x is of order h² (Leimkuhler and Matthews 2013).
//
// Chains start at draws from N(0, I) unless [scorekit.Sample] is told otherwise; velocities start at draws from N(0, I).
// Info: "temperature", the mean of v² over all chains and coordinates, close to 1 for a step that is short enough.
type Underdamped struct {
	StepSize float64 // h, in units of the data, since the mass is 1; positive
	Friction float64 // γ, per unit of time; 0 means 1
	Steps    int     // number of steps; 0 means 1,000
	Sigma    float64 // noise level given to the score; 0 gives none
}

var (
	_ scorekit.Sampler   = Underdamped{}
	_ scorekit.Predictor = Underdamped{}
)

// Schedule returns one row a step: h, e^{−γh} and √(1 − e^{−2γh}). It returns an error for a step, a friction or a noise
// level that is not positive and finite, or a negative number of steps.
func (u Underdamped) Schedule() (scorekit.Schedule, error) {
	const who = "underdamped Langevin"
	if err := positive(who, "step", u.StepSize); err != nil {
		return scorekit.Schedule{}, err
	}
	friction := u.Friction
	if friction == 0 {
		friction = 1
	}
	if err := positive(who, "friction", friction); err != nil {
		return scorekit.Schedule{}, err
	}
	steps, err := count(who, u.Steps)
	if err != nil {
		return scorekit.Schedule{}, err
	}
	if err := level(who, u.Sigma); err != nil {
		return scorekit.Schedule{}, err
	}
	decay := friction * u.StepSize
	return constantRows(steps, []string{"step", "kept", "noise"}, u.StepSize, math.Exp(-decay), math.Sqrt(-math.Expm1(-2*decay))), nil
}

// Init draws the velocities and takes the score where the chains start; both are kept in Aux, in this order.
func (u Underdamped) Init(vars *mlctx.Context, rng *random.Source, score scorekit.Score, x *Node) scorekit.State {
	return scorekit.State{X: x, Aux: []*Node{rng.Normal(x.Shape().Dimensions...), scoreAt(vars, score, x, u.Sigma)}}
}

// Step moves every chain once.
func (u Underdamped) Step(vars *mlctx.Context, rng *random.Source, score scorekit.Score, state scorekit.State, row []*Node) (scorekit.State, scorekit.Info) {
	x, v, s := state.X, state.Aux[0], state.Aux[1]
	half := graph.MulScalar(row[0], 0.5)
	v = graph.Add(v, graph.Mul(half, s))
	x = graph.Add(x, graph.Mul(half, v))
	v = graph.Add(graph.Mul(row[1], v), graph.Mul(row[2], rng.Normal(x.Shape().Dimensions...)))
	x = graph.Add(x, graph.Mul(half, v))
	s = scoreAt(vars, score, x, u.Sigma)
	v = graph.Add(v, graph.Mul(half, s))
	return scorekit.State{X: x, Aux: []*Node{v, s}}, scorekit.Info{"temperature": graph.ReduceAllMean(graph.Square(v))}
}

// Predict returns the mean of the noiseless points given x, x + σ²s(x, σ) (Tweedie's formula); x itself without a noise
// level.
func (u Underdamped) Predict(vars *mlctx.Context, score scorekit.Score, x *Node, _ []*Node) *Node {
	return noiseless(vars, score, x, u.Sigma)
}
