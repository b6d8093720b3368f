package density

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/autodiff"
)

// Node is a GoMLX graph node.
type Node = scorekit.Node

// checkPoints panics, as graph functions do, unless x is [batch, d] of a float dtype and sigma is nil or [batch] of
// the same dtype.
func checkPoints(who string, d int, x, sigma *Node) {
	if err := validate(who, d); err != nil {
		panic(err)
	}
	if x.Rank() != 2 || x.Shape().Dimensions[1] != d || !x.DType().IsFloat() {
		panic(fmt.Errorf("density: %s: points of shape %s: must be floats [batch, %d]", who, x.Shape(), d))
	}
	if sigma == nil {
		return
	}
	if sigma.Rank() != 1 || sigma.Shape().Dimensions[0] != x.Shape().Dimensions[0] || sigma.DType() != x.DType() {
		panic(fmt.Errorf("density: %s: noise levels of shape %s for points of shape %s: must be [batch] of the same dtype",
			who, sigma.Shape(), x.Shape()))
	}
}

// checkClean is checkPoints for a density whose convolution with Gaussian noise is not known: sigma must be nil.
func checkClean(who string, d int, x, sigma *Node) {
	checkPoints(who, d, x, sigma)
	if sigma != nil {
		panic(fmt.Errorf("density: %s: noise levels given: only Gaussian, Mixture and products of them have an exact score of noised points; sigma must be nil",
			who))
	}
}

// checkBatch panics, as graph functions do, unless there is something to draw from and at least one draw.
func checkBatch(who string, d, n int) {
	if err := validate(who, d); err != nil {
		panic(err)
	}
	if n < 1 {
		panic(fmt.Errorf("density: %s: batch of %d: must be at least 1", who, n))
	}
}

// constant puts values into the graph of like, in its dtype and in the given shape.
func constant(like *Node, values []float64, dims ...int) *Node {
	wide := graph.ConstTensor(like.Graph(), tensors.FromFlatDataAndDimensions(values, dims...))
	return graph.ConvertDType(wide, like.DType())
}

// polar returns the norm of each row, [batch, 1], and the row divided by it; both are 0 for a row of zeros. Rows are
// divided by their largest coordinate before they are squared, so that no row is too long or too short. That divisor
// cancels in the result: derivatives of any order are right although none passes through it.
func polar(x *Node) (norm, direction *Node) {
	largest := autodiff.StableMax(graph.Abs(x), 1)
	largest = graph.Where(graph.Equal(largest, graph.ZerosLike(largest)), graph.OnesLike(largest), largest)
	scaled := graph.Div(x, largest)
	square := graph.ReduceAndKeep(graph.Square(scaled), graph.ReduceSum, 1)
	isZero := graph.Equal(square, graph.ZerosLike(square))
	length := graph.Sqrt(graph.Where(isZero, graph.OnesLike(square), square)) // √0 has no derivative
	norm = graph.Where(isZero, graph.ZerosLike(length), graph.Mul(largest, length))
	return norm, graph.Div(scaled, length)
}

// logLimit is the logarithm of a number that the dtype holds, also times 100 or so.
func logLimit(dtype dtypes.DType) float64 {
	switch dtype {
	case dtypes.Float64:
		return 700
	case dtypes.Float16:
		return 6
	}
	return 80
}

// expWithin is eˣ, but no more than the dtype holds.
func expWithin(x *Node) *Node { return graph.Exp(graph.MinScalar(x, logLimit(x.DType()))) }

// axis returns a row that is 1 in place i, [1, d].
func axis(x *Node, i, d int) *Node {
	row := make([]float64, d)
	row[i] = 1
	return constant(x, row, 1, d)
}

// coordinate returns column i of x, [batch, 1].
func coordinate(x *Node, i int) *Node {
	return graph.Slice(x, graph.AxisRange(), graph.AxisRange(i, i+1))
}

// inverses returns 1/v of each value.
func inverses(values []float64) []float64 {
	inverse := make([]float64, len(values))
	for i, v := range values {
		inverse[i] = 1 / v
	}
	return inverse
}

// sumLog returns Σ log v.
func sumLog(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += math.Log(v)
	}
	return sum
}
