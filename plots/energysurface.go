package plots

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"

	"github.com/gomlx/gomlx/pkg/core/tensors"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// EnergySurface draws an energy E of the plane, p ∝ e^{−E}, as filled contours with a colour bar and, where asked for,
// beside it as a surface seen from the front right and above. Valleys, where p is large, are dark, as the peaks of a
// [Density] are.
type EnergySurface struct {
	Title string
	// Lattice is where the energy was evaluated.
	Lattice Lattice
	// Energy is E at the lattice's points, [NX·NY] or [NX·NY, 1].
	Energy *tensors.Tensor
	// Top is the energy at which the colours end and the surface is cut off: far from the data an energy may be
	// thousands of times higher than what is of interest. 0 takes the greatest value.
	Top float64
	// Contours is about how many levels are drawn: 8 where it is 0.
	Contours int
	// Relief draws the surface, too.
	Relief bool
	// Label names the colours: "energy E(x)" unless it says otherwise.
	Label string
}

// Figure draws the energy. It returns an error for values that do not match the lattice or are not finite, an energy
// that is the same everywhere, a Top that is not above the least energy, and a number of contours beyond 0 to 20.
func (e EnergySurface) Figure() (*Figure, error) {
	f, err := e.figure()
	if err != nil {
		return nil, fmt.Errorf("plots: energy surface: %w", err)
	}
	return f, nil
}

func (e EnergySurface) figure() (*Figure, error) {
	if err := e.Lattice.check(); err != nil {
		return nil, fmt.Errorf("lattice: %w", err)
	}
	values, err := column("energy", e.Energy, false)
	if err != nil {
		return nil, err
	}
	if want := e.Lattice.NX * e.Lattice.NY; len(values) != want {
		return nil, fmt.Errorf("energy: %d values: must be %d, one for each of %d × %d cells", len(values), want, e.Lattice.NX, e.Lattice.NY)
	}
	if e.Contours < 0 || e.Contours > 20 {
		return nil, fmt.Errorf("%d contours: must be 0 to 20", e.Contours)
	}
	low, top := slices.Min(values), slices.Max(values)
	if e.Top != 0 {
		top = e.Top
	}
	if !(low < top) || math.IsInf(top-low, 0) || tooNarrow(low, top) {
		return nil, fmt.Errorf("energy from %v to a top of %v: the top must be finite and above the least energy", low, top)
	}
	n := e.Contours
	if n == 0 {
		n = 8
	}
	label := e.Label
	if label == "" {
		label = "energy E(x)"
	}
	bar := &colourBar{low: low, top: top, label: label, palette: &sequential, reverse: true, levels: levelsOf(low, top, n)}
	steps := *bar
	filled := func(v float64) color.NRGBA { return steps.colour(steps.step(v)) }

	p := planePanel(e.Title, e.Lattice.Window)
	p.bar = bar
	p.axes.Add(raster(func(w, h int) *image.NRGBA { return interpolated(e.Lattice, values, w, h, filled) }),
		contours{e.Lattice, values, bar.levels, contourLine, bar}, frame{colour: soft})
	f := single(p, "Energy surface")
	if e.Relief {
		side := plot.New()
		side.BackgroundColor = nil
		side.HideAxes()
		side.Add(relief{e.Lattice, values, bar})
		q := &panel{axes: side, bare: true, aspect: 1.15, height: bodyHeight}
		f.panels, f.columns = append(f.panels, q), 2
	}
	return f, nil
}

// step moves a value to the middle of its band between two levels.
func (b *colourBar) step(v float64) float64 {
	if len(b.levels) == 0 {
		return v
	}
	i, _ := slices.BinarySearch(b.levels, v)
	edges := append(append([]float64{b.low}, b.levels...), b.top)
	return (edges[i] + edges[i+1]) / 2
}

// relief is a surface over the plane, in parallel projection.
type relief struct {
	lattice Lattice
	values  []float64
	bar     *colourBar
}

const (
	reliefCells = 48           // quadrilaterals along a side
	reliefTurn  = -math.Pi / 5 // of the plane, seen from above
	reliefTilt  = 0.42         // depth of the plane in the picture, as a share
	reliefRise  = 0.55         // height of the surface, as a share of the plane's width
	reliefLight = 0.28         // how much darker a slope turned away from the light is
	reliefEdge  = 0.12         // opacity of the lines between quadrilaterals
)

// project returns where a point lies in a picture about 1.4 wide: u and v run over the plane from −½ to ½, z from 0 to 1.
func project(u, v, z float64) (x, y float64) {
	sin, cos := math.Sincos(reliefTurn)
	return u*cos - v*sin, (u*sin+v*cos)*reliefTilt + z*reliefRise
}

// height returns the surface's height, 0 to 1, at a place of the plane.
func (r relief) height(u, v float64) float64 {
	x0, x1, s := between(u+0.5, 1, r.lattice.NX)
	y0, y1, t := between(v+0.5, 1, r.lattice.NY)
	at := func(ix, iy int) float64 {
		return (min(r.values[iy*r.lattice.NX+ix], r.bar.top) - r.bar.low) / (r.bar.top - r.bar.low)
	}
	return (1-t)*((1-s)*at(x0, y0)+s*at(x1, y0)) + t*((1-s)*at(x0, y1)+s*at(x1, y1))
}

// Plot draws the quadrilaterals from the back to the front.
func (r relief) Plot(c draw.Canvas, _ *plot.Plot) {
	const pad = 14 // for the labels
	scale := min((c.Size().X-2*pad)/1.41, (c.Size().Y-2*pad)/vg.Length(1.41*reliefTilt+reliefRise))
	centre := c.Center().Sub(vg.Point{Y: scale * reliefRise / 2})
	place := func(u, v, z float64) vg.Point {
		x, y := project(u, v, z)
		return centre.Add(vg.Point{X: scale * vg.Length(x), Y: scale * vg.Length(y)})
	}
	floor := []vg.Point{place(-0.5, -0.5, 0), place(0.5, -0.5, 0), place(0.5, 0.5, 0), place(-0.5, 0.5, 0)}
	c.StrokeLines(draw.LineStyle{Color: soft, Width: thinLine}, append(floor, floor[0]))

	type tile struct {
		depth float64
		i, j  int
	}
	var tiles []tile
	for j := range reliefCells {
		for i := range reliefCells {
			_, depth := project((float64(i)+0.5)/reliefCells, (float64(j)+0.5)/reliefCells, 0)
			tiles = append(tiles, tile{depth, i, j})
		}
	}
	slices.SortFunc(tiles, func(a, b tile) int {
		switch {
		case a.depth > b.depth:
			return -1
		case a.depth < b.depth:
			return 1
		}
		return 0
	})
	for _, t := range tiles {
		u0, v0 := float64(t.i)/reliefCells-0.5, float64(t.j)/reliefCells-0.5
		u1, v1 := u0+1.0/reliefCells, v0+1.0/reliefCells
		z00, z10, z11, z01 := r.height(u0, v0), r.height(u1, v0), r.height(u1, v1), r.height(u0, v1)
		mean := (z00 + z10 + z11 + z01) / 4
		// The light comes from the left: a slope that falls to the right is turned away from it.
		slope := (z10 + z11 - z00 - z01) / 2 * reliefCells
		shade := 1 - reliefLight*max(0, -slope/math.Hypot(1, slope))
		c.SetColor(darker(r.bar.colour(r.bar.low+mean*(r.bar.top-r.bar.low)), shade))
		path := polygon(place(u0, v0, z00), place(u1, v0, z10), place(u1, v1, z11), place(u0, v1, z01))
		c.Fill(path)
		c.SetLineStyle(draw.LineStyle{Color: fade(ink, reliefEdge), Width: 0.4})
		c.Stroke(path)
	}

	s := textStyle(tickSize, soft)
	s.XAlign, s.YAlign = draw.XCenter, draw.YTop
	for _, l := range []struct {
		u, v float64
		text string
	}{
		{0, -0.5, "x₁"}, {-0.5, -0.5, short(r.lattice.XMin)}, {0.5, -0.5, short(r.lattice.XMax)},
	} {
		c.FillText(s, place(l.u, l.v, 0).Sub(vg.Point{Y: 3}), l.text)
	}
	s.XAlign, s.YAlign = draw.XLeft, draw.YCenter
	for _, l := range []struct {
		v    float64
		text string
	}{{0, "x₂"}, {0.5, short(r.lattice.YMax)}} {
		c.FillText(s, place(0.5, l.v, 0).Add(vg.Point{X: 4}), l.text)
	}
}

func polygon(corners ...vg.Point) (path vg.Path) {
	path.Move(corners[0])
	for _, at := range corners[1:] {
		path.Line(at)
	}
	path.Close()
	return path
}

func darker(c color.NRGBA, by float64) color.NRGBA {
	times := func(v uint8) uint8 { return uint8(min(float64(v)*by, 255)) }
	return color.NRGBA{R: times(c.R), G: times(c.G), B: times(c.B), A: c.A}
}
