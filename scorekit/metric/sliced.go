package metric

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Sliced holds the settings of the sliced Wasserstein distance.
type Sliced struct {
	Projections int     // number of directions, 0 means 256
	Order       float64 // p, at least 1; 0 means 2
	Seed        int64   // of the directions
}

// Distance returns the sliced Wasserstein distance between two sets of points of one dimension d, tensors
// [n, dims...] and [m, dims...] of any two sizes or rows as for [scorekit.Examples],
//
//	SWₚᵖ = E_v ∫₀¹ |F⁻¹_{⟨v,a⟩}(u) − F⁻¹_{⟨v,b⟩}(u)|ᵖ du,  v uniform on the unit sphere
//
// (Bonneel et al. 2015): the mean over directions of the distance in one dimension, to the power p. F⁻¹ are the quantile
// functions of the finite sets, steps of height one point each, and the integral is taken exactly: for n = m it is the
// mean of the differences of the sorted values to the power p. The result has the units of the data. Sets that are a
// shift c apart have the distance ‖c‖/√d for p = 2, up to the choice of directions, whose relative error falls as
// 1/√Projections; [Sliced.Estimate] tells it.
//
// It returns an error for a negative number of projections, for an order below 1, for an empty set, for sets of different
// dimensions, and for values that are not finite.
func (s Sliced) Distance(a, b any) (float64, error) {
	distance, _, err := s.Estimate(a, b)
	return distance, err
}

// Estimate is [Sliced.Distance] with its standard error from the choice of directions, for these points: that of the mean
// over directions divided by p·SWₚᵖ⁻¹. It is 0 for one projection, which does not tell.
func (s Sliced) Estimate(a, b any) (distance, standardError float64, err error) {
	x, y, order, err := s.prepare(a, b)
	if err != nil {
		return 0, 0, fmt.Errorf("metric: sliced Wasserstein: %w", err)
	}
	each := costs(x, y, s.directions(len(x[0])), order)
	distance = root(mean(each), order)
	if _, spread := meanAndError(each); len(each) > 1 && distance > 0 {
		standardError = spread * distance / (order * mean(each))
	}
	return distance, standardError, nil
}

func (s Sliced) prepare(a, b any) (x, y [][]float64, order float64, err error) {
	if s.Projections < 0 {
		return nil, nil, 0, fmt.Errorf("%d projections: must be positive, or 0 for 256", s.Projections)
	}
	if order, err = orderOf(s.Order); err != nil {
		return nil, nil, 0, err
	}
	if x, y, err = twoSets(a, b, 1, ""); err != nil {
		return nil, nil, 0, err
	}
	return x, y, order, checkSpan(x, y, order)
}

// directions draws the unit vectors to project on.
func (s Sliced) directions(d int) [][]float64 {
	n := s.Projections
	if n == 0 {
		n = 256
	}
	rng := rand.New(rand.NewPCG(uint64(s.Seed), 0x5c0e))
	list := make([][]float64, n)
	for i := range list {
		list[i] = direction(rng, d)
	}
	return list
}

// direction is uniform on the unit sphere: a normal vector divided by its length.
func direction(rng *rand.Rand, d int) []float64 {
	v := make([]float64, d)
	for {
		length := 0.0
		for i := range v {
			v[i] = rng.NormFloat64()
			length += v[i] * v[i]
		}
		if length > 0 {
			for i := range v {
				v[i] /= math.Sqrt(length)
			}
			return v
		}
	}
}

// costs returns the one-dimensional costs Wₚᵖ on each direction.
func costs(x, y, directions [][]float64, order float64) []float64 {
	each := make([]float64, len(directions))
	_ = parallel(context.Background(), len(directions), func(i int) {
		each[i] = wasserstein(project(x, directions[i]), project(y, directions[i]), order)
	})
	return each
}

// project returns ⟨v, x⟩ of every row, sorted.
func project(rows [][]float64, v []float64) []float64 {
	out := make([]float64, len(rows))
	for i, r := range rows {
		out[i] = dot(r, v)
	}
	slices.Sort(out)
	return out
}

func dot(x, y []float64) float64 {
	sum := 0.0
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}

func sum(values []float64) float64 {
	total := 0.0
	for _, v := range values {
		total += v
	}
	return total
}

func mean(values []float64) float64 { return sum(values) / float64(len(values)) }
