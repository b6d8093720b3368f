package density

import (
	"math"
	"slices"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit/random"
)

// Logistic is the product of d logistic distributions with means μᵢ and scales sᵢ; with uᵢ = (xᵢ−μᵢ)/sᵢ,
//
//	log p(x) = −Σᵢ ( |uᵢ| + 2 log(1+e^{−|uᵢ|}) + log sᵢ )      (p = sech²(u/2)/4s, written without overflow)
//	∂ log p/∂xᵢ = −tanh(uᵢ/2)/sᵢ
//
// Its score is that of Laplace far out and smooth in between. Make one with [NewLogistic].
type Logistic struct {
	mean, scale []float64
}

var _ Density = Logistic{}

// NewLogistic returns the product of logistic distributions with the given means and scales, which must be as many,
// finite and, for the scales, positive.
func NewLogistic(mean, scale []float64) (Logistic, error) {
	if err := checkAll("Logistic", checkFinite("mean", mean), checkPositive("scale", scale, len(mean))); err != nil {
		return Logistic{}, err
	}
	return Logistic{slices.Clone(mean), slices.Clone(scale)}, nil
}

// Dim returns d.
func (l Logistic) Dim() int { return len(l.mean) }

// Validate returns an error for a zero value, which is not a distribution.
func (l Logistic) Validate() error { return validate("Logistic", l.Dim()) }

// Mean returns μ.
func (l Logistic) Mean() []float64 { return slices.Clone(l.mean) }

// Cov returns the covariance, with the variances π²sᵢ²/3.
func (l Logistic) Cov() [][]float64 {
	variances := make([]float64, len(l.scale))
	for i, s := range l.scale {
		variances[i] = math.Pi * math.Pi * s * s / 3
	}
	return diagonalMatrix(variances)
}

// LogDensity returns log p(x): [batch, d] → [batch]. It panics, as graph functions do, when x has another shape.
func (l Logistic) LogDensity(x *Node) *Node {
	checkPoints("Logistic", l.Dim(), x, nil)
	away := graph.Abs(l.unit(x))
	terms := graph.Add(away, graph.MulScalar(graph.Log1P(graph.Exp(graph.Neg(away))), 2))
	return graph.Neg(graph.AddScalar(graph.ReduceSum(terms, 1), sumLog(l.scale)))
}

// Energy returns −log p(x): [batch, d] → [batch]. It panics, as graph functions do, when x has another shape.
func (l Logistic) Energy(x *Node) *Node { return graph.Neg(l.LogDensity(x)) }

// Score returns ∇ log p(x): [batch, d] → [batch, d]. vars is not used. It panics, as graph functions do, when x has
// another shape or sigma is not nil.
func (l Logistic) Score(_ *mlctx.Context, x, sigma *Node) *Node {
	checkClean("Logistic", l.Dim(), x, sigma)
	bend := graph.Tanh(graph.MulScalar(l.unit(x), 0.5))
	return graph.Neg(graph.Mul(bend, constant(x, inverses(l.scale), 1, l.Dim())))
}

func (l Logistic) unit(x *Node) *Node {
	return graph.Mul(graph.Sub(x, constant(x, l.mean, 1, l.Dim())), constant(x, inverses(l.scale), 1, l.Dim()))
}

// Shape returns [d], the shape of one draw.
func (l Logistic) Shape() []int { return []int{l.Dim()} }

// Batch returns n independent draws of rng's dtype, [n, d]: μ ± s log((2−v)/v) with v uniform, the quantile of |x−μ|
// with a random sign, which keeps both tails as fine as v is near 0. vars is not used. It panics, as graph functions
// do, when n is below 1.
func (l Logistic) Batch(_ *mlctx.Context, rng *random.Source, n int) *Node {
	d := l.Dim()
	checkBatch("Logistic", d, n)
	sign, v := rng.Rademacher(n, d), rng.Uniform(n, d)
	away := graph.Log1P(graph.MulScalar(graph.Div(graph.OneMinus(v), v), 2))
	unit := graph.Mul(sign, away)
	return graph.StopGradient(graph.Add(constant(unit, l.mean, 1, d), graph.Mul(unit, constant(unit, l.scale, 1, d))))
}
