package metric

import (
	"fmt"
	"math"
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

// onLine is (∫₀¹ |F⁻¹(u) − G⁻¹(u)|ᵖ du)^{1/p} of two sorted samples.
func onLine(p, q []float64, order float64) float64 {
	return meanOfOrder(order, func(add func(gap, share float64)) {
		match(len(p), len(q), func(i, j int, share float64) { add(math.Abs(p[i]-q[j]), share) })
	})
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
