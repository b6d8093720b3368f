package plots

import (
	"errors"
	"fmt"

	"github.com/gomlx/gomlx/pkg/core/tensors"
	"gonum.org/v1/plot/vg"
)

// Frame is a moment of a sampling run.
type Frame struct {
	// Title stands above the frame, such as "step 200" or "σ = 0.5".
	Title string
	// State holds where the chains are, [chains, dims...].
	State *tensors.Tensor
}

// PointStrip draws moments of a sampling run in the plane as a row of scatter plots that share one window.
type PointStrip struct {
	// Frames hold points, [n, 2].
	Frames []Frame
	// Window is the part of the plane shown; the zero value shows every point of every frame. A legend counts those
	// outside.
	Window Window
}

// Figure draws the strip. It returns an error for no frame, a state not of shape [n, 2], one that is empty or not
// finite, and a window without area or with no point of a frame inside.
func (s PointStrip) Figure() (*Figure, error) {
	f, err := s.figure()
	if err != nil {
		return nil, fmt.Errorf("plots: point strip: %w", err)
	}
	return f, nil
}

func (s PointStrip) figure() (*Figure, error) {
	if len(s.Frames) == 0 {
		return nil, errors.New("no frames")
	}
	sets := make([][][]float64, len(s.Frames))
	for i, frame := range s.Frames {
		var err error
		if sets[i], err = planar(fmt.Sprintf("frame %d (%s)", i, frame.Title), frame.State); err != nil {
			return nil, err
		}
	}
	window, err := windowOf(s.Window, sets)
	if err != nil {
		return nil, err
	}
	out := &Figure{columns: len(sets), Alt: "Sampling run: points at " + titles(s.Frames) + "."}
	for i, set := range sets {
		p := planePanel(s.Frames[i].Title, window)
		p.height = smallBody
		points, outside := cut([][][]float64{set}, window)
		if outside[0] == len(set) {
			return nil, fmt.Errorf("frame %d (%s): no point inside the window %v", i, s.Frames[i].Title, window)
		}
		if outside[0] > 0 {
			p.keys = []key{{number(float64(outside[0]), 0) + " outside", 6, dotSample(series[0])}}
		}
		points.radius *= 0.7
		p.axes.Add(points, frame{colour: soft})
		p.axes.X.Label.Text, p.axes.Y.Label.Text = "", ""
		p.hideY = i > 0
		out.panels = append(out.panels, p)
	}
	return out, nil
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
