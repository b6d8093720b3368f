package data_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/data"
)

func TestDigits(t *testing.T) {
	set, err := data.Digits()
	if err != nil {
		t.Fatal(err)
	}
	if n, d := set.Dims(); n != 1797 || d != 64 || set.Height != 8 || set.Width != 8 || set.X.DType() != dtypes.Float32 {
		t.Errorf("%s of %d×%d images: want [1797 64] of 8×8", set.X.Shape(), set.Height, set.Width)
	}
	counts := make([]int, 10)
	for _, label := range set.Labels {
		counts[label]++
	}
	if want := []int{178, 182, 177, 183, 181, 182, 181, 179, 174, 180}; !slices.Equal(counts, want) {
		t.Errorf("classes %v, want %v", counts, want)
	}
	sum, largest := 0.0, 0.0
	for _, row := range set.Rows() {
		for _, v := range row {
			if v < 0 {
				t.Fatalf("pixel %v", v)
			}
			sum, largest = sum+v*16, max(largest, v)
		}
	}
	if sum != 561718 || largest != 1 {
		t.Errorf("pixels sum to %v sixteenths, the largest is %v: want 561718 and 1", sum, largest)
	}
	// The first line of the first digit, a 0, and the first pixels of its second line.
	if want := []float64{0, 0, 5, 13, 9, 1, 0, 0, 0, 0, 13}; set.Labels[0] != 0 || !slices.EqualFunc(set.Rows()[0][:11], want, func(a, b float64) bool { return a*16 == b }) {
		t.Errorf("first digit %v starts with %v", set.Labels[0], set.Rows()[0][:11])
	}
}

// The two parts hold each example once, with its label; the same seed deals the same way.
func TestSplit(t *testing.T) {
	digits, err := data.Digits()
	if err != nil {
		t.Fatal(err)
	}
	first, rest, err := digits.Split(0.3, 4)
	if err != nil {
		t.Fatal(err)
	}
	n, _ := first.Dims()
	m, _ := rest.Dims()
	if n != 539 || m != 1258 { // 0.3·1797 = 539.1
		t.Errorf("parts of %d and %d", n, m)
	}
	if first.Height != 8 || first.Name != digits.Name || first.Validate() != nil || rest.Validate() != nil {
		t.Errorf("part %q of %d×%d", first.Name, first.Height, first.Width)
	}
	key := func(s data.Set, i int) string {
		var b strings.Builder
		for _, v := range s.Rows()[i] {
			b.WriteByte(byte(v * 16))
		}
		b.WriteByte(byte(s.Labels[i]))
		return b.String()
	}
	var whole, parts []string
	for s, into := range map[*data.Set]*[]string{&digits: &whole, &first: &parts, &rest: &parts} {
		n, _ := s.Dims()
		for i := range n {
			*into = append(*into, key(*s, i))
		}
	}
	slices.Sort(whole)
	slices.Sort(parts)
	if !slices.Equal(whole, parts) {
		t.Error("the parts do not hold each example once")
	}
	again, _, _ := digits.Split(0.3, 4)
	other, _, _ := digits.Split(0.3, 5)
	if !again.X.Equal(first.X) || other.X.Equal(first.X) || first.X.Equal(digits.X) {
		t.Error("the seed does not decide the parts")
	}
}

func TestImpossibleSets(t *testing.T) {
	nan, inf := math.NaN(), float32(math.Inf(-1))
	good := data.Set{Name: "good", X: tensors.FromValue([][]float64{{1, 2}, {3, 4}})}
	split := func(s data.Set, fraction float64) error { _, _, err := s.Split(fraction, 1); return err }
	for want, err := range map[string]error{
		"data: set: no examples":                         data.Set{}.Validate(),
		"data: a: value NaN in row 1, column 0":          data.Set{Name: "a", X: tensors.FromValue([][]float64{{1, 2}, {nan, nan}})}.Validate(),
		"data: set: value -Inf in row 0, column 1":       split(data.Set{X: tensors.FromValue([][]float32{{1, inf}, {1, 2}})}, 0.5),
		"examples of shape (Float64)[3]: must be [n, d]": data.Set{X: tensors.FromValue([]float64{1, 2, 3})}.Validate(),
		"dtype Int64: must be float32 or float64":        data.Set{X: tensors.FromValue([][]int64{{1}})}.Validate(),
		"1 labels for 2 rows":                            data.Set{X: good.X, Labels: []int{1}}.Validate(),
		"images of 2×3 in rows of 2":                     data.Set{X: good.X, Height: 2, Width: 3}.Validate(),
		"Split: fraction 0 of 2 examples: must leave":    split(good, 0),
		"Split: fraction 1 of 2":                         split(good, 1),
		"Split: fraction -0.5 of 2":                      split(good, -0.5),
		"Split: fraction NaN of 2":                       split(good, nan),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one that says %q", err, want)
		}
	}
	if err := good.Validate(); err != nil {
		t.Error(err)
	}
	if n, d := (data.Set{}).Dims(); n != 0 || d != 0 || (data.Set{}).Rows() != nil {
		t.Error("an empty set has rows")
	}
	good.Rows()[0][0] = 9
	if good.Rows()[0][0] != 1 {
		t.Error("Rows is not a copy")
	}
}
