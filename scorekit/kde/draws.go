package kde

import (
	"fmt"
	"math"
	"slices"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/numbers"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/random"
)

// Shape returns the dimensions of one point.
func (q Estimate) Shape() []int { return slices.Clone(q.dims) }

// Batch returns n independent draws from q, of rng's dtype, [n, dims...]: for each a centre by its weight, and a draw of the
// kernel added to it. vars keeps the points on the device; it may be nil. It panics, as graph functions do, when n is
// below 1.
func (q Estimate) Batch(vars *mlctx.Context, rng *random.Source, n int) *Node {
	q.checkBatch(n)
	centres, _ := q.stored(vars, rng.Graph(), rng.DType())
	return q.around(graph.Gather(centres, q.choose(vars, rng, n)), rng)
}

func (q Estimate) checkBatch(n int) {
	if err := q.Validate(); err != nil {
		panic(err)
	}
	if n < 1 {
		panic(fmt.Errorf("kde: batch of %d: must be at least 1", n))
	}
}

// around adds a draw of the kernel to each centre, [n, d].
func (q Estimate) around(centres *Node, rng *random.Source) *Node {
	g, dtype, n, d := centres.Graph(), centres.DType(), centres.Shape().Dimensions[0], q.Dim()
	widths := make([]float64, d)
	for k, h := range q.smoothing.h {
		widths[k] = h * q.kernel.width()
	}
	x := graph.Add(centres, graph.Mul(q.kernel.draw(rng, n, d), constant(g, dtype, widths, 1, d)))
	x = q.turnBack(x, []int{n, d})
	if q.isCentred(dtype) {
		x = graph.Add(x, constant(g, dtype, q.centre, 1, d))
	}
	return graph.StopGradient(graph.Reshape(x, append([]int{n}, q.dims...)...))
}

// choose draws n centres by their weights, [n, 1]: a centre uniformly, which is kept with a probability of its own and else
// exchanged for another of its own (Walker 1977).
func (q Estimate) choose(vars *mlctx.Context, rng *random.Source, n int) *Node {
	index := rng.Int(q.Len(), n, 1)
	if q.equal {
		return index
	}
	g, dtype := rng.Graph(), rng.DType()
	chance, other := aliases(q.weights)
	chances := q.keep(vars, g, dtype, "chances", func() []float64 { return chance }, q.Len())
	others := graph.ConstTensor(g, tensors.FromFlatDataAndDimensions(other, q.Len()))
	kept := graph.LessThan(rng.Uniform(n, 1), graph.Reshape(graph.Gather(chances, index), n, 1))
	return graph.StopGradient(graph.Where(kept, index, graph.Reshape(graph.Gather(others, index), n, 1)))
}

// aliases returns the table of Walker's method as Vose (1991) makes it: index i is kept with probability chance[i], and
// else is other[i].
func aliases(weights []float64) (chance []float64, other []int32) {
	n := len(weights)
	chance, other = make([]float64, n), make([]int32, n)
	var small, large []int
	for i, w := range weights {
		chance[i], other[i] = w*float64(n), int32(i)
		if chance[i] < 1 {
			small = append(small, i)
		} else {
			large = append(large, i)
		}
	}
	for len(small) > 0 && len(large) > 0 {
		little, much := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		other[little] = int32(much)
		if chance[much] -= 1 - chance[little]; chance[much] < 1 {
			large, small = large[:len(large)-1], append(small, much)
		}
	}
	for _, i := range append(small, large...) { // 1 but for rounding
		chance[i] = 1
	}
	return chance, other
}

// Subset is an estimate on some of another's centres, drawn inside a graph and belonging to it: it is a [scorekit.Data]
// of draws from q_S(x) = 1/m Σ_{i∈S} K_h(x − xᵢ), and a [scorekit.Model] with its score, at the cost of m centres
// instead of all M. Over the draws of S, its points have the law of the whole estimate.
type Subset struct {
	whole   Estimate
	centres *Node
}

var (
	_ scorekit.Model = Subset{}
	_ scorekit.Data  = Subset{}
)

// Subset draws m centres. Each is in the set as often as its weight says. Centres of equal weight are all different: the
// set is a fixed pattern, spread evenly over the points in their order, that starts at a random one. Centres of
// different weights are drawn independently. vars keeps the points on the device; it may be nil. It panics, as graph
// functions do, unless 1 ≤ m ≤ M.
func (q Estimate) Subset(vars *mlctx.Context, rng *random.Source, m int) Subset {
	if err := q.Validate(); err != nil {
		panic(err)
	}
	if m < 1 || m > q.Len() {
		panic(fmt.Errorf("kde: subset of %d centres: must be from 1 to all %d", m, q.Len()))
	}
	centres, _ := q.stored(vars, rng.Graph(), rng.DType())
	var index *Node
	if q.equal {
		index = pattern(rng, m, q.Len())
	} else {
		index = q.choose(vars, rng, m)
	}
	return Subset{q, graph.StopGradient(graph.Gather(centres, index))}
}

// pattern draws the index i₀ and returns (i₀ + a·k) mod n for k < m, [m, 1]. They are different, as a has no divisor in
// common with n, and spread evenly, as a/n is near the golden section.
func pattern(rng *random.Source, m, n int) *Node {
	a := max(1, int(float64(n)*(math.Sqrt(5)-1)/2))
	for numbers.Divisor(a, n) != 1 {
		a++
	}
	steps := make([]int32, m)
	for k := range steps {
		steps[k] = int32(k * a % n)
	}
	all := graph.Scalar(rng.Graph(), dtypes.Int32, n)
	index := graph.Add(rng.Int(n, 1, 1), graph.ConstTensor(rng.Graph(), tensors.FromFlatDataAndDimensions(steps, m, 1)))
	return graph.Where(graph.GreaterOrEqual(index, all), graph.Sub(index, all), index)
}

// Shape returns the dimensions of one point.
func (s Subset) Shape() []int { return s.whole.Shape() }

// Batch returns n draws from q_S, [n, dims...]. It panics, as graph functions do, when n is below 1.
func (s Subset) Batch(_ *mlctx.Context, rng *random.Source, n int) *Node {
	s.whole.checkBatch(n)
	index := rng.Int(s.centres.Shape().Dimensions[0], n, 1)
	return s.whole.around(graph.Gather(s.centres, index), rng)
}

// Score returns ∇log q_S(x), of x's shape: see [Estimate.Score].
func (s Subset) Score(_ *mlctx.Context, x, sigma *Node) *Node {
	return s.whole.scoreOn(s.centres, nil, x, sigma)
}
