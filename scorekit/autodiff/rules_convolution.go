package autodiff

import (
	"strings"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/internal/purego"
)

// convolution holds the settings of a convolution, one number for each spatial axis.
type convolution struct {
	axes                          graph.ConvolveAxesConfig
	strides, low, high            []int // step of the window; zeros (or cuts, if negative) at either end
	inputDilation, kernelDilation []int
}

// convolutionRule makes both gradients of a convolution out of convolutions with dilation and padding, which have the
// same rule again: any order, both backends. GoMLX's rule is wrong for kernels of even size (the gradient with
// respect to the input is shifted, without an error), refuses dilated input and so second derivatives, and needs
// Reverse, which pure Go does not implement. The padding is that of Dumoulin and Visin 2016, relations 13–14.
func convolutionRule(node, v *Node) []*Node {
	x, kernel := node.Inputs()[0], node.Inputs()[1]
	c := readConvolution(node)
	channelGroups, batchGroups := ints(node, "channelGroupCount")[0], ints(node, "batchGroupCount")[0]
	groups, axis := max(channelGroups, 1), c.axes.InputChannels
	if batchGroups > 1 {
		groups, axis = batchGroups, c.axes.InputBatch
	}
	xs, kernels := graph.Split(x, axis, groups), graph.Split(kernel, c.axes.KernelOutputChannels, groups)
	vs := graph.Split(v, c.axes.OutputChannels, groups)
	dxs, dks := make([]*Node, groups), make([]*Node, groups)
	for i := range groups {
		dxs[i] = c.inputGradient(xs[i], kernels[i], vs[i])
		dks[i] = c.kernelGradient(xs[i], kernels[i], vs[i])
	}
	if groups == 1 {
		return []*Node{dxs[0], dks[0]}
	}
	return []*Node{graph.Concatenate(dxs, axis), graph.Concatenate(dks, c.axes.KernelOutputChannels)}
}

func readConvolution(node *Node) convolution {
	n := node.Rank() - 2
	paddings := intsOr(node, "paddings", 2*n, 0)
	c := convolution{
		axes: graph.ConvolveAxesConfig{
			InputBatch:           ints(node, "InputBatch")[0],
			InputChannels:        ints(node, "InputChannels")[0],
			InputSpatial:         ints(node, "InputSpatial"),
			KernelInputChannels:  ints(node, "KernelInputChannels")[0],
			KernelOutputChannels: ints(node, "KernelOutputChannels")[0],
			KernelSpatial:        ints(node, "KernelSpatial"),
			OutputBatch:          ints(node, "OutputBatch")[0],
			OutputChannels:       ints(node, "OutputChannels")[0],
			OutputSpatial:        ints(node, "OutputSpatial"),
		},
		strides:        intsOr(node, "strides", n, 1),
		inputDilation:  intsOr(node, "inputDilations", n, 1),
		kernelDilation: intsOr(node, "kernelDilations", n, 1),
	}
	for i := range n {
		c.low, c.high = append(c.low, paddings[2*i]), append(c.high, paddings[2*i+1])
	}
	return c
}

// inputGradient is the transposed convolution: v, spread out by the strides, with the kernel turned round and its
// channels exchanged.
func (c convolution) inputGradient(x, kernel, v *Node) *Node {
	axes := c.axes
	axes.InputBatch, axes.InputChannels, axes.InputSpatial = c.axes.OutputBatch, c.axes.OutputChannels, c.axes.OutputSpatial
	axes.OutputBatch, axes.OutputChannels, axes.OutputSpatial = c.axes.InputBatch, c.axes.InputChannels, c.axes.InputSpatial
	axes.KernelInputChannels, axes.KernelOutputChannels = c.axes.KernelOutputChannels, c.axes.KernelInputChannels
	paddings := make([][2]int, len(c.strides))
	for i := range paddings {
		in, k, out := c.spread(x, kernel, v, i)
		low := k - 1 - c.low[i]
		paddings[i] = [2]int{low, in + k - 1 - out - low}
	}
	return graph.ConvGeneral(v, turned(kernel, c.axes.KernelSpatial), axes, c.inputDilation, paddings, c.strides, c.kernelDilation, 1, 1)
}

// kernelGradient correlates x with v: batch and channels exchange their parts.
func (c convolution) kernelGradient(x, kernel, v *Node) *Node {
	image, window := x, v
	axes := graph.ConvolveAxesConfig{
		InputBatch: c.axes.InputChannels, InputChannels: c.axes.InputBatch, InputSpatial: c.axes.InputSpatial,
		KernelInputChannels: c.axes.OutputBatch, KernelOutputChannels: c.axes.OutputChannels, KernelSpatial: c.axes.OutputSpatial,
		OutputBatch: c.axes.KernelInputChannels, OutputChannels: c.axes.KernelOutputChannels, OutputSpatial: c.axes.KernelSpatial,
	}
	paddings := make([][2]int, len(c.strides))
	swap := c.windowBelongsOnX(x, v)
	for i := range paddings {
		in, k, out := c.spread(x, kernel, v, i)
		paddings[i] = [2]int{c.low[i], out + k - 1 - in - c.low[i]}
		if swap {
			paddings[i] = [2]int{k - 1 - paddings[i][0], k - 1 - paddings[i][1]}
		}
	}
	if swap {
		image, window = v, x
		axes.InputBatch, axes.InputChannels, axes.InputSpatial, axes.KernelInputChannels, axes.KernelOutputChannels, axes.KernelSpatial =
			axes.KernelOutputChannels, axes.KernelInputChannels, axes.KernelSpatial, axes.InputChannels, axes.InputBatch, axes.InputSpatial
		axes.OutputBatch, axes.OutputChannels = axes.OutputChannels, axes.OutputBatch
	}
	image, paddings = c.aheadOfTheWindow(image, window, axes, paddings)
	slope := graph.ConvGeneral(image, window, axes, c.kernelDilation, paddings, c.inputDilation, c.strides, 1, 1)
	if swap {
		return turned(slope, c.axes.KernelSpatial)
	}
	return slope
}

// windowBelongsOnX tells whether x had better be the window that moves over v than the other way round, which gives the same
// numbers in reverse order. XLA on a CPU writes out the whole window around every place of the image, for each of its
// channels: those should be the fewer. GPUs have a kernel of their own for the usual order.
func (c convolution) windowBelongsOnX(x, v *Node) bool {
	for i := range c.strides {
		if c.strides[i] != 1 || c.inputDilation[i] != 1 || c.kernelDilation[i] != 1 {
			return false
		}
	}
	return xlaOnCPU(x) && x.Shape().Dimensions[c.axes.InputChannels] > v.Shape().Dimensions[c.axes.OutputChannels]
}

// aheadOfTheWindow puts the zeros around an image into it if it is shorter than the window without them: XLA on a CPU then takes
// thirty times as long with loops of its own in place of products.
func (c convolution) aheadOfTheWindow(image, window *Node, axes graph.ConvolveAxesConfig, paddings [][2]int) (*Node, [][2]int) {
	zeros, short := make([]graph.PadAxis, image.Rank()), false
	for i := range paddings {
		if c.inputDilation[i] != 1 || min(paddings[i][0], paddings[i][1]) < 0 { // what is cut off is none of this
			return image, paddings
		}
		in, out := axes.InputSpatial[i], axes.KernelSpatial[i]
		short = short || image.Shape().Dimensions[in] < (window.Shape().Dimensions[out]-1)*c.strides[i]+1
		zeros[in] = graph.PadAxis{Start: paddings[i][0], End: paddings[i][1]}
	}
	if !short || !xlaOnCPU(image) {
		return image, paddings
	}
	return graph.Pad(image, graph.ScalarZero(image.Graph(), image.DType()), zeros...), make([][2]int, len(paddings))
}

// xlaOnCPU tells whether the graph is compiled by XLA for a CPU.
func xlaOnCPU(node *Node) bool {
	b := node.Graph().Backend()
	return !purego.Is(b) && strings.Contains(strings.ToUpper(b.DeviceDescription(0)), "CPU")
}

// spread returns the lengths along spatial axis i of the dilated input, the dilated kernel and the output spread out
// by the strides.
func (c convolution) spread(x, kernel, v *Node, i int) (in, k, out int) {
	length := func(y *Node, axis, step int) int { return (y.Shape().Dimensions[axis]-1)*step + 1 }
	return length(x, c.axes.InputSpatial[i], c.inputDilation[i]),
		length(kernel, c.axes.KernelSpatial[i], c.kernelDilation[i]),
		length(v, c.axes.OutputSpatial[i], c.strides[i])
}

// turned reverses x along the axes. Pure Go has no Reverse; there the slices are put together in reverse order.
func turned(x *Node, axes []int) *Node {
	if has(x, backends.OpTypeReverse) {
		return graph.Reverse(x, axes...)
	}
	for _, axis := range axes {
		n := x.Shape().Dimensions[axis]
		parts := make([]*Node, n)
		for i := range parts {
			parts[i] = graph.SliceAxis(x, axis, graph.AxisRange(n-1-i, n-i))
		}
		if n > 1 {
			x = graph.Concatenate(parts, axis)
		}
	}
	return x
}
