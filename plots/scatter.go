package plots

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/gomlx/gomlx/pkg/core/tensors"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Scatter draws one or several sets of points of the plane, with equal units both ways. Markers shrink and fade as
// points get more. Sets are drawn interleaved, so that none covers another.
type Scatter struct {
	Title string
	Sets  []PointSet
	// Window is the part of the plane shown; the zero value shows all points. The legend counts those outside.
	Window Window
	// Density is an exact density, drawn as contour lines where its Log is set.
	Density Density
	// XLabel and YLabel name the axes: x₁ and x₂ unless they say otherwise.
	XLabel, YLabel string
}

// PointSet is a named set of points.
type PointSet struct {
	// Name stands in the legend. A single set may do without.
	Name string
	// Points are [n, 2].
	Points *tensors.Tensor
}

// Figure draws the sets. It returns an error for no set, an empty one, points not of shape [n, 2] or not finite, a
// window without area, a set with no point inside it, and a set without a name beside others.
func (s Scatter) Figure() (*Figure, error) {
	f, err := s.figure()
	if err != nil {
		return nil, fmt.Errorf("plots: scatter: %w", err)
	}
	return f, nil
}

func (s Scatter) figure() (*Figure, error) {
	if len(s.Sets) == 0 {
		return nil, errors.New("no sets")
	}
	sets := make([][][]float64, len(s.Sets))
	for i, set := range s.Sets {
		if set.Name == "" && len(s.Sets) > 1 {
			return nil, fmt.Errorf("set %d: no name: must have one to be told from the others", i)
		}
		var err error
		if sets[i], err = planar(numbered("set", i, set.Name), set.Points); err != nil {
			return nil, err
		}
	}
	window, err := windowOf(s.Window, sets)
	if err != nil {
		return nil, err
	}
	p := planePanel(s.Title, window).named(s.XLabel, s.YLabel)
	cloud, outside := cut(sets, window)
	p.axes.Add(grid(), cloud)
	var outline []key
	if s.Density.Log != nil {
		exact, err := s.Density.read()
		if err != nil {
			return nil, err
		}
		p.axes.Add(exact.outline())
		outline = []key{exact.key()}
	}
	p.axes.Add(frame{colour: soft})
	names := make([]string, len(sets))
	for i, set := range s.Sets {
		if outside[i] == len(sets[i]) {
			return nil, fmt.Errorf("%s: no point inside the window %v", numbered("set", i, set.Name), window)
		}
		names[i] = set.Name
		label := set.Name
		if outside[i] > 0 {
			label = fmt.Sprintf("%s of %s points outside", number(float64(outside[i]), 0), number(float64(len(sets[i])), 0))
			if set.Name != "" {
				label = set.Name + ", " + label
			}
		}
		if label != "" {
			p.keys = append(p.keys, key{label, 6, dotSample(series[i%len(series)])})
		}
	}
	p.keys = append(p.keys, outline...)
	return single(p, "Scatter plot", strings.Join(names, ", ")), nil
}

// windowOf returns w, or where it is zero a window around all points.
func windowOf(w Window, sets [][][]float64) (Window, error) {
	if w != (Window{}) {
		return w, w.check()
	}
	w = Window{math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)}
	for _, set := range sets {
		for _, p := range set {
			w.XMin, w.XMax = min(w.XMin, p[0]), max(w.XMax, p[0])
			w.YMin, w.YMax = min(w.YMin, p[1]), max(w.YMax, p[1])
		}
	}
	if dx, dy := w.XMax-w.XMin, w.YMax-w.YMin; math.IsInf(dx, 0) || math.IsInf(dy, 0) {
		return w, errors.New("points too far apart to draw")
	}
	// A margin, and a narrow range widened so that the panel does not become a strip.
	dx, dy := w.XMax-w.XMin, w.YMax-w.YMin
	least := max(dx, dy) / 2
	if size := max(math.Abs(w.XMin), math.Abs(w.YMin)); least == 0 {
		least = max(1, size/10)
	} else {
		least = max(least, 1e-6*size)
	}
	px, py := max(0.04*dx, (least-dx)/2, 0.02*least), max(0.04*dy, (least-dy)/2, 0.02*least)
	w = Window{w.XMin - px, w.XMax + px, w.YMin - py, w.YMax + py}
	return w, w.check()
}

// cloud is sets of points inside a window.
type cloud struct {
	sets   [][][]float64
	radius vg.Length
	alpha  float64
}

// cut keeps the points inside the window and counts those outside.
func cut(sets [][][]float64, w Window) (cloud, []int) {
	c := cloud{sets: make([][][]float64, len(sets))}
	outside := make([]int, len(sets))
	total := 0
	for i, set := range sets {
		for _, p := range set {
			if w.holds(p[0], p[1]) {
				c.sets[i] = append(c.sets[i], p)
			}
		}
		outside[i] = len(set) - len(c.sets[i])
		total += len(set)
	}
	// From 2.4 points for up to 50 markers to 0.8 for 10,000 and more, along a power law.
	c.radius = vg.Length(min(max(2.4*math.Pow(50/float64(total), 0.2), 0.8), 2.4))
	c.alpha = min(max(0.9*math.Pow(100/float64(total), 0.22), 0.3), 0.9)
	return c, outside
}

// Plot draws the points, at every moment the same share of each set.
func (k cloud) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	next := make([]int, len(k.sets))
	for {
		which, least := -1, math.Inf(1)
		for i, set := range k.sets {
			if share := (float64(next[i]) + 0.5) / float64(len(set)); next[i] < len(set) && share < least {
				which, least = i, share
			}
		}
		if which < 0 {
			return
		}
		at := k.sets[which][next[which]]
		next[which]++
		c.SetColor(fade(series[which%len(series)], k.alpha))
		disc(&c, vg.Point{X: x(at[0]), Y: y(at[1])}, k.radius)
	}
}

func disc(c *draw.Canvas, centre vg.Point, radius vg.Length) {
	var path vg.Path
	path.Move(vg.Point{X: centre.X + radius, Y: centre.Y})
	path.Arc(centre, radius, 0, 2*math.Pi)
	path.Close()
	c.Fill(path)
}
