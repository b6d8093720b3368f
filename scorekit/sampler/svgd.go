package sampler

import (
	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/random"
)

// SVGD is Stein variational gradient descent, which moves all n chains, here called particles, together and without noise,
//
//	xᵢ ← xᵢ + ε/n Σⱼ [ k(xⱼ, xᵢ) s(xⱼ) + ∇_{xⱼ} k(xⱼ, xᵢ) ],  k(x, y) = e^{−‖x−y‖²/h}
//
// (Liu and Wang 2016, algorithm 1, by plain gradient steps). The first term draws the particles up the density, each by
// the scores of its neighbours too; the second, (2/h) Σⱼ (xᵢ − xⱼ) k(xⱼ, xᵢ), keeps them apart. They come to rest as points
// that stand for p evenly. One particle alone is [GradientAscent] and ends at a mode. In many dimensions they stand too
// close together, since the kernel hardly tells one from another (Zhuo et al. 2018).
//
// The usual Bandwidth is h = med²/ln n, with med the median distance between the particles: metric.MedianDistance gives it
// for the starting points. It does not change from step to step.
//
// Unlike those of the other samplers the particles depend on one another: they are not independent draws, more of them are
// not more chains, and effective sample sizes and R̂ say nothing of them. A step costs n² kernels and n² numbers of memory.
//
// They start at draws from N(0, I) unless [scorekit.Sample] is told otherwise.
type SVGD struct {
	StepSize  float64 // ε; positive
	Bandwidth float64 // h, in squared units of the data; positive
	Steps     int     // number of steps; 0 means 1,000
	Sigma     float64 // noise level given to the score; 0 gives none
}

var (
	_ scorekit.Sampler   = SVGD{}
	_ scorekit.Predictor = SVGD{}
)

// Schedule returns one row a step: ε. It returns an error for a step, a bandwidth or a noise level that is not positive and
// finite, or a negative number of steps.
func (v SVGD) Schedule() (scorekit.Schedule, error) {
	const who = "SVGD"
	if err := positive(who, "step", v.StepSize); err != nil {
		return scorekit.Schedule{}, err
	}
	if err := positive(who, "bandwidth", v.Bandwidth); err != nil {
		return scorekit.Schedule{}, err
	}
	steps, err := count(who, v.Steps)
	if err != nil {
		return scorekit.Schedule{}, err
	}
	if err := level(who, v.Sigma); err != nil {
		return scorekit.Schedule{}, err
	}
	return constantRows(steps, []string{"step"}, v.StepSize), nil
}

// Init returns the particles as they start.
func (v SVGD) Init(_ *mlctx.Context, _ *random.Source, _ scorekit.Score, x *Node) scorekit.State {
	return scorekit.State{X: x}
}

// Step moves all particles once.
func (v SVGD) Step(vars *mlctx.Context, _ *random.Source, score scorekit.Score, state scorekit.State, row []*Node) (scorekit.State, scorekit.Info) {
	dims := state.X.Shape().Dimensions
	n := dims[0]
	x := graph.Reshape(state.X, n, -1)
	s := graph.Reshape(scoreAt(vars, score, state.X, v.Sigma), n, -1)
	// Distances from products of the points less their mean: an array of all differences would have n² times as many
	// numbers as a point.
	x = graph.Sub(x, graph.InsertAxes(graph.ReduceMean(x, 0), 0))
	squares := graph.ReduceAndKeep(graph.Square(x), graph.ReduceSum, 1)
	products := graph.Dot(x, graph.Transpose(x, 0, 1))
	distances := graph.Sub(graph.Add(squares, graph.Transpose(squares, 0, 1)), graph.MulScalar(products, 2))
	kernel := graph.Exp(graph.DivScalar(graph.MaxScalar(distances, 0), -v.Bandwidth))
	apart := graph.Sub(graph.Mul(graph.ReduceAndKeep(kernel, graph.ReduceSum, 1), x), graph.Dot(kernel, x))
	push := graph.Add(graph.Dot(kernel, s), graph.MulScalar(apart, 2/v.Bandwidth))
	step := graph.Mul(row[0], graph.DivScalar(push, float64(n)))
	return scorekit.State{X: graph.Add(state.X, graph.Reshape(step, dims...))}, nil
}

// Predict returns the mean of the noiseless points given x, x + σ²s(x, σ) (Tweedie's formula); x itself without a noise
// level.
func (v SVGD) Predict(vars *mlctx.Context, score scorekit.Score, x *Node, _ []*Node) *Node {
	return noiseless(vars, score, x, v.Sigma)
}
