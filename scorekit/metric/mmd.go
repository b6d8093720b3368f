package metric

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// MMD holds the settings of the maximum mean discrepancy with Gaussian (RBF) kernels.
type MMD struct {
	// Bandwidths are the h of the kernels, in the units of the data. With several the kernel is their mean, which sees
	// differences on several scales. None means one: the median distance of the pooled points (see [MedianDistance]).
	Bandwidths []float64
	// Permutations is the number of random splits of [MMD.Test]; 0 means 499.
	Permutations int
	// Seed chooses the splits.
	Seed int64
}

// Squared returns the squared maximum mean discrepancy of two sets of points, tensors [n, dims...] and [m, dims...] or
// rows as for [scorekit.Examples],
//
//	MMD² = E k(x, x′) + E k(y, y′) − 2E k(x, y),  k(x, y) = mean over h of exp(−‖x−y‖²/(2h²))
//
// (Gretton et al. 2012, JMLR 13, eq. 3 for U and eq. 5 for V): the squared distance of the mean embeddings of the two
// distributions, 0 only if they are equal. It has no unit and lies in [0, 2]. Texts with exp(−γ‖x−y‖²) have γ = 1/(2h²).
//
// Every pair of points is visited once and no matrix is stored: time grows with (n+m)², memory with n+m. ctx stops it.
//
// It returns an error for a bandwidth that is not positive, for fewer than 3 points in a set, for sets of different
// dimensions, and for values that are not finite.
func (m MMD) Squared(ctx context.Context, a, b any) (Statistic, error) {
	s, err := m.prepare(a, b)
	if err != nil {
		return Statistic{}, fmt.Errorf("metric: MMD: %w", err)
	}
	out, err := s.estimate(ctx)
	if err != nil {
		return Statistic{}, fmt.Errorf("metric: MMD: %w", err)
	}
	return out, nil
}

// Test tests whether two sets of points, as for [MMD.Squared], are draws from one distribution, by permutations: U is
// compared with its values for random splits of the pooled points. If they are, the p-value is below α with
// probability at most α, whatever the distribution and the number of points; draws within a set must be independent.
//
// Time grows with (n+m)²·Permutations, memory with (n+m)·Permutations bytes. It returns the errors of [MMD.Squared], and
// one for a negative number of permutations.
func (m MMD) Test(ctx context.Context, a, b any) (TestResult, error) {
	s, err := m.prepare(a, b)
	if err != nil {
		return TestResult{}, fmt.Errorf("metric: MMD test: %w", err)
	}
	out, err := s.test(ctx, m.Permutations, m.Seed)
	if err != nil {
		return TestResult{}, fmt.Errorf("metric: MMD test: %w", err)
	}
	return out, nil
}

func (m MMD) prepare(a, b any) (twoSample, error) {
	for i, h := range m.Bandwidths {
		if !usable(h) {
			return twoSample{}, fmt.Errorf("bandwidth %d is %v: must be positive and its square finite", i, h)
		}
	}
	x, y, err := twoSets(a, b, 3, ", for the standard error")
	if err != nil {
		return twoSample{}, err
	}
	all := slices.Concat(x, y)
	widths := m.Bandwidths
	if len(widths) == 0 {
		h, err := medianDistance(all)
		if err != nil {
			return twoSample{}, err
		}
		widths = []float64{h}
	}
	return twoSample{n: len(x), m: len(y), k: gaussian(all, widths), self: 1}, nil
}

// gaussian is the mean of Gaussian kernels.
func gaussian(points [][]float64, widths []float64) kernel {
	rates := make([]float64, len(widths))
	for i, h := range widths {
		rates[i] = -1 / (2 * h * h)
	}
	share := 1 / float64(len(widths))
	return func(i, from, to int, out []float64) {
		x := points[i]
		for j, y := range points[from:to] {
			squared, sum := squaredDistance(x, y), 0.0
			for _, rate := range rates {
				sum += math.Exp(rate * squared)
			}
			out[j] = sum * share
		}
	}
}
