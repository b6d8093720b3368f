package autodiff

import (
	"fmt"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/shapes"
)

// sliceRule puts zeros around the gradient by concatenation. GoMLX's rule uses Pad, which pure Go does not implement
// and which has no gradient of its own; a concatenation's gradient is a slice, so this works to any order on both.
func sliceRule(node, v *Node) []*Node {
	x := node.Inputs()[0]
	starts, strides := ints(node, "starts"), intsOr(node, "strides", x.Rank(), 1)
	for axis, n := range x.Shape().Dimensions {
		start := starts[axis]
		length := (v.Shape().Dimensions[axis]-1)*strides[axis] + 1
		v = pad(v, axis, start, n-start-length, strides[axis]-1)
	}
	return []*Node{v}
}

// padRule: the gradient of padding is the part of v where x was put; the rest goes to the fill value. GoMLX has none.
func padRule(node, v *Node) []*Node {
	x := node.Inputs()[0]
	config := intsOr(node, "axesConfig", 3*x.Rank(), 0)
	part := v
	for axis, n := range x.Shape().Dimensions {
		start, end, interior := config[3*axis], config[3*axis+1], config[3*axis+2]
		part = pad(part, axis, -start, -end, 0)
		if interior > 0 && n > 0 {
			part = graph.SliceAxis(part, axis, graph.AxisRange().Stride(interior+1))
		}
	}
	return []*Node{part, graph.Sub(graph.ReduceAllSum(v), graph.ReduceAllSum(part))}
}

// reverseRule reverses the gradient. GoMLX has none, so that a convolution had no second derivative.
func reverseRule(node, v *Node) []*Node { return []*Node{graph.Reverse(v, ints(node, "axes")...)} }

// gatherRule refuses the gradient of GatherSlices, and so of Interpolate, on pure Go, whose scatter of slices puts
// the values in the wrong places without a word. Gather itself is right on both backends.
func gatherRule(node, v *Node) []*Node {
	if len(ints(node, "collapsedSliceAxes")) == 0 && !has(node, backends.OpTypePad) {
		panic(fmt.Errorf("autodiff: gradient of GatherSlices (Interpolate): wrong on backend %q: "+
			"use the XLA backend, Slice, or Broadcast and Reshape for nearest upsampling", node.Graph().Backend().Name()))
	}
	return stock[graph.NodeTypeGather](node, []*Node{v}, v.Shape())
}

// scatterRule refuses the second derivative of GatherSlices, a scatter of slices, for which GoMLX's rule gathers single
// rows. Scattering rows, the gradient of Gather, keeps GoMLX's rule.
func scatterRule(node, v *Node) []*Node {
	if len(ints(node, "insertedWindowAxes")) == 0 {
		panic(fmt.Errorf("autodiff: second derivative of GatherSlices (Interpolate): not defined: " +
			"use Slice, or Broadcast and Reshape for nearest upsampling"))
	}
	return stock[graph.NodeTypeScatterSum](node, []*Node{v}, v.Shape())
}

// pad puts interior zeros between neighbours along an axis, then start zeros before and end zeros after. Negative
// numbers cut. It uses concatenation and slices only, which exist on both backends and have gradients of any order.
func pad(x *Node, axis, start, end, interior int) *Node {
	n := x.Shape().Dimensions[axis]
	if interior > 0 && n > 1 {
		x = graph.InsertAxes(x, axis+1)
		x = graph.Concatenate([]*Node{x, zerosAlong(x, axis+1, interior)}, axis+1)
		dims := append([]int(nil), x.Shape().Dimensions...)
		dims[axis] *= interior + 1
		x = graph.Reshape(x, append(dims[:axis+1], dims[axis+2:]...)...)
		end -= interior
	}
	if start < 0 || end < 0 {
		from, to := max(0, -start), x.Shape().Dimensions[axis]-max(0, -end)
		x = graph.SliceAxis(x, axis, graph.AxisRange(from, to))
	}
	parts := []*Node{x}
	if start > 0 {
		parts = append([]*Node{zerosAlong(x, axis, start)}, parts...)
	}
	if end > 0 {
		parts = append(parts, zerosAlong(x, axis, end))
	}
	if len(parts) == 1 {
		return x
	}
	return graph.Concatenate(parts, axis)
}

// zerosAlong returns zeros of the shape of x but with n elements along the axis.
func zerosAlong(x *Node, axis, n int) *Node {
	dims := append([]int(nil), x.Shape().Dimensions...)
	dims[axis] = n
	return graph.Zeros(x.Graph(), shapes.Make(x.DType(), dims...))
}
