package numbers

import (
	"slices"
	"testing"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
)

func TestTensor(t *testing.T) {
	wide := Tensor([]float64{1, 2, 3, 0.1}, dtypes.Float64, 2, 2).Value().([][]float64)
	narrow := Tensor([]float64{1, 2, 3, 0.1}, dtypes.Float32, 2, 2).Value().([][]float32)
	if !slices.Equal(wide[1], []float64{3, 0.1}) || !slices.Equal(narrow[1], []float32{3, 0.1}) {
		t.Errorf("tensors %v and %v", wide, narrow)
	}
}

func TestDivisor(t *testing.T) {
	for _, c := range [][3]int{{12, 18, 6}, {18, 12, 6}, {7, 5, 1}, {4, 4, 4}, {1, 9, 1}} {
		if got := Divisor(c[0], c[1]); got != c[2] {
			t.Errorf("divisor of %d and %d is %d, want %d", c[0], c[1], got, c[2])
		}
	}
}
