package density

import (
	"math"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit/random"
)

// Ring has its mass near the sphere of radius r₀: a ring in two dimensions, a shell in three or more, two modes in one.
//
//	E(x) = (‖x‖−r₀)²/2s²,   log p(x) = −E(x) − log A_d − log M_{d−1}
//	∇ log p(x) = −((‖x‖−r₀)/s²) x/‖x‖,   0 at the centre, which has no direction
//
// p is a density in x, so that the radius r has the density r^{d−1} e^{−(r−r₀)²/2s²}/M_{d−1}. A_d = 2π^{d/2}/Γ(d/2) is the
// area of the unit sphere and M_k the k-th moment of the half-line, by integration by parts:
//
//	M_k = ∫₀^∞ rᵏ e^{−(r−r₀)²/2s²} dr = r₀M_{k−1} + (k−1)s²M_{k−2},   M₁ = r₀M₀ + s² e^{−r₀²/2s²},   M₀ = s√(π/2) erfc(−r₀/s√2)
//
// Make one with [NewRing].
type Ring struct {
	d             int
	radius, width float64
}

var _ Density = Ring{}

// NewRing returns the density in d dimensions with the radius r₀ and the width s of the ring, both positive.
func NewRing(d int, radius, width float64) (Ring, error) {
	if err := checkAll("Ring", checkDim(d, 1), checkOnePositive("radius", radius), checkOnePositive("width", width)); err != nil {
		return Ring{}, err
	}
	return Ring{d, radius, width}, nil
}

// Dim returns d.
func (r Ring) Dim() int { return r.d }

// Validate returns an error for a zero value, which is not a distribution.
func (r Ring) Validate() error { return validate("Ring", r.d) }

// Mean returns the mean, 0.
func (r Ring) Mean() []float64 { return make([]float64, r.d) }

// Cov returns the covariance, (M_{d+1}/M_{d−1}) I/d.
func (r Ring) Cov() [][]float64 {
	variances := make([]float64, r.d)
	for i := range variances {
		variances[i] = math.Exp(r.logMoment(r.d+1)-r.logMoment(r.d-1)) / float64(r.d)
	}
	return diagonalMatrix(variances)
}

// logMoment is log M_k. Ratios of neighbouring moments do not overflow for any k.
func (r Ring) logMoment(k int) float64 {
	s2 := r.width * r.width
	unit := r.radius / r.width
	zeroth := r.width * math.Sqrt(math.Pi/2) * math.Erfc(-unit/math.Sqrt2)
	log, ratio := math.Log(zeroth), 0.0
	for i := 1; i <= k; i++ {
		if i == 1 {
			ratio = r.radius + s2*math.Exp(-unit*unit/2)/zeroth
		} else {
			ratio = r.radius + float64(i-1)*s2/ratio
		}
		log += math.Log(ratio)
	}
	return log
}

// Energy returns E(x): [batch, d] → [batch]. It panics, as graph functions do, when x has another shape.
func (r Ring) Energy(x *Node) *Node {
	checkPoints("Ring", r.d, x, nil)
	norm, _ := polar(x)
	return graph.Reshape(r.radialEnergy(norm), -1)
}

func (r Ring) radialEnergy(norm *Node) *Node {
	return graph.MulScalar(graph.Square(graph.DivScalar(graph.AddScalar(norm, -r.radius), r.width)), 0.5)
}

// LogDensity returns log p(x): [batch, d] → [batch]. It panics, as graph functions do, when x has another shape.
func (r Ring) LogDensity(x *Node) *Node {
	half := float64(r.d) / 2
	gamma, _ := math.Lgamma(half)
	return graph.Neg(graph.AddScalar(r.Energy(x), math.Ln2+half*math.Log(math.Pi)-gamma+r.logMoment(r.d-1)))
}

// Score returns ∇ log p(x): [batch, d] → [batch, d]. vars is not used. It panics, as graph functions do, when x has
// another shape or sigma is not nil.
func (r Ring) Score(_ *mlctx.Context, x, sigma *Node) *Node {
	checkClean("Ring", r.d, x, sigma)
	return r.radialScore(polar(x))
}

func (r Ring) radialScore(norm, direction *Node) *Node {
	return graph.Mul(direction, graph.MulScalar(graph.AddScalar(norm, -r.radius), -1/(r.width*r.width)))
}

// Shape returns [d], the shape of one draw.
func (r Ring) Shape() []int { return []int{r.d} }

// Batch returns n independent draws, a radius times a direction, of rng's dtype: [n, d]. The radius is drawn by a table
// (see the package's documentation). vars is not used. It panics, as graph functions do, when n is below 1.
func (r Ring) Batch(_ *mlctx.Context, rng *random.Source, n int) *Node {
	checkBatch("Ring", r.d, n)
	_, direction := polar(rng.Normal(n, r.d))
	return graph.StopGradient(graph.Mul(r.radii(rng, n), direction))
}

// radii draws n radii, [n, 1].
func (r Ring) radii(rng *random.Source, n int) *Node { return r.radial().push(rng.Normal(n, 1)) }

// radial is the density of the radius.
func (r Ring) radial() line {
	power, s2 := float64(r.d-1), r.width*r.width
	mode := (r.radius + math.Sqrt(r.radius*r.radius+4*power*s2)) / 2
	return newLine(func(x float64) float64 {
		away := (x - r.radius) / r.width
		if power == 0 {
			return -away * away / 2
		}
		return power*math.Log(x/mode) - away*away/2
	}, mode, r.width, 0, math.Inf(1))
}
