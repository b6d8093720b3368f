package density

import (
	"math"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit/random"
)

// Banana is a Gaussian N(0, diag(v, 1, …, 1)) bent along its first axis (Haario, Saksman and Tamminen 1999): with
// y₂ = x₂ + b(x₁²−v),
//
//	E(x) = x₁²/2v + y₂²/2 + Σ_{i≥3} xᵢ²/2,   log p(x) = −E(x) − ½ log v − (d/2) log 2π
//	∇ log p(x) = −( x₁/v + 2b x₁y₂,  y₂,  x₃,  …,  x_d )
//
// The bend keeps volumes, so that it is normalised like the Gaussian. Its mean is 0 and its coordinates are
// uncorrelated. Make one with [NewBanana].
type Banana struct {
	d    int
	b, v float64
}

var _ Density = Banana{}

// NewBanana returns the density in d ≥ 2 dimensions; b = 0.1 and v = 100 are usual. b must be finite and v positive.
func NewBanana(d int, b, v float64) (Banana, error) {
	if err := checkAll("Banana", checkDim(d, 2), checkOneFinite("b", b), checkOnePositive("v", v)); err != nil {
		return Banana{}, err
	}
	return Banana{d, b, v}, nil
}

// Dim returns d.
func (b Banana) Dim() int { return b.d }

// Validate returns an error for a zero value, which is not a distribution.
func (b Banana) Validate() error { return validate("Banana", b.d) }

// Mean returns the mean, 0.
func (b Banana) Mean() []float64 { return make([]float64, b.d) }

// Cov returns the covariance, diag(v, 1+2b²v², 1, …, 1).
func (b Banana) Cov() [][]float64 {
	variances := b.variances()
	if b.d > 0 {
		variances[1] += 2 * b.b * b.b * b.v * b.v
	}
	return diagonalMatrix(variances)
}

// variances returns those of the straight Gaussian.
func (b Banana) variances() []float64 {
	variances := make([]float64, b.d)
	for i := range variances {
		variances[i] = 1
	}
	if b.d > 0 {
		variances[0] = b.v
	}
	return variances
}

// Energy returns E(x): [batch, d] → [batch]. It panics, as graph functions do, when x has another shape.
func (b Banana) Energy(x *Node) *Node {
	checkPoints("Banana", b.d, x, nil)
	unit := graph.Mul(b.straight(x), constant(x, inverses(roots(b.variances())), 1, b.d))
	return graph.MulScalar(graph.ReduceSum(graph.Square(unit), 1), 0.5)
}

// LogDensity returns log p(x): [batch, d] → [batch]. It panics, as graph functions do, when x has another shape.
func (b Banana) LogDensity(x *Node) *Node {
	return graph.Neg(graph.AddScalar(b.Energy(x), 0.5*math.Log(b.v)+0.5*float64(b.d)*math.Log(2*math.Pi)))
}

// Score returns ∇ log p(x): [batch, d] → [batch, d]. vars is not used. It panics, as graph functions do, when x has
// another shape or sigma is not nil.
func (b Banana) Score(_ *mlctx.Context, x, sigma *Node) *Node {
	checkClean("Banana", b.d, x, sigma)
	y := b.straight(x)
	score := graph.Neg(graph.Mul(y, constant(x, inverses(b.variances()), 1, b.d)))
	twist := graph.MulScalar(graph.Mul(coordinate(x, 0), coordinate(y, 1)), -2*b.b)
	return graph.Add(score, graph.Mul(twist, axis(x, 0, b.d)))
}

// straight returns x with y₂ in the place of x₂.
func (b Banana) straight(x *Node) *Node { return b.bend(x, 1) }

// bend adds ±b(x₁²−v) to the second coordinate.
func (b Banana) bend(x *Node, sign float64) *Node {
	bow := graph.MulScalar(graph.AddScalar(graph.Square(coordinate(x, 0)), -b.v), sign*b.b)
	return graph.Add(x, graph.Mul(bow, axis(x, 1, b.d)))
}

// Shape returns [d], the shape of one draw.
func (b Banana) Shape() []int { return []int{b.d} }

// Batch returns n independent draws, the bent draws of the Gaussian, of rng's dtype: [n, d]. vars is not used. It
// panics, as graph functions do, when n is below 1.
func (b Banana) Batch(_ *mlctx.Context, rng *random.Source, n int) *Node {
	checkBatch("Banana", b.d, n)
	z := rng.Normal(n, b.d)
	y := graph.Mul(z, constant(z, roots(b.variances()), 1, b.d))
	return graph.StopGradient(b.bend(y, -1))
}
