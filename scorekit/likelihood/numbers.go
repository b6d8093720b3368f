package likelihood

import (
	"fmt"

	"github.com/gomlx/gomlx/pkg/core/tensors"
)

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
