package data_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/data"
	"github.com/scorekit/lab/scorekit"
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

// Parts end at the running sums of the fractions, hold each example once and are those of Split; Shuffle holds all of
// them in another order.
func TestSplitIntoAndShuffle(t *testing.T) {
	wine, err := data.Wine()
	if err != nil {
		t.Fatal(err)
	}
	parts, err := wine.SplitInto(3, 0.8, 0.1, 0.1)
	if err != nil {
		t.Fatal(err)
	}
	var sizes []int
	var all, dealt []string
	key := func(s data.Set, into *[]string) {
		for i, row := range s.Rows() {
			*into = append(*into, fmt.Sprint(row, s.Labels[i]))
		}
	}
	key(wine, &all)
	for _, part := range parts {
		n, _ := part.Dims()
		sizes = append(sizes, n)
		key(part, &dealt)
		if part.Columns[12] != "proline" || part.Validate() != nil || part.X.DType() != dtypes.Float64 {
			t.Errorf("part with columns %v: %v", part.Columns, part.Validate())
		}
	}
	if want := []int{142, 18, 18}; !slices.Equal(sizes, want) { // 142.4, 160.2 and 178
		t.Errorf("parts of %v, want %v", sizes, want)
	}
	shuffled, err := wine.Shuffle(3)
	if err != nil {
		t.Fatal(err)
	}
	var mixed []string
	key(shuffled, &mixed)
	if slices.Equal(all, mixed) || slices.Equal(dealt, all) {
		t.Error("nothing was shuffled")
	}
	for _, list := range [][]string{all, dealt, mixed} {
		slices.Sort(list)
	}
	if !slices.Equal(all, dealt) || !slices.Equal(all, mixed) {
		t.Error("examples were lost")
	}
	first, rest, err := wine.Split(0.8, 3)
	if err != nil {
		t.Fatal(err)
	}
	two, err := wine.SplitInto(3, 0.8, 0.2)
	if err != nil || !two[0].X.Equal(first.X) || !two[1].X.Equal(rest.X) || !parts[0].X.Equal(first.X) {
		t.Errorf("SplitInto deals otherwise than Split: %v", err)
	}
}

// Channels stand side by side in a row.
func TestImages(t *testing.T) {
	colour := data.Set{X: tensors.FromValue([][]float32{{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}}), Height: 2, Width: 2, Channels: 3}
	x, err := colour.Images()
	if err != nil {
		t.Fatal(err)
	}
	if got := x.Value().([][][][]float32); got[0][1][0][2] != 8 || got[0][0][1][0] != 3 {
		t.Errorf("images %v", got)
	}
	examples, err := colour.ImageExamples()
	if err != nil || !slices.Equal(examples.Shape(), []int{2, 2, 3}) {
		t.Errorf("examples of %v: %v", examples, err)
	}
	if rows, err := colour.Examples(); err != nil || !slices.Equal(rows.Shape(), []int{12}) {
		t.Errorf("examples of %v: %v", rows, err)
	}
	digits, err := data.Digits()
	if err != nil {
		t.Fatal(err)
	}
	labelled, err := digits.ImageExamples()
	if l, ok := labelled.(scorekit.Labelled); err != nil || !ok || l.Classes() != 10 || !slices.Equal(l.Shape(), []int{8, 8, 1}) {
		t.Errorf("digits: %v, %v", labelled, err)
	}
}

// Digits as they are known: 500 of each, the sum of all pixels, and the first 0, whose first inked line is 5.
func TestMNIST(t *testing.T) {
	set, err := data.MNIST()
	if err != nil {
		t.Fatal(err)
	}
	if n, d := set.Dims(); n != 5000 || d != 784 || set.Height != 28 || set.Width != 28 || set.X.DType() != dtypes.Float32 {
		t.Errorf("%s of %d×%d images", set.X.Shape(), set.Height, set.Width)
	}
	counts, sum := make([]int, 10), 0.0
	for i, row := range set.Rows() {
		counts[set.Labels[i]]++
		for _, v := range row {
			sum += math.Round(v * 255)
			if v < 0 || v > 1 {
				t.Fatalf("pixel %v", v)
			}
		}
	}
	if !slices.Equal(counts, slices.Repeat([]int{500}, 10)) || sum != 131_267_102 {
		t.Errorf("classes %v, pixels sum to %v", counts, sum)
	}
	line := set.Rows()[0][4*28+15 : 4*28+20]
	for j, want := range []float64{51, 159, 253, 159, 50} {
		if math.Abs(line[j]*255-want) > 1e-4 {
			t.Errorf("first line of ink %v", line)
		}
	}
}

// The means that the makers of the set give for two columns, to their two digits, and the sizes of the classes.
func TestWine(t *testing.T) {
	set, err := data.Wine()
	if err != nil {
		t.Fatal(err)
	}
	if n, d := set.Dims(); n != 178 || d != 13 || len(set.Columns) != 13 || set.Columns[12] != "proline" {
		t.Errorf("%s of %v", set.X.Shape(), set.Columns)
	}
	counts, alcohol, proline := make([]int, 3), 0.0, 0.0
	for i, row := range set.Rows() {
		counts[set.Labels[i]]++
		alcohol += row[0] / 178
		proline += row[12] / 178
	}
	if !slices.Equal(counts, []int{59, 71, 48}) || math.Abs(alcohol-13.00) > 0.005 || math.Abs(proline-746.89) > 0.005 {
		t.Errorf("classes %v, mean alcohol %v and proline %v", counts, alcohol, proline)
	}
}

func TestImpossibleSets(t *testing.T) {
	nan, inf := math.NaN(), float32(math.Inf(-1))
	good := data.Set{Name: "good", X: tensors.FromValue([][]float64{{1, 2}, {3, 4}})}
	split := func(s data.Set, fraction float64) error { _, _, err := s.Split(fraction, 1); return err }
	into := func(s data.Set, fractions ...float64) error { _, err := s.SplitInto(1, fractions...); return err }
	images := func(s data.Set) error { _, err := s.Images(); return err }
	for want, err := range map[string]error{
		"data: set: no examples":                         data.Set{}.Validate(),
		"data: a: value NaN in row 1, column 0":          data.Set{Name: "a", X: tensors.FromValue([][]float64{{1, 2}, {nan, nan}})}.Validate(),
		"data: set: value -Inf in row 0, column 1":       split(data.Set{X: tensors.FromValue([][]float32{{1, inf}, {1, 2}})}, 0.5),
		"examples of shape (Float64)[3]: must be [n, d]": data.Set{X: tensors.FromValue([]float64{1, 2, 3})}.Validate(),
		"dtype Int64: must be float32 or float64":        data.Set{X: tensors.FromValue([][]int64{{1}})}.Validate(),
		"SplitInto: fraction 0: must be positive":        into(good, 1, 0),
		"SplitInto: fraction NaN: must be positive":      into(good, nan),
		"SplitInto: fractions [0.5 0.4] sum to 0.9":      into(good, 0.5, 0.4),
		"SplitInto: fractions [] sum to 0":               into(good),
		"SplitInto: fraction 0.2 of 2 examples":          into(good, 0.8, 0.2),
		"SplitInto: fractions [0.5 0.5 0.5] sum to 1.5":  into(good, 0.5, 0.5, 0.5),
		"1 column names for 2 columns":                   data.Set{X: good.X, Columns: []string{"a"}}.Validate(),
		"-1 channels: must not be negative":              data.Set{X: good.X, Channels: -1}.Validate(),
		"3 channels of images of 0×0":                    data.Set{X: good.X, Channels: 3}.Validate(),
		"images of 1×2×3 in rows of 2":                   data.Set{X: good.X, Height: 1, Width: 2, Channels: 3}.Validate(),
		"rows of 2 are not images":                       images(good),
		"data: set: data: Levels: count 1":               data.Set{X: good.X, Levels: data.Levels{Count: 1}}.Validate(),
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
