package sde

import (
	"fmt"
	"math"
)

// Spacing is how [Timesteps] spreads a few of a chain's indices. The three are those of Lin et al. (2024, table 2) and of
// diffusers.
type Spacing int

const (
	// Leading takes multiples of ⌊T/n⌋: it ends at index 0, and starts below T−1, where some of the data is still seen.
	Leading Spacing = iota
	// Trailing takes T − 1, T − 1 − T/n, …, rounded: it starts at T−1, and ends at T/n − 1.
	Trailing
	// Linspace spreads them evenly from T−1 to 0, both included, rounded.
	Linspace
)

// Timesteps returns n of the indices 0 … total−1 of a chain, falling: a sampler steps from each to the next and from the
// last to the data. Halves are rounded to even. It returns an error unless 1 ≤ n ≤ total, and for an unknown spacing.
func Timesteps(total, n int, spacing Spacing) ([]int, error) {
	if total < 1 {
		return nil, fmt.Errorf("sde: Timesteps: chain of %d steps: must have at least 1", total)
	}
	if n < 1 || n > total {
		return nil, fmt.Errorf("sde: Timesteps: %d timesteps of a chain of %d: must be from 1 to as many", n, total)
	}
	steps := make([]int, n)
	for i := range steps {
		switch spacing {
		case Leading:
			steps[i] = (n - 1 - i) * (total / n)
		case Trailing:
			steps[i] = int(math.RoundToEven(float64(total)-float64(i)*float64(total)/float64(n))) - 1
		case Linspace:
			steps[i] = int(math.RoundToEven(linspace(total, n, i)))
		default:
			return nil, fmt.Errorf("sde: Timesteps: spacing %d: must be Leading, Trailing or Linspace", spacing)
		}
	}
	return steps, nil
}

// LinspaceTimes is [Timesteps] with [Linspace], not rounded: times between two indices are what [Discrete.Sigma]
// interpolates at.
func LinspaceTimes(total, n int) ([]float64, error) {
	if _, err := Timesteps(total, n, Linspace); err != nil {
		return nil, err
	}
	times := make([]float64, n)
	for i := range times {
		times[i] = linspace(total, n, i)
	}
	return times, nil
}

// linspace counts from the end, so that a single one is 0.
func linspace(total, n, i int) float64 {
	return float64(total-1) * float64(n-1-i) / float64(max(1, n-1))
}

// CheckTimesteps returns an error unless steps are indices of a chain of total steps and each is below the one before it:
// what a grid of a user's own must be. The error names the first that is not.
func CheckTimesteps(total int, steps []int) error {
	if len(steps) == 0 {
		return fmt.Errorf("sde: timesteps: there must be at least one")
	}
	for i, s := range steps {
		if s < 0 || s >= total {
			return fmt.Errorf("sde: timesteps[%d] = %d: must be from 0 to %d", i, s, total-1)
		}
		if i > 0 && s >= steps[i-1] {
			return fmt.Errorf("sde: timesteps[%d] = %d: must be below the one before it, %d", i, s, steps[i-1])
		}
	}
	return nil
}
