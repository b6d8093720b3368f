package objective_test

import (
	"slices"

	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/internal/testvalues"
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
