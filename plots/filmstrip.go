package plots

import (
	"errors"
	"fmt"
	"slices"

	"github.com/gomlx/gomlx/pkg/core/tensors"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Frame is a moment of a sampling run.
type Frame struct {
	// Title stands above the frame, such as "step 200" or "σ = 0.5".
	Title string
	// State holds where the chains are, [chains, dims...].
	State *tensors.Tensor
}

// PointStrip draws moments of a sampling run in the plane as a row of scatter plots that share one window. Two strips,
// such as a process and its reverse, stand under one another with [Panels].
type PointStrip struct {
	// Title heads the strip.
	Title string
	// Frames hold points, [n, 2].
	Frames []Frame
	// Window is the part of the plane shown; the zero value shows every point of every frame. Where a frame has points
	// outside, a legend counts them.
	Window Window
	// Densities are exact densities, drawn as contour lines: none, one for all frames, or one for each.
	Densities []Density
}

// Figure draws the strip. It returns an error for no frame, a state not of shape [n, 2], one that is empty or not
// finite, a window without area or with no point of a frame inside, and densities that are neither one nor as many as
// the frames or cannot be read.
func (s PointStrip) Figure() (*Figure, error) {
	panels, outside, err := s.panels()
	if err != nil {
		return nil, fmt.Errorf("plots: point strip: %w", err)
	}
	for i, p := range panels {
		p.height = smallBody
		if outside[i] > 0 {
			p.keys = []key{outsideKey(outside[i])}
		}
		p.axes.X.Label.Text, p.axes.Y.Label.Text = "", ""
		p.hideY = i > 0
	}
	panels[0].banner, panels[0].span = s.Title, len(panels)
	if len(s.Densities) > 0 {
		panels[0].keys = append(panels[0].keys, exactKey)
	}
	return &Figure{panels: panels, columns: len(panels), Alt: headed("Sampling run: points at "+titles(s.Frames), s.Title)}, nil
}

// Animation shows the frames one after another, larger than the strip does. It returns the errors of Figure.
func (s PointStrip) Animation() (Animation, error) {
	panels, outside, err := s.panels()
	if err != nil {
		return Animation{}, fmt.Errorf("plots: point strip: %w", err)
	}
	most := outsideKey(slices.Max(outside))
	var out Animation
	for i, p := range panels {
		p.banner, p.span = s.Title, 1
		switch { // frames are of one size: one with nothing to count keeps the place
		case outside[i] > 0:
			p.keys = []key{outsideKey(outside[i])}
		case slices.Max(outside) > 0:
			p.keys = []key{{"", most.width() - textGap, func(*draw.Canvas) {}}}
		}
		if len(s.Densities) > 0 {
			p.keys = append(p.keys, exactKey)
		}
		out.Frames = append(out.Frames, &Figure{panels: []*panel{p}, columns: 1, Alt: headed("Sampling run: points at "+s.Frames[i].Title, s.Title)})
	}
	return out, nil
}

var exactKey = key{"exact density", thumbWidth, lineSample(outlineStyle)}

// outsideKey counts the points that a window leaves out.
func outsideKey(n int) key {
	return key{number(float64(n), 0) + " outside", 6, dotSample(series[0])}
}

func headed(what, title string) string {
	if title != "" {
		return title + ". " + what + "."
	}
	return what + "."
}

// panels returns one panel for each frame, of a window's full size, and how many of its points are outside.
func (s PointStrip) panels() (out []*panel, left []int, err error) {
	if len(s.Frames) == 0 {
		return nil, nil, errors.New("no frames")
	}
	sets := make([][][]float64, len(s.Frames))
	for i, frame := range s.Frames {
		var err error
		if sets[i], err = planar(fmt.Sprintf("frame %d (%s)", i, frame.Title), frame.State); err != nil {
			return nil, nil, err
		}
	}
	if n := len(s.Densities); n > 1 && n != len(sets) {
		return nil, nil, fmt.Errorf("%d densities for %d frames: must be none, one, or as many", n, len(sets))
	}
	under := make([]*mapped, len(s.Densities))
	for i, d := range s.Densities {
		var err error
		if under[i], err = d.read(); err != nil {
			return nil, nil, fmt.Errorf("density %d: %w", i, err)
		}
	}
	window, err := windowOf(s.Window, sets)
	if err != nil {
		return nil, nil, err
	}
	left = make([]int, len(sets))
	for i, set := range sets {
		p := planePanel(s.Frames[i].Title, window)
		points, outside := cut([][][]float64{set}, window)
		if outside[0] == len(set) {
			return nil, nil, fmt.Errorf("frame %d (%s): no point inside the window %v", i, s.Frames[i].Title, window)
		}
		left[i] = outside[0]
		points.radius *= 0.7
		p.axes.Add(points)
		if len(under) > 0 { // over the points, which would hide it
			p.axes.Add(under[min(i, len(under)-1)].outline())
		}
		p.axes.Add(frame{colour: soft})
		out = append(out, p)
	}
	return out, left, nil
}

// ImageStrip draws moments of a sampling run of images: a row for each chain, a column for each frame, the frames'
// titles above.
type ImageStrip struct {
	Title string
	// Frames hold images, as [ImageGrid] takes them, as many in each.
	Frames []Frame
	Pixels
}

// Figure draws the strip. It returns an error for no frame, frames of different shapes, and those of [ImageGrid].
func (s ImageStrip) Figure() (*Figure, error) {
	f, err := s.figure()
	if err != nil {
		return nil, fmt.Errorf("plots: image strip: %w", err)
	}
	return f, nil
}

func (s ImageStrip) figure() (*Figure, error) {
	if len(s.Frames) == 0 {
		return nil, errors.New("no frames")
	}
	var t tiles
	var heads []string
	headed := false
	for i, frame := range s.Frames {
		images, err := s.read(fmt.Sprintf("frame %d (%s)", i, frame.Title), frame.State)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			t = tiles{pictures: images, columns: len(s.Frames), rows: len(images.grey)}
			t.grey = make([][]uint8, t.rows*t.columns)
		}
		if len(images.grey) != t.rows || images.width != t.width || images.height != t.height {
			return nil, fmt.Errorf("frame %d (%s): %d images of %d × %d: must be %d of %d × %d, as in the first", i, frame.Title,
				len(images.grey), images.height, images.width, t.rows, t.height, t.width)
		}
		for row, grey := range images.grey {
			t.grey[row*t.columns+i] = grey
		}
		heads = append(heads, frame.Title)
		headed = headed || frame.Title != ""
	}
	widest := vg.Length(0) // titles wider than their columns would run into each other
	for _, head := range heads {
		widest = max(widest, textStyle(labelSize, ink).Width(head)+2*textGap)
	}
	p := t.panel(s.Title, widest)
	if headed {
		p.heads = heads
	}
	return &Figure{panels: []*panel{p}, columns: 1, Alt: "Sampling run: images at " + titles(s.Frames) + "."}, nil
}

// Animation shows the frames one after another, each a grid of all chains. It returns the errors of Figure.
func (s ImageStrip) Animation() (Animation, error) {
	if _, err := s.Figure(); err != nil {
		return Animation{}, err
	}
	var out Animation
	for _, frame := range s.Frames {
		f, err := ImageGrid{Title: frame.Title, Images: frame.State, Pixels: s.Pixels}.Figure()
		if err != nil {
			return Animation{}, err
		}
		f.panels[0].banner, f.panels[0].span = s.Title, 1
		f.Alt = headed("Sampling run: images at "+frame.Title, s.Title)
		out.Frames = append(out.Frames, f)
	}
	return out, nil
}

func titles(frames []Frame) string {
	if len(frames) == 1 {
		return "1 moment"
	}
	s := fmt.Sprintf("%d moments", len(frames))
	if first, last := frames[0].Title, frames[len(frames)-1].Title; first != "" && last != "" {
		s += ", from " + first + " to " + last
	}
	return s
}
