package density

import (
	"slices"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit/random"
)

// Exponential is the product of d exponential distributions with rates λᵢ, on x ≥ 0:
//
//	log p(x) = Σᵢ ( log λᵢ − λᵢxᵢ ),   −∞ where any xᵢ < 0
//	∂ log p/∂xᵢ = −λᵢ
//
// p jumps from λᵢ to 0 at the boundary, so that integration by parts leaves a boundary term there: E s = −λ, not 0,
// and implicit score matching does not hold. Where xᵢ < 0 there is no score; its coordinate i is given as 0. Make one
// with [NewExponential].
type Exponential struct {
	rate []float64
}

var _ Density = Exponential{}

// NewExponential returns the product of exponential distributions with the given rates, which must be finite and
// positive.
func NewExponential(rate []float64) (Exponential, error) {
	if err := checkAll("Exponential", checkFinite("rate", rate), checkPositive("rate", rate, len(rate))); err != nil {
		return Exponential{}, err
	}
	return Exponential{slices.Clone(rate)}, nil
}

// Dim returns d.
func (e Exponential) Dim() int { return len(e.rate) }

// Validate returns an error for a zero value, which is not a distribution.
func (e Exponential) Validate() error { return validate("Exponential", e.Dim()) }

// Mean returns the mean, 1/λᵢ.
func (e Exponential) Mean() []float64 { return inverses(e.rate) }

// Cov returns the covariance, with the variances 1/λᵢ².
func (e Exponential) Cov() [][]float64 {
	variances := make([]float64, len(e.rate))
	for i, r := range e.rate {
		variances[i] = 1 / (r * r)
	}
	return diagonalMatrix(variances)
}

// LogDensity returns log p(x): [batch, d] → [batch]; −Inf outside the support. It panics, as graph functions do, when
// x has another shape.
func (e Exponential) LogDensity(x *Node) *Node {
	checkPoints("Exponential", e.Dim(), x, nil)
	rates := constant(x, e.rate, 1, e.Dim())
	terms := graph.Where(graph.LessThan(x, graph.ZerosLike(x)), graph.Infinity(x.Graph(), x.DType(), 1), graph.Mul(rates, x))
	return graph.AddScalar(graph.Neg(graph.ReduceSum(terms, 1)), sumLog(e.rate))
}

// Energy returns −log p(x): [batch, d] → [batch]; +Inf outside the support. It panics, as graph functions do, when x
// has another shape.
func (e Exponential) Energy(x *Node) *Node { return graph.Neg(e.LogDensity(x)) }

// Score returns ∇ log p(x): [batch, d] → [batch, d]. vars is not used. It panics, as graph functions do, when x has
// another shape or sigma is not nil.
func (e Exponential) Score(_ *mlctx.Context, x, sigma *Node) *Node {
	checkClean("Exponential", e.Dim(), x, sigma)
	zeros := graph.ZerosLike(x)
	return graph.Where(graph.LessThan(x, zeros), zeros, graph.Sub(zeros, constant(x, e.rate, 1, e.Dim())))
}

// Shape returns [d], the shape of one draw.
func (e Exponential) Shape() []int { return []int{e.Dim()} }

// Batch returns n independent draws, −log(u)/λ with u uniform, of rng's dtype: [n, d]. vars is not used. It panics, as
// graph functions do, when n is below 1.
func (e Exponential) Batch(_ *mlctx.Context, rng *random.Source, n int) *Node {
	d := e.Dim()
	checkBatch("Exponential", d, n)
	u := rng.Uniform(n, d)
	return graph.StopGradient(graph.Neg(graph.Mul(graph.Log(u), constant(u, inverses(e.rate), 1, d))))
}
