// Package rows holds what graphs do with the rows of a batch of points, [batch, dims...].
package rows

import (
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/shapes"
)

// Like gives numbers of each row, [batch], the rank of x, [batch, 1, ...], so that they multiply its rows.
func Like(v, x *graph.Node) *graph.Node {
	dims := make([]int, x.Rank())
	for i := range dims {
		dims[i] = 1
	}
	dims[0] = v.Shape().Dimensions[0]
	return graph.Reshape(v, dims...)
}

// Sum adds up each row: [batch, dims...] → [batch]. There must be at least one axis beside the batch.
//
// Long rows are multiplied by ones: compilers turn their reduction into one number after the other, as they must not change
// the order of a sum, but leave it to a matrix product.
func Sum(x *graph.Node) *graph.Node {
	batch := x.Shape().Dimensions[0]
	if batch > 0 && x.Shape().Size()/batch > 32 {
		width := x.Shape().Size() / batch
		return graph.Dot(graph.Reshape(x, batch, width), graph.Ones(x.Graph(), shapes.Make(x.DType(), width)))
	}
	axes := make([]int, x.Rank()-1)
	for i := range axes {
		axes[i] = i + 1
	}
	return graph.ReduceSum(x, axes...)
}
