package net

import (
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/shapes"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"
)

// halve makes an image half as high and wide, [batch, h, w, in] → [batch, ⌈h/2⌉, ⌈w/2⌉, out]: each square of 2×2 pixels becomes
// one pixel through a matrix, a convolution with a kernel of 2×2 and steps of 2.
func halve(vars *mlctx.Context, x *Node, out int) *Node {
	return perPixel(toChannels(x, 2), func(rows *Node) *Node { return linear(vars, rows, out) })
}

// double is the other way, [batch, ⌈h/2⌉, ⌈w/2⌉, in] → [batch, h, w, out]: each pixel becomes 2×2 through a matrix.
func double(vars *mlctx.Context, x *Node, h, w, out int) *Node {
	return toPixels(perPixel(x, func(rows *Node) *Node { return linear(vars, rows, 4*out) }), 2, h, w)
}

// toChannels moves the pixels of each square of side×side to the channels, row by row: [batch, h, w, c] → [batch, ⌈h/side⌉,
// ⌈w/side⌉, side²·c]. Where the side does not divide h or w, rows or columns of zeros are put at the end.
func toChannels(x *Node, side int) *Node {
	x = wholeSquares(wholeSquares(x, 1, side), 2, side)
	d := x.Shape().Dimensions
	x = graph.Reshape(x, d[0], d[1]/side, side, d[2]/side, side, d[3])
	return graph.Reshape(graph.TransposeAllAxes(x, 0, 1, 3, 2, 4, 5), d[0], d[1]/side, d[2]/side, side*side*d[3])
}

// toPixels undoes toChannels for an image of h×w pixels: what lies beyond is cut off.
func toPixels(x *Node, side, h, w int) *Node {
	d := x.Shape().Dimensions
	x = graph.Reshape(x, d[0], d[1], d[2], side, side, d[3]/(side*side))
	x = graph.Reshape(graph.TransposeAllAxes(x, 0, 1, 3, 2, 4, 5), d[0], side*d[1], side*d[2], d[3]/(side*side))
	if h != side*d[1] {
		x = graph.SliceAxis(x, 1, graph.AxisRange(0, h))
	}
	if w != side*d[2] {
		x = graph.SliceAxis(x, 2, graph.AxisRange(0, w))
	}
	return x
}

// wholeSquares lengthens an axis with zeros to a multiple of the side. Pure Go has no Pad.
func wholeSquares(x *Node, axis, side int) *Node {
	dims := x.Shape().Clone().Dimensions
	over := dims[axis] % side
	if over == 0 {
		return x
	}
	dims[axis] = side - over
	return graph.Concatenate([]*Node{x, graph.Zeros(x.Graph(), shapes.Make(x.DType(), dims...))}, axis)
}
