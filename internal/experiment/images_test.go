package experiment

import (
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorekit/lab/scorekit"
)

// pictures makes a folder of grey images of 6×5 pixels in two folders, which are classes.
func pictures(t *testing.T, n int) string {
	t.Helper()
	dir := t.TempDir()
	for i := range n {
		class := filepath.Join(dir, []string{"dark", "light"}[i%2])
		if err := os.MkdirAll(class, 0o755); err != nil {
			t.Fatal(err)
		}
		img := image.NewGray(image.Rect(0, 0, 5, 6))
		for k := range img.Pix {
			img.Pix[k] = uint8(20 + 150*(i%2) + (i*37+k*11)%60)
		}
		file, err := os.Create(filepath.Join(class, string(rune('a'+i))+".png"))
		if err != nil {
			t.Fatal(err)
		}
		if err := png.Encode(file, img); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Images go through a convolutional net, in memory and read while training, and come back as whole numbers of grey by class.
func TestImages(t *testing.T) {
	dir := pictures(t, 20)
	for _, stream := range []string{"no", "yes"} {
		run := trained(t, "data", dir, "label", "folders", "conditional", "true", "net", "residual-conv", "width", "8", "blocks", "1", "sigma", "auto",
			"dtype", "float32", "holdout", "0.2", "steps", "2", "batch", "4", "stream", stream, "checkpoint-every", "2", "seed", "2")
		f := run.Facts
		if f.Kind != "images" || f.Height != 6 || f.Width != 5 || f.Channels != 1 || strings.Join(f.Classes, " ") != "dark light" || f.Stream != (stream == "yes") {
			t.Fatalf("facts %+v", f)
		}
		if run.Config.Transf != "minmax" || run.Config.Dequant != "uniform" || run.Config.Objective != "edm" || f.High != 255 {
			t.Errorf("transform %s, dequantize %s, objective %s, white is %v", run.Config.Transf, run.Config.Dequant, run.Config.Objective, f.High)
		}
		s := DefaultSampling()
		s.N, s.Class, s.Guidance, s.Steps, s.Backend = 4, "all", 1, 3, "go"
		drawn, err := run.Sample(t.Context(), s, nil)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := scorekit.Rows(drawn.X)
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			for _, v := range row {
				if v != float64(uint8(v)) {
					t.Fatalf("pixel %v: must be a whole number from 0 to 255", v)
				}
			}
		}
		if len(drawn.Classes) != 4 || drawn.Classes[1] != 1 {
			t.Errorf("classes %v", drawn.Classes)
		}
		path := filepath.Join(t.TempDir(), "grid.png")
		if err := drawn.Save(path); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		grid, err := png.Decode(file)
		if err != nil {
			t.Fatal(err)
		}
		// Two in a row, each 10 times as large, with gaps of 2.
		if got := grid.Bounds(); got.Dx() != 2*52+2 || got.Dy() != 2*62+2 {
			t.Errorf("a picture of %v", got)
		}
		if got, want := color.GrayModel.Convert(grid.At(2+52, 2)), (color.Gray{Y: uint8(rows[1][0])}); got != want {
			t.Errorf("the second image begins with %v, want %v", got, want)
		}
		s.Class = "light"
		if _, err := run.Sample(t.Context(), s, nil); err != nil {
			t.Error(err)
		}
		s.Class = "grey"
		if _, err := run.Sample(t.Context(), s, nil); err == nil || !strings.Contains(err.Error(), "must be all or one of dark, light") {
			t.Errorf("error %v", err)
		}
	}
}

// The network for images is refused on pure Go, at once and with the cure, unless that was asked for by name.
func TestWhatNeedsXLA(t *testing.T) {
	t.Setenv("GOMLX_BACKEND", "")
	b, err := openBackend("go")
	if err != nil {
		t.Fatal(err)
	}
	c := set(t, "net", "unet")
	if err := c.capable(b, Auto); err == nil || !strings.Contains(err.Error(), "net unet needs XLA") || !strings.Contains(err.Error(), "scorelab setup") {
		t.Errorf("error %v", err)
	}
	if err := c.capable(b, "go"); err != nil {
		t.Error(err)
	}
	if err := set(t, "net", "noise-mlp").capable(b, Auto); err != nil {
		t.Error(err)
	}
}

// A table that is read while training gives a model and an evaluation as one in memory does.
func TestStream(t *testing.T) {
	run := trained(t, "data", table(t, 300), "label", "kind", "net", "noise-mlp", "sigma", "0.05:10", "stream", "yes", "steps", "3", "holdout", "0.25")
	if !run.Facts.Stream || run.Facts.Std < 0.8 || run.Facts.Std > 1.2 {
		t.Fatalf("facts %+v", run.Facts)
	}
	e := DefaultEvaluating()
	e.Backend, e.Examples, e.Likelihood = "go", 40, 3
	got, err := run.Evaluate(t.Context(), e, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.Rows != 40 || got.Nats == nil || got.MMD == nil {
		t.Errorf("%s", got)
	}
	// No row stands for two where there are fewer than are asked for: about a quarter of 300 is held out.
	e.Examples, e.Likelihood = 200, -1
	if got, err = run.Evaluate(t.Context(), e, nil, nil); err != nil || got.Rows < 45 || got.Rows > 105 {
		t.Errorf("compared with %d rows, want all of those held out, about 75 (%v)", got.Rows, err)
	}
}
