package metric

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit/density"
)

// The jackknife by its definition: U is computed anew without each point.
func TestJackknife(t *testing.T) {
	x, y := normal(1, 6, 2), normal(2, 5, 2)
	without := func(rows [][]float64, i int) [][]float64 { return slices.Delete(slices.Clone(rows), i, i+1) }
	spread := func(values []float64) float64 { // (n−1)/n Σ(v−mean)²
		_, se := meanAndError(values)
		n := float64(len(values))
		return se * se * (n - 1) * (n - 1)
	}
	measure := func(x, y [][]float64) Statistic {
		got, err := MMD{Bandwidths: []float64{1.2}}.Squared(t.Context(), x, y)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	var a, b []float64
	for i := range x {
		a = append(a, measure(without(x, i), y).U)
	}
	for i := range y {
		b = append(b, measure(x, without(y, i)).U)
	}
	testvalues.NearNumber(t, "two sets", measure(x, y).StandardError, math.Sqrt(spread(a)+spread(b)), 1e-9)

	stat := func(x [][]float64) Statistic {
		s := stein{kernel: IMQ, scale: 1.2, points: x, scores: moved(x, -1, []float64{0.5, 0})}
		sums, err := sumPairs(t.Context(), len(x), len(x), s.pairs, nil)
		if err != nil {
			t.Fatal(err)
		}
		return s.of(sums)
	}
	a = nil
	for i := range x {
		a = append(a, stat(without(x, i)).U)
	}
	testvalues.NearNumber(t, "one set", stat(x).StandardError, math.Sqrt(spread(a)), 1e-9)
}

// Over 400 pairs of sets U scatters as its standard error says: the square of the error is on average not below the
// variance, which is known to √(2/400) = 7 % (3 of these are allowed), and for sets that are apart not above 1.2 times
// it.
func TestStandardErrorOfU(t *testing.T) {
	const sets, n = 400, 40
	for _, test := range []struct{ shift, most float64 }{{1, 1.2}, {0, 2.5}} {
		var values, claimed []float64
		for i := range sets {
			x, y := normal(uint64(2*i), n, 2), moved(normal(uint64(2*i+1), n, 2), 1, []float64{test.shift, 0})
			got, err := MMD{Bandwidths: []float64{1}}.Squared(t.Context(), x, y)
			if err != nil {
				t.Fatal(err)
			}
			values, claimed = append(values, got.U), append(claimed, got.StandardError*got.StandardError)
		}
		// MMD² = 2·(1/3)(1 − e^{−δ²/6}) in two dimensions with h = 1.
		testvalues.MeanWithin(t, "U", values, 2.0/3*(1-math.Exp(-test.shift*test.shift/6)))
		_, se := meanAndError(values)
		ratio := mean(claimed) / (se * se * sets)
		if !(ratio > 1-0.21) || !(ratio < test.most+0.21) {
			t.Errorf("shift %v: mean square of the standard error is %v of the variance, want from 1 to %v", test.shift, ratio, test.most)
		}
	}
}

// A p-value by hand: U of {0, 1, 2} and {10, 11, 12} is the largest of all 20 splits and is reached by 2 of them; the
// share of 999 random ones is within 5 standard errors of a tenth.
func TestPermutations(t *testing.T) {
	x, y := [][]float64{{0}, {1}, {2}}, [][]float64{{10}, {11}, {12}}
	got, err := Energy{Permutations: 999, Seed: 4}.Test(t.Context(), x, y)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Null) != 999 || got.U != slices.Max(append(got.Null, got.U)) && got.U < slices.Max(got.Null)*(1-1e-12) {
		t.Errorf("%d values, the largest %v above U = %v", len(got.Null), slices.Max(got.Null), got.U)
	}
	if se := math.Sqrt(0.1 * 0.9 / 999); !(math.Abs(got.P-0.1) <= 5*se) {
		t.Errorf("p = %v, want 0.1 ± %v", got.P, se)
	}
	testvalues.NearNumber(t, "error of p", got.PError, math.Sqrt(got.P*(1-got.P)/1000), 1e-12)
	// The smallest p-value counts the split as it is: 1/(1+99), for sets that no random split of 20 points tells apart
	// as well.
	apart, err := Energy{Permutations: 99}.Test(t.Context(), normal(1, 10, 2), moved(normal(2, 10, 2), 1, []float64{50, 0}))
	if err != nil || apart.P != 0.01 {
		t.Errorf("p = %v, error %v, want 0.01", apart.P, err)
	}
	plain, err := Energy{}.Distance(t.Context(), x, y)
	if err != nil || plain != got.Statistic {
		t.Errorf("statistic %+v, error %v, want %+v", got.Statistic, err, plain)
	}
	again, err := Energy{Permutations: 999, Seed: 4}.Test(t.Context(), x, y)
	if err != nil || !slices.Equal(again.Null, got.Null) {
		t.Errorf("not the same splits for the same seed: %v", err)
	}
	// Every value of Null is U of some split.
	distinct := map[int64]bool{}
	for _, v := range got.Null {
		distinct[int64(math.Round(v*1e6))] = true
	}
	splits := map[int64]bool{}
	all := slices.Concat(x, y)
	for mask := range 64 {
		var a, b [][]float64
		for i, r := range all {
			if mask>>i&1 == 1 {
				a = append(a, r)
			} else {
				b = append(b, r)
			}
		}
		if len(a) == 3 {
			s, err := Energy{}.Distance(t.Context(), a, b)
			if err != nil {
				t.Fatal(err)
			}
			splits[int64(math.Round(s.U*1e6))] = true
		}
	}
	for v := range distinct {
		if !splits[v] {
			t.Errorf("%v millionths is U of no split", v)
		}
	}
	if len(distinct) != len(splits) {
		t.Errorf("%d values of U, all splits have %d", len(distinct), len(splits))
	}
}

const nulls = 400

// share checks that of 400 tests at the level 0.05 where there is no difference between 0.02 and 0.08 reject: 20 are
// expected, with the standard deviation 4.4.
func share(t *testing.T, name string, ps []float64) {
	t.Helper()
	rejected := 0
	for _, p := range ps {
		if p <= 0.05 {
			rejected++
		}
	}
	r := float64(rejected) / float64(len(ps))
	t.Logf("%s: type-I error %.4f at the level 0.05, mean p-value %.3f", name, r, mean(ps))
	if r < 0.02 || r > 0.08 {
		t.Errorf("%s: %d of %d tests reject, want 0.02 to 0.08", name, rejected, len(ps))
	}
	// p-values of a continuous statistic are uniform, with mean ½ and standard deviation 1/√12.
	if off := math.Abs(mean(ps) - 0.5); !(off <= 5/math.Sqrt(12*float64(len(ps)))) {
		t.Errorf("%s: mean p-value %v, want ½", name, mean(ps))
	}
}

func TestTypeOneErrorOfTwoSampleTests(t *testing.T) {
	const n, m = 25, 35
	var mmd, energy []float64
	for i := range nulls {
		x, y := normal(uint64(1000+2*i), n, 2), normal(uint64(1001+2*i), m, 2)
		a, err := MMD{Permutations: 199, Seed: int64(i)}.Test(t.Context(), x, y)
		if err != nil {
			t.Fatal(err)
		}
		b, err := Energy{Permutations: 199, Seed: int64(i)}.Test(t.Context(), x, y)
		if err != nil {
			t.Fatal(err)
		}
		mmd, energy = append(mmd, a.P), append(energy, b.P)
	}
	share(t, "MMD", mmd)
	share(t, "energy distance", energy)
}

// The target is a mixture, so that its score is not linear. The scores of all draws are taken at once.
func TestTypeOneErrorOfKernelStein(t *testing.T) {
	const n = 100
	left, err := density.Isotropic([]float64{-1, 0}, 1)
	if err != nil {
		t.Fatal(err)
	}
	right, err := density.Isotropic([]float64{1, 0}, 0.7)
	if err != nil {
		t.Fatal(err)
	}
	target, err := density.NewMixture([]float64{0.5, 0.5}, left, right)
	if err != nil {
		t.Fatal(err)
	}
	points, rng := normal(7, nulls*n, 2), rand.New(rand.NewPCG(8, 0))
	for _, p := range points {
		if rng.IntN(2) == 0 {
			p[0]--
		} else {
			p[0], p[1] = 1+0.7*p[0], 0.7*p[1]
		}
	}
	scores, err := scoreRows(t.Context(), testbackend.Go(t), target, points, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, kernel := range []Kernel{IMQ, RBF} {
		var ps []float64
		for i := range nulls {
			x, s := points[i*n:(i+1)*n], scores[i*n:(i+1)*n]
			h, err := medianDistance(x)
			if err != nil {
				t.Fatal(err)
			}
			got, err := stein{kernel, h, x, s}.test(t.Context(), 199, int64(i))
			if err != nil {
				t.Fatal(err)
			}
			ps = append(ps, got.P)
		}
		share(t, "kernel Stein, "+kernel.String(), ps)
	}
}

// rejects checks how many of 100 tests at the level 0.05 reject where there is a difference. U exceeds its mean less kσ
// with probability at least 1 − 1/(1+k²) (Cantelli); k is the distance from that mean, in closed form, to the largest
// of the critical values, in standard deviations. 3 standard errors of a share of 100 are allowed. It returns k; for a
// small one nothing is known.
func rejects(t *testing.T, name string, want float64, results []TestResult) float64 {
	t.Helper()
	rejected, critical := 0.0, math.Inf(-1)
	var values []float64
	for _, r := range results {
		if r.P <= 0.05 {
			rejected++
		}
		null := slices.Sorted(slices.Values(r.Null))
		critical = max(critical, null[len(null)*95/100])
		values = append(values, r.U)
	}
	n := float64(len(results))
	_, se := meanAndError(values)
	k := (want - critical) / (se * math.Sqrt(n))
	least := 1 - 1/(1+k*k)
	least -= 3 * math.Sqrt(least*(1-least)/n)
	t.Logf("%s: power %.2f; U is %.1f standard deviations above the critical value", name, rejected/n, k)
	if k > 1.5 && rejected/n < least {
		t.Errorf("%s: power %v, want at least %v", name, rejected/n, least)
	}
	return k
}

func TestPowerOnShiftedMeans(t *testing.T) {
	const runs, n = 100, 100
	for _, shift := range []float64{0.4, 1} {
		var mmd, stn []TestResult
		for i := range runs {
			x, y := normal(uint64(5000+2*i), n, 2), moved(normal(uint64(5001+2*i), n, 2), 1, []float64{shift, 0})
			a, err := MMD{Bandwidths: []float64{1}, Permutations: 199, Seed: int64(i)}.Test(t.Context(), x, y)
			if err != nil {
				t.Fatal(err)
			}
			b, err := stein{RBF, 1, y, moved(y, -1, []float64{0, 0})}.test(t.Context(), 199, int64(i))
			if err != nil {
				t.Fatal(err)
			}
			mmd, stn = append(mmd, a), append(stn, b)
		}
		one := rejects(t, fmt.Sprintf("MMD, shift %v", shift), 2.0/3*(1-math.Exp(-shift*shift/6)), mmd)
		other := rejects(t, fmt.Sprintf("kernel Stein, shift %v", shift), shift*shift/3, stn)
		if shift == 1 && min(one, other) < 1.5 {
			t.Errorf("distances from the critical value %v and %v: no power is asserted", one, other)
		}
	}
}
