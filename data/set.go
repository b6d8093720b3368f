package data

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/scorekit"
)

// Set is a data set held on the host: one example a row.
type Set struct {
	// Name says what the set is, for titles and messages.
	Name string
	// X holds the examples, [n, d], float32 or float64.
	X *tensors.Tensor
	// Labels holds the class of each example, or is nil.
	Labels []int
	// Height and Width are the sides of the image that a row holds, line by line, or 0 when rows are not images.
	Height, Width int
}

// Dims returns the number of examples and of columns.
func (s Set) Dims() (n, d int) {
	if s.X == nil || s.X.Shape().Rank() != 2 {
		return 0, 0
	}
	return s.X.Shape().Dimensions[0], s.X.Shape().Dimensions[1]
}

// Validate returns an error when the set is empty or not [n, d], a value is NaN or infinite (the error names its row
// and column, counted from 0), there are not as many labels as rows, or the image sides do not multiply to d.
func (s Set) Validate() error {
	rows, err := finite(s.X)
	if err != nil {
		return fmt.Errorf("data: %s: %w", s.title(), err)
	}
	n, d := len(rows), len(rows[0])
	if s.Labels != nil && len(s.Labels) != n {
		return fmt.Errorf("data: %s: %d labels for %d rows: must be as many", s.title(), len(s.Labels), n)
	}
	if (s.Height != 0 || s.Width != 0) && s.Height*s.Width != d {
		return fmt.Errorf("data: %s: images of %d×%d in rows of %d: must have as many pixels", s.title(), s.Height, s.Width, d)
	}
	return nil
}

func (s Set) title() string {
	if s.Name == "" {
		return "set"
	}
	return s.Name
}

// Rows returns a copy of the examples. It returns nil for an empty set.
func (s Set) Rows() [][]float64 {
	rows, err := matrix(s.X)
	if err != nil {
		return nil
	}
	return rows
}

// Split deals the examples at random into two sets: the first gets the given fraction of them, rounded to the nearest
// whole number. The same seed deals the same way. The fraction must leave at least one example on each side.
func (s Set) Split(fraction float64, seed int64) (first, rest Set, err error) {
	if err := s.Validate(); err != nil {
		return Set{}, Set{}, err
	}
	n, _ := s.Dims()
	count := math.Round(fraction * float64(n))
	if !(count >= 1 && count <= float64(n-1)) {
		return Set{}, Set{}, fmt.Errorf("data: Split: fraction %v of %d examples: must leave at least one on each side", fraction, n)
	}
	order := generator(seed).Perm(n)
	return s.pick(order[:int(count)]), s.pick(order[int(count):]), nil
}

// pick returns the set of the given rows, in their order.
func (s Set) pick(rows []int) Set {
	picked := s
	all := s.Rows()
	_, d := s.Dims()
	chosen := make([]float64, 0, len(rows)*d)
	picked.Labels = nil
	for _, i := range rows {
		chosen = append(chosen, all[i]...)
		if s.Labels != nil {
			picked.Labels = append(picked.Labels, s.Labels[i])
		}
	}
	picked.X = tensor(chosen, d, s.X.DType())
	return picked
}

// matrix returns a copy of x's rows, if x is a matrix of float32 or float64 with something in it.
func matrix(x *tensors.Tensor) ([][]float64, error) {
	if x == nil || x.Size() == 0 {
		return nil, fmt.Errorf("no examples: must have at least one")
	}
	if x.Rank() != 2 {
		return nil, fmt.Errorf("examples of shape %s: must be [n, d]", x.Shape())
	}
	if x.DType() != dtypes.Float32 && x.DType() != dtypes.Float64 {
		return nil, fmt.Errorf("examples of dtype %s: must be float32 or float64", x.DType())
	}
	return scorekit.Rows(x)
}

// finite is matrix with an error that names the row and column of the first NaN or infinity.
func finite(x *tensors.Tensor) ([][]float64, error) {
	rows, err := matrix(x)
	if err != nil {
		return nil, err
	}
	for i, row := range rows {
		for j, v := range row {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("value %v in row %d, column %d: must be finite", v, i, j)
			}
		}
	}
	return rows, nil
}

// tensor makes a matrix with d columns of row-major values.
func tensor(values []float64, d int, dtype dtypes.DType) *tensors.Tensor {
	if dtype == dtypes.Float64 {
		return tensors.FromFlatDataAndDimensions(values, len(values)/d, d)
	}
	narrow := make([]float32, len(values))
	for i, v := range values {
		narrow[i] = float32(v)
	}
	return tensors.FromFlatDataAndDimensions(narrow, len(values)/d, d)
}

// generator returns the host's random numbers for a seed.
func generator(seed int64) *rand.Rand { return rand.New(rand.NewPCG(uint64(seed), 0x5c0e)) }
