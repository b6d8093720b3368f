package plots

import (
	"bytes"
	"image"
	"image/draw"
	"image/gif"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gomlx/gomlx/pkg/core/tensors"
)

func run(t *testing.T) Animation {
	t.Helper()
	a, err := PointStrip{Title: "run", Frames: []Frame{{"t = 0", points(-4, -4, 9, 9)}, {"t = 1", points(0, 0, 1, 1)}, {"t = 2", points(0, 0, 1, 1)}, {"t = 3", points(4, 4, 1, 1)}, {"t = 4", points(-4, 4, 1, 1)}}, Window: Window{-5, 5, -5, 5}}.Animation()
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestGIFShowsEachFrame plays the animation as a viewer does, each frame drawn over the last, and compares what is seen
// with the figure.
func TestGIFShowsEachFrame(t *testing.T) {
	a := run(t)
	a.Delay = 200 * time.Millisecond
	data, err := a.GIF()
	if err != nil {
		t.Fatal(err)
	}
	again, err := a.GIF()
	if err != nil || !bytes.Equal(data, again) {
		t.Errorf("the same animation gives other bytes, error %v", err)
	}
	decoded, err := gif.DecodeAll(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	w, h, err := a.Size()
	if err != nil {
		t.Fatal(err)
	}
	if c := decoded.Config; c.Width != (3*w+1)/2 || c.Height != (3*h+1)/2 {
		t.Errorf("%d × %d pixels for %d × %d", c.Width, c.Height, w, h)
	}
	if len(decoded.Image) != 5 || decoded.LoopCount != 0 || decoded.Delay[0] != 20 || decoded.Delay[4] != 170 {
		t.Fatalf("%d frames, loop count %d, delays %v", len(decoded.Image), decoded.LoopCount, decoded.Delay)
	}
	seen := image.NewRGBA(image.Rect(0, 0, decoded.Config.Width, decoded.Config.Height))
	body := bodies(t, a.Frames[0])[0]
	body = image.Rect(body.Min.X*3/4, body.Min.Y*3/4, body.Max.X*3/4, body.Max.Y*3/4)
	for i, frame := range decoded.Image {
		draw.Draw(seen, frame.Rect, frame, frame.Rect.Min, draw.Over)
		page, err := a.Frames[i].layout()
		if err != nil {
			t.Fatal(err)
		}
		want := page.image(gifDots)
		worst := 0
		for y := range seen.Rect.Dy() {
			for x := range seen.Rect.Dx() {
				p, q := pixel(seen, x, y), pixel(want, x, y)
				for _, d := range []int{int(p.R) - int(q.R), int(p.G) - int(q.G), int(p.B) - int(q.B)} {
					worst = max(worst, d, -d)
				}
			}
		}
		if worst > 24 { // the palette's steps
			t.Errorf("frame %d: a channel is off by %d", i, worst)
		}
		x := []float64{-4, 0, 0, 4, -4}[i]
		at := between01(body, (x+5)/10, []float64{0.1, 0.5, 0.5, 0.9, 0.9}[i])
		if !blue(pixel(seen, at.X, at.Y)) {
			t.Errorf("frame %d: no point at %v", i, at)
		}
	}
	// Later frames store a part only.
	if r := decoded.Image[1].Rect; r.Dx()*r.Dy() >= w*h*9/4 {
		t.Errorf("the second frame stores %v", r)
	}
}

func TestStill(t *testing.T) {
	f, err := run(t).Still()
	if err != nil {
		t.Fatal(err)
	}
	if len(f.panels) != 4 || f.panels[0].title != "t = 0" || f.panels[3].title != "t = 4" || f.panels[0].hideY || !f.panels[3].hideY {
		t.Errorf("%d panels", len(f.panels))
	}
	if texts := svgTexts(t, f); strings.Count(texts, "\nrun\n") != 1 || strings.Count(texts, "x₂") != 1 {
		t.Errorf("texts %q", texts)
	}
	if w, _, err := f.Size(); err != nil || w > 701 {
		t.Errorf("%d pixels wide, error %v", w, err)
	}
}

func TestImagesAreAnimated(t *testing.T) {
	first, second := make([]float64, 3*4), make([]float64, 3*4)
	for i := 4; i < 8; i++ {
		second[i] = 1 // image 1 turns white
	}
	a, err := ImageStrip{Frames: []Frame{{"a", tensors.FromFlatDataAndDimensions(first, 3, 4)}, {"b", tensors.FromFlatDataAndDimensions(second, 3, 4)}}}.Animation()
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range a.Frames {
		img, body := render(t, f, nil)
		at := between01(body, 0.75, 0.75)
		if white := pixel(img, at.X, at.Y).R == 255; white != (i == 1) {
			t.Errorf("frame %d: image 1 white %v", i, white)
		}
	}
	if _, err := a.GIF(); err != nil {
		t.Error(err)
	}
}

func TestAnimationErrors(t *testing.T) {
	a := run(t)
	other := must(t, LossCurve{Runs: []Run{{Loss: []float64{1, 2}}}})
	for _, c := range []struct {
		a    Animation
		want string
	}{
		{Animation{}, "0 frames: must be 2 to 200"},
		{Animation{Frames: make([]*Figure, 201)}, "201 frames"},
		{Animation{Frames: []*Figure{a.Frames[0], nil}}, "frame 1: "},
		{Animation{Frames: []*Figure{a.Frames[0], other}}, "frame 1: "},
		{Animation{Frames: a.Frames, Delay: -1}, "delay -1ns: must be 0 to 10s"},
		{Animation{Frames: a.Frames, Delay: time.Minute}, "delay 1m0s"},
	} {
		if _, err := c.a.GIF(); err == nil || !strings.HasPrefix(err.Error(), "plots: animation: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v: want %q", err, c.want)
		}
	}
	if _, err := a.encode(1000); err == nil || !strings.HasPrefix(err.Error(), "5 frames make ") || !strings.HasSuffix(err.Error(), "must be at most 1,000: take fewer frames or points") {
		t.Errorf("error %v", err)
	}
	if _, err := (Animation{}).Still(); err == nil {
		t.Error("a still of nothing")
	}
	if _, err := (PointStrip{}).Animation(); err == nil || !strings.HasPrefix(err.Error(), "plots: point strip: no frames") {
		t.Errorf("error %v", err)
	}
	dir := t.TempDir()
	if err := a.Save(filepath.Join(dir, "a.png")); err == nil || !strings.Contains(err.Error(), "must be .gif") {
		t.Errorf("error %v", err)
	}
	if err := a.Save(filepath.Join(dir, "a.gif")); err != nil {
		t.Error(err)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "a.gif")); err != nil || !bytes.HasPrefix(data, []byte("GIF89a")) {
		t.Errorf("error %v", err)
	}
	if len(gifPalette) > 256 {
		t.Errorf("%d colours", len(gifPalette))
	}
}
