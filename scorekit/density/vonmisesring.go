package density

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit/random"
)

// VonMisesRing is a ring in the plane that is heavier on one side: the angle θ of x has a von Mises distribution around
// θ₀ with the concentration κ, and the radius r = ‖x‖ that of [Ring], with r₀ and s.
//
//	E(x) = (r−r₀)²/2s² + κ(1 − cos(θ−θ₀)),   log p(x) = −E(x) + κ − log 2πI₀(κ) − log M₁
//	∇ log p(x) = −((r−r₀)/s²) u + (κ/r)(e₀ − (u·e₀)u),   u = x/r, e₀ = (cos θ₀, sin θ₀)
//
// The angle enters through u, so that nothing jumps where an arc tangent would. Near the centre the second part grows
// as 1/r, until r is 10⁻¹⁷ in float32 and 10⁻¹⁵² in float64; at the centre, which has no direction, the score is given
// as 0. M₁ is Ring's and the Bessel function I₀ is integrated on the host, to 12 digits. Make one with
// [NewVonMisesRing].
type VonMisesRing struct {
	ring          Ring
	kappa, theta0 float64
}

var _ Density = VonMisesRing{}

// NewVonMisesRing returns the density with the radius r₀ and the width s of the ring, both positive, the concentration
// κ, positive or 0, and the angle θ₀ in radians.
func NewVonMisesRing(radius, width, kappa, theta0 float64) (VonMisesRing, error) {
	var concentration error
	if kappa != 0 && !isPositive(kappa) {
		concentration = fmt.Errorf("kappa %v: must be 0 or positive and its square finite", kappa)
	}
	if err := checkAll("VonMisesRing", checkOnePositive("radius", radius), checkOnePositive("width", width), concentration, checkOneFinite("theta0", theta0)); err != nil {
		return VonMisesRing{}, err
	}
	return VonMisesRing{Ring{2, radius, width}, kappa, theta0}, nil
}

// Dim returns 2.
func (v VonMisesRing) Dim() int { return v.ring.d }

// Validate returns an error for a zero value, which is not a distribution.
func (v VonMisesRing) Validate() error { return validate("VonMisesRing", v.ring.d) }

// Energy returns E(x): [batch, 2] → [batch]. It panics, as graph functions do, when x has another shape.
func (v VonMisesRing) Energy(x *Node) *Node {
	checkPoints("VonMisesRing", v.ring.d, x, nil)
	norm, direction := polar(x)
	_, versine := v.angle(direction)
	return graph.Reshape(graph.Add(v.ring.radialEnergy(norm), graph.MulScalar(versine, v.kappa)), -1)
}

// LogDensity returns log p(x): [batch, 2] → [batch]. It panics, as graph functions do, when x has another shape.
func (v VonMisesRing) LogDensity(x *Node) *Node {
	energy := v.Energy(x)
	// Both sides of θ₀ together: 2πI₀(κ)e^{−κ}.
	return graph.Neg(graph.AddScalar(energy, math.Ln2+v.side().logMass()+v.ring.logMoment(1)))
}

// Score returns ∇ log p(x): [batch, 2] → [batch, 2]. vars is not used. It panics, as graph functions do, when x has
// another shape or sigma is not nil.
func (v VonMisesRing) Score(_ *mlctx.Context, x, sigma *Node) *Node {
	checkClean("VonMisesRing", v.ring.d, x, sigma)
	norm, direction := polar(x)
	away, versine := v.angle(direction)
	// e₀ − (u·e₀)u = (e₀−u) + (1 − u·e₀)u, whose parts are small near θ₀.
	along := graph.Add(away, graph.Mul(versine, direction))
	isCentre := graph.Equal(norm, graph.ZerosLike(norm))
	distance := graph.Where(isCentre, graph.OnesLike(norm), graph.MaxScalar(norm, math.Exp(-logLimit(x.DType())/2)))
	strength := graph.Where(isCentre, graph.ZerosLike(norm), graph.MulScalar(graph.Reciprocal(distance), v.kappa))
	return graph.Add(v.ring.radialScore(norm, direction), graph.Mul(strength, along))
}

// angle returns e₀−u, [batch, 2], and 1 − cos(θ−θ₀) = ½‖e₀−u‖², [batch, 1], for directions u.
func (v VonMisesRing) angle(direction *Node) (away, versine *Node) {
	sin, cos := math.Sincos(v.theta0)
	away = graph.Sub(constant(direction, []float64{cos, sin}, 1, 2), direction)
	return away, graph.MulScalar(graph.ReduceAndKeep(graph.Square(away), graph.ReduceSum, 1), 0.5)
}

// side is the density of |θ−θ₀|, proportional to e^{−κ(1−cos)}.
func (v VonMisesRing) side() line {
	return newLine(func(angle float64) float64 {
		s := math.Sin(angle / 2)
		return -2 * v.kappa * s * s
	}, 0, min(math.Pi, 1/math.Sqrt(v.kappa)), 0, math.Pi)
}

// Shape returns [2], the shape of one draw.
func (v VonMisesRing) Shape() []int { return []int{2} }

// Batch returns n independent draws of rng's dtype, [n, 2]: r (cos θ, sin θ). Radius and angle are drawn by tables (see
// the package's documentation). vars is not used. It panics, as graph functions do, when n is below 1.
func (v VonMisesRing) Batch(_ *mlctx.Context, rng *random.Source, n int) *Node {
	checkBatch("VonMisesRing", v.ring.d, n)
	radius := v.ring.radii(rng, n)
	away := graph.Mul(rng.Rademacher(n, 1), v.side().push(rng.Normal(n, 1)))
	angle := graph.AddScalar(away, v.theta0)
	x := graph.Concatenate([]*Node{graph.Cos(angle), graph.Sin(angle)}, 1)
	return graph.StopGradient(graph.Mul(radius, x))
}
