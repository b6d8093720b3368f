package metric

import (
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Max returns the max-sliced Wasserstein distance between two sets of points, as for [Sliced.Distance], and the unit
// direction v that it is reached on:
//
//	max-SWₚ = max_v Wₚ(⟨v,a⟩, ⟨v,b⟩)
//
// (Deshpande et al. 2019). It is the direction in which the sets differ most; sets that are a shift c apart have the
// distance ‖c‖, in any dimension. The search starts from the best of Projections random directions and climbs from
// there: the result is never below the best of these, and may be a local maximum. On finite sets it does not vanish for
// equal distributions, least of all in high dimensions.
//
// It returns the errors of [Sliced.Distance].
func (s Sliced) Max(ctx context.Context, a, b any) (distance float64, direction []float64, err error) {
	x, y, e, order, err := s.prepare(a, b)
	if err != nil {
		return 0, nil, fmt.Errorf("metric: max-sliced Wasserstein: %w", err)
	}
	best, v, err := largest(ctx, x, y, s.directions(len(x[0])), order)
	if err == nil {
		best, v, err = climb(ctx, x, y, v, best, order)
	}
	if err != nil {
		return 0, nil, fmt.Errorf("metric: max-sliced Wasserstein: %w", err)
	}
	best = math.Ldexp(best, e)
	if err := results(best); err != nil {
		return 0, nil, fmt.Errorf("metric: max-sliced Wasserstein: %w", err)
	}
	return best, v, nil
}

// largest returns the largest Wₚ of all directions, and that direction.
func largest(ctx context.Context, x, y, directions [][]float64, order float64) (float64, []float64, error) {
	each, err := distances(ctx, x, y, directions, order)
	if err != nil {
		return 0, nil, err
	}
	best := slices.Max(each)
	return best, directions[slices.Index(each, best)], nil
}

// climb improves the direction v, on which the distance is best, along the gradient on the sphere. A step is taken only if it
// grows, and halved otherwise.
func climb(ctx context.Context, x, y [][]float64, v []float64, best, order float64) (float64, []float64, error) {
	step := 1.0
	for range 100 {
		up := uphill(x, y, v, order)
		improved := false
		for ; step > 1e-7 && !improved; step /= 2 {
			if ctx.Err() != nil {
				return 0, nil, context.Cause(ctx)
			}
			next := make([]float64, len(v))
			for i := range v {
				next[i] = v[i] + step*up[i]
			}
			length := floats.Norm(next, 2)
			for i := range next {
				next[i] /= length
			}
			if there := onLine(project(x, next), project(y, next), order); there > best {
				best, v, improved = there, next, true
				step *= 4
			}
		}
		if !improved {
			break
		}
	}
	return best, v, nil
}

// uphill is the gradient of the distance with respect to v, along the sphere and of length 1, or 0 where there is none.
func uphill(x, y [][]float64, v []float64, order float64) []float64 {
	a, b := ranked(x, v), ranked(y, v)
	up, widest := make([]float64, len(v)), 0.0
	gap := func(i, j int) float64 { return floats.Dot(x[a[i]], v) - floats.Dot(y[b[j]], v) }
	match(len(x), len(y), func(i, j int, _ float64) { widest = max(widest, math.Abs(gap(i, j))) })
	if widest == 0 {
		return up
	}
	match(len(x), len(y), func(i, j int, share float64) {
		from, to, relative := x[a[i]], y[b[j]], gap(i, j)/widest
		slope := share * math.Copysign(math.Pow(math.Abs(relative), order-1), relative)
		for l := range up {
			up[l] += slope * (from[l] - to[l])
		}
	})
	along := floats.Dot(up, v)
	for l := range up {
		up[l] -= along * v[l]
	}
	if length := floats.Norm(up, 2); length > 0 {
		for l := range up {
			up[l] /= length
		}
	}
	return up
}

// ranked returns the places of the rows in the order of ⟨v, x⟩.
func ranked(rows [][]float64, v []float64) []int {
	at := make([]float64, len(rows))
	order := make([]int, len(rows))
	for i, r := range rows {
		at[i], order[i] = floats.Dot(r, v), i
	}
	slices.SortFunc(order, func(i, j int) int {
		switch {
		case at[i] < at[j]:
			return -1
		case at[i] > at[j]:
			return 1
		}
		return i - j
	})
	return order
}
