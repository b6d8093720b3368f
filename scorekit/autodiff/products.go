package autodiff

import (
	"fmt"

	"github.com/gomlx/gomlx/pkg/core/graph"
)

// VJP adds the vector-Jacobian product vᵀ(∂s/∂x) of each row to the graph, in one reverse pass. s, x, v and the
// result are [batch, dims...]. Rows must not influence one another. v counts as a constant: no gradient passes
// through it.
//
// It panics with an error, as graph functions do, if the shapes differ or an operation has no derivative.
func VJP(s, x, v *Node) *Node {
	sameShape("VJP", "field", s, x)
	sameShape("VJP", "vector", v, x)
	return graph.Gradient(graph.ReduceAllSum(graph.Mul(s, graph.StopGradient(v))), x)[0]
}

// JVP adds the Jacobian-vector product (∂s/∂x)v of each row to the graph. s, x, v and the result are
// [batch, dims...]. GoMLX has no forward mode; g(u) = uᵀ(∂s/∂x) is linear in u, and the reverse pass of g·v with
// respect to u is the product. Rows must not influence one another. v counts as a constant.
//
// It panics with an error, as graph functions do, if the shapes differ or an operation has no second derivative.
func JVP(s, x, v *Node) *Node {
	sameShape("JVP", "field", s, x)
	sameShape("JVP", "vector", v, x)
	u := graph.ZerosLike(s)
	g := graph.Gradient(graph.ReduceAllSum(graph.Mul(s, u)), x)[0]
	return graph.Gradient(graph.ReduceAllSum(graph.Mul(g, graph.StopGradient(v))), u)[0]
}

// HVP adds the Hessian-vector product ∇ₓ(∇ₓlog p(x) · v) of each row to the graph. logp is [batch]; x, v and the
// result are [batch, dims...]. v counts as a constant. Rows must not influence one another. (The table of shapes in
// "Score Matching", §4.1, has p where log p is meant.)
//
// It panics with an error, as graph functions do, if the shapes do not fit or an operation has no second derivative.
func HVP(logp, x, v *Node) *Node {
	sameShape("HVP", "vector", v, x)
	if logp.Rank() != 1 || logp.Shape().Dimensions[0] != x.Shape().Dimensions[0] {
		panic(fmt.Errorf("autodiff: HVP: log density of shape %s for points of shape %s: must be [batch]", logp.Shape(), x.Shape()))
	}
	return VJP(graph.Gradient(graph.ReduceAllSum(logp), x)[0], x, v)
}
