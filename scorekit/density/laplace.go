package density

import (
	"math"
	"slices"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit/random"
)

// Laplace is the product of d Laplace distributions with means μᵢ and scales bᵢ:
//
//	log p(x) = −Σᵢ ( |xᵢ−μᵢ|/bᵢ + log 2bᵢ )
//	∂ log p/∂xᵢ = −sign(xᵢ−μᵢ)/bᵢ
//
// The score jumps at the kink xᵢ = μᵢ, where it is given as 0. Its divergence is 0 elsewhere: all of it, −2/bᵢ times a
// delta function, sits at the kink, where no gradient pass sees it. So implicit score matching, which needs a smooth
// score, does not hold for it. Make one with [NewLaplace].
type Laplace struct {
	mean, scale []float64
}

var _ Density = Laplace{}

// NewLaplace returns the product of Laplace distributions with the given means and scales, which must be as many,
// finite and, for the scales, positive.
func NewLaplace(mean, scale []float64) (Laplace, error) {
	if err := checkAll("Laplace", checkFinite("mean", mean), checkPositive("scale", scale, len(mean))); err != nil {
		return Laplace{}, err
	}
	return Laplace{slices.Clone(mean), slices.Clone(scale)}, nil
}

// Dim returns d.
func (l Laplace) Dim() int { return len(l.mean) }

// Validate returns an error for a zero value, which is not a distribution.
func (l Laplace) Validate() error { return validate("Laplace", l.Dim()) }

// Mean returns μ.
func (l Laplace) Mean() []float64 { return slices.Clone(l.mean) }

// Cov returns the covariance, with the variances 2bᵢ².
func (l Laplace) Cov() [][]float64 {
	variances := make([]float64, len(l.scale))
	for i, b := range l.scale {
		variances[i] = 2 * b * b
	}
	return diagonalMatrix(variances)
}

// LogDensity returns log p(x): [batch, d] → [batch]. It panics, as graph functions do, when x has another shape.
func (l Laplace) LogDensity(x *Node) *Node {
	checkPoints("Laplace", l.Dim(), x, nil)
	offset := float64(l.Dim())*math.Ln2 + sumLog(l.scale)
	return graph.Neg(graph.AddScalar(graph.ReduceSum(graph.Abs(l.unit(x)), 1), offset))
}

// Energy returns −log p(x): [batch, d] → [batch]. It panics, as graph functions do, when x has another shape.
func (l Laplace) Energy(x *Node) *Node { return graph.Neg(l.LogDensity(x)) }

// Score returns ∇ log p(x): [batch, d] → [batch, d]. vars is not used. It panics, as graph functions do, when x has
// another shape or sigma is not nil.
func (l Laplace) Score(_ *mlctx.Context, x, sigma *Node) *Node {
	checkClean("Laplace", l.Dim(), x, sigma)
	return graph.Neg(graph.Mul(graph.Sign(l.unit(x)), constant(x, inverses(l.scale), 1, l.Dim())))
}

func (l Laplace) unit(x *Node) *Node {
	return graph.Mul(graph.Sub(x, constant(x, l.mean, 1, l.Dim())), constant(x, inverses(l.scale), 1, l.Dim()))
}

// Shape returns [d], the shape of one draw.
func (l Laplace) Shape() []int { return []int{l.Dim()} }

// Batch returns n independent draws, μ ∓ b log u with u uniform, of rng's dtype: [n, d]. vars is not used. It panics,
// as graph functions do, when n is below 1.
func (l Laplace) Batch(_ *mlctx.Context, rng *random.Source, n int) *Node {
	d := l.Dim()
	checkBatch("Laplace", d, n)
	unit := graph.Mul(rng.Rademacher(n, d), graph.Log(rng.Uniform(n, d)))
	return graph.StopGradient(graph.Add(constant(unit, l.mean, 1, d), graph.Mul(unit, constant(unit, l.scale, 1, d))))
}
