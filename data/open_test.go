package data_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/pkg/core/dtypes"

	"github.com/scorekit/lab/data"
)

// fixture is the value in row i, column j of the files that testdata/make.py wrote.
func fixture(i, j int) float64 { return float64((7*i+3*j)%11) - 5 + float64(j)/4 }

// wholeFixture is the same for integers.
func wholeFixture(i, j int) float64 { return float64((7*i + 3*j) % 11) }

// openSet opens a file and reads it into memory.
func openSet(t *testing.T, path string, options ...data.OpenOption) (*data.File, data.Set) {
	t.Helper()
	file, err := data.Open(path, options...)
	if err != nil {
		t.Fatal(err)
	}
	set, err := file.Set(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := set.Validate(); err != nil {
		t.Fatal(err)
	}
	return file, set
}

// testdata is a file of the testdata folder.
func testdata(name string) string { return filepath.Join("testdata", filepath.FromSlash(name)) }

// write makes a file for a test.
func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// Files that numpy, pandas and pyarrow wrote hold what their makers put in.
func TestOpenOthersFiles(t *testing.T) {
	columns := func(f func(i, j int) float64, of ...int) func(i int) []float64 {
		return func(i int) []float64 {
			var row []float64
			for _, j := range of {
				row = append(row, f(i, j))
			}
			return row
		}
	}
	floats, whole := columns(fixture, 0, 1, 2), columns(wholeFixture, 0, 1, 2)
	truth := func(i int) []float64 {
		var row []float64
		for j := range 3 {
			if wholeFixture(i, j) > 5 {
				row = append(row, 1)
			} else {
				row = append(row, 0)
			}
		}
		return row
	}
	colours := []string{"red", "green", "blue"}
	for _, c := range []struct {
		file    string
		format  data.Format
		want    func(i int) []float64
		options []data.OpenOption
	}{
		{"c.npy", data.NPY, floats, nil},
		{"big.npy", data.NPY, floats, nil},
		{"fortran.npy", data.NPY, floats, nil},
		{"version2.npy", data.NPY, floats, nil},
		{"c.npy", data.NPY, columns(fixture, 2, 0), []data.OpenOption{data.WithColumns("3", "1")}},
		{"fortran.npy", data.NPY, columns(fixture, 0, 2), []data.OpenOption{data.WithoutColumns("2")}},
		{"one.npz", data.NPZ, floats, nil},
		{"kinds.npz", data.NPZ, truth, []data.OpenOption{data.WithArray("bool")}},
		{"kinds.npz", data.NPZ, columns(fixture, 0), []data.OpenOption{data.WithArray("vector")}},
		{"kinds.npz", data.NPZ, whole, []data.OpenOption{data.WithArray("be")}},
		{"savetxt.txt", data.CSV, floats, nil},
		{"pandas.csv", data.CSV, floats, []data.OpenOption{data.WithLabels("kind")}},
		{"pandas.csv", data.CSV, floats, []data.OpenOption{data.WithoutColumns("kind")}},
		{"pandas.csv", data.CSV, columns(fixture, 1, 0), []data.OpenOption{data.WithColumns("b, c", "1")}},
		{"pandas.tsv.gz", data.TSV, floats, []data.OpenOption{data.WithLabels("4")}},
		{"excel.csv", data.CSV, floats, []data.OpenOption{data.WithColumns("a", "b, c", `say "d"`)}},
		{"numbers.parquet", data.Parquet, columns(fixture, 0, 1), []data.OpenOption{data.WithColumns("f64", "f32")}},
		{"zstd.parquet", data.Parquet, columns(fixture, 1), []data.OpenOption{data.WithColumns("f32"), data.WithLabels("kind")}},
		{"numbers.parquet", data.Parquet, func(i int) []float64 {
			a, b, c := wholeFixture(i, 0), wholeFixture(i, 1), wholeFixture(i, 2)
			return []float64{fixture(i, 0), fixture(i, 1), a, b, c, c + 1<<31, a + 1<<63, -a, truth(i)[1], float64(i%3) + 4}
		}, []data.OpenOption{data.WithoutColumns("kind"), data.WithFloat64()}},
	} {
		t.Run(c.file, func(t *testing.T) {
			file, set := openSet(t, testdata(c.file), c.options...)
			checkSet(t, set, c.want)
			if file.Format != c.format {
				t.Errorf("format %s, want %s", file.Format, c.format)
			}
			if file.Rows != 12 && file.Rows != -1 {
				t.Errorf("%d rows", file.Rows)
			}
			if !slices.Equal(file.Shape(), []int{len(c.want(0))}) {
				t.Errorf("shape %v", file.Shape())
			}
			for i, label := range set.Labels {
				if got := file.ClassNames[label]; got != colours[i%3] {
					t.Errorf("row %d has class %s, want %s", i, got, colours[i%3])
				}
			}
		})
	}
	for _, kind := range strings.Fields("i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8") {
		want := whole
		if kind[0] == 'f' {
			want = floats
		}
		_, set := openSet(t, testdata("kinds.npz"), data.WithArray(kind), data.WithLabels("labels"))
		checkSet(t, set, want)
		for i, label := range set.Labels {
			if label != i%3 {
				t.Errorf("%s: row %d has label %d", kind, i, label)
			}
		}
		if (set.Levels == data.Levels{Count: 256, Low: 0, High: 255}) != (kind == "u1") {
			t.Errorf("%s: levels %v", kind, set.Levels)
		}
	}
}

// The embedded MNIST, opened as a user's file, has the values that MNIST divides by 255.
func TestOpenMNIST(t *testing.T) {
	want, err := data.MNIST()
	if err != nil {
		t.Fatal(err)
	}
	file, got := openSet(t, "mnist-images.idx.gz", data.WithLabelFile("mnist-labels.idx.gz"))
	if !slices.Equal(got.Labels, want.Labels) || file.Rows != 5000 || file.Classes() != 10 || !slices.Equal(file.Shape(), []int{28, 28, 1}) {
		t.Errorf("%d rows of shape %v, %d classes", file.Rows, file.Shape(), file.Classes())
	}
	scaled := want.Rows()
	for i, row := range got.Rows() {
		for j, v := range row {
			if float64(float32(v)/255) != scaled[i][j] {
				t.Fatalf("[%d, %d] is %v", i, j, v)
			}
		}
	}
}

func checkSet(t *testing.T, set data.Set, want func(i int) []float64) {
	t.Helper()
	rows := set.Rows()
	if len(rows) != 12 {
		t.Fatalf("%d rows", len(rows))
	}
	for i, row := range rows {
		if !slices.Equal(row, want(i)) {
			t.Errorf("row %d: %v, want %v", i, row, want(i))
		}
	}
}

// Arrays of three and four axes are images, in either order of elements.
func TestOpenImageArrays(t *testing.T) {
	for name, channels := range map[string]int{"grey": 1, "colour": 3, "fcolour": 3} {
		file, set := openSet(t, testdata("kinds.npz"), data.WithArray(name))
		if want := []int{4, 5, channels}; !slices.Equal(file.Shape(), want) || set.Height != 4 || set.Width != 5 || set.Channels != channels {
			t.Errorf("%s: shape %v, want %v", name, file.Shape(), want)
		}
		for i, row := range set.Rows() {
			for j, v := range row {
				if want := float64(i*60 + j*3/channels); v != want {
					t.Fatalf("%s: [%d, %d] is %v, want %v", name, i, j, v, want)
				}
			}
		}
	}
	// The same pixels as plain rows, said to be images.
	path := write(t, "a.csv", "1,2,3,4,5,6\n7,8,9,10,11,12\n")
	file, set := openSet(t, path, data.WithImages(1, 2, 3))
	images, err := set.Images()
	if err != nil || !slices.Equal(images.Shape().Dimensions, []int{2, 1, 2, 3}) || !slices.Equal(file.Shape(), []int{1, 2, 3}) {
		t.Errorf("images %v, error %v", images.Shape(), err)
	}
}

// What text files look like in the wild.
func TestOpenCSVShapes(t *testing.T) {
	for _, c := range []struct {
		text    string
		want    [][]float64
		columns []string
		options []data.OpenOption
	}{
		{"1,2\n3,4\n", [][]float64{{1, 2}, {3, 4}}, nil, nil},
		{"1,2\n3,4", [][]float64{{1, 2}, {3, 4}}, nil, nil},
		{"\xef\xbb\xbfx,y\r\n1,2\r\n\r\n3,4\r\n\r\n", [][]float64{{1, 2}, {3, 4}}, []string{"x", "y"}, nil},
		{"# made by hand\n\n x , y \n 1 ,\" 2 \"\n", [][]float64{{1, 2}}, []string{"x", "y"}, nil},
		{"7\n8\n", [][]float64{{7}, {8}}, nil, nil},
		{"x\n8\n", [][]float64{{8}}, []string{"x"}, nil},
		{"1;2,5\n", nil, nil, nil}, // a decimal comma
		{"1.5;2\n", [][]float64{{1.5, 2}}, nil, nil},
		{"a\tb\n1\t2\n", [][]float64{{1, 2}}, []string{"a", "b"}, nil},
		{"  1   2\n 3 4\n", [][]float64{{1, 2}, {3, 4}}, nil, nil},
		{"two words\n1\n2\n", [][]float64{{1}, {2}}, []string{"two words"}, nil},
		{"two words\n1 2\n", [][]float64{{1, 2}}, []string{"two", "words"}, nil},
		{"1 2\n", [][]float64{{1, 2}}, nil, nil},
		{"\"a,b\";c\n1;2\n", [][]float64{{1, 2}}, []string{"a,b", "c"}, nil},
		{"1999,2000\n1,2\n", [][]float64{{1, 2}}, []string{"1999", "2000"}, []data.OpenOption{data.WithHeader(true)}},
		{"1e3,-.5\n+2E-1,0x1p-1\n", [][]float64{{1000, -0.5}, {0.2, 0.5}}, nil, nil},
		{"1,\n,NA\n3,4\nnan,1\n5,?\nN/A,null\n6,7\n", [][]float64{{3, 4}, {6, 7}}, nil, []data.OpenOption{data.WithMissingDropped()}},
		{"a,a\n1,2\n", [][]float64{{2}}, []string{"a"}, []data.OpenOption{data.WithColumns("2")}},
		{",x\n0,5\n1,6\n", [][]float64{{5}, {6}}, []string{"x"}, []data.OpenOption{data.WithoutColumns("1")}},
	} {
		path := write(t, "a.csv", c.text)
		file, err := data.Open(path, append(c.options, data.WithFloat64())...)
		if c.want == nil {
			if err == nil || !strings.Contains(err.Error(), "line 1, column 2") {
				t.Errorf("%q: error %v", c.text, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		set, err := file.Set(t.Context())
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if got := set.Rows(); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%q: %v, want %v", c.text, got, c.want)
		}
		if !slices.Equal(file.Columns, c.columns) || !slices.Equal(set.Columns, c.columns) {
			t.Errorf("%q: columns %q, want %q", c.text, file.Columns, c.columns)
		}
		if set.X.DType() != dtypes.Float64 {
			t.Errorf("%q: dtype %s", c.text, set.X.DType())
		}
	}
	// Thousands of columns, and a line longer than the reader's buffer.
	const d = 30_000
	line := strings.Repeat("12345.5,", d-1) + "1\n"
	_, set := openSet(t, write(t, "wide.csv", line+line))
	if n, wide := set.Dims(); n != 2 || wide != d || set.Rows()[1][d-2] != 12345.5 {
		t.Errorf("%d×%d", n, wide)
	}
}

// Labels are numbered from 0 in an order that does not depend on that of the rows.
func TestOpenLabels(t *testing.T) {
	for _, c := range []struct {
		labels  string
		want    []int
		names   []string
		options []data.OpenOption
	}{
		{"2 0 2 1.0", []int{2, 0, 2, 1}, []string{"0", "1", "2"}, nil},
		{"3 0 0 3", []int{3, 0, 0, 3}, []string{"0", "1", "2", "3"}, nil}, // numbers from 0 keep their value
		{"3 1 10 1", []int{1, 0, 2, 0}, []string{"1", "3", "10"}, nil},
		{"1 -1 1 -1", []int{1, 0, 1, 0}, []string{"-1", "1"}, nil},
		{"b a c b", []int{1, 0, 2, 1}, []string{"a", "b", "c"}, nil},
		{"b a c b", []int{0, 2, 1, 0}, []string{"b", "c", "a"}, []data.OpenOption{data.WithClasses("b", "c", "a")}},
		{"3 3 3 3", []int{3, 3, 3, 3}, []string{"0", "1", "2", "3"}, []data.OpenOption{data.WithClasses("0", "1", "2", "3")}},
	} {
		var text strings.Builder
		for i, label := range strings.Fields(c.labels) {
			fmt.Fprintf(&text, "%d,%s,%d\n", i, label, 10*i)
		}
		path := write(t, "a.csv", text.String())
		apart := write(t, "labels.csv", strings.Join(strings.Fields(c.labels), "\n"))
		for how, options := range map[string][]data.OpenOption{
			"column": {data.WithLabels("2")},
			"file":   {data.WithLabelFile(apart), data.WithoutColumns("2")},
		} {
			file, set := openSet(t, path, slices.Concat(options, c.options, []data.OpenOption{data.WithHeader(false)})...)
			if !slices.Equal(set.Labels, c.want) || !slices.Equal(file.ClassNames, c.names) || file.Classes() != len(c.names) {
				t.Errorf("%s of %s: %v of %q, want %v of %q", how, c.labels, set.Labels, file.ClassNames, c.want, c.names)
			}
			if n, d := set.Dims(); n != 4 || d != 2 {
				t.Errorf("%d×%d values", n, d)
			}
		}
	}
}
