// Package rows holds what graphs do with the rows of a batch of points, [batch, dims...].
package rows

import "github.com/gomlx/gomlx/pkg/core/graph"

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
func Sum(x *graph.Node) *graph.Node {
	axes := make([]int, x.Rank()-1)
	for i := range axes {
		axes[i] = i + 1
	}
	return graph.ReduceSum(x, axes...)
}
