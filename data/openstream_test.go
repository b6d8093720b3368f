package data_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"codeberg.org/sbinet/npyio/npy"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	"github.com/parquet-go/parquet-go"

	"github.com/scorekit/lab/data"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
)

// streamed is a file of each format with n rows: the first value of row i is i, the class i mod 3.
type streamed struct {
	path    string
	options []data.OpenOption
}

func streams(t *testing.T, n int) map[string]streamed {
	t.Helper()
	folder := t.TempDir()
	at := func(name string) string { return filepath.Join(folder, name) }
	save := func(name string, content []byte) {
		if err := os.WriteFile(at(name), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var text bytes.Buffer
	var matrix [][3]float32
	type row struct {
		Index float64 `parquet:"index"`
		Class string  `parquet:"class"`
	}
	var rows []row
	idx := []byte{0, 0, 0x0c, 2, 0, 0, 0, 0, 0, 0, 0, 2}
	binary.BigEndian.PutUint32(idx[4:], uint32(n))
	for i := range n {
		fmt.Fprintf(&text, "%d,%d,%d\n", i, i%3, -i)
		matrix = append(matrix, [3]float32{float32(i), float32(i % 3), -float32(i)})
		rows = append(rows, row{float64(i), string(rune('a' + i%3))})
		idx = binary.BigEndian.AppendUint32(idx, uint32(i))
		idx = binary.BigEndian.AppendUint32(idx, uint32(i%3))
		img := image.NewGray(image.Rect(0, 0, 2, 1))
		img.SetGray(0, 0, color.Gray{Y: uint8(i)})
		class := at(fmt.Sprintf("images/%d", i%3))
		if err := os.MkdirAll(class, 0o755); err != nil {
			t.Fatal(err)
		}
		if n <= 256 {
			writePNG(t, filepath.Join(class, fmt.Sprintf("%04d.png", i)), img)
		}
	}
	save("a.csv", text.Bytes())
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write(text.Bytes())
	w.Close()
	save("a.csv.gz", packed.Bytes())
	var array bytes.Buffer
	if err := npy.Write(&array, matrix); err != nil {
		t.Fatal(err)
	}
	save("a.npy", array.Bytes())
	save("a.idx", idx)
	packed.Reset()
	w = gzip.NewWriter(&packed)
	w.Write(idx)
	w.Close()
	save("a.idx.gz", packed.Bytes())
	var table bytes.Buffer
	if err := parquet.Write(&table, rows, parquet.MaxRowsPerRowGroup(37), parquet.PageBufferSize(64)); err != nil {
		t.Fatal(err)
	}
	save("a.parquet", table.Bytes())
	label := data.WithLabels("2")
	all := map[string]streamed{
		"CSV":     {at("a.csv"), []data.OpenOption{label}},
		"CSV.gz":  {at("a.csv.gz"), []data.OpenOption{label}},
		"Parquet": {at("a.parquet"), []data.OpenOption{data.WithLabels("class")}},
		"NPY":     {at("a.npy"), []data.OpenOption{label}},
		"IDX":     {at("a.idx"), []data.OpenOption{label}},
		"IDX.gz":  {at("a.idx.gz"), []data.OpenOption{label}},
	}
	if n <= 256 {
		all["images"] = streamed{at("images"), []data.OpenOption{data.WithFolderLabels()}}
	}
	return all
}

// taken reads some batches and returns the first value of each row, after checking its class.
func taken(t *testing.T, file *data.File, seed int64, n, from, batches int) []int {
	t.Helper()
	var got []int
	for batch, err := range file.Batches(t.Context(), seed, n, from) {
		if err != nil {
			t.Fatal(err)
		}
		if want := append([]int{n}, file.Shape()...); !slices.Equal(batch.X.Shape().Dimensions, want) || len(batch.Classes) != n {
			t.Fatalf("batch %v with %d classes, want %v", batch.X.Shape(), len(batch.Classes), want)
		}
		values := tensors.MustCopyFlatData[float32](batch.X)
		for k := range n {
			i := int(values[k*len(values)/n])
			if int(batch.Classes[k]) != i%3 {
				t.Errorf("row %d has class %d", i, batch.Classes[k])
			}
			got = append(got, i)
		}
		if batches--; batches == 0 {
			break
		}
	}
	return got
}

// Every pass has each example once, in an order that follows from the seed; leaving batches out gives the rest.
func TestOpenStream(t *testing.T) {
	const n, batch = 101, 8 // batches end inside and between passes
	for name, s := range streams(t, n) {
		for _, shuffle := range []int{0, 1, 7} {
			t.Run(fmt.Sprint(name, shuffle), func(t *testing.T) {
				options := slices.Clone(s.options)
				if shuffle > 0 {
					options = append(options, data.WithShuffle(shuffle))
				}
				file, set := openSet(t, s.path, options...)
				if len(set.Labels) != n || file.Classes() != 3 {
					t.Fatalf("%d labels, %d classes", len(set.Labels), file.Classes())
				}
				all := taken(t, file, 5, batch, 0, 5*n/batch)
				var inOrder []int
				for _, row := range set.Rows() {
					inOrder = append(inOrder, int(row[0]))
				}
				for pass := range 4 {
					once := all[pass*n : (pass+1)*n]
					if shuffle == 1 && !slices.Equal(once, inOrder) {
						t.Errorf("pass %d: order %v", pass, once)
					}
					if shuffle != 1 && slices.Equal(once, inOrder) {
						t.Errorf("pass %d is not mixed", pass)
					}
					if shuffle != 1 && pass > 0 && slices.Equal(once, all[:n]) {
						t.Errorf("pass %d has the order of the first", pass)
					}
					if sorted := slices.Sorted(slices.Values(once)); !slices.Equal(sorted, slices.Sorted(slices.Values(inOrder))) || sorted[n-1] != n-1 {
						t.Errorf("pass %d: %v", pass, sorted)
					}
				}
				if again := taken(t, file, 5, batch, 0, 10); !slices.Equal(again, all[:10*batch]) {
					t.Error("the same seed gives another order")
				}
				if other := taken(t, file, 6, batch, 0, 10); shuffle != 1 && slices.Equal(other, all[:10*batch]) {
					t.Error("another seed gives the same order")
				}
				fresh, err := data.Open(s.path, options...) // which does not know how many rows there are
				if err != nil {
					t.Fatal(err)
				}
				for _, file := range []*data.File{file, fresh} {
					for _, from := range []int{1, 12, 13, 40} {
						if rest := taken(t, file, 5, batch, from, 10); !slices.Equal(rest, all[from*batch:(from+10)*batch]) {
							t.Errorf("from %d: %v, want %v", from, rest, all[from*batch:(from+10)*batch])
						}
					}
				}
			})
		}
	}
}

// A table on disk that is larger than the buffer is mixed in groups of runs, across blocks of reading.
func TestOpenStreamGroups(t *testing.T) {
	const n = 5000
	all := streams(t, n)
	for _, name := range []string{"NPY", "IDX", "CSV", "Parquet"} {
		file, err := data.Open(all[name].path, append(all[name].options, data.WithShuffle(1500))...)
		if err != nil {
			t.Fatal(err)
		}
		got := taken(t, file, 1, 100, 0, 2*n/100)
		for pass := range 2 {
			if sorted := slices.Sorted(slices.Values(got[pass*n : (pass+1)*n])); sorted[0] != 0 || sorted[n-1] != n-1 || len(slices.Compact(sorted)) != n {
				t.Errorf("%s: pass %d does not have each row once", name, pass)
			}
		}
		if rest := taken(t, file, 1, 100, 77, 20); !slices.Equal(rest, got[7700:9700]) {
			t.Errorf("%s: from batch 77: another order", name)
		}
		// Neighbours in training come from far apart: two rows of 1,500 at random lie about a third of that from each other.
		apart := 0
		for i := range 1000 {
			apart += max(got[i]-got[i+1], got[i+1]-got[i])
		}
		if mean := apart / 1000; mean < 400 {
			t.Errorf("%s: neighbours are %d rows apart", name, mean)
		}
	}
}

// A file that is dealt gives parts without a common example, together all, the same in memory and streamed.
func TestOpenSplit(t *testing.T) {
	const n = 200
	for name, s := range streams(t, n) {
		file, err := data.Open(s.path, append(s.options, data.WithShuffle(7))...)
		if err != nil {
			t.Fatal(err)
		}
		train, rest, err := file.Split(0.8, 3)
		if err != nil {
			t.Fatal(err)
		}
		validate, test, err := rest.Split(0.5, 3) // the same seed, but another coin
		if err != nil {
			t.Fatal(err)
		}
		seen := map[int]int{}
		var sizes []int
		for _, part := range []*data.File{train, validate, test} {
			set, err := part.Set(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var rows []int
			for k, row := range set.Rows() {
				rows = append(rows, int(row[0]))
				seen[int(row[0])]++
				if set.Labels[k] != int(row[0])%3 {
					t.Errorf("%s: row %v has label %d", name, row[0], set.Labels[k])
				}
			}
			if part.Rows != -1 && part.Rows != len(rows) {
				t.Errorf("%s: %d rows, said to be %d", name, len(rows), part.Rows)
			}
			sizes = append(sizes, len(rows))
			slices.Sort(rows)
			if pass := slices.Sorted(slices.Values(taken(t, part, 1, 1, 0, len(rows)))); !slices.Equal(pass, rows) {
				t.Errorf("%s: streamed %v, in memory %v", name, pass, rows)
			}
		}
		if len(seen) != n || slices.Max(slices.Collect(maps.Values(seen))) != 1 {
			t.Errorf("%s: the parts hold %d different rows", name, len(seen))
		}
		// 160, 20 and 20 are expected; √(n p (1−p)) is 5.7 and 4.2, five of which are allowed.
		if sizes[0] < 132 || sizes[0] > 188 || sizes[1] < 1 || sizes[1] > 41 || sizes[2] < 1 || sizes[2] > 41 {
			t.Errorf("%s: parts of %v", name, sizes)
		}
		other, _, err := file.Split(0.8, 4)
		if err != nil {
			t.Fatal(err)
		}
		if slices.Equal(taken(t, other, 1, 10, 0, 5), taken(t, train, 1, 10, 0, 5)) {
			t.Errorf("%s: another seed deals the same", name)
		}
	}
}

// Values gives the rows in order, with the precision of the file, and stops with its reader.
func TestOpenValues(t *testing.T) {
	file, err := data.Open(write(t, "a.csv", "0.1,1\n0.2,2\n0.3,3\n"))
	if err != nil {
		t.Fatal(err)
	}
	var got [][]float64
	for row, err := range file.Values(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, slices.Clone(row))
	}
	if fmt.Sprint(got) != "[[0.1 1] [0.2 2] [0.3 3]]" {
		t.Errorf("%v", got)
	}
	for range file.Values(t.Context()) {
		break
	}
	reason := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(reason)
	for name, s := range streams(t, 9) {
		file, err := data.Open(s.path, s.options...)
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range file.Values(ctx) {
			if !errors.Is(err, reason) {
				t.Errorf("%s: error %v", name, err)
			}
		}
		for _, err := range file.Batches(ctx, 1, 4, 0) {
			if !errors.Is(err, reason) {
				t.Errorf("%s: error %v", name, err)
			}
		}
		if set, err := file.Set(ctx); set.X != nil || !errors.Is(err, reason) || !strings.HasPrefix(err.Error(), "data: "+s.path+": ") {
			t.Errorf("%s: %v, error %v", name, set, err)
		}
		for end := int64(1); ; end++ { // wherever it is stopped
			if set, err := file.Set(testvalues.EndingAt(end)); err == nil {
				break
			} else if set.X != nil || !errors.Is(err, context.Canceled) || end > 100 {
				t.Fatalf("%s: asked %d times: %v, error %v", name, end, set, err)
			}
		}
		for _, err := range file.Batches(t.Context(), 1, 0, 0) {
			if err == nil || !strings.Contains(err.Error(), "batches of 0 from 0: must be of at least 1") {
				t.Errorf("%s: error %v", name, err)
			}
		}
	}
}

// What streams is what scorekit trains from.
func TestOpenSource(t *testing.T) {
	file, err := data.Open(testdata("images"), data.WithFolderLabels(), data.WithGrey())
	if err != nil {
		t.Fatal(err)
	}
	stream, err := scorekit.Stream(file)
	if err != nil {
		t.Fatal(err)
	}
	if labelled, is := stream.(scorekit.Labelled); !is || labelled.Classes() != 2 || !slices.Equal(stream.Shape(), []int{12, 18, 1}) {
		t.Errorf("stream of shape %v", stream.Shape())
	}
}
