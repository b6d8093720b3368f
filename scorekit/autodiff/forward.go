package autodiff

import (
	"slices"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/shapes"

	"github.com/scorekit/lab/internal/rows"
)

// GoMLX differentiates in reverse only. For a score made of dense layers, directions are better pushed forward: those of all
// passes lie one below the other in one matrix, so that each layer is one large product in place of a small one for each
// pass; the first layer does it for unit directions before there is a batch; the last one need not be done at all, as of its
// output one number counts; and the derivative of the result, which implicit score matching needs, is a single reverse pass
// through plain layers. forward does this where it knows every operation between x and the field; elsewhere the callers make
// reverse passes.

// forward is what is known of the operations between x and a field.
type forward struct {
	x       *Node
	depends map[graph.NodeId]bool
	slopes  map[graph.NodeId]*Node // f'(input) of each function of one input
}

// newForward returns nil if it does not know an operation between x and s.
func newForward(s, x *Node) *forward {
	f := &forward{x: x, depends: map[graph.NodeId]bool{x.Id(): true}, slopes: map[graph.NodeId]*Node{}}
	if f.reaches(s) && !f.knows(s, map[graph.NodeId]bool{x.Id(): true}) {
		return nil
	}
	return f
}

// reaches reports whether a node depends on x other than through StopGradient.
func (f *forward) reaches(n *Node) bool {
	if answer, ok := f.depends[n.Id()]; ok {
		return answer
	}
	answer := false
	if !n.StopGradient() {
		for _, in := range n.Inputs() {
			answer = f.reaches(in) || answer
		}
	}
	f.depends[n.Id()] = answer
	return answer
}

// unary lists the functions of one input, element by element, whose slope is their gradient rule's answer to ones.
var unary = map[graph.NodeType]bool{
	graph.NodeTypeTanh: true, graph.NodeTypeLogistic: true, graph.NodeTypeExp: true, graph.NodeTypeExpm1: true,
	graph.NodeTypeLog: true, graph.NodeTypeLog1p: true, graph.NodeTypeSqrt: true, graph.NodeTypeRsqrt: true,
	graph.NodeTypeSin: true, graph.NodeTypeCos: true, graph.NodeTypeErf: true, graph.NodeTypeAbs: true,
}

func (f *forward) knows(n *Node, seen map[graph.NodeId]bool) bool {
	if seen[n.Id()] || !f.reaches(n) {
		return true
	}
	seen[n.Id()] = true
	if n.CustomGradient() != nil {
		return false
	}
	in := n.Inputs()
	switch n.Type() {
	case graph.NodeTypeAdd, graph.NodeTypeSub, graph.NodeTypeMul, graph.NodeTypeDiv,
		graph.NodeTypeNeg, graph.NodeTypeIdentity, graph.NodeTypeReshape, graph.NodeTypeReduceSum, graph.NodeTypeConcatenate:
	case graph.NodeTypeDot:
		if in[0].Rank() != 2 || in[1].Rank() != 2 || f.reaches(in[1]) {
			return false
		}
	default:
		if !unary[n.Type()] {
			return false
		}
	}
	for _, input := range in {
		if !f.knows(input, seen) {
			return false
		}
	}
	return true
}

// push is one pass of directions through the operations. A tangent of a node [dims...] is [k, dims...]: (∂node/∂x) t of
// each of the k directions. Where it is the same along an axis, that axis may be 1 in its place.
type push struct {
	*forward
	k     int
	known map[graph.NodeId]*Node
}

// push starts from directions t of x: [k, batch or 1, dims...].
func (f *forward) push(t *Node) *push {
	return &push{forward: f, k: t.Shape().Dimensions[0], known: map[graph.NodeId]*Node{f.x.Id(): t}}
}

// of returns the tangent of a node that depends on x.
func (p *push) of(n *Node) *Node {
	if t := p.known[n.Id()]; t != nil {
		return t
	}
	t := p.rule(n)
	p.known[n.Id()] = t
	return t
}

func (p *push) rule(n *Node) *Node {
	in := n.Inputs()
	switch n.Type() {
	case graph.NodeTypeAdd, graph.NodeTypeSub:
		sign := func(t *Node) *Node {
			if n.Type() == graph.NodeTypeSub {
				return graph.Neg(t)
			}
			return t
		}
		switch {
		case !p.reaches(in[1]):
			return p.like(in[0], n)
		case !p.reaches(in[0]):
			return sign(p.like(in[1], n))
		case n.Type() == graph.NodeTypeSub:
			return graph.Sub(p.like(in[0], n), p.like(in[1], n))
		}
		return graph.Add(p.like(in[0], n), p.like(in[1], n))
	case graph.NodeTypeMul:
		var t *Node
		for i, input := range in {
			if p.reaches(input) {
				t = plus(t, graph.Mul(p.like(input, n), above(in[1-i])))
			}
		}
		return t
	case graph.NodeTypeDiv:
		var t *Node
		if p.reaches(in[0]) {
			t = graph.Div(p.like(in[0], n), above(in[1]))
		}
		if p.reaches(in[1]) {
			t = plus(t, graph.Neg(graph.Mul(p.like(in[1], n), above(graph.Div(n, in[1])))))
		}
		return t
	case graph.NodeTypeNeg:
		return graph.Neg(p.of(in[0]))
	case graph.NodeTypeIdentity:
		return p.of(in[0])
	case graph.NodeTypeReshape:
		return p.reshaped(in[0], n)
	case graph.NodeTypeReduceSum:
		axes := reducedAxes(n)
		t := p.whole(in[0], 0)
		for i := range axes {
			axes[i]++
		}
		return graph.ReduceSum(t, axes...)
	case graph.NodeTypeConcatenate:
		parts := make([]*Node, len(in))
		for i, input := range in {
			if p.reaches(input) {
				parts[i] = p.whole(input, 0)
			} else {
				parts[i] = graph.Zeros(n.Graph(), shapes.Make(n.DType(), append([]int{p.k}, input.Shape().Dimensions...)...))
			}
		}
		return graph.Concatenate(parts, ints(n, "axis")[0]+1)
	case graph.NodeTypeDot:
		return rowsTimes(p.whole(in[0], 1), in[1])
	}
	return graph.Mul(p.of(in[0]), above(p.slope(n)))
}

// slope is f'(input) of a function of one input.
func (f *forward) slope(n *Node) *Node {
	if f.slopes[n.Id()] == nil {
		f.slopes[n.Id()] = graph.VJPRegistration[n.Type()](n, []*Node{graph.OnesLike(n)}, n.Shape())[0]
	}
	return f.slopes[n.Id()]
}

// like is the tangent of an input with as many axes as its node n has, one more than the number of directions.
func (p *push) like(input, n *Node) *Node {
	t := p.of(input)
	for t.Rank() < n.Rank()+1 { // a scalar beside an array
		t = graph.InsertAxes(t, -1)
	}
	return t
}

// whole is the tangent of a node with every axis but the first lazy ones at its length.
func (p *push) whole(n *Node, lazy int) *Node {
	t := p.of(n)
	dims := append([]int{p.k}, n.Shape().Dimensions...)
	for axis := 1; axis <= lazy; axis++ {
		dims[axis] = t.Shape().Dimensions[axis]
	}
	return graph.BroadcastToDims(t, dims...)
}

// reshaped keeps a lazy batch lazy where reshaping leaves the batch alone.
func (p *push) reshaped(in, n *Node) *Node {
	from, to := in.Shape().Dimensions, n.Shape().Dimensions
	if len(from) == 0 || len(to) == 0 || from[0] != to[0] {
		return graph.Reshape(p.whole(in, 0), append([]int{p.k}, to...)...)
	}
	t := p.whole(in, 1)
	return graph.Reshape(t, append([]int{p.k, t.Shape().Dimensions[1]}, to[1:]...)...)
}

// pair is two arrays [k, batch or 1, width] whose product, added up over its last axis, is vᵀ(∂s/∂x)t of each direction
// and row, or a part of it.
type pair struct{ t, u *Node }

// pairs returns those of a node for v, [k, batch or 1, dims...]. It moves v back through what follows the last layer, and
// through that layer, too: its product with v costs no more than that with a tangent, but has nothing to do with x.
func (p *push) pairs(n, v *Node) []pair {
	if !p.reaches(n) {
		return nil
	}
	in := n.Inputs()
	same := func(input *Node) bool { return input.Shape().Equal(n.Shape()) }
	if n != p.x {
		switch n.Type() {
		case graph.NodeTypeAdd:
			if (same(in[0]) || !p.reaches(in[0])) && (same(in[1]) || !p.reaches(in[1])) {
				return append(p.pairs(in[0], v), p.pairs(in[1], v)...)
			}
		case graph.NodeTypeMul:
			for i, input := range in {
				if same(input) && !p.reaches(in[1-i]) {
					return p.pairs(input, graph.Mul(v, above(in[1-i])))
				}
			}
		case graph.NodeTypeDiv:
			if same(in[0]) && !p.reaches(in[1]) {
				return p.pairs(in[0], graph.Div(v, above(in[1])))
			}
		case graph.NodeTypeNeg:
			return p.pairs(in[0], graph.Neg(v))
		case graph.NodeTypeReshape:
			from, to := in[0].Shape().Dimensions, n.Shape().Dimensions
			if len(from) > 0 && from[0] == to[0] {
				return p.pairs(in[0], graph.Reshape(v, append(slices.Clone(v.Shape().Dimensions[:2]), from[1:]...)...))
			}
		case graph.NodeTypeDot:
			return []pair{{p.whole(in[0], 1), rowsTimes(v, transposed(in[1]))}}
		}
	}
	return []pair{{flatRows(p.whole(n, 1)), flatRows(v)}}
}

// each is vᵀ(∂s/∂x)t of each direction and row, [k, batch].
func (p *push) each(terms []pair, batch int) *Node {
	sum := graph.Zeros(p.x.Graph(), shapes.Make(p.x.DType(), p.k, batch))
	for _, term := range terms {
		product := graph.Mul(term.t, term.u)
		n, width := product.Shape().Dimensions[1], product.Shape().Dimensions[2]
		one := rows.Sum(graph.Reshape(product, p.k*n, width))
		sum = graph.Add(sum, graph.BroadcastToDims(graph.Reshape(one, p.k, n), p.k, batch))
	}
	return sum
}

// total is the sum of each over the directions, [batch]. The directions are added up before the numbers of a row, which are
// next to one another in memory.
func (p *push) total(terms []pair, batch int) *Node {
	sum := graph.Zeros(p.x.Graph(), shapes.Make(p.x.DType(), batch))
	for _, term := range terms {
		var one *Node
		if p.k == 1 && term.u.Shape().Dimensions[1] == 1 {
			t := term.t.Shape().Dimensions
			one = graph.Dot(graph.Reshape(term.t, t[1], t[2]), graph.Reshape(term.u, t[2]))
		} else {
			one = rows.Sum(graph.ReduceSum(graph.Mul(term.t, term.u), 0))
		}
		sum = graph.Add(sum, graph.BroadcastToDims(one, batch))
	}
	return sum
}

// flatRows is [k, n, dims...] as [k, n, width].
func flatRows(t *Node) *Node {
	k, n := t.Shape().Dimensions[0], t.Shape().Dimensions[1]
	return graph.Reshape(t, k, n, t.Shape().Size()/(k*n))
}

// rowsTimes is the product of [k, n, in] with a matrix [in, out].
func rowsTimes(t, matrix *Node) *Node {
	k, n := t.Shape().Dimensions[0], t.Shape().Dimensions[1]
	flat := graph.Dot(graph.Reshape(t, k*n, t.Shape().Dimensions[2]), matrix)
	return graph.Reshape(flat, k, n, flat.Shape().Dimensions[1])
}

// above is a node below all directions: [1, dims...], and a scalar as it is.
func above(n *Node) *Node {
	if n.IsScalar() {
		return n
	}
	return graph.InsertAxes(n, 0)
}

func plus(sum, term *Node) *Node {
	if sum == nil {
		return term
	}
	return graph.Add(sum, term)
}

// pushRows is about how many rows the matrix of directions is to have: enough for a fast product, and not so many that it
// would fill the memory.
const pushRows = 4096

// total is the sum of vᵀ(∂s/∂x)v over k directions v, [batch]; v gives some of them, [to−from, batch or 1, dims...].
func (f *forward) total(s *Node, k int, v func(from, to int) *Node) (sum *Node) {
	f.inGroups(k, func(from, to int) {
		directions := v(from, to)
		p := f.push(directions)
		sum = plus(sum, p.total(p.pairs(s, directions), f.x.Shape().Dimensions[0]))
	})
	return sum
}

// each is uᵀ(∂s/∂x)v of each of k pairs, [k, batch].
func (f *forward) each(s *Node, k int, u, v func(from, to int) *Node) *Node {
	var parts []*Node
	f.inGroups(k, func(from, to int) {
		p := f.push(v(from, to))
		parts = append(parts, p.each(p.pairs(s, u(from, to)), f.x.Shape().Dimensions[0]))
	})
	return graph.Concatenate(parts, 0)
}

// some gives a part of vectors [k, batch, dims...].
func some(vectors *Node) func(from, to int) *Node {
	return func(from, to int) *Node { return graph.Slice(vectors, graph.AxisRange(from, to)) }
}

// inGroups calls do with the bounds of groups of k directions that have about pushRows rows for the batch.
func (f *forward) inGroups(k int, do func(from, to int)) {
	size := max(1, pushRows/f.x.Shape().Dimensions[0])
	for from := 0; from < k; from += size {
		do(from, min(from+size, k))
	}
}

// axesOf is the unit directions from to to−1 of x, [to−from, 1, dims...].
func axesOf(x *Node, from, to int) *Node {
	number := graph.AddScalar(graph.Iota(x.Graph(), shapes.Make(dtypes.Int32, to-from), 0), float64(from))
	return graph.Reshape(graph.OneHot(number, rowSize(x), x.DType()), append([]int{to - from, 1}, x.Shape().Dimensions[1:]...)...)
}
