// Package numbers holds small things that are done with numbers on the host.
package numbers

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/tensors"
)

// Tensor puts numbers, row by row, into a tensor of float64 or, for any other dtype, of float32.
func Tensor(values []float64, dtype dtypes.DType, dims ...int) *tensors.Tensor {
	if dtype == dtypes.Float64 {
		return tensors.FromFlatDataAndDimensions(values, dims...)
	}
	narrow := make([]float32, len(values))
	for i, v := range values {
		narrow[i] = float32(v)
	}
	return tensors.FromFlatDataAndDimensions(narrow, dims...)
}

// Positive returns an error that names what v is unless it is positive and finite.
func Positive(what string, v float64) error {
	if !(v > 0) || math.IsInf(v, 0) {
		return fmt.Errorf("%s %v: must be positive and finite", what, v)
	}
	return nil
}

// Divisor is the greatest common divisor of two positive integers.
func Divisor(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Evenly returns the size of the fewest equal blocks of at most limit into which n rows go: there is one compilation for all
// blocks, and the last is about as full as the others. Both are positive.
func Evenly(n, limit int) int {
	count := (n + limit - 1) / limit
	return (n + count - 1) / count
}
