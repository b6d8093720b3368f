package data

import (
	"fmt"

	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/random"
)

// Grid is Gaussians on a square grid of K×K points, D apart and centred on the origin: many modes, each with neighbours
// on all sides.
//
//	p(x) = (1/K²) Σᵢⱼ N(x; D (i − (K−1)/2, j − (K−1)/2), s² I),  i, j = 0 … K−1
//
// E x = 0 and E|x|² = D²(K²−1)/6 + 2s². The zero value is 5×5 with D = 2 and s = 0.2.
type Grid struct {
	Side    int     // K: 0 means 5; at least 2
	Spacing float64 // D: 0 means 2
	Std     float64 // s: 0 means 0.2
}

var _ Toy = Grid{}

func (g Grid) settings() Grid {
	if g.Side == 0 {
		g.Side = 5
	}
	g.Spacing = orDefault(g.Spacing, 2)
	g.Std = orDefault(g.Std, 0.2)
	return g
}

// Validate returns an error that names an impossible setting.
func (g Grid) Validate() error {
	s := g.settings()
	if s.Side < 2 || s.Side > 100 {
		return fmt.Errorf("data: Grid: side %d: must be from 2 to 100", s.Side)
	}
	return checkPositive("Grid", []string{"spacing", "std"}, s.Spacing, s.Std)
}

// center returns the mean of mode k = iK + j.
func (g Grid) center(k int) []float64 {
	at := func(i int) float64 { return g.Spacing * (float64(i) - float64(g.Side-1)/2) }
	return []float64{at(k / g.Side), at(k % g.Side)}
}

// Density returns the exact distribution. The error is that of [Grid.Validate].
func (g Grid) Density() (density.Mixture, error) {
	if err := g.Validate(); err != nil {
		return density.Mixture{}, err
	}
	s := g.settings()
	modes := make([]density.Gaussian, s.Side*s.Side)
	for k := range modes {
		var err error
		if modes[k], err = density.Isotropic(s.center(k), s.Std); err != nil {
			return density.Mixture{}, fmt.Errorf("data: Grid: %w", err)
		}
	}
	return density.NewMixture(nil, modes...)
}

// Sample returns n independent draws, float32 [n, 2], labelled with their modes iK + j. The same seed gives the same set.
// It returns an error when n is below 1 or a setting is impossible.
func (g Grid) Sample(n int, seed int64) (Set, error) {
	if err := checkSample("Grid", n, g.Validate()); err != nil {
		return Set{}, err
	}
	s, rng := g.settings(), generator(seed)
	return draw("grid", n, func() (x, y float64, label int) {
		k := rng.IntN(s.Side * s.Side)
		c := s.center(k)
		return c[0] + s.Std*rng.NormFloat64(), c[1] + s.Std*rng.NormFloat64(), k
	}), nil
}

// Shape returns [2], the shape of one draw.
func (Grid) Shape() []int { return []int{2} }

// Batch adds n fresh draws to the graph, [n, 2]. vars is not used. It panics, as graph functions do, when a setting is
// impossible or n is below 1.
func (g Grid) Batch(vars *mlctx.Context, rng *random.Source, n int) *Node {
	return must(g.Density()).Batch(vars, rng, n)
}
