package objective_test

import (
	"slices"
	"testing"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/objective"
)

// network is s(x) = W2 tanh(W1 x + b1) + b2 with listed weights: W1 [H, d], W2 [d, H].
type network struct {
	W1 [][]float64
	B1 []float64
	W2 [][]float64
	B2 []float64
}

// nodes returns the weights as nodes.
func (n network) nodes(in testvalues.Inputs) []*objective.Node {
	return []*objective.Node{in.Of(n.W1), in.Of(n.B1), in.Of(n.W2), in.Of(n.B2)}
}

func (n network) flat() [][]float64 {
	return [][]float64{slices.Concat(n.W1...), n.B1, slices.Concat(n.W2...), n.B2}
}

// apply adds the network of the weights w to the graph.
func apply(w []*objective.Node, x *objective.Node) *objective.Node {
	h := graph.Tanh(graph.Add(graph.Dot(x, graph.Transpose(w[0], 0, 1)), graph.InsertAxes(w[1], 0)))
	return graph.Add(graph.Dot(h, graph.Transpose(w[2], 0, 1)), graph.InsertAxes(w[3], 0))
}

// score returns the network of the weights w as a score.
func (network) score(w []*objective.Node) scorekit.Score {
	return testvalues.Ignoring(func(x *objective.Node) *objective.Node { return apply(w, x) })
}

// energyCase is a recorded loss, with its gradients for the weights, of a tanhEnergy at the points X.
type energyCase struct {
	ID       string
	W1       [][]float64
	B1, W2   []float64
	C        float64
	X        [][]float64
	Loss     float64
	DW1      [][]float64 `json:"dW1"`
	DB1, DW2 []float64
}

func (c energyCase) weights(in testvalues.Inputs) []*objective.Node {
	return []*objective.Node{in.Of(c.W1), in.Of(c.B1), in.Of(c.W2)}
}

// check compares what lossAndGradients gave for the case.
func (c energyCase) check(t *testing.T, got [][]float64) {
	t.Helper()
	testvalues.Near(t, c.ID, got[0], []float64{c.Loss}, 1e-10)
	testvalues.Near(t, c.ID+": gradient for W1", got[1], slices.Concat(c.DW1...), 1e-10)
	testvalues.Near(t, c.ID+": gradient for b1", got[2], c.DB1, 1e-10)
	testvalues.Near(t, c.ID+": gradient for w2", got[3], c.DW2, 1e-10)
}

// tanhEnergy is E(x) = w2·tanh(W1 x + b1) + ½c‖x‖² with the weights w = W1 [H, d], b1 [H], w2 [H].
func tanhEnergy(w []*objective.Node, c float64) scorekit.Energy {
	return func(_ *mlctx.Context, x, _ *objective.Node) *objective.Node {
		h := graph.Tanh(graph.Add(graph.Dot(x, graph.Transpose(w[0], 0, 1)), graph.InsertAxes(w[1], 0)))
		deep := graph.Reshape(graph.Dot(h, graph.InsertAxes(w[2], -1)), x.Shape().Dimensions[0])
		return graph.Add(deep, graph.MulScalar(graph.ReduceSum(graph.Square(x), 1), c/2))
	}
}

// affine is s(x) = Ax + b with the weights w = A [d, d], b [d].
func affine(w []*objective.Node) scorekit.Score {
	return testvalues.Ignoring(func(x *objective.Node) *objective.Node {
		return graph.Add(graph.Dot(x, graph.Transpose(w[0], 0, 1)), graph.InsertAxes(w[1], 0))
	})
}
