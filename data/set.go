package data

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/internal/numbers"
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
	// Columns holds the names of the d columns, or is nil.
	Columns []string
	// Height and Width are the sides of the image that a row holds, line by line, or 0 when rows are not images.
	Height, Width int
	// Channels is the number of values of a pixel, which stand side by side in a row: 0 or 1 for grey, 3 for red, green
	// and blue.
	Channels int
	// Levels are the only values that X takes, for data that is not continuous, such as pixels of 256 greys. The zero
	// value says nothing about them.
	Levels Levels
}

// Dims returns the number of examples and of columns.
func (s Set) Dims() (n, d int) {
	if s.X == nil || s.X.Shape().Rank() != 2 {
		return 0, 0
	}
	return s.X.Shape().Dimensions[0], s.X.Shape().Dimensions[1]
}

// Validate returns an error when the set is empty or not [n, d], a value is NaN or infinite (the error names its row
// and column, counted from 0), there are not as many labels as rows or names as columns, the image sides and channels do
// not multiply to d, or the levels are impossible ones. Whether every value is a level is not looked at: that is done
// where it matters, by [Dequantizer].
func (s Set) Validate() error {
	rows, err := finite(s.X)
	if err != nil {
		return fmt.Errorf("data: %s: %w", s.title(), err)
	}
	n, d := len(rows), len(rows[0])
	if s.Labels != nil && len(s.Labels) != n {
		return fmt.Errorf("data: %s: %d labels for %d rows: must be as many", s.title(), len(s.Labels), n)
	}
	if s.Columns != nil && len(s.Columns) != d {
		return fmt.Errorf("data: %s: %d column names for %d columns: must be as many", s.title(), len(s.Columns), d)
	}
	if s.Channels < 0 {
		return fmt.Errorf("data: %s: %d channels: must not be negative", s.title(), s.Channels)
	}
	if s.Channels > 0 && s.Height*s.Width == 0 {
		return fmt.Errorf("data: %s: %d channels of images of %d×%d: must have a height and a width", s.title(), s.Channels, s.Height, s.Width)
	}
	if (s.Height != 0 || s.Width != 0) && s.Height*s.Width*s.channels() != d {
		sides := fmt.Sprintf("%d×%d", s.Height, s.Width)
		if s.Channels > 0 {
			sides += fmt.Sprintf("×%d", s.Channels)
		}
		return fmt.Errorf("data: %s: images of %s in rows of %d: must have as many values", s.title(), sides, d)
	}
	if s.Levels != (Levels{}) {
		if err := s.Levels.Validate(); err != nil {
			return fmt.Errorf("data: %s: %w", s.title(), err)
		}
	}
	return nil
}

func (s Set) title() string {
	if s.Name == "" {
		return "set"
	}
	return s.Name
}

func (s Set) channels() int { return max(1, s.Channels) }

// Rows returns a copy of the examples. It returns nil for an empty set.
func (s Set) Rows() [][]float64 {
	rows, err := matrix(s.X)
	if err != nil {
		return nil
	}
	return rows
}

// Images returns a copy of the examples as images, [n, Height, Width, channels], of X's dtype. Its errors are those of
// [Set.Validate], and one for a set that does not hold images.
func (s Set) Images() (*tensors.Tensor, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if s.Height == 0 {
		return nil, fmt.Errorf("data: %s: rows of %d are not images: Height and Width must be set", s.title(), s.X.Shape().Dimensions[1])
	}
	n, _ := s.Dims()
	return reshaped(s.X, n, s.Height, s.Width, s.channels())
}

// Examples makes training data of the rows, each [d]: [scorekit.Labelled] if there are labels. Its errors are those of
// [Set.Validate] and of [scorekit.LabelledExamples].
func (s Set) Examples() (scorekit.Data, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	return s.examples(s.X)
}

// ImageExamples is [Set.Examples] for networks of images: each example is [Height, Width, channels]. The error may also
// be that of [Set.Images].
func (s Set) ImageExamples() (scorekit.Data, error) {
	x, err := s.Images()
	if err != nil {
		return nil, err
	}
	return s.examples(x)
}

// examples makes training data of x, which has the labels of s.
func (s Set) examples(x *tensors.Tensor) (data scorekit.Data, err error) {
	if s.Labels != nil {
		data, err = scorekit.LabelledExamples(x, s.Labels)
	} else {
		data, err = scorekit.Examples(x)
	}
	if err != nil {
		return nil, fmt.Errorf("data: %s: %w", s.title(), err)
	}
	return data, nil
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

// SplitInto deals the examples at random into as many sets as there are fractions, such as 0.8, 0.1 and 0.1 to train,
// validate and test with. The fractions must be positive and sum to 1. Part k ends at the fraction's running sum times n,
// rounded to the nearest whole number, so that every example is in one part; each must get at least one. The same seed
// deals the same way, and two fractions deal as [Set.Split] does.
func (s Set) SplitInto(seed int64, fractions ...float64) ([]Set, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	n, _ := s.Dims()
	sum := 0.0
	for _, f := range fractions {
		if !(f > 0) {
			return nil, fmt.Errorf("data: SplitInto: fraction %v: must be positive", f)
		}
		sum += f
	}
	if !(math.Abs(sum-1) <= 1e-9) {
		return nil, fmt.Errorf("data: SplitInto: fractions %v sum to %v: must sum to 1", fractions, sum)
	}
	sum = 0
	ends := []int{0}
	for k, f := range fractions {
		sum += f
		end := n
		if k < len(fractions)-1 {
			end = int(math.Round(sum * float64(n)))
		}
		if end <= ends[k] {
			return nil, fmt.Errorf("data: SplitInto: fraction %v of %d examples: must be at least one of them", f, n)
		}
		ends = append(ends, end)
	}
	order := generator(seed).Perm(n)
	var parts []Set
	for k := range fractions {
		parts = append(parts, s.pick(order[ends[k]:ends[k+1]]))
	}
	return parts, nil
}

// Shuffle returns the examples, with their labels, in a random order that follows from seed. Its errors are those of
// [Set.Validate].
func (s Set) Shuffle(seed int64) (Set, error) {
	if err := s.Validate(); err != nil {
		return Set{}, err
	}
	n, _ := s.Dims()
	return s.pick(generator(seed).Perm(n)), nil
}

// pick returns the set of the given rows, in their order.
func (s Set) pick(rows []int) Set {
	picked := s
	_, d := s.Dims()
	s.X.MustConstFlatData(func(flat any) {
		switch all := flat.(type) {
		case []float32:
			picked.X = pickRows(all, d, rows)
		case []float64:
			picked.X = pickRows(all, d, rows)
		}
	})
	picked.Columns = slices.Clone(s.Columns)
	if s.Labels != nil {
		picked.Labels = make([]int, len(rows))
		for k, i := range rows {
			picked.Labels[k] = s.Labels[i]
		}
	}
	return picked
}

func pickRows[T float32 | float64](all []T, d int, rows []int) *tensors.Tensor {
	chosen := make([]T, 0, len(rows)*d)
	for _, i := range rows {
		chosen = append(chosen, all[i*d:(i+1)*d]...)
	}
	return tensors.FromFlatDataAndDimensions(chosen, len(rows), d)
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
	return rows, checkFinite(rows)
}

func checkFinite(rows [][]float64) error {
	for i, row := range rows {
		for j, v := range row {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("value %v in row %d, column %d: must be finite", v, i, j)
			}
		}
	}
	return nil
}

// tensor makes a matrix with d columns of row-major values.
func tensor(values []float64, d int, dtype dtypes.DType) *tensors.Tensor {
	return numbers.Tensor(values, dtype, len(values)/d, d)
}

// reshaped returns a copy of x with other dimensions.
func reshaped(x *tensors.Tensor, dims ...int) (copied *tensors.Tensor, err error) {
	access := x.ConstFlatData(func(flat any) {
		switch f := flat.(type) {
		case []float32:
			copied = tensors.FromFlatDataAndDimensions(slices.Clone(f), dims...)
		case []float64:
			copied = tensors.FromFlatDataAndDimensions(slices.Clone(f), dims...)
		}
	})
	return copied, access
}

// generator returns the host's random numbers for a seed.
func generator(seed int64) *rand.Rand { return rand.New(rand.NewPCG(uint64(seed), 0x5c0e)) }
