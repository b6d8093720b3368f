package sampler

import (
	"fmt"
	"math"

	"github.com/scorekit/lab/internal/numbers"
)

// Settings that several samplers have in common. The error names who, the setting, its value and what is allowed.

// positive checks a number that must be positive and finite.
func positive(who, what string, v float64) error {
	return numbers.Positive(who+": "+what, v)
}

// count returns a number of steps, 1,000 for 0.
func count(who string, steps int) (int, error) {
	if steps < 0 {
		return 0, fmt.Errorf("%s: %d steps: must be positive, or 0 for 1,000", who, steps)
	}
	if steps == 0 {
		steps = 1000
	}
	return steps, nil
}

// level checks the noise level given to a score.
func level(who string, sigma float64) error {
	if !(sigma >= 0) || math.IsInf(sigma, 0) {
		return fmt.Errorf("%s: noise level %v: must be positive and finite, or 0 for none", who, sigma)
	}
	return nil
}
