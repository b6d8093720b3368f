package testvalues

import (
	"math"
	"testing"
)

// recorder notes failures instead of failing.
type recorder struct {
	testing.TB
	failed bool
}

func (r *recorder) Helper()               {}
func (r *recorder) Errorf(string, ...any) { r.failed = true }

// Each comparison passes at its tolerance, fails beyond it on either side, and fails on NaN.
func TestTolerances(t *testing.T) {
	const rtol = 0x1p-10
	nan := math.NaN()
	type compare = func(t testing.TB, what string, got, want []float64, rtol float64)
	number := func(t testing.TB, what string, got, want []float64, rtol float64) {
		NearNumber(t, what, got[0], want[0], rtol)
	}
	mean := func(t testing.TB, what string, values, want []float64, _ float64) {
		MeanWithin(t, what, values, want[0])
	}
	for _, test := range []struct {
		name      string
		compare   compare
		got, want []float64
		passes    bool
	}{
		{"Near", Near, []float64{rtol, -1}, []float64{0, -1}, true},
		{"Near, on the largest scale", Near, []float64{-4 * rtol, 4}, []float64{0, 4}, true},
		{"Near, above", Near, []float64{1.001 * rtol, -1}, []float64{0, -1}, false},
		{"Near, below", Near, []float64{-1.001 * rtol, -1}, []float64{0, -1}, false},
		{"Near, small scale", Near, []float64{0.1 + rtol}, []float64{0.1}, false},
		{"Near, zeros", Near, []float64{0, 0}, []float64{0, 0}, true},
		{"Near, one more", Near, []float64{1, 1}, []float64{1}, false},
		{"Near, got NaN", Near, []float64{1, nan}, []float64{1, 1}, false},
		{"Near, want NaN", Near, []float64{1, nan}, []float64{1, nan}, false},
		{"NearOne", NearOne, []float64{rtol}, []float64{0}, true},
		{"NearOne, on the largest scale", NearOne, []float64{4 * rtol, 4}, []float64{0, 4}, true},
		{"NearOne, above", NearOne, []float64{1.001 * rtol}, []float64{0}, false},
		{"NearOne, below", NearOne, []float64{-1.001 * rtol}, []float64{0}, false},
		{"NearOne, one less", NearOne, nil, []float64{1}, false},
		{"NearOne, NaN", NearOne, []float64{nan}, []float64{1}, false},
		{"NearNumber", number, []float64{-4 - 4*rtol}, []float64{-4}, true},
		{"NearNumber, above", number, []float64{4 + 4.004*rtol}, []float64{4}, false},
		{"NearNumber, below", number, []float64{4 - 4.004*rtol}, []float64{4}, false},
		{"NearNumber, NaN", number, []float64{nan}, []float64{4}, false},
		// 1 and 3 have the mean 2 with the standard error 1.
		{"MeanWithin, above", mean, []float64{1, 3}, []float64{7}, true},
		{"MeanWithin, below", mean, []float64{1, 3}, []float64{-3}, true},
		{"MeanWithin, beyond above", mean, []float64{1, 3}, []float64{7.01}, false},
		{"MeanWithin, beyond below", mean, []float64{1, 3}, []float64{-3.01}, false},
		{"MeanWithin, NaN", mean, []float64{1, nan}, []float64{1}, false},
	} {
		r := &recorder{TB: t}
		if test.compare(r, test.name, test.got, test.want, rtol); r.failed == test.passes {
			t.Errorf("%s: %v for %v: failed: %v", test.name, test.got, test.want, r.failed)
		}
	}
}
