package scorekit

import (
	"fmt"

	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	_ "github.com/scorekit/lab/scorekit/autodiff" // the gradient rules that GoMLX lacks
	"github.com/scorekit/lab/scorekit/random"
)

// Node is a GoMLX graph node.
type Node = graph.Node

// Score adds a score, s(x) = ∇ₓ log p(x), to a graph.
//
// x holds a batch of points, [batch, dims...]; the result has the shape of x. sigma is the noise level (standard
// deviation) of each point, [batch], for a score that depends on one, and nil otherwise: s(x, σ) = ∇ₓ log p_σ(x), the
// score of p convolved with N(0, σ²I). vars holds the weights of a network; a score in closed form does not use it.
//
// A Score is itself a [Model], so a user's own GoMLX function can be trained and sampled from as it is.
type Score func(vars *mlctx.Context, x, sigma *Node) *Node

// Score calls s. It makes a function a [Model].
func (s Score) Score(vars *mlctx.Context, x, sigma *Node) *Node { return s(vars, x, sigma) }

// Model is anything that has a score: a density, a network, a kernel density estimate, or a [Score] function.
type Model interface {
	// Score adds ∇ₓ log p(x) to the graph of x: see the type [Score].
	Score(vars *mlctx.Context, x, sigma *Node) *Node
}

// Energy adds an energy, E(x) with p(x) ∝ e^{−E(x)}, to a graph: x is [batch, dims...], the result [batch].
//
// An Energy is a [Model]: its score is −∇ₓE(x).
type Energy func(vars *mlctx.Context, x, sigma *Node) *Node

// Score returns −∇ₓE(x, σ), [batch, dims...]. Rows must not influence one another's energies.
func (e Energy) Score(vars *mlctx.Context, x, sigma *Node) *Node {
	x = graph.Identity(x) // points that were drawn are marked StopGradient, and their own gradient would be 0
	energy := e(vars, x, sigma)
	if energy.Rank() != 1 || energy.Shape().Dimensions[0] != x.Shape().Dimensions[0] {
		panic(fmt.Errorf("energy of shape %v for points of shape %v: must be [batch]", energy.Shape().Dimensions, x.Shape().Dimensions))
	}
	return graph.Neg(graph.Gradient(graph.ReduceAllSum(energy), x)[0])
}

// Objective turns a score and a batch of data into a loss.
type Objective interface {
	// Loss adds the loss of each example to the graph. x is a batch of data, [batch, dims...]; the result is
	// [batch]. All randomness comes from rng. score is already bound to its weights through vars.
	Loss(vars *mlctx.Context, rng *random.Source, score Score, x *Node) *Node
}

// Data feeds batches of examples from inside the graph, so that training never waits for the host.
type Data interface {
	// Shape returns the dimensions of one example, without the batch axis.
	Shape() []int
	// Batch adds n examples, drawn with rng, to the graph: [n, dims...] of rng's dtype. What is stored on the
	// device is held in vars.
	Batch(vars *mlctx.Context, rng *random.Source, n int) *Node
}

// Validator is implemented by models, objectives, samplers and data that can tell before any work starts that
// their settings are impossible. The error names the setting, its value and what is allowed.
type Validator interface {
	Validate() error
}

// PointsValidator is implemented by objectives whose loss has no minimum on some sets of points. [Fit] shows them the points
// of [Examples] and [LabelledExamples], [n, dims...], before it trains; data that are drawn, changed at random or streamed
// are not looked at.
type PointsValidator interface {
	ValidatePoints(points *tensors.Tensor) error
}

// Schedule lists the numbers that a sampler needs at each step, one row a step, in the order of Columns. They are
// computed on the host in float64 and handed to the device a block of rows at a time.
type Schedule struct {
	Columns []string
	Rows    [][]float64
}

// State is what a sampler carries from step to step.
type State struct {
	// X is where the chains are: [chains, dims...].
	X *Node
	// Aux is whatever else the sampler needs, such as a cached score. The shapes must not change between steps.
	Aux []*Node
}

// Info holds named diagnostics of one step, each a scalar node, such as {"acceptance": the share of accepted
// proposals}. They are kept apart from the state and averaged over the steps past the burn-in.
type Info map[string]*Node

// Sampler turns a score into draws. It is a struct of settings with three methods; nothing loops inside it. [Sample]
// runs any of them.
type Sampler interface {
	// Schedule returns the rows of all steps, or an error that names an impossible setting.
	Schedule() (Schedule, error)
	// Init makes the first state from the chains' starting points x: [chains, dims...].
	Init(vars *mlctx.Context, rng *random.Source, score Score, x *Node) State
	// Step advances the chains by one step. row holds one scalar node for each column of the schedule.
	Step(vars *mlctx.Context, rng *random.Source, score Score, state State, row []*Node) (State, Info)
}
