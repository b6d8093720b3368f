package data_test

import (
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/data"
)

// Columns get mean 0 and standard deviation 1 and come back to rounding, through JSON.
func TestStandardize(t *testing.T) {
	x := [][]float64{{1, 1e8 + 1, -4}, {3, 1e8 + 2, 0}, {5, 1e8 + 3, 0}, {7, 1e8 + 6, 0}}
	s, z, err := data.Standardize(tensors.FromValue(x))
	if err != nil {
		t.Fatal(err)
	}
	if want := (data.Standardizer{Mean: []float64{4, 1e8 + 3, -1}, Std: []float64{math.Sqrt(5), math.Sqrt(3.5), math.Sqrt(3)}}); !near(s.Mean, want.Mean) || !near(s.Std, want.Std) {
		t.Errorf("got %v, want %v", s, want)
	}
	for j := range 3 {
		var sum, square float64
		for _, row := range z.Value().([][]float64) {
			sum += row[j]
			square += row[j] * row[j] / 4
		}
		if math.Abs(sum) > 1e-14 || math.Abs(square-1) > 1e-14 {
			t.Errorf("column %d: sum %v, mean square %v", j, sum, square)
		}
	}
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	var stored data.Standardizer
	if err := json.Unmarshal(text, &stored); err != nil || !reflect.DeepEqual(stored, s) {
		t.Fatalf("%s read as %v: %v", text, stored, err)
	}
	back, err := stored.Invert(z)
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range back.Value().([][]float64) {
		if !near(row, x[i]) {
			t.Errorf("row %d came back as %v, want %v", i, row, x[i])
		}
	}
	if x[0][0] != 1 {
		t.Error("the input changed")
	}
}

func near(a, b []float64) bool {
	for i := range a {
		if !(math.Abs(a[i]-b[i]) <= 4e-16*math.Abs(b[i])) {
			return false
		}
	}
	return len(a) == len(b)
}

// The digits come back to rounding of float32; their border pixels, always 0, stay 0.
func TestStandardizeDigits(t *testing.T) {
	digits, err := data.Digits()
	if err != nil {
		t.Fatal(err)
	}
	s, z, err := data.StandardizeJointly(digits.X)
	if err != nil {
		t.Fatal(err)
	}
	if s.Mean[0] != 0 {
		t.Errorf("first pixel: mean %v", s.Mean[0])
	}
	back, err := s.Invert(z)
	if err != nil {
		t.Fatal(err)
	}
	want := digits.Rows()
	for i, row := range (data.Set{X: back}).Rows() {
		for j, v := range row {
			// z and the pixel are each rounded to float32, by at most 2⁻²⁴ of (x−Mean)/Std ≤ 4 and of x.
			if math.Abs(v-want[i][j]) > 0x1p-23 {
				t.Fatalf("pixel %d of row %d came back as %v, want %v", j, i, v, want[i][j])
			}
		}
	}
}

func TestImpossibleStandardizers(t *testing.T) {
	nan := math.NaN()
	fit := func(x *tensors.Tensor) error { _, _, err := data.Standardize(x); return err }
	good := data.Standardizer{Mean: []float64{1, 2}, Std: []float64{1, 1}}
	apply := func(s data.Standardizer, x any) error { _, err := s.Apply(tensors.FromAnyValue(x)); return err }
	invert := func(s data.Standardizer, x any) error { _, err := s.Invert(tensors.FromAnyValue(x)); return err }
	for want, err := range map[string]error{
		"data: Standardize: no examples":                                          fit(nil),
		"data: Standardize: value NaN in row 0, column 1":                         fit(tensors.FromValue([][]float64{{1, nan}})),
		"data: Standardize: column 0: its spread overflows":                       fit(tensors.FromValue([][]float64{{-1.7e308}, {1.7e308}})),
		"data: Standardize: column 1: its spread vanishes":                        fit(tensors.FromValue([][]float64{{1, 1e-200}, {2, 2e-200}})),
		"data: Standardize: one row: must have at least two":                      fit(tensors.FromValue([][]float64{{1, 2}})),
		"column 1: 0.1 in every row (columns count from 0): must vary; leave out": fit(tensors.FromValue([][]float64{{1, 0.1}, {2, 0.1}, {3, 0.1}})),
		"Standardize: examples of shape (Float64)[2]":                             fit(tensors.FromValue([]float64{1, 2})),
		"data: Standardizer: Apply: rows of 3 for 2 columns":                      apply(good, [][]float64{{1, 2, 3}}),
		"data: Standardizer: Invert: value NaN in row 1, column 0":                invert(good, [][]float64{{1, 2}, {nan, 1}}),
		"Standardizer: 0 means and 0 deviations":                                  apply(data.Standardizer{}, [][]float64{{1}}),
		"Standardizer: 1 means and 2 deviations":                                  data.Standardizer{Mean: []float64{1}, Std: []float64{1, 1}}.Validate(),
		"Standardizer: std[0] = 0: must be positive":                              invert(data.Standardizer{Mean: []float64{1}, Std: []float64{0}}, [][]float64{{1}}),
		"Standardizer: mean[0] = NaN: must be finite":                             data.Standardizer{Mean: []float64{nan}, Std: []float64{1}}.Validate(),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one that says %q", err, want)
		}
	}
}

// Columns with standard deviations 1 and 7 are divided by √((1² + 7²)/2) = 5 both.
func TestStandardizeJointly(t *testing.T) {
	x := tensors.FromValue([][]float64{{2, 10}, {4, 24}})
	s, z, err := data.StandardizeJointly(x)
	if err != nil {
		t.Fatal(err)
	}
	for j, want := range []float64{3, 17} {
		if math.Abs(s.Mean[j]-want) > 1e-12 || math.Abs(s.Std[j]-5) > 1e-12 {
			t.Errorf("column %d: mean %v, std %v", j, s.Mean[j], s.Std[j])
		}
	}
	for i, want := range [][]float64{{-0.2, -1.4}, {0.2, 1.4}} {
		for j := range want {
			if got := z.Value().([][]float64)[i][j]; math.Abs(got-want[j]) > 1e-12 {
				t.Errorf("z[%d][%d] = %v, want %v", i, j, got, want[j])
			}
		}
	}
	if s, _, err := data.StandardizeJointly(tensors.FromValue([][]float64{{2, 3}, {2, 5}})); err != nil || s.Mean[0] != 2 || s.Std[0] != s.Std[1] {
		t.Errorf("a column that does not vary: %v, %v", s, err)
	}
	if _, _, err := data.StandardizeJointly(tensors.FromValue([][]float64{{2, 3}, {2, 3}})); err == nil || !strings.Contains(err.Error(), "column 0: 2 in every row, column 1: 3 in every row (columns") {
		t.Errorf("equal rows: %v", err)
	}
	if _, _, err := data.StandardizeJointly(tensors.FromValue([][]float64{{2, math.NaN()}})); err == nil {
		t.Error("a NaN was taken")
	}
}
