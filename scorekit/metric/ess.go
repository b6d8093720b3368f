package metric

import (
	"context"
	"fmt"
	"math"
)

// EffectiveSampleSize returns how many independent draws would give the mean of these chains the same standard error:
// N/τ for N draws in all, with
//
//	τ = 1 + 2 Σ_{t≥1} ρ_t,  ρ_t = 1 − (W − mean of the chains' autocovariances at distance t)/var⁺
//
// over the halves of the chains, W and var⁺ as in [SplitRHat], so that chains that have not met count for little. The sum
// takes the pairs ρ_{2k} + ρ_{2k+1} as long as they are positive, none larger than the one before it (Geyer 1992; Vehtari
// et al. 2021, section 3.2). The standard error of the mean is √(var⁺·τ/N). For a chain of alternating sign τ < 1; it is
// taken to be at least 1/log₁₀ N. Time grows with N times the distance at which the sum ends, which for chains that have not
// met is up to the length of a half; ctx stops it.
//
// draws is [draws][chains], see [Trace]. It returns an error for fewer than 4 draws, for rows of different lengths, for
// values that are not finite, and if all are equal.
func EffectiveSampleSize(ctx context.Context, draws [][]float64) (float64, error) {
	if ctx == nil {
		return 0, fmt.Errorf("metric: effective sample size: %w", errNoContext)
	}
	chains, err := halves(draws)
	if err != nil {
		return 0, fmt.Errorf("metric: effective sample size: %w", err)
	}
	means, within, total := spread(chains)
	n := len(chains[0])
	correlation := func(t int) float64 {
		covariance := 0.0
		for i, chain := range chains {
			for j := range n - t {
				covariance += (chain[j] - means[i]) * (chain[j+t] - means[i])
			}
		}
		return 1 - (within-covariance/float64(n*len(chains)))/total
	}
	tau, last := -1.0, math.Inf(1)
	for t := 0; t == 0 || t < n-2; t += 2 {
		if ctx.Err() != nil {
			return 0, fmt.Errorf("metric: effective sample size: stopped at distance %d of %d: %w", t, n, context.Cause(ctx))
		}
		even, odd := correlation(t), correlation(t+1)
		if t == 0 {
			even = 1
		}
		// Of the pair that ends the sum the even part counts once. So it does at the far end, where hardly a draw is left
		// to tell.
		if even+odd <= 0 || t > 0 && t+2 >= n-2 {
			tau += max(even, 0)
			break
		}
		last = min(last, even+odd)
		tau += 2 * last
	}
	size := float64(n * len(chains))
	return size / max(tau, 1/math.Log10(size)), nil
}
