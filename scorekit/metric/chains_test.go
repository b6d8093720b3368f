package metric_test

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/metric"
)

func of(t *testing.T, f func(context.Context, [][]float64) (float64, error)) func([][]float64) (float64, error) {
	return func(draws [][]float64) (float64, error) { return f(t.Context(), draws) }
}

// diagnose returns the three numbers of draws.
func diagnose(t *testing.T, draws [][]float64) (split, rank, size float64) {
	t.Helper()
	for _, f := range []struct {
		value *float64
		of    func([][]float64) (float64, error)
	}{{&split, metric.SplitRHat}, {&rank, of(t, metric.RHat)}, {&size, of(t, metric.EffectiveSampleSize)}} {
		v, err := f.of(draws)
		if err != nil {
			t.Fatal(err)
		}
		*f.value = v
	}
	return split, rank, size
}

// The numbers that arviz-stats 0.8.0 gives for the same draws; 0 where it gives none, for a single chain.
func TestChainsAgainstArviz(t *testing.T) {
	var cases []struct {
		ID               string
		Draws            [][]float64
		Split, Rank, ESS float64
	}
	testvalues.Read(t, "chains.json", &cases)
	for _, c := range cases {
		split, rank, size := diagnose(t, c.Draws)
		if c.Split > 0 {
			testvalues.NearNumber(t, c.ID+": split R̂", split, c.Split, 1e-12)
			testvalues.NearNumber(t, c.ID+": R̂", rank, c.Rank, 1e-12)
		}
		testvalues.NearNumber(t, c.ID+": effective sample size", size, c.ESS, 1e-12)
	}
}

// By hand: the chains 1 2 3 4 and 1 3 2 2 have the halves (1, 2), (3, 4), (1, 3), (2, 2) with means 3/2, 7/2, 2, 2 and
// variances 1/2, 1/2, 2, 0. So W = 3/4, the variance of the means is (9/16 + 25/16 + 1/16 + 1/16)/3 = 3/4, and
// var⁺ = 3/8 + 3/4 = 9/8. R̂ = √(9/8 · 4/3). The autocovariances at distance 1, divided by 2, are −1/8, −1/8, −1/2, 0 with
// the mean −3/16: ρ₁ = 1 − (12/16 + 3/16)/(9/8) = 1/6, τ = −1 + 2(1 + 1/6) = 4/3, and 8 draws are worth 6.
func TestChainsByHand(t *testing.T) {
	split, _, size := diagnose(t, [][]float64{{1, 1}, {2, 3}, {3, 2}, {4, 2}})
	testvalues.NearNumber(t, "split R̂", split, math.Sqrt(1.5), 1e-14)
	testvalues.NearNumber(t, "effective sample size", size, 6, 1e-14)
	// Ranks 1 … 4 in the halves (1, 2) and (3, 4): the normal quantiles ±a, ±b of (4 − 3/8)/(4 + 1/4) and
	// (3 − 3/8)/(4 + 1/4), whatever the values. With c = (a − b)/2 and m = (a + b)/2, W = 2c² and var⁺ = c² + 2m². The
	// distances from the median are alike in the halves.
	_, rank, _ := diagnose(t, [][]float64{{-9}, {1}, {2}, {30}})
	quantile := func(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }
	a, b := quantile(3.625/4.25), quantile(2.625/4.25)
	c, m := (a-b)/2, (a+b)/2
	testvalues.NearNumber(t, "R̂", rank, math.Sqrt((c*c+2*m*m)/(2*c*c)), 1e-14)
}

// x' = φx + √(1−φ²) z has ρ_t = φᵗ, so τ = (1+φ)/(1−φ). The mean of 1/τ̂ over 30 runs of 4 chains is within 5 of its
// standard errors, and 4 %, of 1/τ: cutting the sum off where the noise begins biases it by 1 to 2 % at this length.
func TestEffectiveSampleSizeOfAR1(t *testing.T) {
	const runs, length, chains = 30, 4000, 4
	rng := rand.New(rand.NewPCG(3, 4))
	for _, phi := range []float64{-0.5, 0, 0.5, 0.9} {
		var shares []float64
		for range runs {
			draws := make([][]float64, length)
			for i := range draws {
				draws[i] = make([]float64, chains)
				for c := range draws[i] {
					draws[i][c] = rng.NormFloat64()
					if i > 0 {
						draws[i][c] = phi*draws[i-1][c] + math.Sqrt(1-phi*phi)*draws[i][c]
					}
				}
			}
			size, err := metric.EffectiveSampleSize(t.Context(), draws)
			if err != nil {
				t.Fatal(err)
			}
			shares = append(shares, size/(length*chains))
		}
		mean, squares := testvalues.Mean(shares), 0.0
		for _, s := range shares {
			squares += (s - mean) * (s - mean)
		}
		se := math.Sqrt(squares / (runs - 1) / runs)
		if want := (1 - phi) / (1 + phi); math.Abs(mean-want) > 5*se+0.04*want {
			t.Errorf("φ = %v: N_eff/N = %v ± %v, want %v", phi, mean, se, want)
		}
	}
}

// Chains of one mean and two widths: the plain R̂ does not see it, the rank-normalised one does.
func TestRHatSeesWidths(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	draws := make([][]float64, 400)
	for i := range draws {
		draws[i] = []float64{rng.NormFloat64(), 4 * rng.NormFloat64()}
	}
	split, rank, _ := diagnose(t, draws)
	if split > 1.02 || rank < 1.2 {
		t.Errorf("split R̂ %v, R̂ %v", split, rank)
	}
}

func TestTrace(t *testing.T) {
	state := func(at float64) scorekit.Snapshot {
		return scorekit.Snapshot{X: tensors.FromValue([][][]float64{{{at, 1}, {2, 3}}, {{4, 5}, {6, at + 7}}, {{8, 9}, {10, 11}}})}
	}
	kept := []scorekit.Snapshot{state(0), state(100)}
	for coordinate, want := range map[int][][]float64{0: {{0, 4, 8}, {100, 4, 8}}, 3: {{3, 7, 11}, {3, 107, 11}}} {
		got, err := metric.Trace(kept, coordinate)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(got, want, slices.Equal[[]float64]) {
			t.Errorf("coordinate %d: %v, want %v", coordinate, got, want)
		}
	}
	if _, err := metric.Trace(kept, 4); err == nil || err.Error() != "metric: Trace: coordinate 4 of points with 4: must be from 0 to 3" {
		t.Errorf("error %v", err)
	}
	kept[1].X = tensors.FromValue([][]float64{{1, 2, 3, 4}})
	if _, err := metric.Trace(kept, 0); err == nil || err.Error() != "metric: Trace: draw 1 of 1 chains, draw 0 of 3: must be equal" {
		t.Errorf("error %v", err)
	}
}

func TestImpossibleChains(t *testing.T) {
	for _, test := range []struct {
		draws [][]float64
		want  string
	}{
		{nil, "0 draws: must be at least 4"},
		{[][]float64{{1}, {2}, {3}}, "3 draws: must be at least 4"},
		{[][]float64{{}, {}, {}, {}}, "0 chains: must be at least 1"},
		{[][]float64{{1, 2}, {1, 2}, {1}, {1, 2}}, "draw 2 has 1 chains, draw 0 has 2: must be equal"},
		{[][]float64{{1}, {2}, {math.NaN()}, {3}}, "draw 2 of chain 0 is NaN: every value must be finite"},
		{[][]float64{{2, 2}, {2, 2}, {2, 2}, {2, 2}}, "every value of the halves is 2: there must be different ones"},
		{[][]float64{{1}, {1}, {2}, {1}, {1}}, "every value of the halves is 1: there must be different ones"},
		{[][]float64{{1e200}, {-1e200}, {2}, {1}}, "values from -1e+200 to 1e+200: their squared differences are beyond float64: must be scaled"},
		{[][]float64{{1e-160}, {0}, {0}, {0}}, "values from 0 to 1e-160: their squared differences are beyond float64: must be scaled"},
	} {
		for who, f := range map[string]func([][]float64) (float64, error){
			"metric: split R̂: ": metric.SplitRHat, "metric: R̂: ": of(t, metric.RHat), "metric: effective sample size: ": of(t, metric.EffectiveSampleSize),
		} {
			if _, err := f(test.draws); err == nil || !strings.HasPrefix(err.Error(), who) || !strings.HasSuffix(err.Error(), test.want) {
				t.Errorf("%v: error %v, want %s%s", test.draws, err, who, test.want)
			}
		}
	}
	// Chains that do not move and differ have not met.
	stuck := [][]float64{{1, 2}, {1, 2}, {1, 2}, {1, 2}}
	split, rank, size := diagnose(t, stuck)
	if !math.IsInf(split, 1) || !math.IsInf(rank, 1) || !(size > 0 && size <= 4) {
		t.Errorf("chains that stand still: %v, %v, %v", split, rank, size)
	}
}
