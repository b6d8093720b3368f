package data

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/pkg/core/tensors"
)

// Standardizer brings each column of a matrix to mean 0 and standard deviation 1, and back:
//
//	z = (x − Mean) / Std,  x = Mean + Std z
//
// It is plain data: stored as JSON beside a model's weights it undoes the change for samples of the model.
type Standardizer struct {
	Mean []float64 `json:"mean"`
	Std  []float64 `json:"std"`
}

// Standardize fits a [Standardizer] to the columns of x, [n, d], and returns it with the standardised matrix, of x's
// dtype. Mean and Std are those of the rows at hand (divisor n). A column that does not vary is only centred: its Std
// is 1. It returns an error when x is empty, not a matrix of float32 or float64, or holds a NaN or an infinity, which
// is named by row and column.
func Standardize(x *tensors.Tensor) (Standardizer, *tensors.Tensor, error) {
	s, err := columns(x)
	if err != nil {
		return Standardizer{}, nil, fmt.Errorf("data: Standardize: %w", err)
	}
	for j, std := range s.Std {
		if std == 0 {
			s.Std[j] = 1
		}
	}
	z, err := s.Apply(x)
	return s, z, err
}

// StandardizeJointly is [Standardize] with one standard deviation for all columns, that of the centred matrix as a whole:
// its root mean square becomes 1, and the proportions of the columns stay as they are. It is the choice for columns of
// one unit, such as pixels, where a column that hardly varies should not be blown up. A matrix of equal rows is only
// centred.
func StandardizeJointly(x *tensors.Tensor) (Standardizer, *tensors.Tensor, error) {
	s, err := columns(x)
	if err != nil {
		return Standardizer{}, nil, fmt.Errorf("data: StandardizeJointly: %w", err)
	}
	joint := 0.0
	for _, std := range s.Std {
		joint = math.Hypot(joint, std/math.Sqrt(float64(len(s.Std))))
	}
	if joint == 0 {
		joint = 1
	}
	for j := range s.Std {
		s.Std[j] = joint
	}
	z, err := s.Apply(x)
	return s, z, err
}

// columns returns the mean and the standard deviation of each column.
func columns(x *tensors.Tensor) (Standardizer, error) {
	rows, err := finite(x)
	if err != nil {
		return Standardizer{}, err
	}
	d := len(rows[0])
	s := Standardizer{Mean: make([]float64, d), Std: make([]float64, d)}
	for j := range d {
		column := make([]float64, len(rows))
		for i, row := range rows {
			column[i] = row[j]
		}
		if s.Mean[j], s.Std[j] = moments(column); math.IsInf(s.Std[j], 0) || math.IsInf(s.Mean[j], 0) {
			return Standardizer{}, fmt.Errorf("column %d: its spread overflows: must be finite", j)
		}
	}
	return s, nil
}

// moments returns the mean and standard deviation. They are taken relative to the first value, so that the same values
// give exactly themselves and no spread.
func moments(values []float64) (mean, std float64) {
	origin := values[0]
	for _, v := range values {
		mean += (v - origin) / float64(len(values))
	}
	for _, v := range values {
		std = math.Hypot(std, (v-origin)-mean)
	}
	return origin + mean, std / math.Sqrt(float64(len(values)))
}

// Validate returns an error when the numbers of means and deviations differ, a mean is not finite or a deviation is
// not positive and finite.
func (s Standardizer) Validate() error {
	if len(s.Mean) == 0 || len(s.Mean) != len(s.Std) {
		return fmt.Errorf("data: Standardizer: %d means and %d deviations: must be as many, and at least one", len(s.Mean), len(s.Std))
	}
	for j := range s.Mean {
		if math.IsNaN(s.Mean[j]) || math.IsInf(s.Mean[j], 0) {
			return fmt.Errorf("data: Standardizer: mean[%d] = %v: must be finite", j, s.Mean[j])
		}
		if !(s.Std[j] > 0) || math.IsInf(s.Std[j], 0) {
			return fmt.Errorf("data: Standardizer: std[%d] = %v: must be positive and finite", j, s.Std[j])
		}
	}
	return nil
}

// Apply returns (x − Mean)/Std for x [n, d], of x's dtype. It returns an error when x does not have d columns or holds
// a NaN or an infinity, or s is not valid.
func (s Standardizer) Apply(x *tensors.Tensor) (*tensors.Tensor, error) {
	return s.each("Apply", x, func(v, mean, std float64) float64 { return (v - mean) / std })
}

// Invert returns Mean + Std·z for z [n, d], of z's dtype: what Apply was given, to rounding. Its errors are those of
// Apply.
func (s Standardizer) Invert(z *tensors.Tensor) (*tensors.Tensor, error) {
	return s.each("Invert", z, func(v, mean, std float64) float64 { return mean + std*v })
}

func (s Standardizer) each(verb string, x *tensors.Tensor, f func(v, mean, std float64) float64) (*tensors.Tensor, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	rows, err := finite(x)
	if err == nil && len(rows[0]) != len(s.Mean) {
		err = fmt.Errorf("rows of %d for %d columns: must be as many", len(rows[0]), len(s.Mean))
	}
	if err != nil {
		return nil, fmt.Errorf("data: Standardizer: %s: %w", verb, err)
	}
	var values []float64
	for _, row := range rows {
		for j, v := range row {
			values = append(values, f(v, s.Mean[j], s.Std[j]))
		}
	}
	return tensor(values, len(s.Mean), x.DType()), nil
}
