package plots

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Animation shows figures one after another: a sampling run, a score as its noise falls. [PointStrip.Animation] and
// [ImageStrip.Animation] make one of a run.
//
// The colours of a GIF are a fixed palette, that of the figures and its shades on white, without dithering: the same
// frames give the same bytes. A frame stores only what has changed since the one before.
type Animation struct {
	// Frames are figures of one size, which those with the same window, title and legend are: 2 to 200 of them.
	Frames []*Figure
	// Delay is how long a frame is shown, in steps of 10 ms, 20 ms at least. 0 stands for 100 ms. The last is shown for 1.5 s more, then
	// all begins again.
	Delay time.Duration
}

// MaxGIF is the largest GIF that an [Animation] makes, in bytes: 4 MiB, as a notebook stores it and each reader loads it.
// Some 60 frames of 2,000 points stay below.
const MaxGIF = 4 << 20

const (
	gifDots   = 144 // dots in an inch, half as many again as screen pixels
	maxFrames = 200
)

// GIF encodes the animation, at 1.5 pixels to each CSS pixel. It returns an error for fewer than 2 frames or more than
// 200, a frame that is nil or of another size than the first, a Delay below 0 or beyond 10 s, a result larger than
// [MaxGIF], and the errors of [Figure.PNG].
func (a Animation) GIF() ([]byte, error) {
	out, err := a.encode(MaxGIF)
	if err != nil {
		return nil, fmt.Errorf("plots: animation: %w", err)
	}
	return out, nil
}

// Size returns the width and height on screen, in CSS pixels. It returns the errors of GIF that concern the frames.
func (a Animation) Size() (width, height int, err error) {
	if err := a.check(); err != nil {
		return 0, 0, fmt.Errorf("plots: animation: %w", err)
	}
	return a.Frames[0].Size()
}

// Alt describes the animation in words.
func (a Animation) Alt() string {
	if len(a.Frames) == 0 || a.Frames[0] == nil {
		return "Animation."
	}
	return fmt.Sprintf("Animation of %d frames. First: %s", len(a.Frames), a.Frames[0].Alt)
}

// Still returns up to four of the frames, evenly spaced from the first to the last, side by side: for print, and for
// pages that do not move. It returns the errors of GIF that concern the frames.
func (a Animation) Still() (*Figure, error) {
	if err := a.check(); err != nil {
		return nil, fmt.Errorf("plots: animation: %w", err)
	}
	n := min(len(a.Frames), 4)
	picked := make([]*Figure, n)
	columns := n
	for i := range picked {
		f := *a.Frames[i*(len(a.Frames)-1)/(n-1)]
		if len(f.panels) == 1 {
			p := *f.panels[0]
			if i == 0 {
				p.span = n
			} else { // the first panel's title and vertical axis are those of all
				axes := *p.axes
				axes.Y.Label.Text = ""
				p.axes, p.banner, p.hideY, p.labelY = &axes, "", true, ""
			}
			f.panels = []*panel{&p}
		} else {
			columns = f.columns
		}
		picked[i] = &f
	}
	out, err := Panels(columns, picked...)
	if err == nil {
		out.Alt = fmt.Sprintf("%d frames of an animation. First: %s", n, a.Frames[0].Alt)
	}
	return out, err
}

// Save writes the animation to a file whose name ends in .gif. It returns an error for any other ending, those of GIF,
// and those of writing.
func (a Animation) Save(path string) error {
	if ext := strings.ToLower(filepath.Ext(path)); ext != ".gif" {
		return fmt.Errorf("plots: save %s: ending %q: must be .gif", path, ext)
	}
	data, err := a.GIF()
	if err != nil {
		return err
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		return fmt.Errorf("plots: save: %w", err)
	}
	return nil
}

func (a Animation) check() error {
	if n := len(a.Frames); n < 2 || n > maxFrames {
		return fmt.Errorf("%d frames: must be 2 to %d", n, maxFrames)
	}
	if a.Delay < 0 || a.Delay > 10*time.Second {
		return fmt.Errorf("delay %v: must be 0 to 10s", a.Delay)
	}
	var width, height int
	for i, f := range a.Frames {
		w, h, err := f.Size()
		if err != nil {
			return fmt.Errorf("frame %d: %w", i, err)
		}
		if i == 0 {
			width, height = w, h
		}
		if w != width || h != height {
			return fmt.Errorf("frame %d: %d × %d pixels: must be %d × %d, as the first: give all frames the same window, title and legend", i, w, h, width, height)
		}
	}
	return nil
}

func (a Animation) encode(limit int) ([]byte, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	delay := max(2, int((a.Delay+5*time.Millisecond)/(10*time.Millisecond)))
	if a.Delay == 0 {
		delay = 10
	}
	var out gif.GIF
	index := make(map[color.RGBA]uint8)
	var last *image.Paletted
	for i, f := range a.Frames {
		page, err := f.layout()
		if err != nil {
			return nil, fmt.Errorf("frame %d: %w", i, err)
		}
		now := paletted(page.image(gifDots), index)
		out.Image = append(out.Image, changed(last, now))
		out.Delay = append(out.Delay, delay)
		out.Disposal = append(out.Disposal, gif.DisposalNone)
		last = now
	}
	out.Delay[len(out.Delay)-1] += 150
	out.Config = image.Config{ColorModel: gifPalette, Width: last.Rect.Dx(), Height: last.Rect.Dy()}
	var data bytes.Buffer
	if err := gif.EncodeAll(&data, &out); err != nil {
		return nil, err
	}
	if data.Len() > limit {
		return nil, fmt.Errorf("%d frames make %s bytes: must be at most %s: take fewer frames or points", len(a.Frames), number(float64(data.Len()), 0), number(float64(limit), 0))
	}
	return data.Bytes(), nil
}

// gifPalette holds what figures are drawn with: nothing, for what stays as it was, greys, the palettes of maps, and the
// colours of series and bars as they fade into white.
var gifPalette = func() color.Palette {
	p := color.Palette{color.NRGBA{}}
	for i := range 32 {
		v := uint8(i * 255 / 31)
		p = append(p, color.NRGBA{R: v, G: v, B: v, A: 255})
	}
	for i := range 48 {
		p = append(p, sequential[(i+1)*255/48])
	}
	for i := range 32 {
		p = append(p, heat[i*255/31])
	}
	for i := range 24 {
		p = append(p, diverging[i*127/24])
	}
	const shades = 16
	for _, c := range append([]color.NRGBA{barColour}, series...) {
		for i := range shades {
			t := float64(i+1) / shades
			mix := func(v uint8) uint8 { return uint8(255 + t*(float64(v)-255) + 0.5) }
			p = append(p, color.NRGBA{R: mix(c.R), G: mix(c.G), B: mix(c.B), A: 255})
		}
	}
	return p
}()

// paletted gives each pixel the palette's nearest colour. index remembers those found.
func paletted(img image.Image, index map[color.RGBA]uint8) *image.Paletted {
	out := image.NewPaletted(img.Bounds(), gifPalette)
	opaque := gifPalette[1:]
	for y := out.Rect.Min.Y; y < out.Rect.Max.Y; y++ {
		for x := out.Rect.Min.X; x < out.Rect.Max.X; x++ {
			c := color.RGBAModel.Convert(img.At(x, y)).(color.RGBA)
			k, known := index[c]
			if !known {
				k = uint8(1 + opaque.Index(c))
				index[c] = k
			}
			out.SetColorIndex(x, y, k)
		}
	}
	return out
}

// changed returns the part of a frame that differs from the last, transparent where it does not.
func changed(last, now *image.Paletted) *image.Paletted {
	if last == nil {
		return now
	}
	var box image.Rectangle
	for y := now.Rect.Min.Y; y < now.Rect.Max.Y; y++ {
		for x := now.Rect.Min.X; x < now.Rect.Max.X; x++ {
			if now.ColorIndexAt(x, y) != last.ColorIndexAt(x, y) {
				box = box.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	if box.Empty() {
		box = image.Rect(0, 0, 1, 1)
	}
	out := image.NewPaletted(box, gifPalette)
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			if k := now.ColorIndexAt(x, y); k != last.ColorIndexAt(x, y) {
				out.SetColorIndex(x, y, k)
			}
		}
	}
	return out
}
