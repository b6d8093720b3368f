package autodiff

import (
	"math"

	"github.com/gomlx/gomlx/pkg/core/graph"
)

// RowCoupling adds a scalar to the graph that is 0 exactly if no even row of s depends on an odd row of x: the
// largest |∂(w·s_even)/∂x_odd| for fixed weights w. s and x are [batch, dims...]. A field that mixes the rows of a
// batch (batch normalisation, attention over the batch, a mean over it) gives another number; its divergence, taken
// here from sums over the batch, would be wrong. It costs one reverse pass; look at it once before a long run. It is 0
// for a batch of one row.
//
// It panics with an error, as graph functions do, if the shapes differ or an operation has no derivative.
func RowCoupling(s, x *Node) *Node {
	sameShape("RowCoupling", "field", s, x)
	batch, d := x.Shape().Dimensions[0], rowSize(x)
	// Weights without a pattern, so that influences do not cancel.
	weights := make([]float64, batch*d)
	odd := make([]float64, batch)
	for row := range batch {
		if row%2 == 1 {
			odd[row] = 1
			continue
		}
		for i := range d {
			weights[row*d+i] = 1.5 + math.Sin(float64(3*row*d+7*i+1))
		}
	}
	constant := func(values []float64, dims ...int) *Node {
		return graph.Reshape(graph.ConvertDType(graph.Const(x.Graph(), values), x.DType()), dims...)
	}
	ones := make([]int, x.Rank())
	for i := range ones {
		ones[i] = 1
	}
	ones[0] = batch
	g := VJP(s, x, constant(weights, x.Shape().Dimensions...))
	return graph.ReduceAllMax(graph.Abs(graph.Mul(g, constant(odd, ones...))))
}
