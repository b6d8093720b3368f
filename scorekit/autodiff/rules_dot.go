package autodiff

import (
	"fmt"
	"slices"

	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/internal/purego"
)

// dotRule makes the gradient of a matrix product two matrix products. GoMLX's rule forms the [i, j, k] array of all
// products by broadcasting and reduces it, which takes 14–38 times as long in a small network.
//
// A gradient v that is the same in every row, as at the start of each pass of [Divergence], is multiplied as the one row
// that it is: d passes of a batch would keep d such matrices for the gradient for b, [batch, d] each.
func dotRule(node, v *Node) []*Node {
	a, b := node.Inputs()[0], node.Inputs()[1]
	switch {
	case a.Rank() == 2 && b.Rank() == 2:
		if r := oneRow(v); r != nil {
			sums := graph.InsertAxes(graph.ReduceSum(a, 0), -1)
			return []*Node{graph.BroadcastToDims(graph.Dot(r, transposed(b)), a.Shape().Dimensions...), graph.Dot(sums, r)}
		}
		return []*Node{narrow(v, transposed(b)), graph.Dot(transposed(a), v)}
	case a.Rank() == 2 && b.Rank() == 1:
		return []*Node{graph.Mul(graph.InsertAxes(v, -1), graph.InsertAxes(b, 0)), graph.Dot(transposed(a), v)}
	default:
		return stock[graph.NodeTypeDot](node, []*Node{v}, v.Shape())
	}
}

// narrow is the product of a and b. That of few columns with few rows, as the gradient of the last layer of a network for
// points of the plane, is a sum of outer products: XLA multiplies such matrices number by number, but joins the sum with
// what is made of it in one loop over the vector unit.
func narrow(a, b *Node) *Node {
	k := a.Shape().Dimensions[1]
	if k > 4 || purego.Is(a.Graph().Backend()) {
		return graph.Dot(a, b)
	}
	var sum *Node
	for i := range k {
		column := graph.Slice(a, graph.AxisRange(), graph.AxisRange(i, i+1))
		row := graph.Slice(b, graph.AxisRange(i, i+1), graph.AxisRange())
		sum = plus(sum, graph.Mul(column, row))
	}
	return sum
}

// transposed is the transpose of a matrix, one node for each matrix however often it is asked for: pure Go does not find
// equal nodes by itself, and each pass of [Divergence] would keep its own copy of every weight.
func transposed(a *Node) *Node {
	name := fmt.Sprintf("/autodiff/transposed/%d", a.Id())
	if t := a.Graph().GetNodeByAlias(name); t != nil {
		return t
	}
	return graph.Transpose(a, 0, 1).WithAlias(name)
}

// oneRow returns the row [1, n] of a node [batch, n] that was made by repeating it, and nil for any other.
func oneRow(v *Node) *Node {
	dims := v.Shape().Dimensions
	switch v.Type() {
	case graph.NodeTypeBroadcastInDim:
		// Axes are kept in order, so that an operand of the same rank with one row was repeated along the batch.
		if r := v.Inputs()[0]; r.Rank() == len(dims) && r.Shape().Dimensions[0] == 1 && slices.Equal(r.Shape().Dimensions[1:], dims[1:]) {
			return graph.Reshape(r, 1, r.Shape().Size())
		}
	case graph.NodeTypeReshape:
		if x := v.Inputs()[0]; x.Rank() > 0 && x.Shape().Dimensions[0] == dims[0] {
			return oneRow(x)
		}
	case graph.NodeTypeNeg:
		if r := oneRow(v.Inputs()[0]); r != nil {
			return graph.Neg(r)
		}
	}
	return nil
}

// dotGeneralRule does the same for products with batch axes (Einsum, attention, dense layers on images), where GoMLX
// also broadcasts and reduces. The product's axes are [batch..., left..., right...].
func dotGeneralRule(node, v *Node) []*Node {
	left, right := node.Inputs()[0], node.Inputs()[1]
	leftSum, leftBatch := ints(node, "lhsContractingAxes"), ints(node, "lhsBatchAxes")
	rightSum, rightBatch := ints(node, "rhsContractingAxes"), ints(node, "rhsBatchAxes")
	leftFree, rightFree := freeAxes(left, leftSum, leftBatch), freeAxes(right, rightSum, rightBatch)
	batch := count(0, len(leftBatch))
	vLeft := count(len(batch), len(leftFree))
	vRight := count(len(batch)+len(leftFree), len(rightFree))

	// [batch..., left..., summed in the right operand's order] back to the left operand's order.
	dLeft := graph.DotGeneral(v, vRight, batch, right, rightFree, rightBatch)
	dLeft = place(dLeft, slices.Concat(leftBatch, leftFree, partners(rightSum, leftSum)))
	// [batch..., summed in the left operand's order, right...] back to the right operand's order.
	dRight := graph.DotGeneral(left, leftFree, leftBatch, v, vLeft, batch)
	dRight = place(dRight, slices.Concat(rightBatch, partners(leftSum, rightSum), rightFree))
	return []*Node{dLeft, dRight}
}

// freeAxes lists the axes of x that are neither summed nor batch axes.
func freeAxes(x *Node, summed, batch []int) []int {
	var free []int
	for axis := range x.Rank() {
		if !slices.Contains(summed, axis) && !slices.Contains(batch, axis) {
			free = append(free, axis)
		}
	}
	return free
}

// partners sorts the summed axes of one operand and returns, in that order, the axes of the other operand that each
// is paired with.
func partners(one, other []int) []int {
	sorted := slices.Sorted(slices.Values(one))
	paired := make([]int, len(one))
	for i, axis := range sorted {
		paired[i] = other[slices.Index(one, axis)]
	}
	return paired
}

// place moves axis i of x to position to[i].
func place(x *Node, to []int) *Node {
	permutation := make([]int, len(to))
	for i, axis := range to {
		permutation[axis] = i
	}
	if slices.IsSorted(permutation) {
		return x
	}
	return graph.TransposeAllAxes(x, permutation...)
}

// count returns n integers from first on.
func count(first, n int) []int {
	values := make([]int, n)
	for i := range values {
		values[i] = first + i
	}
	return values
}
