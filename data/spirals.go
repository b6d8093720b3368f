package data

import (
	"fmt"
	"math"

	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/random"
)

// Spirals is K spirals that start at the origin and wind around one another, with noise s:
//
//	x = R √u (cos φ, sin φ) + s z,  φ = 2π(T√u + k/K),  u uniform on [0, 1],  z ~ N(0, I)
//
// with label k, each as likely. √u spreads the points almost evenly along the arms, which are R/(TK) apart. E|x|² = R²/2
// + 2s², and E x = 0 for K ≥ 2. The zero value is 2 arms of T = 1.5 turns with R = 3 and s = 0.1.
type Spirals struct {
	Arms   int     // K: 0 means 2
	Turns  float64 // T: 0 means 1.5
	Radius float64 // R: 0 means 3
	Noise  float64 // s: 0 means 0.1
}

var _ Toy = Spirals{}

func (p Spirals) settings() Spirals {
	if p.Arms == 0 {
		p.Arms = 2
	}
	p.Turns = orDefault(p.Turns, 1.5)
	p.Radius = orDefault(p.Radius, 3)
	p.Noise = orDefault(p.Noise, 0.1)
	return p
}

// Validate returns an error that names an impossible setting.
func (p Spirals) Validate() error {
	s := p.settings()
	if s.Arms < 1 || s.Arms > 100 {
		return fmt.Errorf("data: Spirals: arms %d: must be from 1 to 100", s.Arms)
	}
	return checkPositive("Spirals", []string{"turns", "radius", "noise"}, s.Turns, s.Radius, s.Noise)
}

// at is arm k at the share v = √u of its radius.
func (p Spirals) at(k int, v float64) (x, y float64) {
	sin, cos := math.Sincos(2 * math.Pi * (p.Turns*v + float64(k)/float64(p.Arms)))
	return p.Radius * v * cos, p.Radius * v * sin
}

// Density returns the distribution, exact to rounding: the integral along each arm is a sum over points that lie closer
// together than s. The error is that of [Spirals.Validate], or says that s is too small for such a sum.
func (p Spirals) Density() (density.Mixture, error) {
	if err := p.Validate(); err != nil {
		return density.Mixture{}, err
	}
	s := p.settings()
	arms := make([]curve, s.Arms)
	for k := range arms {
		arms[k] = curve{0, 1, func(v float64) (x, y float64) { return s.at(k, v) }, s.Radius * math.Hypot(1, 2*math.Pi*s.Turns),
			func(v float64) float64 { return 2 * v }} // the density of √u
	}
	return blurred("Spirals", s.Noise, arms...)
}

// Sample returns n independent draws, float32 [n, 2], labelled with their arms. The same seed gives the same set. It
// returns an error when n is below 1 or a setting is impossible.
func (p Spirals) Sample(n int, seed int64) (Set, error) {
	if err := checkSample("Spirals", n, p.Validate()); err != nil {
		return Set{}, err
	}
	s, rng := p.settings(), generator(seed)
	return draw("spirals", n, func() (x, y float64, label int) {
		label = rng.IntN(s.Arms)
		x, y = s.at(label, math.Sqrt(rng.Float64()))
		return x + s.Noise*rng.NormFloat64(), y + s.Noise*rng.NormFloat64(), label
	}), nil
}

// Shape returns [2], the shape of one draw.
func (Spirals) Shape() []int { return []int{2} }

// Batch adds n fresh draws from the density to the graph, [n, 2]. vars is not used. It panics, as graph functions do,
// when Density returns an error or n is below 1.
func (p Spirals) Batch(vars *mlctx.Context, rng *random.Source, n int) *Node {
	return must(p.Density()).Batch(vars, rng, n)
}
