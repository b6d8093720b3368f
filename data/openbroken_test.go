package data_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorekit/lab/data"
)

// Every way for a file to be wrong says which file, where in it, and what to do.
func TestOpenBroken(t *testing.T) {
	npyFile, err := os.ReadFile(testdata("c.npy"))
	if err != nil {
		t.Fatal(err)
	}
	parquetFile, err := os.ReadFile(testdata("numbers.parquet"))
	if err != nil {
		t.Fatal(err)
	}
	array := string(npyFile)
	with := func(content, old, new string) string {
		if !strings.Contains(content, old) {
			t.Fatalf("no %q to change", old)
		}
		return strings.Replace(content, old, new, 1)
	}
	packed := func(content string) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Write([]byte(content))
		w.Close()
		return b.String()
	}
	idx := "\x00\x00\x08\x02\x00\x00\x00\x02\x00\x00\x00\x03abcdef"
	long := packed(strings.Repeat("1,2\n", 100_000))
	option := func(o ...data.OpenOption) []data.OpenOption { return o }
	for _, c := range []struct {
		content string // of a file named x.idx, which does not matter, or of testdata, if it starts with @
		want    string
		options []data.OpenOption
	}{
		// Files.
		{"@none.csv", "no such file or folder: check the name", nil},
		{"", "the file is empty: must hold at least one row", nil},
		{"\x89PNG\r\n\x1a\n", "a single image: name the folder", nil},
		{"\xff\xfe1\x00,\x002\x00", "UTF-16 text: save it as UTF-8", nil},
		{"\x89HDF\r\n\x1a\n", "HDF5 is not read: save it as NPY or Parquet", nil},
		{"1,2\r3,4\r", "lines end in carriage returns alone: save it with line feeds", nil},
		{packed(array), "NPY inside gzip: unpack it first", nil},
		{packed("")[:12], "damaged gzip (", nil},
		{long[:len(long)-20], "copy it again", nil},
		{long[:len(long)-4] + "XXXX", "damaged gzip (gzip: invalid checksum) at byte 400000 of the text: copy it again", nil},
		{"1,2\n", "WithArray: means nothing for CSV: leave it out", option(data.WithArray("x"))},
		{array, "WithHeader: means nothing for NPY", option(data.WithHeader(true))},
		{"1,2\n", "WithShuffle(0): must be at least 1", option(data.WithShuffle(0))},
		{"1,2\n", "WithImages(1, 2, 2): sides must be positive, channels 1 or 3", option(data.WithImages(1, 2, 2))},
		{"1,2\n", "rows of 2 values: images of 2×2 with 1 channels have 4", option(data.WithImages(2, 2, 1))},
		{"1,2\n", "WithClasses without labels", option(data.WithClasses("a"))},

		// Text.
		{"1,2,3\n4,5\n", "line 2 has 2 fields, the first line has 3: every line must have as many", nil},
		{"a,b\n\n1,2\n3,4,5\n", "line 4 has 3 fields, the first line has 2", nil},
		{"a,b\n1,red\n", `line 2, column 2 ("b"): "red" is not a number: correct it, leave the column out with WithoutColumns, or take others with WithColumns`, nil},
		{"1,2\n3,x\n", `line 2, column 2: "x" is not a number`, nil},
		{"a;b\n1;0,5\n", `line 2, column 2 ("b"): "0,5" is not a number (write decimal points, and no commas): correct it`, nil},
		{"a,b\n1,\"2,000\"\n", `line 2, column 2 ("b"): "2,000" is not a number (write decimal points`, nil},
		{"a,b\n1,2\n# c\n3,NaN\n", `line 4, column 2 ("b"): the value is missing (empty or NaN): fill it in, or leave such rows out with WithMissingDropped`, nil},
		{"1,2\n,4\n", "line 2, column 1: the value is missing", nil},
		{"1,2\n3,inf\n", "line 2, column 2: value +Inf: must be finite", nil},
		{"1,2\n3,1e999\n", "line 2, column 2: value +Inf: must be finite", option(data.WithMissingDropped())},
		{"1,2\n3,1e39\n", "line 2, column 2: value 1e+39 does not fit in float32: use WithFloat64", nil},
		{"1,2\n3,\"4\n", "line 2, character", nil},
		{"1,2\n3,4\"\n", "line 2, character 4: bare \" in non-quoted-field: put the field in quotes", nil},
		{"a,b\n", "no rows: must have at least one", nil},
		{"# nothing\n\n", "no lines with data", nil},
		{"1,\n", "no rows: must have at least one", option(data.WithMissingDropped())},
		{"a,b,a\n1,2,3\n", `WithColumns: columns 1 and 3 are both named "a": choose by number`, option(data.WithColumns("a"))},
		{"a,b\n1,2\n", `WithColumns: no column "c": there are a, b`, option(data.WithColumns("c"))},
		{"a,b\n1,2\n", `WithoutColumns: no column "3": there are a, b`, option(data.WithoutColumns("3"))},
		{"a,b,c,d,e,f,g,h,i,j\n1,2,3,4,5,6,7,8,9,10\n", `no column "z": there are a, b, c, d, e, f, g, h, … (10 in all)`, option(data.WithColumns("z"))},
		{"1,2\n", `WithLabels: no column "x": there are no names, choose by number from 1 to 2`, option(data.WithLabels("x"))},
		{"1,2\n", `WithColumns: column "2" twice`, option(data.WithColumns("2", "2"))},
		{"1,2\n", `WithColumns: column "2" is the label`, option(data.WithColumns("2"), data.WithLabels("2"))},
		{"1,2\n", "no columns are left", option(data.WithoutColumns("2", "1"))},
		{"1\n", "no columns are left", option(data.WithLabels("1"))},
		{"1,\n2,\n", "every label is missing", option(data.WithLabels("2"))},
		{"1,a\n2,\n", "line 2, column 2: the label is missing: fill it in", option(data.WithLabels("2"))},
		{"1,a\n2,b\n", `line 2, column 2: label "b": must be one of the classes a, c`, option(data.WithLabels("2"), data.WithClasses("a", "c"))},
		{"1,a\n", `WithClasses: class "a" twice`, option(data.WithLabels("2"), data.WithClasses("a", "a"))},

		// NPY and NPZ.
		{array[:len(array)-1], "cut off: shape [12 3] of '<f8' takes 288 bytes, there are 287: copy or save it again", nil},
		{array[:100], "cut off in the header", nil},
		{array[:9], "cut off in the header", nil},
		{with(array, "(12, 3), } ", "(0, 3), }  "), "no rows: must have at least one", nil},
		{with(array, "(12, 3)", "(12, 0)"), "shape [12 0]: rows hold no values", nil},
		{with(array, "(12, 3)", "(-1, 3)"), "shape [-1 3]: impossible", nil},
		{with(array, "(12, 3), }                   ", "(4611686018427387904, 16), } "), "impossible", nil},
		{with(array, "(12, 3)", "(99, 9)"), "cut off: shape [99 9]", nil},
		{with(array, "'fortran_order'", "'fortran_ordxx'"), "damaged header (npy: invalid dictionary format): save it again", nil},
		{with(array, "\n", " "), "damaged header: save it again with numpy.save", nil},
		{with(array, "\x01\x00", "\x09\x00"), "a header of 662372482 bytes: must be at most 1048576", nil},
		{with(array, "\x01\x00v\x00", "\x02\x00\xff\xff\xff\xff"), "a header of 4294967307 bytes: must be at most", nil},
		{array[:128] + "\x00\x00\x00\x00\x00\x00\xf8\x7f" + array[136:], "element [0, 0]: the value is missing", nil},
		{array[:128+13*8] + "\x00\x00\x00\x00\x00\x00\xf0\xff" + array[128+14*8:], "element [4, 1]: value -Inf: must be finite", nil},
		{array, "WithColumns: no column \"4\": there are no names, choose by number from 1 to 3", option(data.WithColumns("4"))},
		{array, "row 1: label -1.75: must be a whole number", option(data.WithLabels("2"))},
		{"@kinds.npz", "arrays i1, i2, i4, i8, u1, u2, u4, u8, … (", nil},
		{"@kinds.npz", `WithArray: no array "x": there are`, option(data.WithArray("x"))},
		{"@kinds.npz", `array "complex": numbers of type '<c16': must be integers, floats of 16, 32 or 64 bits, or truth values: save the real and the imaginary part`, option(data.WithArray("complex"))},
		{"@kinds.npz", `array "text": numbers of type '<U32': `, option(data.WithArray("text"))},
		{"@kinds.npz", `array "object": numbers of type '|O': must be integers, floats of 16, 32 or 64 bits, or truth values: convert it with astype(float)`, option(data.WithArray("object"))},
		{"@kinds.npz", `save times as numbers`, option(data.WithArray("times"))},
		{"@kinds.npz", `array "record": numbers of type [('a', '<f4'), ('b', '<i4')]: `, option(data.WithArray("record"))},
		{"@kinds.npz", `array "scalar": a single number: must be an array`, option(data.WithArray("scalar"))},
		{"@kinds.npz", `array "empty": no rows`, option(data.WithArray("empty"))},
		{"@kinds.npz", "shape [2 3 4 5] has the channels before the sides: move them to the end", option(data.WithArray("first"))},
		{"@kinds.npz", "shape [2 1 1 1 1]: must be [rows, columns]", option(data.WithArray("five"))},
		{"@kinds.npz", `array "labels" of shape [12] for 2 rows: must be one label a row`, option(data.WithArray("grey"), data.WithLabels("labels"))},
		{"@kinds.npz", `array "i4" of shape [12 3] for 12 rows: must be one label a row`, option(data.WithArray("f4"), data.WithLabels("i4"))},
		{"PK\x03\x04 and no more", "damaged or cut off zip (", nil},
		{"PK\x05\x06" + strings.Repeat("\x00", 18), "a zip without arrays", nil},

		// IDX.
		{"\x00\x00\x07\x02" + idx[4:], "wrong magic number 00 00 07 02: an IDX starts with 00 00, a kind (08, 09, 0b, 0c, 0d or 0e) and the number of axes: copy it again, or convert it", nil},
		{"\x01\x00\x08\x02" + idx[4:], "wrong magic number 01 00 08 02", nil},
		{"\x00\x00\x08\x00", "wrong magic number 00 00 08 00", nil},
		{idx[:3], "cut off in the header", nil},
		{idx[:10], "cut off in the header", nil},
		{idx[:16], "shape [2 3] takes 6 bytes, there are 4: it is cut off or not an IDX", nil},
		{idx + "g", "shape [2 3] takes 6 bytes, there are 7", nil},
		{packed(idx[:16]), "cut off: 4 bytes of numbers instead of 6: copy or save it again", nil},
		{packed(idx + "g"), "shape [2 3] takes 6 bytes, there are more", nil},
		{packed("\x00\x00\x08\x02\x7f\xff\xff\xff\x00\x00\x00\x01ab"), "cut off: 2 bytes of numbers instead of 2147483647", nil},
		{packed("\x00\x00\x08\x02\x7f\xff\xff\xff\x00\x00\x00\x02ab"), "4294967294 bytes: must be at most 2147483648 to be read into memory", nil},
		{"\x00\x00\x08\x02\x7f\xff\xff\xff\x7f\xff\xff\xff", "impossible", nil},
		{"\x00\x00\x08\x01\x00\x00\x00\x00", "no rows", nil},

		// Parquet.
		{string(parquetFile[:len(parquetFile)-100]), "damaged or cut off Parquet (", nil},
		{"PAR1", "damaged or cut off Parquet (", nil},
		{"PAR1rows\x00\x00\x00IPAR1", "damaged or cut off Parquet (a directory of 1224736768 bytes in a file of 16): copy or save it again", nil},
		{"@empty.parquet", "no rows", option(data.WithoutColumns("kind"))},
		{"@numbers.parquet", `column 10 ("kind") holds text, not numbers: leave it out with WithoutColumns or take others with WithColumns`, nil},
		{"@odd.parquet", `column 3 ("list") is nested: it has more than one value a row: leave it out with WithoutColumns`, option(data.WithColumns("list"))},
		{"@odd.parquet", `column 4 ("struct") is nested`, option(data.WithColumns("struct"))},
		{"@odd.parquet", `column 5 ("time") holds values of type TIMESTAMP`, option(data.WithColumns("time"))},
		{"@odd.parquet", `column 6 ("date") holds values of type DATE`, option(data.WithColumns("date"))},
		{"@odd.parquet", `column 7 ("decimal") holds values of type DECIMAL`, option(data.WithColumns("decimal"))},
		{"@odd.parquet", `column 9 ("half") holds values of type FIXED_LEN_BYTE_ARRAY(2), not plain numbers`, option(data.WithColumns("half"))},
		{"@odd.parquet", `row 2, column 1 ("x"): the value is missing`, option(data.WithColumns("x"))},
		{"@odd.parquet", `row 2, column 2 ("nan"): the value is missing`, option(data.WithColumns("nan"))},
		{"@odd.parquet", `WithLabels: column 3 ("list") is nested`, option(data.WithColumns("x"), data.WithLabels("list"))},
		{"@odd.parquet", `row 2, column 10 ("kind"): the label is missing`, option(data.WithColumns("nan"), data.WithLabels("kind"))},
		{"@odd.parquet", `column 1 ("x"): label 1.5: must be a whole number`, option(data.WithColumns("nan"), data.WithLabels("x"))},
	} {
		path := testdata(strings.TrimPrefix(c.content, "@"))
		if !strings.HasPrefix(c.content, "@") {
			path = write(t, "x.idx", c.content)
		}
		_, err := openAll(path, c.options...)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "data: "+path+": ") {
			t.Errorf("%.40q: got error\n%v, want one that says\n%s", c.content, err, c.want)
		}
	}
}

// Rows with something missing are left out of arrays and Parquet as well, before dealing and streaming.
func TestOpenMissingDropped(t *testing.T) {
	content, err := os.ReadFile(testdata("c.npy"))
	if err != nil {
		t.Fatal(err)
	}
	copy(content[128+8*3*4:], "\x00\x00\x00\x00\x00\x00\xf8\x7f") // row 4
	file, set := openSet(t, write(t, "a.npy", string(content)), data.WithMissingDropped())
	if rows := set.Rows(); file.Rows != 11 || len(rows) != 11 || rows[3][0] != fixture(3, 0) || rows[4][0] != fixture(5, 0) {
		t.Errorf("%d rows: %v", file.Rows, rows)
	}
	first, rest, err := file.Split(0.5, 1)
	if err != nil || first.Rows+rest.Rows != 11 {
		t.Errorf("parts of %d and %d, error %v", first.Rows, rest.Rows, err)
	}
	file, set = openSet(t, testdata("odd.parquet"), data.WithColumns("x", "nan"), data.WithLabels("kind"), data.WithMissingDropped())
	if rows := set.Rows(); file.Rows != -1 || fmt.Sprint(rows) != "[[1.5 1] [2.5 2]]" || fmt.Sprint(set.Labels) != "[0 1]" {
		t.Errorf("%d rows: %v, labels %v", file.Rows, rows, set.Labels)
	}
}

func TestOpenImpossibleSplits(t *testing.T) {
	file, err := data.Open(testdata("c.npy"))
	if err != nil {
		t.Fatal(err)
	}
	one, err := data.Open(write(t, "one.idx", "\x00\x00\x08\x01\x00\x00\x00\x01a"))
	if err != nil {
		t.Fatal(err)
	}
	// How many rows a CSV has shows when it is read: one part of a single row is empty.
	small, err := data.Open(write(t, "a.csv", "1\n"))
	if err != nil {
		t.Fatal(err)
	}
	part, other, err := small.Split(0.5, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := part.Set(t.Context()); err == nil {
		part, other = other, part
	}
	if _, err := other.Set(t.Context()); err != nil {
		t.Error(err)
	}
	_, empty := part.Set(t.Context())
	split := func(f *data.File, fraction float64) error { _, _, err := f.Split(fraction, 1); return err }
	for want, err := range map[string]error{
		"Split: fraction 0: must be between 0 and 1":           split(file, 0),
		"Split: fraction 1: must be between":                   split(file, 1),
		"one.idx: Split: 1 row: must have at least 2":          split(one, 0.5),
		"Split: fraction 1e-09 of 12 rows leaves a part empty": split(file, 1e-9),
		"a.csv: no rows: must have at least one":               empty,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one that says %q", err, want)
		}
	}
	for _, err := range part.Batches(t.Context(), 1, 2, 0) {
		if err == nil || !strings.Contains(err.Error(), "no rows") {
			t.Errorf("error %v", err)
		}
	}
	for _, err := range part.Values(t.Context()) {
		if err == nil || !strings.Contains(err.Error(), "no rows") {
			t.Errorf("error %v", err)
		}
	}
}

// A file of labels must fit the file of values.
func TestOpenImpossibleLabelFiles(t *testing.T) {
	for _, c := range []struct{ path, labels, want string }{
		{testdata("c.npy"), write(t, "l.csv", "1\n2\n"), "l.csv: 2 for 12 rows: must be as many"},
		{testdata("savetxt.txt"), write(t, "l.csv", "1\n2\n"), "2 labels in "},
		{write(t, "a.csv", "1\n"), write(t, "l.csv", "1\n2\n"), "2 labels in "},
		{testdata("c.npy"), write(t, "l.csv", "1,2\n"), "l.csv: 2 columns: must be one"},
		{testdata("c.npy"), write(t, "l.csv", "x\n"), "l.csv: no rows"},
		{testdata("c.npy"), testdata("images"), "image folder: must be an IDX, NPY, CSV or Parquet of one column"},
		{testdata("c.npy"), testdata("one.npz"), "NPZ: must be an IDX"},
		{testdata("c.npy"), testdata("none"), "no such file"},
	} {
		_, err := openAll(c.path, data.WithLabelFile(c.labels))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "data: "+c.path+": ") {
			t.Errorf("got error %v, want one that says %q", err, c.want)
		}
	}
}

// Whatever happens to a file, opening and reading it gives an error or finite values: no panic, no wild memory.
func TestOpenDamaged(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	path := filepath.Join(t.TempDir(), "damaged")
	try := func(name string, content []byte, options []data.OpenOption) {
		t.Helper()
		defer func() {
			if broken := recover(); broken != nil {
				t.Errorf("%s: panic %v", name, broken)
			}
		}()
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
		file, err := data.Open(path, options...)
		if err != nil {
			return
		}
		if set, err := file.Set(t.Context()); err == nil {
			if err := set.Validate(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for name, options := range map[string][]data.OpenOption{
		"c.npy": nil, "version2.npy": nil, "one.npz": nil, "pandas.csv": {data.WithLabels("kind")}, "pandas.tsv.gz": {data.WithoutColumns("4")},
		"savetxt.txt": nil, "numbers.parquet": {data.WithLabels("kind")}, "zstd.parquet": {data.WithLabels("kind")},
		"kinds.npz": {data.WithArray("f4"), data.WithLabels("labels")},
	} {
		whole, err := os.ReadFile(testdata(name))
		if err != nil {
			t.Fatal(err)
		}
		for range 40 {
			try(name+" cut off", whole[:rng.IntN(len(whole))], options)
		}
		for range 120 {
			damaged := bytes.Clone(whole)
			for range 1 + rng.IntN(3) {
				i := rng.IntN(len(damaged))
				if rng.IntN(2) == 0 { // the headers are at the ends
					i = min(i, rng.IntN(200))
				} else if rng.IntN(2) == 0 {
					i = max(i, len(damaged)-1-rng.IntN(400))
				}
				damaged[i] = byte(rng.IntN(256))
			}
			try(name+" damaged", damaged, options)
		}
	}
	// The same for images, in a folder.
	folder := t.TempDir()
	err := filepath.WalkDir(testdata("images"), func(from string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		whole, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		path = filepath.Join(folder, "damaged"+filepath.Ext(from))
		for range 30 {
			damaged := bytes.Clone(whole[:len(whole)-rng.IntN(2)*rng.IntN(len(whole))])
			if len(damaged) > 0 {
				damaged[rng.IntN(len(damaged))] = byte(rng.IntN(256))
			}
			if err := os.WriteFile(path, damaged, 0o644); err != nil {
				return err
			}
			if file, err := data.Open(folder); err == nil {
				if set, err := file.Set(t.Context()); err == nil && set.Validate() != nil {
					t.Errorf("%s: %v", from, set.Validate())
				}
			}
		}
		return os.Remove(path)
	})
	if err != nil {
		t.Fatal(err)
	}
}
