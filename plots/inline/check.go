package inline

import (
	"fmt"
	"math"
)

// checked begins the line of a claim that held. The runner of the notebooks counts them by it.
const checked = "✓ "

// AtMost prints a number beside the limit that it must not pass, and ends the cell where it does or is NaN: what a
// notebook claims it also checks.
func AtMost(what string, value, limit float64) {
	if !(value <= limit) {
		panic(fmt.Errorf("%s is %.4g: must be at most %.4g", what, value, limit))
	}
	Printf(checked+"%s is %.4g (at most %.4g)", what, value, limit)
}

// AtLeast is [AtMost] for a number that must reach the limit.
func AtLeast(what string, value, limit float64) {
	if !(value >= limit) {
		panic(fmt.Errorf("%s is %.4g: must be at least %.4g", what, value, limit))
	}
	Printf(checked+"%s is %.4g (at least %.4g)", what, value, limit)
}

// Close prints a number beside the one that it should be, and ends the cell where they differ by more than tolerance or
// one of them is NaN:
//
//	|got − want| ≤ tolerance
//
// A comparison of random numbers takes a multiple of their standard error as the tolerance.
func Close(what string, got, want, tolerance float64) {
	if !(math.Abs(got-want) <= tolerance) {
		panic(fmt.Errorf("%s is %.6g: must be %.6g to within %.2g", what, got, want, tolerance))
	}
	Printf(checked+"%s is %.6g, and should be %.6g (to within %.2g)", what, got, want, tolerance)
}
