package data

import (
	"fmt"
	"math"

	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/random"
)

// Ring is a ring of Gaussians, the usual first test of whether a method finds every mode:
//
//	p(x) = (1/K) Σₖ N(x; R (cos θₖ, sin θₖ), s² I),  θₖ = 2πk/K,  k = 0 … K−1
//
// so that E x = 0 and E|x|² = R² + 2s². The zero value is the ring of 8 with R = 4 and s = 0.3.
type Ring struct {
	Modes  int     // K: 0 means 8; at least 2
	Radius float64 // R: 0 means 4
	Std    float64 // s: 0 means 0.3
}

var _ Toy = Ring{}

func (r Ring) settings() Ring {
	if r.Modes == 0 {
		r.Modes = 8
	}
	r.Radius = orDefault(r.Radius, 4)
	r.Std = orDefault(r.Std, 0.3)
	return r
}

// Validate returns an error that names an impossible setting.
func (r Ring) Validate() error {
	s := r.settings()
	if s.Modes < 2 {
		return fmt.Errorf("data: Ring: modes %d: must be at least 2", s.Modes)
	}
	return checkPositive("Ring", []string{"radius", "std"}, s.Radius, s.Std)
}

// Density returns the exact distribution. The error is that of [Ring.Validate].
func (r Ring) Density() (density.Mixture, error) {
	if err := r.Validate(); err != nil {
		return density.Mixture{}, err
	}
	s := r.settings()
	modes := make([]density.Gaussian, s.Modes)
	for k := range modes {
		var err error
		if modes[k], err = density.Isotropic(s.center(k), s.Std); err != nil {
			return density.Mixture{}, fmt.Errorf("data: Ring: %w", err)
		}
	}
	return density.NewMixture(nil, modes...)
}

// center returns the mean of mode k.
func (r Ring) center(k int) []float64 {
	sin, cos := math.Sincos(2 * math.Pi * float64(k) / float64(r.Modes))
	return []float64{r.Radius * cos, r.Radius * sin}
}

// Sample returns n independent draws, float32 [n, 2], labelled with their modes k. The same seed gives the same set.
// It returns an error when n is below 1 or a setting is impossible.
func (r Ring) Sample(n int, seed int64) (Set, error) {
	if err := checkSample("Ring", n, r.Validate()); err != nil {
		return Set{}, err
	}
	s, rng := r.settings(), generator(seed)
	return draw("ring", n, func() (x, y float64, label int) {
		k := rng.IntN(s.Modes)
		c := s.center(k)
		return c[0] + s.Std*rng.NormFloat64(), c[1] + s.Std*rng.NormFloat64(), k
	}), nil
}

// Shape returns [2], the shape of one draw.
func (Ring) Shape() []int { return []int{2} }

// Batch adds n fresh draws to the graph, [n, 2]. vars is not used. It panics, as graph functions do, when a setting
// is impossible or n is below 1.
func (r Ring) Batch(vars *mlctx.Context, rng *random.Source, n int) *Node {
	return must(r.Density()).Batch(vars, rng, n)
}
