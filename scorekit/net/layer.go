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
func linear(vars *mlctx.Context, x *Node, out int) *Node { return damped(vars, x, out, 1) }

// damped is linear with W ~ N(0, 1/(in·by)).
func damped(vars *mlctx.Context, x *Node, out, by int) *Node {
	in := x.Shape().Dimensions[1]
	w := vars.WithInitializer(random.NormalInitializer(vars, 1/math.Sqrt(float64(in*by)))).
		VariableWithShape("weights", shapes.Make(x.DType(), in, out))
	return graph.Dot(x, w.ValueGraph(x.Graph()))
}

// zeros is a variable that starts at 0.
func zeros(vars *mlctx.Context, name string, x *Node, dims ...int) *Node {
	return vars.WithInitializer(zero).VariableWithShape(name, shapes.Make(x.DType(), dims...)).ValueGraph(x.Graph())
}

func zero(g *graph.Graph, shape shapes.Shape) *Node { return graph.Zeros(g, shape) }

// biased is h + b for the h of a layer, [rows, out], b = 0 at the start.
func biased(vars *mlctx.Context, h *Node) *Node {
	out := h.Shape().Dimensions[1]
	return graph.Add(h, graph.Reshape(zeros(vars, "biases", h, out), 1, out))
}

// dense is x·W + b, b = 0 at the start.
func dense(vars *mlctx.Context, x *Node, out int) *Node { return biased(vars, linear(vars, x, out)) }

// withLevel is x·W + b, and with a noise level's embedding x·W + b + e·A; e is nil without.
func withLevel(vars *mlctx.Context, x, e *Node, out int) *Node {
	h := dense(vars, x, out)
	if e == nil {
		return h
	}
	return graph.Add(h, linear(vars.In("level"), e, out))
}

// onRows applies f to the points as rows, [batch, d], and gives its result the shape of x, [batch, dims...].
func onRows(x *Node, f func(rows *Node) *Node) *Node {
	return graph.Reshape(f(flat(x)), x.Shape().Dimensions...)
}

// flat reshapes [batch, dims...] to [batch, d].
func flat(x *Node) *Node {
	rows := x.Shape().Dimensions[0]
	return graph.Reshape(x, rows, x.Shape().Size()/rows)
}

// first returns the first of a model's complaints, with the model's name before it.
func first(who string, complaints ...error) error {
	for _, err := range complaints {
		if err != nil {
			return fmt.Errorf("%s: %w", who, err)
		}
	}
	return nil
}
