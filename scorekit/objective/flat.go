package objective

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/pkg/core/tensors"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/scorekit/lab/scorekit"
)

// These losses fall without end on points that lie in a plane, a line or a point of their space: with s = −c(x − m) across
// it, tr ∂s/∂x = −c for each direction that the points do not fill, and nothing pays for it.
var (
	_ scorekit.PointsValidator = Implicit{}
	_ scorekit.PointsValidator = ImplicitHutchinson{}
	_ scorekit.PointsValidator = Sliced{}
	_ scorekit.PointsValidator = SlicedVR{}
)

// ValidatePoints returns an error for points that do not fill their space, where the loss has no minimum even over linear
// scores: a number that is the same in all, no more points than numbers, or, up to 1,024 numbers, points within rounding of
// a plane.
func (o Implicit) ValidatePoints(points *tensors.Tensor) error {
	return fill("implicit objective", points)
}

// ValidatePoints returns an error for points that do not fill their space: see [Implicit.ValidatePoints].
func (o ImplicitHutchinson) ValidatePoints(points *tensors.Tensor) error {
	return fill("implicit Hutchinson objective", points)
}

// ValidatePoints returns an error for points that do not fill their space: see [Implicit.ValidatePoints].
func (o Sliced) ValidatePoints(points *tensors.Tensor) error { return fill("sliced objective", points) }

// ValidatePoints returns an error for points that do not fill their space: see [Implicit.ValidatePoints].
func (o SlicedVR) ValidatePoints(points *tensors.Tensor) error {
	return fill("sliced VR objective", points)
}

// maxFilled is the number of coordinates up to which planes across several of them are looked for: the time grows with its cube.
const maxFilled = 1024

func fill(who string, points *tensors.Tensor) error {
	rows, err := scorekit.Rows(points)
	if err != nil {
		return fmt.Errorf("%s: %w", who, err)
	}
	const advice = "the loss then falls without end: leave out what does not vary, add noise to the data, or take Denoising"
	n, d := len(rows), len(rows[0])
	mean, std, column := make([]float64, d), make([]float64, d), make([]float64, n)
	for j := range d {
		for i, row := range rows {
			column[i] = row[j]
		}
		if low := floats.Min(column); low == floats.Max(column) {
			return fmt.Errorf("%s: number %d of all %d points is %v (counted from 0): %s", who, j, n, low, advice)
		}
		mean[j], std[j] = stat.MeanStdDev(column, nil)
	}
	if n <= d {
		return fmt.Errorf("%s: %d points of %d numbers fill no more than %d directions: %s", who, n, d, n-1, advice)
	}
	if d > maxFilled {
		return nil
	}
	// A few rows tell it of most data; only if they lie in a plane are all asked.
	if some := min(n, 2*d+50); !flat(rows, some, mean, std) || some < n && !flat(rows, n, mean, std) {
		return nil
	}
	return fmt.Errorf("%s: the %d points lie in a plane: some of their %d numbers follow from the others: %s", who, n, d, advice)
}

// flat says whether some of the rows, evenly spread among them, lie within rounding of a plane, after every coordinate is
// divided by its standard deviation. float32 rounds a combination of coordinates at 1e-7, whose square is 1e-14.
func flat(rows [][]float64, some int, mean, std []float64) bool {
	d := len(mean)
	z := mat.NewDense(some, d, nil)
	for i := range some {
		row := z.RawRowView(i)
		for j, v := range rows[i*len(rows)/some] {
			row[j] = (v - mean[j]) / std[j]
		}
	}
	gram := mat.NewSymDense(d, nil)
	gram.SymOuterK(1/float64(some), z.T())
	var cholesky mat.Cholesky
	return !cholesky.Factorize(gram) || math.IsNaN(cholesky.Cond()) || cholesky.Cond() > 1e13/float64(d)
}
