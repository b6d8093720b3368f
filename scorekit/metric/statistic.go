package metric

import (
	"fmt"
	"math"
)

// Statistic is the mean of a function of pairs of points, estimated in two ways. Both tend to the same number.
type Statistic struct {
	// U leaves out the pairs of a point with itself. Its mean is the wanted number, so that it is below 0 about as
	// often as above where that is 0.
	U float64
	// V takes all pairs. It is never negative, and too large by about 1/n times the value of a pair of a point with
	// itself.
	V float64
	// StandardError is that of U, by the jackknife: U is computed without each point in turn. Its square is on average
	// not below the variance of U (Efron and Stein 1981): near it where the wanted number is well above 0, and about
	// twice it where that is 0. There a test is the right question.
	StandardError float64
}

// ofPairs returns the statistic of n points, at least 3, whose function of a point and each of the others adds up to
// others, and that of a point and itself, over all points, to diagonal.
func ofPairs(others []float64, diagonal float64) Statistic {
	n, total := float64(len(others)), 0.0
	without := make([]float64, len(others)) // U without point i, but for what is the same for all i
	for i, sum := range others {
		total += sum
		without[i] = -2 * sum / ((n - 1) * (n - 2))
	}
	_, standardError := meanAndError(without)
	return Statistic{U: total / (n * (n - 1)), V: max(0, (total+diagonal)/(n*n)), StandardError: standardError * (n - 1)}
}

// times is s in other units: 2ᵉ times as large.
func (s Statistic) times(e int) Statistic {
	return Statistic{math.Ldexp(s.U, e), math.Ldexp(s.V, e), math.Ldexp(s.StandardError, e)}
}

// check returns an error for values beyond the range of numbers.
func (s Statistic) check() error {
	if !finite(s.U) || !finite(s.V) || !finite(s.StandardError) {
		return fmt.Errorf("statistic U = %v, V = %v with standard error %v: must be finite; the points or scores are too large", s.U, s.V, s.StandardError)
	}
	return nil
}

// TestResult is a statistic and how unusual it is if there is no difference.
type TestResult struct {
	Statistic
	// P is the p-value, (1 + how many of Null are at least U)/(1 + len(Null)). It is never 0: its smallest value, which
	// is also its resolution, is 1/(1 + len(Null)).
	P float64
	// PError is the standard error of P from the number of draws in Null, √(P(1−P)/(1 + len(Null))).
	PError float64
	// Null holds U as it is drawn if there is no difference, in the order drawn.
	Null []float64
}

// newTestResult compares observed, U computed as those of null are, with null. What differs by less than rounding counts
// as equal.
func newTestResult(s Statistic, observed float64, null []float64, rounding float64) TestResult {
	above := 1.0
	for _, v := range null {
		if v >= observed-rounding {
			above++
		}
	}
	all := float64(1 + len(null))
	p := above / all
	return TestResult{s, p, math.Sqrt(p * (1 - p) / all), null}
}

// draws returns how many draws from the null distribution to take. 499 make a p-value of exactly 0.05 possible.
func draws(what string, n int) (int, error) {
	if n < 0 {
		return 0, fmt.Errorf("%d %s: must be positive, or 0 for 499", n, what)
	}
	if n == 0 {
		return 499, nil
	}
	return n, nil
}
