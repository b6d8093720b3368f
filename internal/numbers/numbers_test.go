package numbers

import (
	"fmt"
	"math"
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

func TestPositive(t *testing.T) {
	for _, v := range []float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1)} {
		if err := Positive("step", v); err == nil || err.Error() != fmt.Sprintf("step %v: must be positive and finite", v) {
			t.Errorf("error %v for %v", err, v)
		}
	}
	if err := Positive("step", math.SmallestNonzeroFloat64); err != nil {
		t.Error(err)
	}
}

func TestEvenly(t *testing.T) {
	for _, c := range []struct{ n, limit, want int }{{1, 1, 1}, {5, 8, 5}, {8, 8, 8}, {9, 8, 5}, {16, 8, 8}, {17, 8, 6}, {10000, 4096, 3334}} {
		if got := Evenly(c.n, c.limit); got != c.want {
			t.Errorf("%d rows in blocks of at most %d: %d, want %d", c.n, c.limit, got, c.want)
		}
	}
}
