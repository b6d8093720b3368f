package density

import (
	"slices"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit/random"
)

// Pareto is the product of d Pareto distributions with least values mᵢ and exponents αᵢ, on x ≥ m:
//
//	log p(x) = Σᵢ ( log αᵢ + αᵢ log mᵢ − (αᵢ+1) log xᵢ ),   −∞ where any xᵢ < mᵢ
//	∂ log p/∂xᵢ = −(αᵢ+1)/xᵢ
//
// p jumps from α/m to 0 at the boundary, so that implicit score matching does not hold: the usual counterexample.
// Where xᵢ < mᵢ there is no score; its coordinate i is given as 0. Make one with [NewPareto].
type Pareto struct {
	least, alpha []float64
}

var _ Density = Pareto{}

// NewPareto returns the product of Pareto distributions with the given least values and exponents, which must be as
// many, finite and positive.
func NewPareto(least, alpha []float64) (Pareto, error) {
	if err := checkAll("Pareto", checkFinite("least", least), checkPositive("least", least, len(least)), checkPositive("alpha", alpha, len(least))); err != nil {
		return Pareto{}, err
	}
	return Pareto{slices.Clone(least), slices.Clone(alpha)}, nil
}

// Dim returns d.
func (p Pareto) Dim() int { return len(p.least) }

// Validate returns an error for a zero value, which is not a distribution.
func (p Pareto) Validate() error { return validate("Pareto", p.Dim()) }

// Mean returns the mean, αᵢmᵢ/(αᵢ−1), or nil when any αᵢ ≤ 1: there is no mean.
func (p Pareto) Mean() []float64 {
	if slices.ContainsFunc(p.alpha, func(a float64) bool { return a <= 1 }) {
		return nil
	}
	mean := make([]float64, p.Dim())
	for i, a := range p.alpha {
		mean[i] = a * p.least[i] / (a - 1)
	}
	return mean
}

// Cov returns the covariance, with the variances αᵢmᵢ²/((αᵢ−1)²(αᵢ−2)), or nil when any αᵢ ≤ 2: there is no covariance.
func (p Pareto) Cov() [][]float64 {
	if slices.ContainsFunc(p.alpha, func(a float64) bool { return a <= 2 }) {
		return nil
	}
	variances := make([]float64, p.Dim())
	for i, a := range p.alpha {
		variances[i] = a * p.least[i] * p.least[i] / ((a - 1) * (a - 1) * (a - 2))
	}
	return diagonalMatrix(variances)
}

// LogDensity returns log p(x): [batch, d] → [batch]; −Inf outside the support. It panics, as graph functions do, when
// x has another shape.
func (p Pareto) LogDensity(x *Node) *Node {
	d := p.Dim()
	checkPoints("Pareto", d, x, nil)
	least := constant(x, p.least, 1, d)
	powers := graph.AddScalar(constant(x, p.alpha, 1, d), 1)
	isOutside := graph.LessThan(x, least)
	// log(x/m) is near 0 where p is large, and a point outside must not reach the logarithm.
	ratio := graph.Where(isOutside, graph.OnesLike(x), graph.Div(x, least))
	terms := graph.Where(isOutside, graph.Infinity(x.Graph(), x.DType(), 1), graph.Mul(powers, graph.Log(ratio)))
	return graph.AddScalar(graph.Neg(graph.ReduceSum(terms, 1)), sumLog(p.alpha)-sumLog(p.least))
}

// Energy returns −log p(x): [batch, d] → [batch]; +Inf outside the support. It panics, as graph functions do, when x
// has another shape.
func (p Pareto) Energy(x *Node) *Node { return graph.Neg(p.LogDensity(x)) }

// Score returns ∇ log p(x): [batch, d] → [batch, d]. vars is not used. It panics, as graph functions do, when x has
// another shape or sigma is not nil.
func (p Pareto) Score(_ *mlctx.Context, x, sigma *Node) *Node {
	d := p.Dim()
	checkClean("Pareto", d, x, sigma)
	isOutside := graph.LessThan(x, constant(x, p.least, 1, d))
	powers := graph.AddScalar(constant(x, p.alpha, 1, d), 1)
	score := graph.Neg(graph.Div(powers, graph.Where(isOutside, graph.OnesLike(x), x)))
	return graph.Where(isOutside, graph.ZerosLike(x), score)
}

// Shape returns [d], the shape of one draw.
func (p Pareto) Shape() []int { return []int{p.Dim()} }

// Batch returns n independent draws, m u^(−1/α) with u uniform, of rng's dtype: [n, d]. Draws beyond the range of the
// dtype, as a small α makes them, are moved to about its end. vars is not used. It panics, as graph functions do, when
// n is below 1.
func (p Pareto) Batch(_ *mlctx.Context, rng *random.Source, n int) *Node {
	d := p.Dim()
	checkBatch("Pareto", d, n)
	u := rng.Uniform(n, d)
	log := graph.Neg(graph.Mul(graph.Log(u), constant(u, inverses(p.alpha), 1, d)))
	return graph.StopGradient(graph.Mul(expWithin(log), constant(u, p.least, 1, d)))
}
