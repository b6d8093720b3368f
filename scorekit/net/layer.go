package net

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/shapes"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit/random"
)

// Node is a GoMLX graph node.
type Node = graph.Node

// Activation names the function between two layers. The empty name is SiLU.
type Activation string

const (
	SiLU     Activation = "silu"     // x·sigmoid(x) (Elfwing et al. 2018)
	Tanh     Activation = "tanh"     // tanh x
	Softplus Activation = "softplus" // ln(1 + eˣ)
	GELU     Activation = "gelu"     // x·Φ(x), Φ the normal distribution function (Hendrycks and Gimpel 2016)
	Sine     Activation = "sine"     // sin x (Sitzmann et al. 2020)
)

func (a Activation) validate() error {
	switch a {
	case "", SiLU, Tanh, Softplus, GELU, Sine:
		return nil
	}
	return fmt.Errorf("activation %q: must be silu, tanh, softplus, gelu or sine", a)
}

func (a Activation) apply(x *Node) *Node {
	switch a {
	case Tanh:
		return graph.Tanh(x)
	case Softplus:
		return graph.Softplus(x)
	case GELU:
		return graph.Mul(x, graph.MulScalar(graph.OnePlus(graph.Erf(graph.MulScalar(x, math.Sqrt2/2))), 0.5))
	case Sine:
		return graph.Sin(x)
	default:
		return graph.Mul(x, graph.Sigmoid(x))
	}
}

// linear is x·W, [rows, in] → [rows, out], W ~ N(0, 1/in).
func linear(vars *mlctx.Context, x *Node, out int) *Node {
	in := x.Shape().Dimensions[1]
	w := vars.WithInitializer(random.NormalInitializer(vars, 1/math.Sqrt(float64(in)))).
		VariableWithShape("weights", shapes.Make(x.DType(), in, out))
	return graph.Dot(x, w.ValueGraph(x.Graph()))
}

// dense is x·W + b, b = 0 at the start.
func dense(vars *mlctx.Context, x *Node, out int) *Node {
	zero := func(g *graph.Graph, shape shapes.Shape) *Node { return graph.Zeros(g, shape) }
	b := vars.WithInitializer(zero).VariableWithShape("biases", shapes.Make(x.DType(), out))
	return graph.Add(linear(vars, x, out), graph.Reshape(b.ValueGraph(x.Graph()), 1, out))
}

func checkHidden(hidden []int) error {
	for _, h := range hidden {
		if h < 1 {
			return fmt.Errorf("hidden widths %v: each must be at least 1", hidden)
		}
	}
	return nil
}

// flat reshapes [batch, dims...] to [batch, d].
func flat(x *Node) *Node {
	rows := x.Shape().Dimensions[0]
	return graph.Reshape(x, rows, x.Shape().Size()/rows)
}
