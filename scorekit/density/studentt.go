package density

import (
	"fmt"
	"math"
	"slices"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit/autodiff"
	"github.com/scorekit/lab/scorekit/random"
)

// StudentT is the multivariate Student-t distribution with ν degrees of freedom, mean μ and scale matrix S (which is
// not its covariance: that is S ν/(ν−2)):
//
//	log p(x) = log Γ((ν+d)/2) − log Γ(ν/2) − (d/2) log νπ − ½ log det S − ((ν+d)/2) log(1 + q/ν)
//	∇ log p(x) = −(ν+d) S⁻¹(x−μ) / (ν+q),   q = (x−μ)ᵀ S⁻¹ (x−μ)
//
// Its tails fall off as ‖x‖^−(ν+d), so that far out the score goes to 0 as (ν+d)/‖x‖, where a Gaussian's grows. ν = 1
// is the Cauchy distribution. Make one with [NewStudentT].
type StudentT struct {
	nu    float64
	mean  []float64
	scale principal
}

var _ Density = StudentT{}

// NewStudentT returns the Student-t distribution with nu > 0 degrees of freedom, not only whole ones. scale is d×d,
// symmetric and positive definite; an error names the entry or eigenvalue that is not as it must be.
func NewStudentT(nu float64, mean []float64, scale [][]float64) (StudentT, error) {
	if err := checkAll("StudentT", checkOnePositive("degrees of freedom", nu), checkFinite("mean", mean)); err != nil {
		return StudentT{}, err
	}
	p, err := newPrincipal("scale", scale, len(mean))
	if err != nil {
		return StudentT{}, fmt.Errorf("density: StudentT: %w", err)
	}
	return StudentT{nu, slices.Clone(mean), p}, nil
}

// Dim returns d.
func (t StudentT) Dim() int { return len(t.mean) }

// Validate returns an error for a zero value, which is not a distribution.
func (t StudentT) Validate() error { return validate("StudentT", t.Dim()) }

// Mean returns μ, or nil when ν ≤ 1: there is no mean.
func (t StudentT) Mean() []float64 {
	if t.nu <= 1 {
		return nil
	}
	return slices.Clone(t.mean)
}

// Cov returns S ν/(ν−2), row by row, or nil when ν ≤ 2: there is no covariance.
func (t StudentT) Cov() [][]float64 {
	if t.nu <= 2 {
		return nil
	}
	cov := t.scale.matrix()
	for _, row := range cov {
		for j := range row {
			row[j] *= t.nu / (t.nu - 2)
		}
	}
	return cov
}

// LogDensity returns log p(x): [batch, d] → [batch]. It panics, as graph functions do, when x has another shape.
func (t StudentT) LogDensity(x *Node) *Node {
	checkPoints("StudentT", t.Dim(), x, nil)
	d := float64(t.Dim())
	_, shrink, rest := t.at(x)
	log := graph.Sub(graph.Log1P(graph.AddScalar(rest, -1)), graph.MulScalar(graph.Log(shrink), 2))
	offset := logGammaRatio(t.nu, t.Dim()) - 0.5*d*math.Log(t.nu*math.Pi) - 0.5*sumLog(t.scale.variances)
	return graph.AddScalar(graph.MulScalar(graph.Reshape(log, -1), -0.5*(t.nu+d)), offset)
}

// Energy returns −log p(x): [batch, d] → [batch]. It panics, as graph functions do, when x has another shape.
func (t StudentT) Energy(x *Node) *Node { return graph.Neg(t.LogDensity(x)) }

// Score returns ∇ log p(x): [batch, d] → [batch, d]. vars is not used. It panics, as graph functions do, when x has
// another shape or sigma is not nil.
func (t StudentT) Score(_ *mlctx.Context, x, sigma *Node) *Node {
	checkClean("StudentT", t.Dim(), x, sigma)
	unit, shrink, rest := t.at(x)
	pull := graph.Div(graph.Mul(unit, shrink), rest)
	inverse := graph.MulScalar(constant(x, inverses(roots(t.scale.variances)), 1, t.Dim()), -(t.nu+float64(t.Dim()))/t.nu)
	return t.scale.turnBack(graph.Mul(pull, inverse))
}

// at returns the coordinates of x along the principal axes, in units of their scales and times m, [batch, d]; m,
// [batch, 1], one over the largest of them or over 1; and m²(1 + q/ν), [batch, 1]. So no square overflows, however far
// a point lies. m cancels in what is made of them: derivatives are right although none passes through it.
func (t StudentT) at(x *Node) (unit, shrink, rest *Node) {
	d := t.Dim()
	away := t.scale.turn(graph.Sub(x, constant(x, t.mean, 1, d)))
	unit = graph.Mul(away, constant(x, inverses(roots(t.scale.variances)), 1, d))
	largest := graph.StopGradient(graph.MaxScalar(autodiff.StableMax(graph.Abs(unit), 1), 1))
	unit = graph.Div(unit, largest) // times the reciprocal, XLA would square both and overflow after all
	shrink = graph.Reciprocal(largest)
	square := graph.ReduceAndKeep(graph.Square(unit), graph.ReduceSum, 1)
	return unit, shrink, graph.Add(graph.Square(shrink), graph.DivScalar(square, t.nu))
}

// logGammaRatio is log Γ((ν+d)/2) − log Γ(ν/2), without the cancellation of the two for large ν.
func logGammaRatio(nu float64, d int) float64 {
	h, sum := nu/2, 0.0
	if d%2 == 1 { // from h to h + ½
		if h > 100 { // the asymptotic series of the ratio; the next term is below 1e-15
			h2 := h * h
			sum = 0.5*math.Log(h) - 1/(8*h) + 1/(192*h*h2) - 1/(640*h*h2*h2)
		} else {
			above, _ := math.Lgamma(h + 0.5)
			at, _ := math.Lgamma(h)
			sum = above - at
		}
		h += 0.5
	}
	for range d / 2 { // Γ(h+1) = h Γ(h)
		sum += math.Log(h)
		h++
	}
	return sum
}

// Shape returns [d], the shape of one draw.
func (t StudentT) Shape() []int { return []int{t.Dim()} }

// Batch returns n independent draws, μ + S^½ z / √(c/ν) with z normal and c χ² with ν degrees of freedom, of rng's dtype:
// [n, d]. log c is drawn by a table (see the package's documentation), for any ν and in a fixed number of operations.
// Draws beyond the range of the dtype, as a small ν makes them, are moved to about its end. vars is not used. It
// panics, as graph functions do, when n is below 1.
func (t StudentT) Batch(_ *mlctx.Context, rng *random.Source, n int) *Node {
	d := t.Dim()
	checkBatch("StudentT", d, n)
	z, w := rng.Normal(n, d), rng.Normal(n, 1)
	stretch := expWithin(graph.MulScalar(t.logRatio().push(w), -0.5))
	spread := graph.Mul(graph.Mul(z, constant(z, roots(t.scale.variances), 1, d)), stretch)
	return graph.StopGradient(graph.Add(t.scale.turnBack(spread), constant(z, t.mean, 1, d)))
}

// logRatio is the density of w = log(c/ν), c being χ² with ν degrees of freedom: proportional to exp(ν/2 (w − eʷ)).
func (t StudentT) logRatio() line {
	logq := func(w float64) float64 {
		if math.Abs(w) < 0.01 { // the series of 1 + w − eʷ, which cancels
			return -t.nu / 2 * w * w * (1./2 + w*(1./6+w*(1./24+w*(1./120+w*(1./720+w/5040)))))
		}
		return t.nu / 2 * (w - math.Expm1(w))
	}
	return newLine(logq, 0, math.Sqrt(2/t.nu), math.Inf(-1), math.Inf(1))
}
