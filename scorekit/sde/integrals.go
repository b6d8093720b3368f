package sde

import (
	"fmt"
	"math"
)

// QuadraticVariation returns Σ(Δx)² of each coordinate of a path, [times][d]. For a diffusion it tends to ∫g² dt as the
// steps shrink, whatever the path; that it is not 0 is what sets stochastic calculus apart.
func QuadraticVariation(path [][]float64) ([]float64, error) {
	return sums("QuadraticVariation", path, path, func(_, _, dx float64) float64 { return dx * dx })
}

// TotalVariation returns Σ|Δx| of each coordinate of a path, its length: it grows without bound as the steps shrink.
func TotalVariation(path [][]float64) ([]float64, error) {
	return sums("TotalVariation", path, path, func(_, _, dx float64) float64 { return math.Abs(dx) })
}

// ItoSum returns Σ h_k (x_{k+1} − x_k) of each coordinate, whose limit is the Itô integral ∫h dx: the integrand h, [times][d],
// is taken before the step. For h = x = W it is ½(W_T² − Σ(ΔW)²) → ½(W_T² − T).
func ItoSum(h, path [][]float64) ([]float64, error) {
	return sums("ItoSum", h, path, func(before, _, dx float64) float64 { return before * dx })
}

// StratonovichSum is [ItoSum] with the mean of h before and after the step, whose limit is the Stratonovich integral
// ∫h∘dx. For h = x = W starting at 0 it is ½W_T², as in ordinary calculus.
func StratonovichSum(h, path [][]float64) ([]float64, error) {
	return sums("StratonovichSum", h, path, func(before, after, dx float64) float64 { return (before + after) / 2 * dx })
}

// sums adds up term(h before, h after, Δx) over the steps, for each coordinate.
func sums(who string, h, path [][]float64, term func(before, after, dx float64) float64) ([]float64, error) {
	if len(path) == 0 {
		return nil, fmt.Errorf("sde: %s: path of no times: must have at least one", who)
	}
	if len(h) != len(path) {
		return nil, fmt.Errorf("sde: %s: integrand at %d times for a path of %d: must be as many", who, len(h), len(path))
	}
	out := make([]float64, len(path[0]))
	for k := range path {
		if len(path[k]) != len(out) || len(h[k]) != len(out) {
			return nil, fmt.Errorf("sde: %s: row %d has %d numbers, that of the integrand %d: must be as many as in row 0, %d", who, k, len(path[k]), len(h[k]), len(out))
		}
		if k == 0 {
			continue
		}
		for i := range out {
			out[i] += term(h[k-1][i], h[k][i], path[k][i]-path[k-1][i])
		}
	}
	return out, nil
}
