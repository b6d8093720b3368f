package data

import (
	"math"

	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/random"
)

// TwoMoons is two half circles that reach into one another, with noise s:
//
//	x = m(t) + s z,  t uniform on [0, π],  z ~ N(0, I)
//	m(t) = (cos t, sin t) for label 0,  (1 − cos t, ½ − sin t) for label 1, each as likely.
//
// Turned by half a turn about (½, ¼), its mean, each moon is the other. The zero value has s = 0.1.
type TwoMoons struct {
	Noise float64 // s: 0 means 0.1
}

var _ Toy = TwoMoons{}

func (m TwoMoons) noise() float64 { return orDefault(m.Noise, 0.1) }

// Validate returns an error that names an impossible setting.
func (m TwoMoons) Validate() error { return checkPositive("TwoMoons", []string{"noise"}, m.noise()) }

func upperMoon(t float64) (x, y float64) { return math.Cos(t), math.Sin(t) }
func lowerMoon(t float64) (x, y float64) { return 1 - math.Cos(t), 0.5 - math.Sin(t) }

// Density returns the distribution, exact to rounding: the integral along each moon is a sum over points that lie
// closer together than s. The error is that of [TwoMoons.Validate], or says that s is too small for such a sum.
func (m TwoMoons) Density() (density.Mixture, error) {
	if err := m.Validate(); err != nil {
		return density.Mixture{}, err
	}
	return blurred("TwoMoons", m.noise(), curve{0, math.Pi, upperMoon, 1, nil}, curve{0, math.Pi, lowerMoon, 1, nil})
}

// Sample returns n independent draws, float32 [n, 2], labelled 0 (upper moon) or 1. The same seed gives the same set.
// It returns an error when n is below 1 or a setting is impossible.
func (m TwoMoons) Sample(n int, seed int64) (Set, error) {
	if err := checkSample("TwoMoons", n, m.Validate()); err != nil {
		return Set{}, err
	}
	s, rng := m.noise(), generator(seed)
	return draw("two moons", n, func() (x, y float64, label int) {
		label = rng.IntN(2)
		x, y = []func(float64) (float64, float64){upperMoon, lowerMoon}[label](math.Pi * rng.Float64())
		return x + s*rng.NormFloat64(), y + s*rng.NormFloat64(), label
	}), nil
}

// Shape returns [2], the shape of one draw.
func (TwoMoons) Shape() []int { return []int{2} }

// Batch adds n fresh draws from the density to the graph, [n, 2]. vars is not used. It panics, as graph functions do,
// when Density returns an error or n is below 1.
func (m TwoMoons) Batch(vars *mlctx.Context, rng *random.Source, n int) *Node {
	return must(m.Density()).Batch(vars, rng, n)
}
