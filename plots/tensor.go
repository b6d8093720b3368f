package plots

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/pkg/core/tensors"
)

// flat reads a float tensor as float64 values. what names it in errors. Values must be finite; floor says that −Inf
// is allowed too, as the logarithm of a density of zero is.
func flat(what string, t *tensors.Tensor, floor bool) ([]float64, error) {
	if t == nil {
		return nil, fmt.Errorf("%s: nil: must be a tensor", what)
	}
	if err := t.CheckValid(); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	shape := t.Shape()
	if shape.Rank() == 0 {
		return nil, fmt.Errorf("%s: a scalar: must have a row for each point", what)
	}
	if shape.Size() == 0 {
		return nil, fmt.Errorf("%s: shape %v: empty", what, shape.Dimensions)
	}
	var out []float64
	var unknown error
	err := t.ConstFlatData(func(data any) {
		switch data := data.(type) {
		case []float64:
			out = append(out, data...)
		case []float32:
			out = make([]float64, len(data))
			for i, v := range data {
				out[i] = float64(v)
			}
		default:
			unknown = fmt.Errorf("%s: dtype %s: must be Float32 or Float64", what, t.DType())
		}
	})
	if err == nil {
		err = unknown
	}
	if err != nil {
		return nil, err
	}
	columns := shape.Size() / shape.Dimensions[0]
	for i, v := range out {
		if math.IsNaN(v) || math.IsInf(v, 1) || math.IsInf(v, -1) && !floor {
			return nil, fmt.Errorf("%s: row %d, column %d: %v: must be finite", what, i/columns, i%columns, v)
		}
	}
	return out, nil
}

// table reads a tensor [n, dims...] as n rows, each of the product of dims.
func table(what string, t *tensors.Tensor) ([][]float64, error) {
	values, err := flat(what, t, false)
	if err != nil {
		return nil, err
	}
	n := t.Shape().Dimensions[0]
	width := len(values) / n
	out := make([][]float64, n)
	for i := range out {
		out[i] = values[i*width : (i+1)*width]
	}
	return out, nil
}

// planar reads points of the plane, [n, 2].
func planar(what string, t *tensors.Tensor) ([][]float64, error) {
	points, err := table(what, t)
	if err != nil {
		return nil, err
	}
	if t.Rank() != 2 || len(points[0]) != 2 {
		return nil, fmt.Errorf("%s: shape %v: must be [n, 2]", what, t.Shape().Dimensions)
	}
	return points, nil
}

// column reads one number a row, [n] or [n, 1].
func column(what string, t *tensors.Tensor, floor bool) ([]float64, error) {
	values, err := flat(what, t, floor)
	if err != nil {
		return nil, err
	}
	if len(values) != t.Shape().Dimensions[0] || t.Rank() > 2 {
		return nil, fmt.Errorf("%s: shape %v: must be [n] or [n, 1]", what, t.Shape().Dimensions)
	}
	return values, nil
}

// numbered names one of several things in an error: by its number, and by its name where it has one.
func numbered(what string, i int, name string) string {
	if name == "" {
		return fmt.Sprintf("%s %d", what, i)
	}
	return fmt.Sprintf("%s %d (%s)", what, i, name)
}
