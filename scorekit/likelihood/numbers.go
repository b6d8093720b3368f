package likelihood

import (
	"fmt"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/tensors"
)

// toTensor puts numbers into a tensor of float32 or float64.
func toTensor(values []float64, dtype dtypes.DType, dims ...int) *tensors.Tensor {
	if dtype == dtypes.Float64 {
		return tensors.FromFlatDataAndDimensions(values, dims...)
	}
	narrow := make([]float32, len(values))
	for i, v := range values {
		narrow[i] = float32(v)
	}
	return tensors.FromFlatDataAndDimensions(narrow, dims...)
}

// scalar reads a number.
func scalar(t *tensors.Tensor) (float64, error) {
	switch v := t.Value().(type) {
	case float64:
		return v, nil
	case float32:
		return float64(v), nil
	default:
		return 0, fmt.Errorf("a number of type %T", v)
	}
}
