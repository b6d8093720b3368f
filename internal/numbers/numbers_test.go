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
