package plots

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// HistogramStrip draws moments of a process on the line as a row of histograms that share their axes and bins, each
// against an exact density where one is given. Two strips, such as a process and its reverse, stand under one another
// with [Panels].
type HistogramStrip struct {
	// Title heads the strip.
	Title string
	// Frames hold numbers, [n] or [n, 1].
	Frames []Frame
	// Curves are exact densities: none, one for all frames, or one for each. The legend has the name of the first.
	Curves []Curve
	// Min and Max are the range shown; both 0 show all. Numbers outside count in the densities but have no bar.
	Min, Max float64
	// Bins is their number: 30 where it is 0.
	Bins int
	// Label names the horizontal axis: "x" unless it says otherwise.
	Label string
}

// Figure draws the strip. It returns an error for no frame, numbers that are empty, not of one column or not finite,
// curves that are neither one nor as many as the frames or are not functions, Min not below Max, a negative number of
// bins, and numbers all of which are the same or outside the range.
func (s HistogramStrip) Figure() (*Figure, error) {
	f, err := s.figure()
	if err != nil {
		return nil, fmt.Errorf("plots: histogram strip: %w", err)
	}
	return f, nil
}

func (s HistogramStrip) figure() (*Figure, error) {
	if len(s.Frames) == 0 {
		return nil, errors.New("no frames")
	}
	if n := len(s.Curves); n > 1 && n != len(s.Frames) {
		return nil, fmt.Errorf("%d curves for %d frames: must be none, one, or as many", n, len(s.Frames))
	}
	if s.Bins < 0 {
		return nil, fmt.Errorf("%d bins: must be 0 or more", s.Bins)
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	values := make([][]float64, len(s.Frames))
	for i, frame := range s.Frames {
		var err error
		if values[i], err = column(fmt.Sprintf("frame %d (%s)", i, frame.Title), frame.State, false); err != nil {
			return nil, err
		}
		lo, hi = min(lo, slices.Min(values[i])), max(hi, slices.Max(values[i]))
	}
	if s.Min != 0 || s.Max != 0 {
		lo, hi = s.Min, s.Max
	}
	if !(lo < hi) || math.IsInf(hi-lo, 0) || tooNarrow(lo, hi) {
		return nil, fmt.Errorf("range %v to %v: must be finite, the lower end below the upper", lo, hi)
	}
	n := s.Bins
	if n == 0 {
		n = 30
	}
	label := s.Label
	if label == "" {
		label = "x"
	}
	out := &Figure{columns: len(values), Alt: headed("Histograms at "+titles(s.Frames), s.Title)}
	top := 0.0
	for i, numbers := range values {
		p := curvePanel(s.Frames[i].Title, label, "")
		p.aspect, p.height, p.hideY = 1, smallBody, i > 0
		if i == 0 {
			p.axes.Y.Label.Text = "density"
			p.banner, p.span = s.Title, len(values)
		}
		b := fixedBins(numbers, lo, hi, n)
		top = max(top, slices.Max(b.density))
		p.axes.Add(grid(), b)
		if len(s.Curves) > 0 {
			which := min(i, len(s.Curves)-1)
			line, err := s.Curves[which].line()
			if err != nil {
				return nil, fmt.Errorf("curve %d (%s): %w", which, s.Curves[which].Name, err)
			}
			line.LineStyle = curveStyle(1, 0)
			for _, q := range line.XYs {
				if q.X >= lo && q.X <= hi {
					top = max(top, q.Y)
				}
			}
			p.axes.Add(line)
			if i == 0 {
				p.keys = []key{{s.Curves[which].Name, thumbWidth, lineSample(line.LineStyle)}}
			}
		}
		p.axes.Add(frame{colour: soft, open: true})
		out.panels = append(out.panels, p)
	}
	if top == 0 || math.IsInf(top, 0) {
		return nil, fmt.Errorf("range %v to %v: no number inside", lo, hi)
	}
	for _, p := range out.panels {
		p.axes.X.Min, p.axes.X.Max, p.axes.Y.Min, p.axes.Y.Max = lo, hi, 0, 1.06*top
	}
	return out, nil
}

// fixedBins counts the numbers between lo and hi; the density is that of all of them.
func fixedBins(values []float64, lo, hi float64, n int) bars {
	b := bars{lo, (hi - lo) / float64(n), make([]float64, n)}
	for _, v := range values {
		if v >= lo && v <= hi {
			b.density[min(int((v-lo)/b.width), n-1)] += 1 / (float64(len(values)) * b.width)
		}
	}
	return b
}
