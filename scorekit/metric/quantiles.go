package metric

import (
	"fmt"
	"math"
	"slices"
)

// orderOf returns the order p of a Wasserstein distance.
func orderOf(p float64) (float64, error) {
	if p == 0 {
		return 2, nil
	}
	if !(p >= 1) || !finite(p) {
		return 0, fmt.Errorf("order %v: must be at least 1, or 0 for 2", p)
	}
	return p, nil
}

// checkSpan returns an error unless the largest possible cost, that of the corners of the box around all points, is a
// number.
func checkSpan(x, y [][]float64, order float64) error {
	low, high := slices.Clone(x[0]), slices.Clone(x[0])
	for _, rows := range [][][]float64{x, y} {
		for _, r := range rows {
			for l, v := range r {
				low[l], high[l] = min(low[l], v), max(high[l], v)
			}
		}
	}
	if cost := power(math.Sqrt(squaredDistance(low, high)), order); !finite(cost) {
		return fmt.Errorf("points too far apart: the box around them has a diagonal whose power %v is %v: must be finite", order, cost)
	}
	return nil
}

// power is gapᵖ of a gap that is not negative.
func power(gap, p float64) float64 {
	switch p {
	case 1:
		return gap
	case 2:
		return gap * gap
	}
	return math.Pow(gap, p)
}

func root(v, p float64) float64 {
	if p == 2 {
		return math.Sqrt(v)
	}
	return math.Pow(v, 1/p)
}

// wasserstein is ∫₀¹ |F⁻¹(u) − G⁻¹(u)|ᵖ du of two sorted samples.
func wasserstein(p, q []float64, order float64) float64 {
	sum := 0.0
	match(len(p), len(q), func(i, j int, share float64) {
		sum += share * power(math.Abs(p[i]-q[j]), order)
	})
	return sum
}

// match calls pair for the i-th of n sorted values and the j-th of m others and the share of the probability that goes
// from one to the other. Between two neighbours among the u = i/n and j/m both quantile functions are constant. u is
// counted in units of 1/(nm), so that every boundary is an integer.
func match(n, m int, pair func(i, j int, share float64)) {
	all := float64(n) * float64(m)
	for i, j, u := 0, 0, 0; i < n && j < m; {
		end := min((i+1)*m, (j+1)*n)
		pair(i, j, float64(end-u)/all)
		u = end
		if end == (i+1)*m {
			i++
		}
		if end == (j+1)*n {
			j++
		}
	}
}
