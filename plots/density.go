package plots

import (
	"fmt"
	"image"
	"math"

	"github.com/gomlx/gomlx/pkg/core/tensors"
)

// Density is a density of the plane, drawn as a map of colours from 0 (white) to its greatest value.
type Density struct {
	// Lattice is where it was evaluated. 80 × 80 cells or more look smooth.
	Lattice Lattice
	// Log is log p at the lattice's points, [NX·NY] or [NX·NY, 1]; −Inf stands for p = 0.
	Log *tensors.Tensor
	// Relative draws p over its greatest value on the lattice, for a log p known up to a constant, such as −E(x).
	Relative bool
	// Label names the colours: "density p(x)", or "p(x) / max p" when relative, unless it says otherwise.
	Label string
}

// mapped is a density's values, ready to be drawn.
type mapped struct {
	lattice Lattice
	p       []float64
	bar     colourBar
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
	return &mapped{d.Lattice, p, colourBar{greatest, label}}, nil
}

// raster draws the map, its values interpolated linearly between the cells' centres.
func (m *mapped) raster(width, height int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	at := func(ix, iy int) float64 { return m.p[iy*m.lattice.NX+ix] }
	for row := range height {
		y0, y1, v := between(float64(height-row)-0.5, height, m.lattice.NY)
		for col := range width {
			x0, x1, u := between(float64(col)+0.5, width, m.lattice.NX)
			p := (1-v)*((1-u)*at(x0, y0)+u*at(x1, y0)) + v*((1-u)*at(x0, y1)+u*at(x1, y1))
			img.SetNRGBA(col, row, shade(p, m.bar.top))
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
