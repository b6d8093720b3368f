package data

import (
	"fmt"
	"math"

	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/random"
)

// Clusters is K Gaussians in d dimensions, each as likely:
//
//	p(x) = (1/K) Σₖ N(x; mₖ, s² I)
//
// The means are the corners of a regular simplex in the first K−1 coordinates, at the distance R from the origin and
// √(2K/(K−1)) R from one another, for which K may be at most d+1: E x = 0 and E|x|² = R² + d s². With Random they are
// instead drawn from N(0, R²/d I), once and for all as Random says: any K will do, and some may lie close together. The
// zero value has d = 10, K = 5, R = 4 and s = 0.5.
type Clusters struct {
	Dim    int     // d: 0 means 10
	Modes  int     // K: 0 means 5; at least 2
	Radius float64 // R: 0 means 4
	Std    float64 // s: 0 means 0.5
	Random int64   // the seed of random means: 0 means a simplex
}

var _ Toy = Clusters{}

func (c Clusters) settings() Clusters {
	if c.Dim == 0 {
		c.Dim = 10
	}
	if c.Modes == 0 {
		c.Modes = 5
	}
	c.Radius = orDefault(c.Radius, 4)
	c.Std = orDefault(c.Std, 0.5)
	return c
}

// Validate returns an error that names an impossible setting.
func (c Clusters) Validate() error {
	s := c.settings()
	if s.Dim < 1 || s.Dim > 10_000 {
		return fmt.Errorf("data: Clusters: dim %d: must be from 1 to 10000", s.Dim)
	}
	if s.Modes < 2 || s.Modes > 10_000 {
		return fmt.Errorf("data: Clusters: modes %d: must be from 2 to 10000", s.Modes)
	}
	if s.Random == 0 && s.Modes > s.Dim+1 {
		return fmt.Errorf("data: Clusters: modes %d: must be at most %d, the corners of a simplex in %d dimensions, or at Random", s.Modes, s.Dim+1, s.Dim)
	}
	return checkPositive("Clusters", []string{"radius", "std"}, s.Radius, s.Std)
}

// centers returns the means.
func (c Clusters) centers() [][]float64 {
	centers := make([][]float64, c.Modes)
	for k := range centers {
		centers[k] = make([]float64, c.Dim)
	}
	if c.Random != 0 {
		rng := generator(c.Random)
		for _, m := range centers {
			for j := range m {
				m[j] = c.Radius / math.Sqrt(float64(c.Dim)) * rng.NormFloat64()
			}
		}
		return centers
	}
	// Coordinate j tells corner j+1 from those before it: the rows of Helmert's matrix, of length 1 and at right angles.
	scale := c.Radius * math.Sqrt(float64(c.Modes)/float64(c.Modes-1))
	for j := range c.Modes - 1 {
		unit := scale / math.Sqrt(float64((j+1)*(j+2)))
		for k := range j + 1 {
			centers[k][j] = unit
		}
		centers[j+1][j] = -float64(j+1) * unit
	}
	return centers
}

// Density returns the exact distribution. The error is that of [Clusters.Validate].
func (c Clusters) Density() (density.Mixture, error) {
	if err := c.Validate(); err != nil {
		return density.Mixture{}, err
	}
	s := c.settings()
	modes := make([]density.Gaussian, s.Modes)
	for k, m := range s.centers() {
		var err error
		if modes[k], err = density.Isotropic(m, s.Std); err != nil {
			return density.Mixture{}, fmt.Errorf("data: Clusters: %w", err)
		}
	}
	return density.NewMixture(nil, modes...)
}

// Sample returns n independent draws, float32 [n, d], labelled with their modes. The same seed gives the same set. It
// returns an error when n is below 1 or a setting is impossible.
func (c Clusters) Sample(n int, seed int64) (Set, error) {
	if err := checkSample("Clusters", n, c.Validate()); err != nil {
		return Set{}, err
	}
	s, rng := c.settings(), generator(seed)
	centers, row := s.centers(), make([]float64, s.Dim)
	return drawRows("clusters", n, s.Dim, func() ([]float64, int) {
		k := rng.IntN(s.Modes)
		for j, m := range centers[k] {
			row[j] = m + s.Std*rng.NormFloat64()
		}
		return row, k
	}), nil
}

// Shape returns [d], the shape of one draw.
func (c Clusters) Shape() []int { return []int{c.settings().Dim} }

// Batch adds n fresh draws to the graph, [n, d]. vars is not used. It panics, as graph functions do, when a setting is
// impossible or n is below 1.
func (c Clusters) Batch(vars *mlctx.Context, rng *random.Source, n int) *Node {
	return must(c.Density()).Batch(vars, rng, n)
}
