package net

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/shapes"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit/random"
)

// needImages panics with an error unless x is [batch, height, width, channels].
func needImages(who string, x *Node) {
	if x.Rank() != 4 {
		panic(fmt.Errorf("%s: points of shape %v: must be images, [batch, height, width, channels]", who, x.Shape().Dimensions))
	}
}

// channelsOf is the number of channels of an image.
func channelsOf(x *Node) int { return x.Shape().Dimensions[3] }

// convolve is W ∗ h with zeros beyond the edges, [batch, height, width, in] → [batch, height, width, out]. Pure Go wants the
// stride written out.
func convolve(vars *mlctx.Context, h *Node, kernel, out int, start mlctx.VariableInitializer) *Node {
	w := vars.WithInitializer(start).VariableWithShape("weights", shapes.Make(h.DType(), kernel, kernel, channelsOf(h), out))
	return graph.Convolve(h, w.ValueGraph(h.Graph())).PadSame().Strides(1).Done()
}

// filter is a convolution with W ~ N(0, 1/(kernel²·in)) at the start.
func filter(vars *mlctx.Context, h *Node, kernel, out int) *Node {
	std := 1 / math.Sqrt(float64(kernel*kernel*channelsOf(h)))
	return convolve(vars, h, kernel, out, random.NormalInitializer(vars, std))
}

// perPixel applies f, [rows, in] → [rows, out], to the channels of each pixel: a convolution with a kernel of 1×1.
func perPixel(x *Node, f func(rows *Node) *Node) *Node {
	d := x.Shape().Dimensions
	y := f(graph.Reshape(x, d[0]*d[1]*d[2], d[3]))
	return graph.Reshape(y, d[0], d[1], d[2], y.Shape().Dimensions[1])
}

// everywhere gives numbers of each image and channel, [batch, channels], to all pixels of x. It is a product with ones, and
// so are its gradient and pixelMean: XLA's sums over the middle axes take twice the time on a CPU.
func everywhere(v, x *Node) *Node {
	return graph.Reshape(graph.Einsum("bp,bc->bpc", pixelOnes(x, 1), v), x.Shape().Dimensions...)
}

// pixelMean is the mean of each image and channel over its pixels, [batch, channels].
func pixelMean(x *Node) *Node {
	d := x.Shape().Dimensions
	pixels := d[1] * d[2]
	return graph.Einsum("bp,bpc->bc", pixelOnes(x, 1/float64(pixels)), graph.Reshape(x, d[0], pixels, d[3]))
}

// pixelOnes is one number for each pixel of the images x, [batch, pixels].
func pixelOnes(x *Node, value float64) *Node {
	d := x.Shape().Dimensions
	return graph.BroadcastToDims(graph.Scalar(x.Graph(), x.DType(), value), d[0], d[1]*d[2])
}
