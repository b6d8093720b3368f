package autodiff

import (
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
)

// Divergence adds the exact divergence of a field,
//
//	∇·s = tr(∂s/∂x) = Σᵢ ∂sᵢ/∂xᵢ,
//
// to the graph. s and x are [batch, dims...], the result is [batch]. It takes d passes for the d numbers of a row, all sharing
// the forward pass that made s: forward ones, many at once, through dense layers and functions of each number, and reverse
// ones where an operation is none of these. Rows must not influence one another (see [RowCoupling]). It is itself
// differentiable, as implicit score matching needs (Hyvärinen 2005, equation 4).
//
// What a pass leaves for that derivative is as wide as the layers inside a network: for given layers the memory grows
// with batch·d. Where x meets the field other than through matrix products, as in a formula, it is [batch, dims...].
//
// It panics with an error, as graph functions do, if the shapes differ or an operation has no derivative.
func Divergence(s, x *Node) *Node {
	sameShape("Divergence", "field", s, x)
	batch := x.Shape().Dimensions[0]
	var trace *Node
	if f := newForward(s, x); f != nil {
		return f.total(s, rowSize(x), func(from, to int) *Node { return axesOf(x, from, to) })
	}
	for _, slope := range slopes(s, x) {
		trace = plus(trace, slope)
	}
	return graph.Reshape(trace, batch)
}

// Diagonal adds the diagonal of the Jacobian of a field, ∂sᵢ/∂xᵢ, to the graph, as Hyvärinen (2007) needs it for data
// on a half-line. s, x and the result are [batch, dims...]. Cost, memory and errors are those of [Divergence], the sum
// over a row.
func Diagonal(s, x *Node) *Node {
	sameShape("Diagonal", "field", s, x)
	dims := x.Shape().Dimensions
	if f := newForward(s, x); f != nil {
		axes := func(from, to int) *Node { return axesOf(x, from, to) }
		return graph.Reshape(graph.Transpose(f.each(s, rowSize(x), axes, axes), 0, 1), dims...)
	}
	return graph.Reshape(graph.Concatenate(slopes(s, x), 1), dims...)
}

// slopes returns ∂sᵢ/∂xᵢ of each row, [batch, 1], for each of the d numbers of a row.
func slopes(s, x *Node) []*Node {
	d, rows := rowSize(x), x.Shape().Dimensions[0]
	total := graph.Reshape(graph.ReduceSum(s, 0), 1, d)
	all := make([]*Node, d)
	for i := range all {
		axis := graph.Reshape(graph.OneHot(graph.Scalar(x.Graph(), dtypes.Int32, i), d, x.DType()), d, 1)
		// Through the sum over rows every row starts from the one axis: see oneRow.
		pass := graph.Gradient(graph.Reshape(graph.Dot(total, axis)), x)[0]
		all[i] = along(graph.Reshape(pass, rows, d), axis)
	}
	return all
}

// along is the product of g, [rows, d], with an axis, [d, 1]. Of a matrix product only the column of the right operand
// that counts is multiplied, so that nothing of the size of g is made.
func along(g, axis *Node) *Node {
	in := g
	for in.Type() == graph.NodeTypeReshape {
		in = in.Inputs()[0]
	}
	if in.Type() == graph.NodeTypeDot && in.Shape().Equal(g.Shape()) && in.Inputs()[0].Rank() == 2 {
		return graph.Dot(in.Inputs()[0], graph.Dot(in.Inputs()[1], axis))
	}
	return graph.ReduceAndKeep(graph.Mul(g, graph.Reshape(axis, 1, -1)), graph.ReduceSum, 1)
}
