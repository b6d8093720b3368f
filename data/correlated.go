package data

import (
	"fmt"
	"math"

	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/random"
)

// Correlated is a Gaussian in d dimensions of which each coordinate takes after the one before it:
//
//	p(x) = N(x; 0, Σ),  Σᵢⱼ = ρ^|i−j|
//	x₁ = z₁,  xᵢ = ρ xᵢ₋₁ + √(1−ρ²) zᵢ,  z ~ N(0, I)
//
// Every coordinate has variance 1, so E|x|² = d; the widest direction is up to (1+ρ)/(1−ρ) wider, in variance, than
// N(0, I), the narrowest as much narrower. The zero value has d = 10 and ρ = 0.9.
type Correlated struct {
	Dim         int     // d: 0 means 10
	Correlation float64 // ρ: 0 means 0.9; above −1 and below 1
}

var _ Toy = Correlated{}

func (c Correlated) settings() Correlated {
	if c.Dim == 0 {
		c.Dim = 10
	}
	c.Correlation = orDefault(c.Correlation, 0.9)
	return c
}

// Validate returns an error that names an impossible setting.
func (c Correlated) Validate() error {
	s := c.settings()
	if s.Dim < 1 || s.Dim > 1000 {
		return fmt.Errorf("data: Correlated: dim %d: must be from 1 to 1000", s.Dim)
	}
	if !(math.Abs(s.Correlation) < 1) {
		return fmt.Errorf("data: Correlated: correlation %v: must be above -1 and below 1", s.Correlation)
	}
	return nil
}

// Density returns the exact distribution. The error is that of [Correlated.Validate], or says that Σ is singular to
// rounding.
func (c Correlated) Density() (density.Gaussian, error) {
	if err := c.Validate(); err != nil {
		return density.Gaussian{}, err
	}
	s := c.settings()
	cov := make([][]float64, s.Dim)
	for i := range cov {
		cov[i] = make([]float64, s.Dim)
		for j := range cov[i] {
			cov[i][j] = math.Pow(s.Correlation, math.Abs(float64(i-j)))
		}
	}
	g, err := density.NewGaussian(make([]float64, s.Dim), cov)
	if err != nil {
		return density.Gaussian{}, fmt.Errorf("data: Correlated: %w", err)
	}
	return g, nil
}

// Sample returns n independent draws, float32 [n, d]. The same seed gives the same set. It returns an error when n is
// below 1 or a setting is impossible.
func (c Correlated) Sample(n int, seed int64) (Set, error) {
	if err := checkSample("Correlated", n, c.Validate()); err != nil {
		return Set{}, err
	}
	s, rng := c.settings(), generator(seed)
	fresh := math.Sqrt((1 - s.Correlation) * (1 + s.Correlation))
	row := make([]float64, s.Dim)
	return drawRows("correlated", n, s.Dim, func() ([]float64, int) {
		row[0] = rng.NormFloat64()
		for i := 1; i < s.Dim; i++ {
			row[i] = s.Correlation*row[i-1] + fresh*rng.NormFloat64()
		}
		return row, -1
	}), nil
}

// Shape returns [d], the shape of one draw.
func (c Correlated) Shape() []int { return []int{c.settings().Dim} }

// Batch adds n fresh draws to the graph, [n, d]. vars is not used. It panics, as graph functions do, when a setting is
// impossible or n is below 1.
func (c Correlated) Batch(vars *mlctx.Context, rng *random.Source, n int) *Node {
	return must(c.Density()).Batch(vars, rng, n)
}
