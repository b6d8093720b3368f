package net

import (
	"fmt"

	"github.com/gomlx/gomlx/pkg/core/graph"
)

// ConvolveDoubled adds to the graph the convolution of an image in which each pixel is taken twice along each axis, with a
// kernel of 3×3 and zeros beyond the edges: x [batch, height, width, in] and w [3, 3, in, out] give [batch, 2·height,
// 2·width, out]. It is the way up of many networks (nearest-neighbour upsampling, then a convolution; Odena et al. 2016).
//
// The image is never doubled. Along one axis, the two numbers that come of pixel i are
//
//	y₂ᵢ = w₀xᵢ₋₁ + (w₁ + w₂)xᵢ   and   y₂ᵢ₊₁ = (w₀ + w₁)xᵢ + w₂xᵢ₊₁
//
// so that each place in a square of 2×2 has a kernel of 2×2 of its own, and all four together are one convolution of x with
// 4·out channels (Shi et al. 2016), whose results are put beside one another: 4 products for 9 of the doubled image, from
// patches of a quarter of the pixels. It is exact but for rounding, on all backends, and may be differentiated to any order.
//
// To convolve it beside another image, as after a concatenation of channels, split the kernel and add the two convolutions.
// It panics with an error, as graph functions do, if the shapes are others.
func ConvolveDoubled(x, w *Node) *Node {
	needImages("doubled convolution", x)
	d, k := x.Shape().Dimensions, w.Shape().Dimensions
	if len(k) != 4 || k[0] != 3 || k[1] != 3 || k[2] != d[3] {
		panic(fmt.Errorf("doubled convolution: kernel of shape %v: must be [3, 3, %d, out] for images of %d channels", k, d[3], d[3]))
	}
	taps := graph.ConstAsDType(x.Graph(), w.DType(), [][][]float64{ // [side of the square, pixel of x, row or column of w]
		{{1, 0, 0}, {0, 1, 1}},
		{{1, 1, 0}, {0, 0, 1}},
	})
	in, out := k[2], k[3]
	four := graph.Einsum("bqi,apico->pqcabo", taps, graph.Einsum("apk,kico->apico", taps, w))
	y := graph.Convolve(x, graph.Reshape(four, 2, 2, in, 4*out)).PaddingPerDim([][2]int{{1, 1}, {1, 1}}).Strides(1).Done()
	lines := make([]*Node, 2)
	for a := range lines {
		pixels := make([]*Node, 2)
		for b := range pixels {
			from := (2*a + b) * out
			place := graph.Slice(y, graph.AxisRange(), graph.AxisRange(a, a+d[1]), graph.AxisRange(b, b+d[2]), graph.AxisRange(from, from+out))
			pixels[b] = graph.Reshape(place, d[0], d[1], 1, d[2], 1, out)
		}
		lines[a] = graph.Concatenate(pixels, 4)
	}
	return graph.Reshape(graph.Concatenate(lines, 2), d[0], 2*d[1], 2*d[2], out)
}
