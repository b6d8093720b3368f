package autodiff

import (
	"fmt"

	"github.com/gomlx/gomlx/pkg/core/graph"
)

// sameShape panics unless y has the shape and dtype of the points x, [batch, dims...], and x can be differentiated by.
func sameShape(who, what string, y, x *Node) {
	if x.Rank() < 2 {
		panic(fmt.Errorf("autodiff: %s: points of shape %s: must be [batch, dims...]", who, x.Shape()))
	}
	// GoMLX's gradient with respect to such a node is 0 without a word, whatever was made of it.
	if x.StopGradient() {
		panic(fmt.Errorf("autodiff: %s: the points come from StopGradient, as random draws do: make the field of graph.Identity of them", who))
	}
	if !y.Shape().Equal(x.Shape()) {
		panic(fmt.Errorf("autodiff: %s: %s of shape %s for points of shape %s: must be equal", who, what, y.Shape(), x.Shape()))
	}
}

// perRow adds y up within each row: [batch, dims...] → [batch].
func perRow(y *Node) *Node { return graph.ReduceSum(y, count(1, y.Rank()-1)...) }

// rowSize returns how many numbers a row of x has.
func rowSize(x *Node) int {
	d := 1
	for _, n := range x.Shape().Dimensions[1:] {
		d *= n
	}
	return d
}
