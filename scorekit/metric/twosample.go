package metric

import (
	"context"
	"math"
	"math/rand/v2"
)

// twoSample estimates E k(x, x′) + E k(y, y′) − 2E k(x, y). Of the pooled points the first n are of x, the other m of y.
type twoSample struct {
	n, m int
	k    kernel
	self float64 // k of a point with itself
}

// estimate returns the statistic; n and m must be at least 3.
func (s twoSample) estimate(ctx context.Context) (Statistic, error) {
	sums, err := sumPairs(ctx, s.n+s.m, s.n, s.k, nil)
	if err != nil {
		return Statistic{}, err
	}
	out := s.of(sums)
	return out, out.check()
}

func (s twoSample) of(sums pairSums) Statistic {
	var xx, xy, yy float64
	for i := range s.n {
		xx += sums.first[i]
		xy += sums.second[i]
	}
	for j := s.n; j < s.n+s.m; j++ {
		yy += sums.second[j]
	}
	n, m := float64(s.n), float64(s.m)
	v := (xx+n*s.self)/(n*n) + (yy+m*s.self)/(m*m) - 2*xy/(n*m)
	variance := jackknife(sums.first[:s.n], sums.second[:s.n], n, m) + jackknife(sums.second[s.n:], sums.first[s.n:], m, n)
	return Statistic{U: s.unbiased(xx, xy, yy), V: max(0, v), StandardError: math.Sqrt(variance)}
}

func (s twoSample) unbiased(xx, xy, yy float64) float64 {
	n, m := float64(s.n), float64(s.m)
	return xx/(n*(n-1)) + yy/(m*(m-1)) - 2*xy/(n*m)
}

// jackknife is (n−1)/n Σᵢ (U₋ᵢ − mean)² over the n points of one set, U₋ᵢ being U without point i. own and other are the
// sums of k over the pairs of each point with those of its own set and with the m of the other.
func jackknife(own, other []float64, n, m float64) float64 {
	without := make([]float64, len(own)) // U₋ᵢ but for what is the same for all i
	for i := range own {
		without[i] = 2 / (n - 1) * (other[i]/m - own[i]/(n-2))
	}
	_, standardError := meanAndError(without)
	return standardError * standardError * (n - 1) * (n - 1)
}

// test compares U with its values when the pooled points are split into n and m at random. If both sets are draws from
// one distribution all splits are equally likely, so that P is exact: P(p ≤ α) ≤ α for every α.
func (s twoSample) test(ctx context.Context, permutations int, seed int64) (TestResult, error) {
	count, err := draws("permutations", permutations)
	if err != nil {
		return TestResult{}, err
	}
	all := s.n + s.m
	member := make([][]int8, all) // 1 for a member of the first set; column 0 is the split as it is
	for i := range member {
		member[i] = make([]int8, 1+count)
		if i < s.n {
			member[i][0] = 1
		}
	}
	rng := rand.New(rand.NewPCG(uint64(seed), 0x9e37))
	order := make([]int, all)
	for i := range order {
		order[i] = i
	}
	for c := range count {
		if ctx != nil && ctx.Err() != nil { // sumPairs says where there is none
			return TestResult{}, context.Cause(ctx)
		}
		for i := range s.n { // the first n of a shuffle
			j := i + rng.IntN(all-i)
			order[i], order[j] = order[j], order[i]
			member[order[i]][1+c] = 1
		}
	}
	sums, err := sumPairs(ctx, all, s.n, s.k, member)
	if err != nil {
		return TestResult{}, err
	}
	total, rows := 0.0, make([]float64, 1+count) // Σ over all pairs, and over those whose first is a member
	for i, row := range member {
		sum := sums.first[i] + sums.second[i]
		total += sum
		for c, w := range row {
			rows[c] += float64(w) * sum
		}
	}
	values := make([]float64, 1+count)
	for c, xx := range sums.forms {
		values[c] = s.unbiased(xx, rows[c]-xx, total-2*rows[c]+xx)
	}
	scale := math.Abs(total) / float64(min(s.n, s.m)*(min(s.n, s.m)-1))
	out := s.of(sums)
	return newTestResult(out, values[0], values[1:], 1e-12*scale), out.check()
}
