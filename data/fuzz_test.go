package data_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"image"
	"image/jpeg"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/scorekit/lab/data"
)

// fuzzOptions are ways to open a file that some of its bytes choose among.
var fuzzOptions = [][]data.OpenOption{
	nil,
	{data.WithFloat64(), data.WithMissingDropped()},
	{data.WithLabels("0")},
	{data.WithLabels("label"), data.WithMissingDropped()},
	{data.WithColumns("a", "b")},
	{data.WithImages(2, 2, 1)},
	{data.WithArray("x")},
	{data.WithHeader(true)},
}

// FuzzOpen opens files of any content. What is opened must be a whole set of finite numbers, the same all at once and piece by
// piece; what is not must be an error. Never a panic.
func FuzzOpen(f *testing.F) {
	for _, content := range []string{
		"a,b\n1,2\n3,4\n", "1\t2\n3\t4\n", "\xef\xbb\xbfx;label\r\n1;red\r\n2;blue\r\n", "# c\n1 2 3 4\n", "1,,\n", "NaN,inf\n", "\"a\nb\",2\n1,2\n",
		"\x00\x00\x08\x02\x00\x00\x00\x02\x00\x00\x00\x03abcdef", "\x00\x00\x0d\x01\x7f\xff\xff\xff1234", "\x00\x00\x08\x04\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
	} {
		for choice := range fuzzOptions {
			f.Add([]byte(content), byte(choice))
		}
		var packed bytes.Buffer
		w := gzip.NewWriter(&packed)
		w.Write([]byte(content))
		w.Close()
		f.Add(packed.Bytes(), byte(0))
	}
	entries, err := os.ReadDir("testdata")
	if err != nil {
		f.Fatal(err)
	}
	for _, entry := range entries {
		if info, err := entry.Info(); err != nil || entry.IsDir() || info.Size() > 1<<15 {
			continue
		}
		content, err := os.ReadFile(testdata(entry.Name()))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(content, byte(0))
		f.Add(content, byte(1))
	}
	f.Fuzz(func(t *testing.T, content []byte, choice byte) {
		path := filepath.Join(t.TempDir(), "x")
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
		checkOpened(t, path, fuzzOptions[int(choice)%len(fuzzOptions)]...)
	})
}

// FuzzOpenImages opens a folder with one image of any content beside a good one.
func FuzzOpenImages(f *testing.F) {
	picture := image.NewNRGBA(image.Rect(0, 0, 3, 2))
	for i := range picture.Pix {
		picture.Pix[i] = byte(37 * i)
	}
	var asPNG, asJPEG, grey bytes.Buffer
	if err := png.Encode(&asPNG, picture); err != nil {
		f.Fatal(err)
	}
	if err := jpeg.Encode(&asJPEG, picture, nil); err != nil {
		f.Fatal(err)
	}
	if err := png.Encode(&grey, image.NewGray16(image.Rect(0, 0, 3, 2))); err != nil {
		f.Fatal(err)
	}
	for _, content := range [][]byte{asPNG.Bytes(), asJPEG.Bytes(), grey.Bytes(), nil, []byte("\x89PNG\r\n\x1a\n")} {
		f.Add(content, false)
		f.Add(content, true)
	}
	good := bytes.Clone(asPNG.Bytes())
	f.Fuzz(func(t *testing.T, content []byte, first bool) {
		dir, name := t.TempDir(), "z.jpg"
		if first {
			name = "a.png"
		}
		for name, content := range map[string][]byte{"m.png": good, name: content} {
			if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		checkOpened(t, dir)
		checkOpened(t, dir, data.WithSize(4, 4))
	})
}

// checkOpened reads all of a file in both ways, unless there is an error, which must say something.
func checkOpened(t *testing.T, path string, options ...data.OpenOption) {
	t.Helper()
	file, err := data.Open(path, options...)
	if err != nil {
		if err.Error() == "" {
			t.Error("an error without a text")
		}
		return
	}
	set, setErr := file.Set(t.Context())
	var all [][]float64
	if setErr == nil {
		all = set.Rows()
	}
	rows := 0
	for row, err := range file.Values(context.Background()) {
		if err != nil {
			if setErr == nil {
				t.Fatalf("read at once, but row %d says: %v", rows, err)
			}
			return
		}
		if setErr == nil {
			whole := all[rows]
			for j, v := range row {
				if v != whole[j] && float64(float32(v)) != whole[j] || math.IsNaN(v) || math.IsInf(v, 0) {
					t.Fatalf("row %d: %v piece by piece, %v at once: want the same and finite", rows, row, whole)
				}
			}
		}
		rows++
	}
	if setErr != nil {
		t.Fatalf("all %d rows read piece by piece, but at once: %v", rows, setErr)
	}
	if rows == 0 || rows != len(all) || file.Rows >= 0 && rows != file.Rows {
		t.Fatalf("%d rows piece by piece, %d at once, %d said: want the same and at least one", rows, len(all), file.Rows)
	}
}
