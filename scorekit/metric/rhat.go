package metric

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// SplitRHat returns the potential scale reduction R̂ of chains cut into halves. draws is [draws][chains], see [Trace]; with
// M halves of n draws each,
//
//	R̂ = √(var⁺/W),  var⁺ = (n−1)/n · W + B
//
// W the mean of the halves' variances and B the variance of their means (Gelman and Rubin 1992; Vehtari et al. 2021, eq.
// 4). It is near 1 if the halves agree, and above 1.01 they do not agree well enough (Vehtari et al. 2021). It sees
// neither chains of equal means and different widths nor anything in a target without a variance: see [RHat]. It is +Inf
// if no half moves and they differ.
//
// It returns an error for fewer than 4 draws, for rows of different lengths, for values that are not finite, and if all
// are equal.
func SplitRHat(draws [][]float64) (float64, error) {
	chains, err := halves(draws)
	if err != nil {
		return 0, fmt.Errorf("metric: split R̂: %w", err)
	}
	return rHat(chains), nil
}

// RHat returns the rank-normalised R̂ of Vehtari et al. 2021: the larger of the [SplitRHat] of the normal scores
//
//	z = Φ⁻¹((r − 3/8) / (S + 1/4)),  r the rank of a draw among all S of them, ties sharing their mean rank
//
// and that of the normal scores of |x − median|. It is near 1 if the halves of the chains agree in location and in
// scale, for any law, heavy tails included; above 1.01 they do not. draws and errors are as for [SplitRHat]. Time grows with
// S·log S; ctx stops it between chains, if not within the sorting of all draws.
func RHat(ctx context.Context, draws [][]float64) (float64, error) {
	if ctx == nil {
		return 0, fmt.Errorf("metric: R̂: %w", errNoContext)
	}
	chains, err := halves(draws)
	if err != nil {
		return 0, fmt.Errorf("metric: R̂: %w", err)
	}
	middle := median(slices.Concat(chains...))
	folded := make([][]float64, len(chains))
	for i, chain := range chains {
		folded[i] = make([]float64, len(chain))
		for t, v := range chain {
			folded[i][t] = math.Abs(v - middle)
		}
	}
	var each [2]float64
	for i, c := range [][][]float64{chains, folded} {
		scores, err := normalScores(ctx, c)
		if err != nil {
			return 0, fmt.Errorf("metric: R̂: %w", err)
		}
		each[i] = rHat(scores)
	}
	location, scale := each[0], each[1]
	if math.IsNaN(scale) { // all as far from the median: two values, as many of each
		return location, nil
	}
	return max(location, scale), nil
}

func rHat(chains [][]float64) float64 {
	_, within, total := spread(chains)
	return math.Sqrt(total / within)
}

func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

// normalScores replaces every value by the normal quantile of its rank among all.
func normalScores(ctx context.Context, chains [][]float64) ([][]float64, error) {
	if ctx.Err() != nil { // before all are sorted
		return nil, context.Cause(ctx)
	}
	sorted := slices.Concat(chains...)
	slices.Sort(sorted)
	size := float64(len(sorted))
	scores := make([][]float64, len(chains))
	for i, chain := range chains {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		scores[i] = make([]float64, len(chain))
		for t, v := range chain {
			first, _ := slices.BinarySearch(sorted, v)
			end, _ := slices.BinarySearchFunc(sorted, v, func(e, v float64) int {
				if e <= v {
					return -1
				}
				return 1
			})
			rank := float64(first+1+end) / 2 // the mean of first+1, …, end
			scores[i][t] = math.Sqrt2 * math.Erfinv(2*(rank-0.375)/(size+0.25)-1)
		}
	}
	return scores, nil
}
