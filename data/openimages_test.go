package data_test

import (
	"context"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/scorekit/lab/data"
)

// recorded returns an array of images.npz: what PIL made of an image.
func recorded(t *testing.T, name string) []float64 {
	t.Helper()
	_, set := openSet(t, testdata("images.npz"), data.WithArray(name))
	return set.Rows()[0]
}

// Every kind of PNG and JPEG has the pixels that PIL sees: exactly, but for JPEG, whose standard leaves the rounding of its
// transforms open (two levels here).
func TestOpenImageKinds(t *testing.T) {
	for _, folder := range []string{"colour", "grey"} {
		file, set := openSet(t, testdata("images/"+folder))
		channels := map[string]int{"colour": 3, "grey": 1}[folder]
		if !slices.Equal(file.Shape(), []int{12, 18, channels}) || file.Rows != 4 || set.Channels != channels || set.Height != 12 {
			t.Errorf("%s: shape %v, %d rows", folder, file.Shape(), file.Rows)
		}
		names, err := os.ReadDir(testdata("images/" + folder))
		if err != nil {
			t.Fatal(err)
		}
		for i, entry := range names {
			tolerance := 0.0
			if strings.Contains(entry.Name(), ".jp") {
				tolerance = 2
			}
			compare(t, folder+"/"+entry.Name(), set.Rows()[i], recorded(t, strings.Replace(entry.Name(), ".", "", 1)), tolerance)
		}
	}
	_, set := openSet(t, testdata("images/colour"), data.WithGrey())
	compare(t, "made grey", set.Rows()[3], recorded(t, "l"), 0)
	_, set = openSet(t, testdata("images/grey"), data.WithColour())
	for k, v := range recorded(t, "greypng") {
		if row := set.Rows()[3]; row[3*k] != v || row[3*k+1] != v || row[3*k+2] != v {
			t.Fatalf("pixel %d made colour: %v, want %v", k, row[3*k:3*k+3], v)
		}
	}
	file, set := openSet(t, testdata("images"), data.WithFolderLabels(), data.WithGrey())
	if want := []int{0, 0, 0, 0, 1, 1, 1, 1}; !slices.Equal(set.Labels, want) || !slices.Equal(file.ClassNames, []string{"colour", "grey"}) {
		t.Errorf("labels %v of %v", set.Labels, file.ClassNames)
	}
	_, set = openSet(t, testdata("images"), data.WithFolderLabels(), data.WithGrey(), data.WithClasses("grey", "none", "colour"))
	if want := []int{2, 2, 2, 2, 0, 0, 0, 0}; !slices.Equal(set.Labels, want) {
		t.Errorf("labels %v", set.Labels)
	}
}

func compare(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d values, want %d", what, len(got), len(want))
	}
	worst := 0.0
	for i := range got {
		worst = max(worst, math.Abs(got[i]-want[i]))
	}
	if worst > tolerance {
		t.Errorf("%s: off by %v levels, at most %v expected", what, worst, tolerance)
	}
}

// Resizing is that of PIL's bicubic filter, the same curve, to the rounding of intermediate results: two levels.
func TestOpenResized(t *testing.T) {
	for _, c := range []struct {
		name          string
		height, width int
		option        data.OpenOption
	}{
		{"small", 6, 9, data.WithSize(6, 9)},
		{"large", 24, 36, data.WithSize(24, 36)},
		{"middle", 8, 8, data.WithCrop(8, 8)}, // the 12×12 in the middle, resized
	} {
		file, set := openSet(t, testdata("images/colour"), c.option)
		if !slices.Equal(file.Shape(), []int{c.height, c.width, 3}) {
			t.Errorf("%s: shape %v", c.name, file.Shape())
		}
		compare(t, c.name, set.Rows()[3], recorded(t, c.name), 2)
	}
}

// What is half transparent lies on white.
func TestOpenTransparent(t *testing.T) {
	img := image.NewNRGBA(image.Rect(0, 0, 2, 1))
	img.SetNRGBA(0, 0, color.NRGBA{R: 200, G: 100, B: 0, A: 51}) // a fifth
	img.SetNRGBA(1, 0, color.NRGBA{R: 200, G: 100, B: 0, A: 0})
	folder := t.TempDir()
	writePNG(t, filepath.Join(folder, "a.png"), img)
	_, set := openSet(t, folder)
	compare(t, "a.png", set.Rows()[0], []float64{0.8*255 + 40, 0.8*255 + 20, 0.8 * 255, 255, 255, 255}, 1)
}

func writePNG(t *testing.T, path string, img image.Image) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := png.Encode(file, img); err != nil {
		t.Fatal(err)
	}
}

// Images that cannot be taken together, are damaged, or claim to be huge.
func TestOpenBrokenImages(t *testing.T) {
	grey := func(height, width int) image.Image { return image.NewGray(image.Rect(0, 0, width, height)) }
	colour := image.NewNRGBA(image.Rect(0, 0, 3, 2))
	for i := range colour.Pix {
		colour.Pix[i] = uint8(255 - i)
	}
	pngOf := func(img image.Image) string {
		path := filepath.Join(t.TempDir(), "x.png")
		writePNG(t, path, img)
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
	good := pngOf(grey(2, 3))
	huge := []byte(good)
	copy(huge[16:], "\x00\x01\x00\x00\x00\x01\x00\x00") // 65,536 × 65,536
	binary.BigEndian.PutUint32(huge[29:], crc32.ChecksumIEEE(huge[12:29]))
	for _, c := range []struct {
		files   map[string]string
		want    string
		options []data.OpenOption
	}{
		{map[string]string{"a.png": good, "b.png": pngOf(grey(3, 2))}, "b.png: 3×2 pixels (height×width), the first image has 2×3: bring all to one size with WithSize or WithCrop", nil},
		{map[string]string{"a.png": good, "b.png": pngOf(colour)}, "b.png: a colour image, but the first is grey: choose WithGrey or WithColour", nil},
		{map[string]string{"a.png": good, "b.png": good[:len(good)-20]}, "b.png: damaged image (", nil},
		{map[string]string{"a.png": good, "b.png": good[:50] + "X" + good[51:]}, "b.png: damaged image (png: invalid format: ", nil},
		{map[string]string{"a.png": good, "b.jpg": "text"}, "b.jpg: neither PNG nor JPEG in spite of its name", nil},
		{map[string]string{"a.png": ""}, "a.png: ", nil},
		{map[string]string{"a.png": string(huge)}, "a.png: 65536×65536 pixels: must be at most 67108864", nil},
		{map[string]string{"a.txt": "1,2\n"}, "a folder without PNG or JPEG images: name a file, or a folder of images", nil},
		{map[string]string{}, "a folder without PNG or JPEG images", nil},
		{map[string]string{"a.png": good}, "a.png is in no folder of its own: WithFolderLabels takes one folder a class", []data.OpenOption{data.WithFolderLabels()}},
		{map[string]string{"x/a.png": good}, `folder "x": must be one of the classes y`, []data.OpenOption{data.WithFolderLabels(), data.WithClasses("y")}},
		{map[string]string{"a.png": good}, "WithColumns: means nothing for image folder", []data.OpenOption{data.WithColumns("1")}},
		{map[string]string{"a.png": good}, "size 0×3: sides must be positive", []data.OpenOption{data.WithSize(0, 3)}},
		{map[string]string{"a.png": good}, "size 100000×100000: sides must be positive and make at most", []data.OpenOption{data.WithCrop(100_000, 100_000)}},
		{map[string]string{"a.png": good}, "WithSize and WithCrop: must be one of the two", []data.OpenOption{data.WithSize(1, 1), data.WithCrop(1, 1)}},
		{map[string]string{"a.png": good}, "WithGrey and WithColour: must be one", []data.OpenOption{data.WithGrey(), data.WithColour()}},
	} {
		folder := t.TempDir()
		for name, content := range c.files {
			path := filepath.Join(folder, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		_, err := openAll(folder, c.options...)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "data: "+folder+": ") {
			t.Errorf("got error %v, want one that says %q", err, c.want)
		}
	}
	// Hidden files and what is no image do not matter.
	folder := t.TempDir()
	for _, name := range []string{"a.PNG", ".hidden.png", "notes.txt", ".git/b.png"} {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(good), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if file, err := openAll(folder); err != nil || file.Rows != 1 {
		t.Errorf("file %v, error %v", file, err)
	}
}

// openAll opens a file and reads all of it.
func openAll(path string, options ...data.OpenOption) (*data.File, error) {
	file, err := data.Open(path, options...)
	if err != nil {
		return nil, err
	}
	for _, err := range file.Values(context.Background()) {
		if err != nil {
			return nil, err
		}
	}
	_, err = file.Set(context.Background())
	return file, err
}
