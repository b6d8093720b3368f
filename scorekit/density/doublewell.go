package density

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit/random"
)

// DoubleWell has two wells in every coordinate, at ±1 behind a barrier of height a, and ties neighbours together:
//
//	E(x) = a Σᵢ (xᵢ²−1)² + c Σ_{i<d} xᵢxᵢ₊₁
//	−∂E/∂xᵢ = −4a xᵢ(xᵢ²−1) − c(xᵢ₋₁+xᵢ₊₁)
//
// A coupling c < 0 makes neighbours alike and c > 0 makes them opposite. Without coupling, and in one dimension, the
// coordinates are independent: then p is normalised by a one-dimensional integral, computed on the host to 12 digits,
// and drawn. With coupling neither is known. Make one with [NewDoubleWell].
type DoubleWell struct {
	d                 int
	barrier, coupling float64
}

var _ Density = DoubleWell{}

// NewDoubleWell returns the density in d dimensions with barriers of height a > 0 and the coupling c, which must be
// finite.
func NewDoubleWell(d int, a, c float64) (DoubleWell, error) {
	if err := checkAll("DoubleWell", checkDim(d, 1), checkOnePositive("a", a), checkOneFinite("c", c)); err != nil {
		return DoubleWell{}, err
	}
	if d == 1 {
		c = 0 // there is no neighbour
	}
	return DoubleWell{d, a, c}, nil
}

// Dim returns d.
func (w DoubleWell) Dim() int { return w.d }

// Validate returns an error for a zero value, which is not a distribution.
func (w DoubleWell) Validate() error { return validate("DoubleWell", w.d) }

// Energy returns E(x): [batch, d] → [batch]. It panics, as graph functions do, when x has another shape.
func (w DoubleWell) Energy(x *Node) *Node {
	checkPoints("DoubleWell", w.d, x, nil)
	energy := graph.MulScalar(graph.ReduceSum(graph.Square(graph.AddScalar(graph.Square(x), -1)), 1), w.barrier)
	if w.coupling == 0 {
		return energy
	}
	pairs := graph.Mul(graph.Slice(x, graph.AxisRange(), graph.AxisRangeFromStart(w.d-1)), graph.Slice(x, graph.AxisRange(), graph.AxisRangeToEnd(1)))
	return graph.Add(energy, graph.MulScalar(graph.ReduceSum(pairs, 1), w.coupling))
}

// LogDensity returns log p(x): [batch, d] → [batch]. It panics, as graph functions do, when x has another shape and
// when coordinates are coupled: the normalising constant is not known.
func (w DoubleWell) LogDensity(x *Node) *Node {
	energy := w.Energy(x)
	if w.coupling != 0 {
		panic(fmt.Errorf("density: DoubleWell: the normalising constant with the coupling %v is not known, only with 0: use Energy", w.coupling))
	}
	return graph.Neg(graph.AddScalar(energy, float64(w.d)*(math.Ln2+w.half().logMass())))
}

// Score returns ∇ log p(x): [batch, d] → [batch, d]. vars is not used. It panics, as graph functions do, when x has
// another shape or sigma is not nil.
func (w DoubleWell) Score(_ *mlctx.Context, x, sigma *Node) *Node {
	checkClean("DoubleWell", w.d, x, sigma)
	score := graph.MulScalar(graph.Mul(x, graph.AddScalar(graph.Square(x), -1)), -4*w.barrier)
	if w.coupling == 0 {
		return score
	}
	edge := graph.ZerosLike(coordinate(x, 0))
	before := graph.Concatenate([]*Node{edge, graph.Slice(x, graph.AxisRange(), graph.AxisRangeFromStart(w.d-1))}, 1)
	after := graph.Concatenate([]*Node{graph.Slice(x, graph.AxisRange(), graph.AxisRangeToEnd(1)), edge}, 1)
	return graph.Sub(score, graph.MulScalar(graph.Add(before, after), w.coupling))
}

// half is the density of |xᵢ| without coupling.
func (w DoubleWell) half() line {
	scale := min(1/math.Sqrt(8*w.barrier), 1) // of one well; of both together where the barrier is low, or less
	return newLine(func(x float64) float64 {
		depth := (x - 1) * (x + 1)
		return -w.barrier * depth * depth
	}, 1, scale, 0, math.Inf(1))
}

// Shape returns [d], the shape of one draw.
func (w DoubleWell) Shape() []int { return []int{w.d} }

// Batch returns n independent draws of rng's dtype, [n, d]: a distance from 0, drawn by a table (see the package's
// documentation), with a random sign. vars is not used. It panics, as graph functions do, when n is below 1 and when
// coordinates are coupled: there are no exact draws.
func (w DoubleWell) Batch(_ *mlctx.Context, rng *random.Source, n int) *Node {
	checkBatch("DoubleWell", w.d, n)
	if w.coupling != 0 {
		panic(fmt.Errorf("density: DoubleWell: there are no exact draws with the coupling %v, only with 0: sample from its score", w.coupling))
	}
	return graph.StopGradient(graph.Mul(rng.Rademacher(n, w.d), w.half().push(rng.Normal(n, w.d))))
}
