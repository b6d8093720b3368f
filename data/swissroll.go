package data

import (
	"math"

	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/random"
)

// SwissRoll is a spiral in the plane, the usual roll seen from its end, with noise s:
//
//	x = (t cos t, t sin t) / 5 + s z,  t uniform on [3π/2, 9π/2],  z ~ N(0, I)
//
// The spiral makes one and a half turns from radius 0.3π to 0.9π ≈ 2.8; neighbouring arms are 0.4π ≈ 1.26 apart. The
// zero value has s = 0.1.
type SwissRoll struct {
	Noise float64 // s: 0 means 0.1
}

var _ Toy = SwissRoll{}

// The roll's ends and its scale.
const (
	rollFrom  = 1.5 * math.Pi
	rollTo    = 4.5 * math.Pi
	rollScale = 0.2
)

func (r SwissRoll) noise() float64 { return orDefault(r.Noise, 0.1) }

// Validate returns an error that names an impossible setting.
func (r SwissRoll) Validate() error { return checkPositive("SwissRoll", []string{"noise"}, r.noise()) }

func spiral(t float64) (x, y float64) {
	sin, cos := math.Sincos(t)
	return rollScale * t * cos, rollScale * t * sin
}

// Density returns the distribution, exact to rounding: the integral along the spiral is a sum over points that lie
// closer together than s. The error is that of [SwissRoll.Validate], or says that s is too small for such a sum.
func (r SwissRoll) Density() (density.Mixture, error) {
	if err := r.Validate(); err != nil {
		return density.Mixture{}, err
	}
	return blurred("SwissRoll", r.noise(), curve{rollFrom, rollTo, spiral, rollScale * math.Hypot(1, rollTo), nil})
}

// Sample returns n independent draws, float32 [n, 2]. The same seed gives the same set. It returns an error when n is
// below 1 or a setting is impossible.
func (r SwissRoll) Sample(n int, seed int64) (Set, error) {
	if err := checkSample("SwissRoll", n, r.Validate()); err != nil {
		return Set{}, err
	}
	s, rng := r.noise(), generator(seed)
	return draw("swiss roll", n, func() (x, y float64, label int) {
		x, y = spiral(rollFrom + (rollTo-rollFrom)*rng.Float64())
		return x + s*rng.NormFloat64(), y + s*rng.NormFloat64(), -1
	}), nil
}

// Shape returns [2], the shape of one draw.
func (SwissRoll) Shape() []int { return []int{2} }

// Batch adds n fresh draws from the density to the graph, [n, 2]. vars is not used. It panics, as graph functions do,
// when Density returns an error or n is below 1.
func (r SwissRoll) Batch(vars *mlctx.Context, rng *random.Source, n int) *Node {
	return must(r.Density()).Batch(vars, rng, n)
}
