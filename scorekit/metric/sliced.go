package metric

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
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
// 1/√Projections; [Sliced.Estimate] tells it. ctx stops it.
//
// It returns an error for a negative number of projections, for an order below 1, for an empty set, for sets of different
// dimensions, and for values that are not finite. The units of the data do not matter.
func (s Sliced) Distance(ctx context.Context, a, b any) (float64, error) {
	distance, _, err := s.Estimate(ctx, a, b)
	return distance, err
}

// Estimate is [Sliced.Distance] with its standard error from the choice of directions, for these points: that of the mean
// over directions divided by p·SWₚᵖ⁻¹. It is 0 for one projection, which does not tell.
func (s Sliced) Estimate(ctx context.Context, a, b any) (distance, standardError float64, err error) {
	x, y, e, order, err := s.prepare(a, b)
	if err != nil {
		return 0, 0, fmt.Errorf("metric: sliced Wasserstein: %w", err)
	}
	each, err := distances(ctx, x, y, s.directions(len(x[0])), order)
	if err != nil {
		return 0, 0, fmt.Errorf("metric: sliced Wasserstein: %w", err)
	}
	distance = alongAll(each, order)
	if len(each) > 1 && distance > 0 {
		// The mean of the powers, over that of the result: 1, with the standard error of a mean.
		for i := range each {
			each[i] = power(each[i]/distance, order)
		}
		_, spread := meanAndError(each)
		standardError = spread / order * distance
	}
	distance, standardError = math.Ldexp(distance, e), math.Ldexp(standardError, e)
	if err := results(distance, standardError); err != nil {
		return 0, 0, fmt.Errorf("metric: sliced Wasserstein: %w", err)
	}
	return distance, standardError, nil
}

// prepare returns the sets in units of 2ᵉ.
func (s Sliced) prepare(a, b any) (x, y [][]float64, e int, order float64, err error) {
	if s.Projections < 0 {
		return nil, nil, 0, 0, fmt.Errorf("%d projections: must be positive, or 0 for 256", s.Projections)
	}
	if order, err = orderOf(s.Order); err != nil {
		return nil, nil, 0, 0, err
	}
	if x, y, err = twoSets(a, b, 1, ""); err != nil {
		return nil, nil, 0, 0, err
	}
	x, y, e = inUnits(x, y)
	return x, y, e, order, nil
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

// distances returns Wₚ on each direction.
func distances(ctx context.Context, x, y, directions [][]float64, order float64) ([]float64, error) {
	each := make([]float64, len(directions))
	err := parallel(ctx, len(directions), func(i int) {
		each[i] = onLine(project(x, directions[i]), project(y, directions[i]), order)
	})
	return each, err
}

// alongAll is (mean over directions of Wₚᵖ)^{1/p}.
func alongAll(each []float64, order float64) float64 {
	return meanOfOrder(order, func(add func(gap, share float64)) {
		for _, w := range each {
			add(w, 1/float64(len(each)))
		}
	})
}

// project returns ⟨v, x⟩ of every row, sorted.
func project(rows [][]float64, v []float64) []float64 {
	out := make([]float64, len(rows))
	for i, r := range rows {
		out[i] = floats.Dot(r, v)
	}
	slices.Sort(out)
	return out
}

func mean(values []float64) float64 { return floats.Sum(values) / float64(len(values)) }
