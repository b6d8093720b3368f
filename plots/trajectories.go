package plots

import (
	"errors"
	"fmt"
	"image/color"
	"math"

	"github.com/gomlx/gomlx/pkg/core/tensors"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Trajectories draws the paths of chains in the plane, over a density where there is one. A ring marks where a chain
// starts, a disc where it ends. The chains of a single path each have a colour of their own; those of several paths,
// such as two samplers from the same starts, have the path's.
type Trajectories struct {
	Title string
	Paths []Path
	// Density is drawn under the paths, where its Log is set.
	Density Density
	// Window is the part of the plane shown. The zero value is that of the density, or without one shows all states.
	Window Window
	// XLabel and YLabel name the axes: x₁ and x₂ unless they say otherwise.
	XLabel, YLabel string
}

// Path is a run of several chains.
type Path struct {
	// Name stands in the legend. A single path may do without.
	Name string
	// States are where the chains were, one moment after another, each [chains, 2].
	States []*tensors.Tensor
	// Chains is how many are drawn, the first ones. 0 draws 8, or all where there are fewer.
	Chains int
}

// Figure draws the paths. It returns an error for no path, one of fewer than 2 states, states that are not [chains, 2]
// with as many chains in each, a value that is not finite, a negative number of chains, a path without a name beside
// others, and those of [DensityMap].
func (t Trajectories) Figure() (*Figure, error) {
	f, err := t.figure()
	if err != nil {
		return nil, fmt.Errorf("plots: trajectories: %w", err)
	}
	return f, nil
}

func (t Trajectories) figure() (*Figure, error) {
	if len(t.Paths) == 0 {
		return nil, errors.New("no paths")
	}
	var all [][][]float64 // the chains, each a line of points
	var tracks []track
	for i, path := range t.Paths {
		if path.Name == "" && len(t.Paths) > 1 {
			return nil, fmt.Errorf("path %d: no name: must have one to be told from the others", i)
		}
		chains, err := path.read()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", numbered("path", i, path.Name), err)
		}
		for j, chain := range chains {
			k := i
			if len(t.Paths) == 1 {
				k = j
			}
			all = append(all, chain)
			tracks = append(tracks, track{chain, pathColours[k%len(pathColours)]})
		}
	}
	var under *mapped
	window := t.Window
	if t.Density.Log != nil {
		var err error
		if under, err = t.Density.read(); err != nil {
			return nil, err
		}
		if window == (Window{}) {
			window = under.lattice.Window
		}
		if window != under.lattice.Window {
			return nil, fmt.Errorf("window %v: must be that of the density, %v", window, under.lattice.Window)
		}
	}
	window, err := windowOf(window, all)
	if err != nil {
		return nil, err
	}
	p := planePanel(t.Title, window).named(t.XLabel, t.YLabel)
	if under != nil {
		p.axes.Add(raster(under.raster))
		p.bar = &under.bar
	} else {
		p.axes.Add(grid())
	}
	for _, k := range tracks {
		p.axes.Add(k)
	}
	p.axes.Add(trackEnds(tracks), frame{colour: soft})
	if len(t.Paths) > 1 {
		for i, path := range t.Paths {
			style := draw.LineStyle{Color: pathColours[i%len(pathColours)], Width: dataLine}
			p.keys = append(p.keys, key{path.Name, thumbWidth, lineSample(style)})
		}
	} else if name := t.Paths[0].Name; name != "" {
		p.keys = append(p.keys, key{name, thumbWidth, lineSample(draw.LineStyle{Color: pathColours[0], Width: dataLine})})
	}
	p.keys = append(p.keys, key{"start and end", 18, func(c *draw.Canvas) {
		startMark(c, vg.Point{X: c.Min.X + 4, Y: c.Center().Y}, ink)
		endMark(c, vg.Point{X: c.Max.X - 4, Y: c.Center().Y}, ink)
	}})
	return single(p, fmt.Sprintf("Paths of %d chains", len(tracks))), nil
}

// read returns the chains, each a line of points.
func (p Path) read() ([][][]float64, error) {
	if len(p.States) < 2 {
		return nil, fmt.Errorf("%d states: must be at least 2", len(p.States))
	}
	if p.Chains < 0 {
		return nil, fmt.Errorf("%d chains: must be 0 or more", p.Chains)
	}
	var chains [][][]float64
	for i, state := range p.States {
		points, err := planar(fmt.Sprintf("state %d", i), state)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			n := p.Chains
			if n == 0 {
				n = 8
			}
			chains = make([][][]float64, min(n, len(points)))
		}
		if want := p.States[0].Shape().Dimensions[0]; len(points) != want {
			return nil, fmt.Errorf("state %d: %d chains: must be %d, as in the first", i, len(points), want)
		}
		for j := range chains {
			chains[j] = append(chains[j], points[j])
		}
	}
	return chains, nil
}

// pathColours are those of lines over a density map: the series without its blues, which the map has.
var pathColours = []color.NRGBA{series[1], ink, series[2], series[3], series[4]}

// track is the path of a chain.
type track struct {
	points [][]float64
	colour color.NRGBA
}

// Plot draws the path with a thin white edge, which keeps it apart from others and from the map.
func (t track) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	line := make([]vg.Point, len(t.points))
	for i, at := range t.points {
		line[i] = vg.Point{X: x(at[0]), Y: y(at[1])}
	}
	width := vg.Length(min(max(1.3*math.Pow(100/float64(len(line)), 0.25), 0.7), 1.3))
	for _, style := range []draw.LineStyle{{Color: fade(paper, 0.7), Width: width + 1}, {Color: t.colour, Width: width}} {
		c.StrokeLines(style, c.ClipLinesXY(line)...)
	}
}

// trackEnds marks where chains start and end.
type trackEnds []track

// Plot draws the marks inside the window.
func (e trackEnds) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, t := range e {
		for i, mark := range []func(*draw.Canvas, vg.Point, color.Color){startMark, endMark} {
			q := t.points[i*(len(t.points)-1)]
			if at := (vg.Point{X: x(q[0]), Y: y(q[1])}); c.Contains(at) {
				mark(&c, at, t.colour)
			}
		}
	}
}

func startMark(c *draw.Canvas, at vg.Point, colour color.Color) {
	c.SetColor(paper)
	disc(c, at, 3.2)
	var ring vg.Path
	ring.Move(at.Add(vg.Point{X: 2.8}))
	ring.Arc(at, 2.8, 0, 2*math.Pi)
	ring.Close()
	c.SetLineStyle(draw.LineStyle{Color: colour, Width: 1.1})
	c.Stroke(ring)
}

func endMark(c *draw.Canvas, at vg.Point, colour color.Color) {
	c.SetColor(paper)
	disc(c, at, 3.6)
	c.SetColor(colour)
	disc(c, at, 2.9)
}
