package autodiff

import (
	"fmt"
	"slices"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/shapes"
)

// extremumRule gives the gradient of ReduceMax and ReduceMin to the element that ArgMax or ArgMin names, the first
// of equal ones. GoMLX compares x with its maximum: when XLA computes x a second time inside another kernel the two
// differ by a rounding, no element equals the maximum and the gradient vanishes. It also gives the whole gradient to
// each of equal elements, so that their sum is too large.
func extremumRule(node, v *Node) []*Node {
	x := node.Inputs()[0]
	axes := reducedAxes(node)
	flat, restore := lastAxis(x, axes)
	index := graph.ArgMax
	if node.Type() == graph.NodeTypeReduceMin {
		index = graph.ArgMin
	}
	n := flat.Shape().Dimensions[flat.Rank()-1]
	winner := restore(graph.OneHot(index(flat, -1), n, v.DType()))
	return []*Node{graph.Mul(keepAxes(v, x, axes), graph.StopGradient(winner))}
}

// productRule: the derivative of a product by one factor is the product of the others. It is formed without a
// division, which would fail at zero, in n² memory for n factors. GoMLX has none.
func productRule(node, v *Node) []*Node {
	x := node.Inputs()[0]
	axes := reducedAxes(node)
	flat, restore := lastAxis(x, axes)
	n := flat.Shape().Dimensions[flat.Rank()-1]
	rows := graph.InsertAxes(flat, -2)
	dims := append(slices.Clone(flat.Shape().Dimensions), n)
	rows = graph.BroadcastToDims(rows, dims...)
	self := graph.BroadcastToDims(graph.ExpandLeftToRank(graph.Diagonal(x.Graph(), n), len(dims)), dims...)
	others := graph.ReduceMultiply(graph.Where(self, graph.OnesLike(rows), rows), -1)
	return []*Node{graph.Mul(keepAxes(v, x, axes), restore(others))}
}

// windowRule is the gradient of sum pooling (and so of mean pooling and CumSum): a sum over windows of the gradient,
// spread out and padded. GoMLX's uses Pad, see sliceRule. Max pooling keeps GoMLX's rule where the backend has it.
func windowRule(node, v *Node) []*Node {
	x := node.Inputs()[0]
	if kind := setting(node, "reductionType"); kind != backends.ReduceOpSum.String() {
		if !has(node, backends.OpTypeSelectAndScatterMax) {
			panic(fmt.Errorf("autodiff: gradient of ReduceWindow (max pooling): not implemented on backend %q: "+
				"use mean pooling, or Reshape and ReduceMax for windows that do not overlap", node.Graph().Backend().Name()))
		}
		return stock[graph.NodeTypeReduceWindow](node, []*Node{v}, v.Shape())
	}
	if dilated(ints(node, "baseDilations")) || dilated(ints(node, "windowDilations")) {
		panic(fmt.Errorf("autodiff: gradient of ReduceWindow with dilations: not defined: use a convolution"))
	}
	window := ints(node, "windowDimensions")
	strides := ints(node, "strides")
	if len(strides) == 0 {
		strides = window
	}
	paddings := intsOr(node, "paddings", 2*x.Rank(), 0)
	ones := make([]int, x.Rank())
	for axis, n := range x.Shape().Dimensions {
		ones[axis] = 1
		start := window[axis] - 1 - paddings[2*axis]
		length := (v.Shape().Dimensions[axis]-1)*strides[axis] + 1
		v = pad(v, axis, start, n+window[axis]-1-start-length, strides[axis]-1)
	}
	return []*Node{graph.BackendReduceWindow(v, backends.ReduceOpSum, window, ones, nil, nil, nil)}
}

func dilated(factors []int) bool {
	return slices.ContainsFunc(factors, func(f int) bool { return f != 1 })
}

// reducedAxes lists the axes that a reduction removes; none written means all.
func reducedAxes(node *Node) []int {
	axes := ints(node, "axes")
	if len(axes) == 0 {
		return count(0, node.Inputs()[0].Rank())
	}
	return axes
}

// keepAxes gives v its reduced axes back, with size 1.
func keepAxes(v, x *Node, axes []int) *Node {
	dims := slices.Clone(x.Shape().Dimensions)
	for _, axis := range axes {
		dims[axis] = 1
	}
	return graph.Reshape(v, dims...)
}

// lastAxis joins the given axes of x into one, put last; restore brings an array of that shape back to x's.
func lastAxis(x *Node, axes []int) (flat *Node, restore func(*Node) *Node) {
	kept := freeAxes(x, axes, nil)
	order := slices.Concat(kept, axes)
	moved := graph.TransposeAllAxes(x, order...)
	dims := slices.Clone(moved.Shape().Dimensions[:len(kept)])
	size := shapes.Make(x.DType(), moved.Shape().Dimensions[len(kept):]...).Size()
	back := func(y *Node) *Node { return place(graph.Reshape(y, moved.Shape().Dimensions...), order) }
	return graph.Reshape(moved, append(dims, size)...), back
}
