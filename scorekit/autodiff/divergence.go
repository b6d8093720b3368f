package autodiff

import (
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
)

// Divergence adds the exact divergence of a field,
//
//	∇·s = tr(∂s/∂x) = Σᵢ ∂sᵢ/∂xᵢ,
//
// to the graph. s and x are [batch, dims...], the result is [batch]. It takes d reverse passes for the d numbers of a
// row, all sharing the forward pass that made s. Rows must not influence one another (see [RowCoupling]). It is
// itself differentiable, as implicit score matching needs (Hyvärinen 2005, equation 4).
//
// It panics with an error, as graph functions do, if the shapes differ or an operation has no derivative.
func Divergence(s, x *Node) *Node {
	sameShape("Divergence", "field", s, x)
	d := rowSize(x)
	dims := append([]int{1}, x.Shape().Dimensions[1:]...)
	var trace *Node
	for i := range d {
		axis := graph.OneHot(graph.Scalar(x.Graph(), dtypes.Int32, i), d, x.DType())
		axis = graph.BroadcastToDims(graph.Reshape(axis, dims...), x.Shape().Dimensions...)
		term := perRow(graph.Mul(VJP(s, x, axis), axis))
		if trace == nil {
			trace = term
		} else {
			trace = graph.Add(trace, term)
		}
	}
	return trace
}
