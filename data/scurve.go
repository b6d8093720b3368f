package data

import (
	"fmt"
	"math"

	mlctx "github.com/gomlx/gomlx/pkg/ml/context"
	"gonum.org/v1/gonum/integrate/quad"

	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/random"
)

// SCurve is a band in space, bent to an S, with noise s:
//
//	x = (sin t, sign(t)(cos t − 1), 2v) + s z,  t uniform on [−3π/2, 3π/2],  v uniform on [0, 1],  z ~ N(0, I)
//
// so that the first two coordinates show the S and the third is the height, which does not depend on them. E x = (0, 0,
// 1) and E|x|² = 1/2 + (3/2 + 4/(3π)) + 4/3 + 3s². The zero value has s = 0.1.
type SCurve struct {
	Noise float64 // s: 0 means 0.1
}

var _ Toy = SCurve{}

func (c SCurve) noise() float64 { return orDefault(c.Noise, 0.1) }

// Validate returns an error that names an impossible setting.
func (c SCurve) Validate() error { return checkPositive("SCurve", []string{"noise"}, c.noise()) }

func bend(t float64) (x, y float64) {
	return math.Sin(t), math.Copysign(math.Cos(t)-1, -t)
}

// Density returns the distribution, exact to rounding, as that of the S and that of the height: the integral along each
// is a sum over points that lie closer together than s. The error is that of [SCurve.Validate], or says that s is too
// small for such a sum.
func (c SCurve) Density() (density.Product, error) {
	if err := c.Validate(); err != nil {
		return density.Product{}, err
	}
	s := c.noise()
	// Half an S at a time, as its curvature jumps in the middle.
	bent, err := blurred("SCurve", s, curve{-1.5 * math.Pi, 0, bend, 1, nil}, curve{0, 1.5 * math.Pi, bend, 1, nil})
	if err != nil {
		return density.Product{}, err
	}
	times := make([]float64, int(4*math.Ceil(1/s))+24)
	weights := make([]float64, len(times))
	quad.Legendre{}.FixedLocations(times, weights, 0, 2)
	heights := make([]density.Gaussian, len(times))
	for i, h := range times {
		if heights[i], err = density.Isotropic([]float64{h}, s); err != nil {
			return density.Product{}, fmt.Errorf("data: SCurve: %w", err)
		}
	}
	height, err := density.NewMixture(weights, heights...)
	if err != nil {
		return density.Product{}, fmt.Errorf("data: SCurve: %w", err)
	}
	return density.NewProduct(bent, height)
}

// Sample returns n independent draws, float32 [n, 3]. The same seed gives the same set. It returns an error when n is
// below 1 or a setting is impossible.
func (c SCurve) Sample(n int, seed int64) (Set, error) {
	if err := checkSample("SCurve", n, c.Validate()); err != nil {
		return Set{}, err
	}
	s, rng := c.noise(), generator(seed)
	return drawRows("S-curve", n, 3, func() ([]float64, int) {
		x, y := bend(3 * math.Pi * (rng.Float64() - 0.5))
		return []float64{x + s*rng.NormFloat64(), y + s*rng.NormFloat64(), 2*rng.Float64() + s*rng.NormFloat64()}, -1
	}), nil
}

// Shape returns [3], the shape of one draw.
func (SCurve) Shape() []int { return []int{3} }

// Batch adds n fresh draws from the density to the graph, [n, 3]. vars is not used. It panics, as graph functions do,
// when Density returns an error or n is below 1.
func (c SCurve) Batch(vars *mlctx.Context, rng *random.Source, n int) *Node {
	return must(c.Density()).Batch(vars, rng, n)
}
