package density

import (
	"fmt"
	"math"
	"slices"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit/random"
)

// Gaussian is the normal distribution N(μ, Σ) in d dimensions:
//
//	log p(x) = −½ (x−μ)ᵀ Σ⁻¹ (x−μ) − ½ log det Σ − (d/2) log 2π
//	∇ log p(x) = −Σ⁻¹ (x−μ)
//
// Convolved with N(0, σ²I) it is N(μ, Σ+σ²I). Make one with [NewGaussian], [Diagonal] or [Isotropic].
type Gaussian struct {
	mean []float64
	cov  principal
}

var _ Density = Gaussian{}

// NewGaussian returns N(mean, cov). cov is d×d, symmetric and positive definite; an error names the entry or
// eigenvalue that is not as it must be.
func NewGaussian(mean []float64, cov [][]float64) (Gaussian, error) {
	if err := checkAll("Gaussian", checkFinite("mean", mean)); err != nil {
		return Gaussian{}, err
	}
	p, err := newPrincipal("covariance", cov, len(mean))
	if err != nil {
		return Gaussian{}, fmt.Errorf("density: Gaussian: %w", err)
	}
	return Gaussian{slices.Clone(mean), p}, nil
}

// Diagonal returns the Gaussian with independent coordinates of the given means and standard deviations, which must
// be as many, finite and positive.
func Diagonal(mean, std []float64) (Gaussian, error) {
	if err := checkAll("Gaussian", checkFinite("mean", mean), checkPositive("std", std, len(mean))); err != nil {
		return Gaussian{}, err
	}
	variances := make([]float64, len(std))
	for i, s := range std {
		variances[i] = s * s
	}
	return Gaussian{slices.Clone(mean), principal{variances: variances}}, nil
}

// Isotropic returns N(mean, std² I). std must be finite and positive.
func Isotropic(mean []float64, std float64) (Gaussian, error) {
	return Diagonal(mean, slices.Repeat([]float64{std}, len(mean)))
}

// Dim returns d.
func (g Gaussian) Dim() int { return len(g.mean) }

// Mean returns μ.
func (g Gaussian) Mean() []float64 { return slices.Clone(g.mean) }

// Cov returns Σ, row by row.
func (g Gaussian) Cov() [][]float64 { return g.cov.matrix() }

// Validate returns an error for a zero value, which is not a distribution.
func (g Gaussian) Validate() error { return validate("Gaussian", g.Dim()) }

// Noised returns the density of x + σz with x from g and z standard normal: N(μ, Σ+σ²I). sigma must be finite and not
// negative.
func (g Gaussian) Noised(sigma float64) (Gaussian, error) {
	if err := g.Validate(); err != nil {
		return Gaussian{}, err
	}
	cov, err := g.cov.noised(sigma)
	if err != nil {
		return Gaussian{}, fmt.Errorf("density: Gaussian: Noised: %w", err)
	}
	return Gaussian{g.mean, cov}, nil
}

// LogDensity returns log p(x): [batch, d] → [batch]. It panics, as graph functions do, when x has another shape.
func (g Gaussian) LogDensity(x *Node) *Node { return g.LogDensityNoised(x, nil) }

// Energy returns −log p(x): [batch, d] → [batch]. It panics, as graph functions do, when x has another shape.
func (g Gaussian) Energy(x *Node) *Node { return graph.Neg(g.LogDensity(x)) }

// LogDensityNoised returns log p_σ(x), the log-density at x of p convolved with N(0, σ²I), where sigma holds the σ of
// each point, [batch], or is nil for none. It panics, as graph functions do, when the shapes do not fit.
func (g Gaussian) LogDensityNoised(x, sigma *Node) *Node {
	checkPoints("Gaussian", g.Dim(), x, sigma)
	logp, _ := g.at(x, sigma)
	return logp
}

// Score returns ∇ log p(x), [batch, d], or ∇ log p_σ(x) when sigma, [batch], is not nil: −(Σ+σ²I)⁻¹(x−μ). vars is not
// used. It panics, as graph functions do, when the shapes do not fit.
func (g Gaussian) Score(_ *mlctx.Context, x, sigma *Node) *Node {
	checkPoints("Gaussian", g.Dim(), x, sigma)
	_, score := g.at(x, sigma)
	return score
}

// at returns log p_σ and its gradient at x. Distances are divided by standard deviations before they are squared, so
// that neither a narrow mode nor a far point needs numbers beyond the range of the dtype.
func (g Gaussian) at(x, sigma *Node) (logp, score *Node) {
	d := g.Dim()
	away := g.cov.turn(graph.Sub(x, constant(x, g.mean, 1, d)))
	inverse, logScale := scales(x, sigma, g.cov.variances, d)
	unit := graph.Mul(away, inverse)
	logp = graph.Sub(graph.MulScalar(graph.ReduceSum(graph.Square(unit), 1), -0.5), logScale)
	return logp, g.cov.turnBack(graph.Neg(graph.Mul(unit, inverse)))
}

// Shape returns [d], the shape of one draw.
func (g Gaussian) Shape() []int { return []int{g.Dim()} }

// Batch returns n independent draws, μ + V√λ z, of rng's dtype: [n, d]. vars is not used. It panics, as graph
// functions do, when n is below 1.
func (g Gaussian) Batch(_ *mlctx.Context, rng *random.Source, n int) *Node {
	d := g.Dim()
	checkBatch("Gaussian", d, n)
	return g.push(rng.Normal(n, d))
}

// push turns standard normal draws into draws of g.
func (g Gaussian) push(z *Node) *Node {
	d := g.Dim()
	x := g.cov.turnBack(graph.Mul(z, constant(z, roots(g.cov.variances), 1, d)))
	return graph.Add(x, constant(z, g.mean, 1, d))
}

// scales returns 1/√(λ+σ²) and Σ log √(λ+σ²) + (d/2) log 2π, d the number of coordinates: shapes [1, d] and [1]
// without sigma, [batch, d] and [batch] with it. Without sigma they are computed in float64 on the host.
func scales(x, sigma *Node, variances []float64, d int) (inverse, logScale *Node) {
	if sigma == nil {
		inverses, total := make([]float64, d), 0.5*float64(d)*math.Log(2*math.Pi)
		for i, v := range variances {
			inverses[i] = 1 / math.Sqrt(v)
			total += 0.5 * math.Log(v)
		}
		return constant(x, inverses, 1, d), constant(x, []float64{total}, 1)
	}
	variance := graph.Add(graph.InsertAxes(graph.Square(sigma), -1), constant(x, variances, 1, d))
	logScale = graph.AddScalar(graph.MulScalar(graph.ReduceSum(graph.Log(variance), 1), 0.5), 0.5*float64(d)*math.Log(2*math.Pi))
	return graph.Reciprocal(graph.Sqrt(variance)), logScale
}

func roots(variances []float64) []float64 {
	r := make([]float64, len(variances))
	for i, v := range variances {
		r[i] = math.Sqrt(v)
	}
	return r
}
