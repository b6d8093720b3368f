package plots

import (
	"fmt"
	"image"
	"image/color"
	"math"

	"github.com/gomlx/gomlx/pkg/core/tensors"
	"gonum.org/v1/plot/vg/draw"
)

// Density is a density of the plane, drawn as a map of colours from 0 (white) to its greatest value.
type Density struct {
	// Lattice is where it was evaluated. 80 × 80 cells or more look smooth.
	Lattice Lattice
	// Log is log p at the lattice's points, [NX·NY] or [NX·NY, 1]; −Inf stands for p = 0.
	Log *tensors.Tensor
	// Relative draws p over its greatest value on the lattice, for a log p known up to a constant, such as −E(x).
	Relative bool
	// Top is the value of the darkest colour, for maps that are to be compared; greater ones look alike. 0 takes the
	// greatest value on the lattice.
	Top float64
	// Label names the colours: "density p(x)", or "p(x) / max p" when relative, unless it says otherwise.
	Label string
}

// mapped is a density's values, ready to be drawn.
type mapped struct {
	lattice Lattice
	p       []float64
	bar     colourBar
	top     float64
}

func (d Density) read() (*mapped, error) {
	if err := d.Lattice.check(); err != nil {
		return nil, fmt.Errorf("density: lattice: %w", err)
	}
	p, err := column("log-density", d.Log, true)
	if err != nil {
		return nil, err
	}
	if want := d.Lattice.NX * d.Lattice.NY; len(p) != want {
		return nil, fmt.Errorf("log-density: %d values: must be %d, one for each of %d × %d cells", len(p), want, d.Lattice.NX, d.Lattice.NY)
	}
	top := math.Inf(-1)
	for _, v := range p {
		top = max(top, v)
	}
	if math.IsInf(top, -1) {
		return nil, fmt.Errorf("log-density: −Inf everywhere: the window misses the density")
	}
	label := d.Label
	shift := 0.0
	if d.Relative {
		shift = top
	}
	if label == "" {
		label = "density p(x)"
		if d.Relative {
			label = "p(x) / max p"
		}
	}
	greatest := math.Exp(top - shift)
	if math.IsInf(greatest, 0) || greatest < 1e-300 {
		return nil, fmt.Errorf("log-density: its greatest value is %.3g: too far from 0 for a density: set Relative", top)
	}
	for i, v := range p {
		p[i] = math.Exp(v - shift)
	}
	if !(d.Top >= 0) || math.IsInf(d.Top, 1) {
		return nil, fmt.Errorf("density: top %v: must be 0 or positive", d.Top)
	}
	if d.Top > 0 {
		greatest = d.Top
	}
	return &mapped{d.Lattice, p, colourBar{top: greatest, label: label, palette: &sequential}, greatest}, nil
}

// outline draws the density as grey contour lines, for figures in which something else has the colours.
func (m *mapped) outline() contours {
	return contours{lattice: m.lattice, values: m.p, levels: m.steps(), style: outlineStyle}
}

// steps are the outline's levels, as shares of the greatest value: few, so that they do not hide what they surround.
func (m *mapped) steps() (out []float64) {
	for _, share := range outlineShares {
		out = append(out, share*m.top)
	}
	return out
}

var (
	outlineShares = []float64{0.05, 0.3, 0.8}
	outlineStyle  = draw.LineStyle{Color: color.NRGBA{R: 0x77, G: 0x77, B: 0x77, A: 0xff}, Width: 0.7}
)

// key explains the outline.
func (m *mapped) key() key {
	return key{"density at 5, 30 and 80 % of its maximum", thumbWidth, lineSample(outlineStyle)}
}

// raster draws the map, its values interpolated linearly between the cells' centres.
func (m *mapped) raster(width, height int) *image.NRGBA {
	return interpolated(m.lattice, m.p, width, height, func(p float64) color.NRGBA { return pick(&sequential, p/m.top) })
}

// interpolated draws a function of the plane from its values on a lattice.
func interpolated(l Lattice, values []float64, width, height int, colour func(v float64) color.NRGBA) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	at := func(ix, iy int) float64 { return values[iy*l.NX+ix] }
	for row := range height {
		y0, y1, v := between(float64(height-row)-0.5, height, l.NY)
		for col := range width {
			x0, x1, u := between(float64(col)+0.5, width, l.NX)
			img.SetNRGBA(col, row, colour((1-v)*((1-u)*at(x0, y0)+u*at(x1, y0))+v*((1-u)*at(x0, y1)+u*at(x1, y1))))
		}
	}
	return img
}

// between returns the two cells whose centres enclose position at of size, and the share of the second.
func between(at float64, size, cells int) (low, high int, share float64) {
	c := min(max(at/float64(size)*float64(cells)-0.5, 0), float64(cells-1))
	low = int(c)
	return low, min(low+1, cells-1), c - float64(low)
}
