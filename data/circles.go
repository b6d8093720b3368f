package data

import (
	"fmt"
	"math"

	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/random"
)

// Circles is two circles about the origin, one in the other, with noise s:
//
//	x = r (cos t, sin t) + s z,  t uniform on [0, 2π],  z ~ N(0, I)
//	r = R for label 0,  r for label 1, each as likely.
//
// E x = 0 and E|x|² = (R² + r²)/2 + 2s². The zero value has R = 2, r = 1 and s = 0.1.
type Circles struct {
	Outer float64 // R: 0 means 2
	Inner float64 // r: 0 means 1; below R
	Noise float64 // s: 0 means 0.1
}

var _ Toy = Circles{}

func (c Circles) settings() Circles {
	c.Outer = orDefault(c.Outer, 2)
	c.Inner = orDefault(c.Inner, 1)
	c.Noise = orDefault(c.Noise, 0.1)
	return c
}

// Validate returns an error that names an impossible setting.
func (c Circles) Validate() error {
	s := c.settings()
	if err := checkPositive("Circles", []string{"outer", "inner", "noise"}, s.Outer, s.Inner, s.Noise); err != nil {
		return err
	}
	if s.Inner >= s.Outer {
		return fmt.Errorf("data: Circles: inner %v: must be below outer, %v", s.Inner, s.Outer)
	}
	return nil
}

// Density returns the distribution, exact to rounding: the integral along each circle is a sum over points that lie
// closer together than s. The error is that of [Circles.Validate], or says that s is too small for such a sum.
func (c Circles) Density() (density.Mixture, error) {
	if err := c.Validate(); err != nil {
		return density.Mixture{}, err
	}
	s := c.settings()
	circle := func(r float64) curve {
		return curve{0, 2 * math.Pi, func(t float64) (x, y float64) { return r * math.Cos(t), r * math.Sin(t) }, r, nil}
	}
	return blurred("Circles", s.Noise, circle(s.Outer), circle(s.Inner))
}

// Sample returns n independent draws, float32 [n, 2], labelled 0 (outer circle) or 1. The same seed gives the same set.
// It returns an error when n is below 1 or a setting is impossible.
func (c Circles) Sample(n int, seed int64) (Set, error) {
	if err := checkSample("Circles", n, c.Validate()); err != nil {
		return Set{}, err
	}
	s, rng := c.settings(), generator(seed)
	return draw("circles", n, func() (x, y float64, label int) {
		label = rng.IntN(2)
		r := []float64{s.Outer, s.Inner}[label]
		sin, cos := math.Sincos(2 * math.Pi * rng.Float64())
		return r*cos + s.Noise*rng.NormFloat64(), r*sin + s.Noise*rng.NormFloat64(), label
	}), nil
}

// Shape returns [2], the shape of one draw.
func (Circles) Shape() []int { return []int{2} }

// Batch adds n fresh draws from the density to the graph, [n, 2]. vars is not used. It panics, as graph functions do,
// when Density returns an error or n is below 1.
func (c Circles) Batch(vars *mlctx.Context, rng *random.Source, n int) *Node {
	return must(c.Density()).Batch(vars, rng, n)
}
