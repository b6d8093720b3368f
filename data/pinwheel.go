package data

import (
	"fmt"
	"math"

	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/random"
)

// Pinwheel is K arms around the origin that bend the more the further out they are, with noise s:
//
//	x = R t (cos φ, sin φ) + s z,  φ = 2πk/K + c eᵗ,  z ~ N(0, I)
//
// with label k, each as likely, and t from N(1, w²) cut off at 4 deviations. It is the pinwheel of M. Johnson et al.
// (2016, Composing graphical models with neural networks for structured representations and fast inference), with the
// noise the same in all directions. E x = 0 and E|x|² = R²(1 + 0.99893 w²) + 2s². The zero value has 5 arms with R = 2,
// w = 0.3, c = 0.25 and s = 0.15.
type Pinwheel struct {
	Arms   int     // K: 0 means 5; at least 2
	Radius float64 // R: 0 means 2
	Length float64 // w, of an arm, as a share of R: 0 means 0.3; at most 0.5
	Bend   float64 // c: 0 means 0.25; at most 1
	Noise  float64 // s: 0 means 0.15
}

var _ Toy = Pinwheel{}

func (p Pinwheel) settings() Pinwheel {
	if p.Arms == 0 {
		p.Arms = 5
	}
	p.Radius = orDefault(p.Radius, 2)
	p.Length = orDefault(p.Length, 0.3)
	p.Bend = orDefault(p.Bend, 0.25)
	p.Noise = orDefault(p.Noise, 0.15)
	return p
}

// Validate returns an error that names an impossible setting.
func (p Pinwheel) Validate() error {
	s := p.settings()
	if s.Arms < 2 || s.Arms > 100 {
		return fmt.Errorf("data: Pinwheel: arms %d: must be from 2 to 100", s.Arms)
	}
	if err := checkPositive("Pinwheel", []string{"radius", "length", "bend", "noise"}, s.Radius, s.Length, s.Bend, s.Noise); err != nil {
		return err
	}
	if s.Length > 0.5 {
		return fmt.Errorf("data: Pinwheel: length %v: must be at most 0.5", s.Length)
	}
	if s.Bend > 1 {
		return fmt.Errorf("data: Pinwheel: bend %v: must be at most 1", s.Bend)
	}
	return nil
}

// cut is where the normal distribution along an arm ends, in deviations.
const cut = 4

// at is arm k at z deviations from its middle.
func (p Pinwheel) at(k int, z float64) (x, y float64) {
	t := 1 + p.Length*z
	sin, cos := math.Sincos(2*math.Pi*float64(k)/float64(p.Arms) + p.Bend*math.Exp(t))
	return p.Radius * t * cos, p.Radius * t * sin
}

// Density returns the distribution, exact to rounding: the integral along each arm is a sum over points that lie closer
// together than s. The error is that of [Pinwheel.Validate], or says that s is too small for such a sum.
func (p Pinwheel) Density() (density.Mixture, error) {
	if err := p.Validate(); err != nil {
		return density.Mixture{}, err
	}
	s := p.settings()
	end := 1 + cut*s.Length
	speed := s.Radius * s.Length * math.Hypot(1, end*s.Bend*math.Exp(end))
	arms := make([]curve, s.Arms)
	for k := range arms {
		arms[k] = curve{-cut, cut, func(z float64) (x, y float64) { return s.at(k, z) }, speed,
			func(z float64) float64 { return math.Exp(-z * z / 2) }}
	}
	return blurred("Pinwheel", s.Noise, arms...)
}

// Sample returns n independent draws, float32 [n, 2], labelled with their arms. The same seed gives the same set. It
// returns an error when n is below 1 or a setting is impossible.
func (p Pinwheel) Sample(n int, seed int64) (Set, error) {
	if err := checkSample("Pinwheel", n, p.Validate()); err != nil {
		return Set{}, err
	}
	s, rng := p.settings(), generator(seed)
	return draw("pinwheel", n, func() (x, y float64, label int) {
		label = rng.IntN(s.Arms)
		z := rng.NormFloat64()
		for math.Abs(z) > cut {
			z = rng.NormFloat64()
		}
		x, y = s.at(label, z)
		return x + s.Noise*rng.NormFloat64(), y + s.Noise*rng.NormFloat64(), label
	}), nil
}

// Shape returns [2], the shape of one draw.
func (Pinwheel) Shape() []int { return []int{2} }

// Batch adds n fresh draws from the density to the graph, [n, 2]. vars is not used. It panics, as graph functions do,
// when Density returns an error or n is below 1.
func (p Pinwheel) Batch(vars *mlctx.Context, rng *random.Source, n int) *Node {
	return must(p.Density()).Batch(vars, rng, n)
}
