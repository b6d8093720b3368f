package plots

import (
	"image/color"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// dotSample is the legend's sample of a point set.
func dotSample(c color.Color) func(*draw.Canvas) {
	return func(cell *draw.Canvas) {
		cell.SetColor(c)
		disc(cell, cell.Center(), 2.6)
	}
}

// lineSample is that of a curve.
func lineSample(style draw.LineStyle) func(*draw.Canvas) {
	return func(cell *draw.Canvas) {
		y := cell.Center().Y
		cell.StrokeLine2(style, cell.Min.X, y, cell.Max.X, y)
	}
}

// boxSample is that of bars.
func boxSample(c color.Color) func(*draw.Canvas) {
	return func(cell *draw.Canvas) {
		box := vg.Rectangle{Min: cell.Min.Add(vg.Point{Y: 1}), Max: cell.Max.Sub(vg.Point{Y: 1})}
		cell.SetColor(c)
		cell.Fill(box.Path())
	}
}

// grid returns light lines at the ticks.
func grid() *plotter.Grid {
	g := plotter.NewGrid()
	style := draw.LineStyle{Color: faint, Width: 0.5}
	g.Horizontal, g.Vertical = style, style
	return g
}
