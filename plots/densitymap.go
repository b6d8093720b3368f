package plots

import "fmt"

// DensityMap draws a density p of the plane as a map of colours, with a colour bar and, where asked for, contour lines
// labelled with the values of p. Maps to be compared need the same [Density].Top.
type DensityMap struct {
	Title   string
	Density Density
	// Contours is about how many levels are drawn, at round values. 0: none.
	Contours int
	// XLabel and YLabel name the axes: x₁ and x₂ unless they say otherwise.
	XLabel, YLabel string
}

// Figure draws the map. It returns an error for a negative number of contours, a log-density that does not match its
// lattice, is NaN or +Inf somewhere, or is −Inf everywhere.
func (d DensityMap) Figure() (*Figure, error) {
	f, err := d.figure()
	if err != nil {
		return nil, fmt.Errorf("plots: density map: %w", err)
	}
	return f, nil
}

func (d DensityMap) figure() (*Figure, error) {
	if d.Contours < 0 || d.Contours > 20 {
		return nil, fmt.Errorf("%d contours: must be 0 to 20", d.Contours)
	}
	m, err := d.Density.read()
	if err != nil {
		return nil, err
	}
	p := planePanel(d.Title, m.lattice.Window).named(d.XLabel, d.YLabel)
	p.axes.Add(raster(m.raster))
	if d.Contours > 0 {
		m.bar.levels = levelsOf(0, m.top, d.Contours)
		p.axes.Add(contours{m.lattice, m.p, m.bar.levels, contourLine, &m.bar})
	}
	p.axes.Add(frame{colour: soft})
	p.bar = &m.bar
	return single(p, "Density map"), nil
}
