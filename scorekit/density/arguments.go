package density

import (
	"fmt"
	"math"
)

// validate returns an error for a zero value: d, its number of coordinates, is 0.
func validate(who string, d int) error {
	if d == 0 {
		return fmt.Errorf("density: %s: zero value: must be made by a constructor", who)
	}
	return nil
}

// checkDim returns an error unless d is at least least.
func checkDim(d, least int) error {
	if d < least {
		return fmt.Errorf("%d dimensions: must be at least %d", d, least)
	}
	return nil
}

// checkFinite returns an error that names the value that is not finite.
func checkFinite(what string, values []float64) error {
	if len(values) == 0 {
		return fmt.Errorf("empty %s: must have at least one coordinate", what)
	}
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%s[%d] = %v: must be finite", what, i, v)
		}
	}
	return nil
}

// checkPositive returns an error unless there are as many values as coordinates, d, and each is positive, also when it
// is squared.
func checkPositive(what string, values []float64, d int) error {
	if len(values) != d {
		return fmt.Errorf("%d values of %s for %d coordinates: must be as many", len(values), what, d)
	}
	for i, v := range values {
		if !isPositive(v) {
			return fmt.Errorf("%s[%d] = %v: must be positive and its square finite", what, i, v)
		}
	}
	return nil
}

// checkOnePositive is checkPositive for a single number.
func checkOnePositive(what string, v float64) error {
	if !isPositive(v) {
		return fmt.Errorf("%s %v: must be positive and its square finite", what, v)
	}
	return nil
}

// checkOneFinite is checkFinite for a single number.
func checkOneFinite(what string, v float64) error {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return fmt.Errorf("%s %v: must be finite", what, v)
	}
	return nil
}

func isPositive(v float64) bool { return v > 0 && v*v > 0 && !math.IsInf(v*v, 0) }

// checkAll returns the first error that is not nil, with the name of the density in front.
func checkAll(who string, errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return fmt.Errorf("density: %s: %w", who, err)
		}
	}
	return nil
}

// diagonalMatrix returns the matrix with the given diagonal, row by row.
func diagonalMatrix(diagonal []float64) [][]float64 {
	rows := make([][]float64, len(diagonal))
	for i, v := range diagonal {
		rows[i] = make([]float64, len(diagonal))
		rows[i][i] = v
	}
	return rows
}
