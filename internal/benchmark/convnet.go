package benchmark

import (
	"math"

	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/shapes"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/net"
	"github.com/scorekit/lab/scorekit/random"
)

// Node is a GoMLX graph node.
type Node = scorekit.Node

// convNet is the network of the task conv_dsm, a small U-Net of 3×3 convolutions on images [n, 28, 28, 1], as a GoMLX
// function of one's own: a plain noise prediction divided by σ.
func convNet(vars *mlctx.Context, x, sigma *Node) *Node {
	e := silu(biased(vars.In("embedding"), linear(vars.In("embedding"), levelFeatures(sigma), 64)))
	n := x.Shape().Dimensions[0]
	kernel := func(name string, in, out int) *Node {
		own := vars.In(name)
		return own.WithInitializer(random.NormalInitializer(own, 1/math.Sqrt(float64(9*in)))).
			VariableWithShape("weights", shapes.Make(x.DType(), 3, 3, in, out)).ValueGraph(x.Graph())
	}
	conv := func(name string, x *Node, out, stride int) *Node {
		return graph.Convolve(x, kernel(name, x.Shape().Dimensions[3], out)).PadSame().Strides(stride).Done()
	}
	plain := func(name string, h *Node) *Node { // h + b
		return everywhere(h, biased(vars.In(name), graph.Zeros(x.Graph(), shapes.Make(x.DType(), n, h.Shape().Dimensions[3]))))
	}
	level := func(name string, h *Node) *Node { // h + b + A e
		return everywhere(h, biased(vars.In(name), linear(vars.In(name).In("level"), e, h.Shape().Dimensions[3])))
	}
	skip := silu(plain("skip", conv("skip", silu(level("first", conv("first", x, 32, 1))), 32, 1)))
	h := silu(level("down", conv("down", skip, 64, 2)))
	h = silu(plain("low", conv("low", h, 64, 1)))
	// The convolution of what comes up, each pixel twice along each axis, beside what was kept.
	up := kernel("up", 96, 32)
	h = graph.Add(
		net.ConvolveDoubled(h, graph.SliceAxis(up, 2, graph.AxisRange(0, 64))),
		graph.Convolve(skip, graph.SliceAxis(up, 2, graph.AxisRange(64, 96))).PadSame().Strides(1).Done())
	h = silu(level("up", h))
	return graph.Div(plain("last", conv("last", h, 1, 1)), graph.Reshape(sigma, n, 1, 1, 1))
}

// everywhere adds numbers of each image and channel, [n, channels], to all pixels of h: by a product with ones, whose gradient is one
// as well. XLA's sums over pixels take several times as long on a CPU.
func everywhere(h, v *Node) *Node {
	d := h.Shape().Dimensions
	ones := graph.Ones(h.Graph(), shapes.Make(h.DType(), d[0], d[1]*d[2]))
	return graph.Add(h, graph.Reshape(graph.Einsum("np,nc->npc", ones, v), d...))
}

// convFlops counts the products of convNet for one image as the table of tasks has it, with each pixel twice: the same work for all programs.
const convFlops = 2*9*(784*(32+32*32+96*32+32)+196*(32*64+64*64)) + 2*(32*64+64*32*2+64*64)

func silu(x *Node) *Node { return graph.Mul(x, graph.Sigmoid(x)) }

// levelFeatures is φ(σ) of net.NoiseMLP, [n, 32].
func levelFeatures(sigma *Node) *Node {
	waves := make([]float64, 16)
	for k := range waves {
		waves[k] = 0.25 * math.Pow(32, float64(k)/15)
	}
	angles := graph.Mul(graph.InsertAxes(graph.Log(sigma), -1), graph.ConstAsDType(sigma.Graph(), sigma.DType(), [][]float64{waves}))
	return graph.Concatenate([]*Node{graph.Sin(angles), graph.Cos(angles)}, -1)
}

// linear is x·W with W ~ N(0, 1/in).
func linear(vars *mlctx.Context, x *Node, out int) *Node {
	in := x.Shape().Dimensions[1]
	w := vars.WithInitializer(random.NormalInitializer(vars, 1/math.Sqrt(float64(in)))).
		VariableWithShape("weights", shapes.Make(x.DType(), in, out))
	return graph.Dot(x, w.ValueGraph(x.Graph()))
}

// biased adds a bias to the last axis, 0 at the start.
func biased(vars *mlctx.Context, h *Node) *Node {
	dims := make([]int, h.Rank())
	for i := range dims {
		dims[i] = 1
	}
	dims[h.Rank()-1] = h.Shape().Dimensions[h.Rank()-1]
	zero := func(g *graph.Graph, shape shapes.Shape) *Node { return graph.Zeros(g, shape) }
	b := vars.WithInitializer(zero).VariableWithShape("biases", shapes.Make(h.DType(), dims[h.Rank()-1]))
	return graph.Add(h, graph.Reshape(b.ValueGraph(h.Graph()), dims...))
}
