package autodiff

import (
	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/internal/purego"
)

// noGradient is the rule of functions that are constant almost everywhere (rounding, comparisons, indices). GoMLX
// lacks it and stops with an error.
func noGradient(node, _ *Node) []*Node { return make([]*Node, len(node.Inputs())) }

// identityRule passes the gradient on. GoMLX has none. The identities inside StopGradient and
// IdentityWithCustomGradient are handled before any rule is looked up.
func identityRule(_, v *Node) []*Node { return []*Node{v} }

// mulRule computes the sigmoid s of x·s(x) anew for the gradient v (s + x s (1 − s)), as ½(1 + tanh ½x), which a compiler
// does not find equal. Kept from the forward pass, s costs more than computing it: an array as large as a layer's output is
// written once and read three times, and stands between what would else be one loop. Pure Go has no loops to join.
func mulRule(node, v *Node) []*Node {
	for i, s := range node.Inputs() {
		x := node.Inputs()[1-i]
		if s.Type() != graph.NodeTypeLogistic || s.Inputs()[0] != x || s.StopGradient() || purego.Is(node.Graph().Backend()) {
			continue
		}
		again := graph.AddScalar(graph.MulScalar(graph.Tanh(graph.MulScalar(x, 0.5)), 0.5), 0.5)
		gradients := make([]*Node, 2)
		gradients[1-i] = graph.Mul(v, graph.Mul(again, graph.OnePlus(graph.Mul(x, graph.OneMinus(again)))))
		return gradients // all of it by way of x, none by way of s
	}
	if a, b := node.Inputs()[0], node.Inputs()[1]; v.Rank() == 2 && a.Rank() == 2 && b.Rank() == 2 &&
		a.Shape().Dimensions[1] == 1 && b.Shape().Dimensions[0] == 1 && v.Shape().Size() > max(a.Shape().Size(), b.Shape().Size()) {
		return []*Node{graph.Dot(v, transposed(b)), graph.Dot(transposed(a), v)} // an outer product
	}
	return stock[graph.NodeTypeMul](node, []*Node{v}, v.Shape())
}

// rsqrtRule: d x^(−1/2) = −½ x^(−3/2). GoMLX has none.
func rsqrtRule(node, v *Node) []*Node {
	cube := graph.Mul(node, graph.Square(node))
	return []*Node{graph.Mul(v, graph.MulScalar(cube, -0.5))}
}

// expm1Rule: d(eˣ − 1) = eˣ, from x and not as 1 + result, which loses eˣ below the rounding of 1. GoMLX has none.
func expm1Rule(node, v *Node) []*Node {
	return []*Node{graph.Mul(v, graph.Exp(node.Inputs()[0]))}
}

// clampRule: the gradient goes to whichever of lower bound, x and upper bound was returned. GoMLX has none.
func clampRule(node, v *Node) []*Node {
	low, x, high := node.Inputs()[0], node.Inputs()[1], node.Inputs()[2]
	zero := graph.ZerosLike(v)
	below, above := graph.LessThan(x, low), graph.GreaterThan(x, high)
	return []*Node{
		sumTo(graph.Where(below, v, zero), low),
		graph.Where(graph.LogicalOr(below, above), zero, v),
		sumTo(graph.Where(above, v, zero), high),
	}
}

// remRule: rem(a, b) = a − b·trunc(a/b), whose quotient is constant almost everywhere. GoMLX has none.
func remRule(node, v *Node) []*Node {
	a, b := node.Inputs()[0], node.Inputs()[1]
	quotient := graph.StopGradient(graph.Round(graph.Div(graph.Sub(a, node), b)))
	return []*Node{sumTo(v, a), sumTo(graph.Neg(graph.Mul(v, quotient)), b)}
}

// convertRule stops the gradient at integers and booleans. GoMLX's rule converts the gradient to the integer type
// and back, so that rounding by conversion passes on a truncated gradient in place of none.
func convertRule(node, v *Node) []*Node {
	from, to := node.Inputs()[0].DType(), node.DType()
	smooth := func(real, complex bool) bool { return real || complex }
	if !smooth(from.IsFloat(), from.IsComplex()) || !smooth(to.IsFloat(), to.IsComplex()) {
		return []*Node{nil}
	}
	return stock[graph.NodeTypeConvertDType](node, []*Node{v}, v.Shape())
}

// sumTo adds v up over the axes along which input was broadcast.
func sumTo(v, input *Node) *Node {
	if v.Shape().Equal(input.Shape()) {
		return v
	}
	if input.IsScalar() {
		return graph.ReduceAllSum(v)
	}
	var axes []int
	for axis, n := range input.Shape().Dimensions {
		if n != v.Shape().Dimensions[axis] {
			axes = append(axes, axis)
		}
	}
	return graph.Reshape(graph.ReduceSum(v, axes...), input.Shape().Dimensions...)
}
