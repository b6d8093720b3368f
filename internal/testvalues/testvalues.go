// Package testvalues is what the tests of several packages share: values listed in files, graphs run to plain numbers,
// and comparisons whose tolerance is stated once, here.
//
//   - read.go: [Read], listed cases from testdata; case.go: [Case], one of them as a subtest
//   - run.go: [Run] and [RunIn], a graph's outputs as numbers; [Flat] and [FlatAll], a tensor's
//   - testvalues.go: the comparisons
//   - leaveout.go: [LeaveOut], a package whose tests are all left out
//
// [Near], [NearOne] and [NearNumber] compare numbers that are known, to a relative tolerance; they differ in what it is
// relative to. [MeanWithin] compares an average over draws, to 5 of its standard errors: a right program fails one
// comparison in 1.7 million. All of them fail on NaN.
package testvalues

import (
	"math"
	"testing"
)

// Near fails the test unless there are as many values as wanted and |got−want| ≤ rtol·max|want| for each, the maximum
// taken over all of want: a value near 0 is compared on the scale of the others, and all zeros only equal themselves.
func Near(t testing.TB, what string, got, want []float64, rtol float64) {
	t.Helper()
	near(t, what, got, want, rtol, 0)
}

// NearOne is [Near] with |got−want| ≤ rtol·max(1, max|want|): for values on a scale of 1, which may all be near 0.
func NearOne(t testing.TB, what string, got, want []float64, rtol float64) {
	t.Helper()
	near(t, what, got, want, rtol, 1)
}

func near(t testing.TB, what string, got, want []float64, rtol, scale float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d values, want %d", what, len(got), len(want))
		return
	}
	for _, w := range want {
		scale = max(scale, math.Abs(w))
	}
	for i := range want {
		if diff := math.Abs(got[i] - want[i]); !(diff <= rtol*scale) {
			t.Errorf("%s[%d] = %v, want %v: off by %.2g, allowed %.2g", what, i, got[i], want[i], diff, rtol*scale)
		}
	}
}

// NearNumber fails the test unless |got−want| ≤ rtol·|want|.
func NearNumber(t testing.TB, what string, got, want, rtol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= rtol*math.Abs(want)) {
		t.Errorf("%s = %v, want %v within %v of it", what, got, want, rtol)
	}
}

// Mean returns the mean of values.
func Mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// MeanWithin fails the test unless the mean of n independent values is within 5 of its standard errors of want. The
// standard error is taken from the values, √(Σ(v−mean)²/(n−1)/n).
func MeanWithin(t testing.TB, what string, values []float64, want float64) {
	t.Helper()
	mean, squares, n := Mean(values), 0.0, float64(len(values))
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	if se := math.Sqrt(squares / (n - 1) / n); !(math.Abs(mean-want) <= 5*se) {
		t.Errorf("%s: %v ± %v, want %v", what, mean, se, want)
	}
}
