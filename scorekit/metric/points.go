package metric

import (
	"fmt"
	"math"

	"github.com/scorekit/lab/scorekit"
)

// rowsOf returns points, a tensor [n, dims...] or rows of one length, as rows of float64. There is at least one row with
// at least one column, and every value is finite.
func rowsOf(points any) ([][]float64, error) {
	t, err := scorekit.Points(points)
	if err != nil {
		return nil, err
	}
	return scorekit.Rows(t)
}

// twoSets returns the rows of two sets of points of one dimension, with at least least points each; why says what they
// are needed for.
func twoSets(a, b any, least int, why string) (x, y [][]float64, err error) {
	if x, err = rowsOf(a); err != nil {
		return nil, nil, fmt.Errorf("first set: %w", err)
	}
	if y, err = rowsOf(b); err != nil {
		return nil, nil, fmt.Errorf("second set: %w", err)
	}
	if len(x[0]) != len(y[0]) {
		return nil, nil, fmt.Errorf("points of dimension %d and %d: must be equal", len(x[0]), len(y[0]))
	}
	if n := min(len(x), len(y)); n < least {
		return nil, nil, fmt.Errorf("sets of %d and %d points: must have at least %d%s", len(x), len(y), least, why)
	}
	return x, y, nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// results returns an error unless all numbers that were worked out are finite.
func results(values ...float64) error {
	for _, v := range values {
		if !finite(v) {
			return fmt.Errorf("the result is %v: must be finite; the points or scores are too large", v)
		}
	}
	return nil
}

// squaredDistance is ‖x−y‖², from the differences: it is exact for points that are close, and 0 for equal ones.
func squaredDistance(x, y []float64) float64 {
	var s, t float64
	y = y[:len(x)]
	i := 0
	for ; i+1 < len(x); i += 2 { // two sums, which the processor adds side by side
		a, b := x[i]-y[i], x[i+1]-y[i+1]
		s += a * a
		t += b * b
	}
	if i < len(x) {
		a := x[i] - y[i]
		s += a * a
	}
	return s + t
}

// meanAndError returns the mean of independent numbers, at least two, and its standard error.
func meanAndError(values []float64) (mean, standardError float64) {
	n := float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	squares := 0.0
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(squares / (n - 1) / n)
}
