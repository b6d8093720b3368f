package density

import (
	"fmt"

	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/scorekit"
)

// Node is a GoMLX graph node.
type Node = scorekit.Node

// checkPoints panics, as graph functions do, unless x is [batch, d] of a float dtype and sigma is nil or [batch] of
// the same dtype.
func checkPoints(who string, d int, x, sigma *Node) {
	if d == 0 {
		panic(fmt.Errorf("density: %s: zero value: must be made by a constructor", who))
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

// constant puts values into the graph of like, in its dtype and in the given shape.
func constant(like *Node, values []float64, dims ...int) *Node {
	wide := graph.ConstTensor(like.Graph(), tensors.FromFlatDataAndDimensions(values, dims...))
	return graph.ConvertDType(wide, like.DType())
}

// checkBatch panics, as graph functions do, unless there is something to draw from and at least one draw.
func checkBatch(who string, d, n int) {
	if d == 0 {
		panic(fmt.Errorf("density: %s: zero value: must be made by a constructor", who))
	}
	if n < 1 {
		panic(fmt.Errorf("density: %s: batch of %d: must be at least 1", who, n))
	}
}
