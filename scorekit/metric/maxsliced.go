package metric

import (
	"fmt"
	"math"
	"slices"
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
func (s Sliced) Max(a, b any) (distance float64, direction []float64, err error) {
	x, y, order, err := s.prepare(a, b)
	if err != nil {
		return 0, nil, fmt.Errorf("metric: max-sliced Wasserstein: %w", err)
	}
	best, v := largest(x, y, s.directions(len(x[0])), order)
	best, v = climb(x, y, v, best, order)
	return root(best, order), v, nil
}

// largest returns the largest cost Wₚᵖ of all directions, and that direction.
func largest(x, y, directions [][]float64, order float64) (float64, []float64) {
	each := costs(x, y, directions, order)
	best := slices.Max(each)
	return best, directions[slices.Index(each, best)]
}

// climb improves the direction v, whose cost is best, along the gradient on the sphere. A step is taken only if the cost
// grows, and halved otherwise.
func climb(x, y [][]float64, v []float64, best, order float64) (float64, []float64) {
	step := 1.0
	for range 100 {
		up := uphill(x, y, v, order)
		improved := false
		for ; step > 1e-7 && !improved; step /= 2 {
			next := make([]float64, len(v))
			for i := range v {
				next[i] = v[i] + step*up[i]
			}
			length := math.Sqrt(dot(next, next))
			for i := range next {
				next[i] /= length
			}
			if cost := wasserstein(project(x, next), project(y, next), order); cost > best {
				best, v, improved = cost, next, true
				step *= 4
			}
		}
		if !improved {
			break
		}
	}
	return best, v
}

// uphill is the gradient of the cost with respect to v, along the sphere and of length 1, or 0 where there is none.
func uphill(x, y [][]float64, v []float64, order float64) []float64 {
	a, b := ranked(x, v), ranked(y, v)
	up := make([]float64, len(v))
	match(len(x), len(y), func(i, j int, share float64) {
		from, to := x[a[i]], y[b[j]]
		gap := dot(from, v) - dot(to, v)
		slope := share * order * math.Copysign(math.Pow(math.Abs(gap), order-1), gap)
		for l := range up {
			up[l] += slope * (from[l] - to[l])
		}
	})
	along := dot(up, v)
	for l := range up {
		up[l] -= along * v[l]
	}
	if length := math.Sqrt(dot(up, up)); length > 0 {
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
		at[i], order[i] = dot(r, v), i
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
