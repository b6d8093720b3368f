package plots

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// HeatMap draws a matrix, such as a covariance, as coloured cells, row 0 at the top as it is written, with its numbers
// on the cells where they have room. Colours run from white at zero to blue, and to vermilion below zero where there are
// negative numbers.
type HeatMap struct {
	Title string
	// Values are the rows, of equal length.
	Values [][]float64
	// Rows and Columns are names. nil stands for 1, 2, …, and for none where they have no room.
	Rows, Columns []string
	// XLabel and YLabel say what columns and rows are.
	XLabel, YLabel string
	// Label names the colours.
	Label string
	// Limit is the size of the numbers with the fullest colour, for maps that are to be compared; greater ones look
	// alike. 0 takes the greatest size.
	Limit float64
}

// Figure draws the matrix. It returns an error for no values, rows of different lengths, a value that is not finite,
// names that are not as many as what they name, a negative Limit, and a matrix more than 20 times longer one way than the
// other.
func (h HeatMap) Figure() (*Figure, error) {
	f, err := h.figure()
	if err != nil {
		return nil, fmt.Errorf("plots: heat map: %w", err)
	}
	return f, nil
}

func (h HeatMap) check() (greatest, least float64, err error) {
	if len(h.Values) == 0 || len(h.Values[0]) == 0 {
		return 0, 0, errors.New("no values")
	}
	rows, columns := len(h.Values), len(h.Values[0])
	for i, row := range h.Values {
		if len(row) != columns {
			return 0, 0, fmt.Errorf("row %d: %d values: must be %d, as in row 0", i, len(row), columns)
		}
		for j, v := range row {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return 0, 0, fmt.Errorf("row %d, column %d: %v: must be finite", i, j, v)
			}
			greatest, least = max(greatest, v), min(least, v)
		}
	}
	switch {
	case h.Rows != nil && len(h.Rows) != rows:
		return 0, 0, fmt.Errorf("%d names of rows: must be %d", len(h.Rows), rows)
	case h.Columns != nil && len(h.Columns) != columns:
		return 0, 0, fmt.Errorf("%d names of columns: must be %d", len(h.Columns), columns)
	case !(h.Limit >= 0) || math.IsInf(h.Limit, 1):
		return 0, 0, fmt.Errorf("limit %v: must be 0 or positive", h.Limit)
	case rows > 20*columns || columns > 20*rows:
		return 0, 0, fmt.Errorf("%d × %d values: must be at most 20 times longer one way than the other", rows, columns)
	}
	return greatest, least, nil
}

func (h HeatMap) figure() (*Figure, error) {
	greatest, least, err := h.check()
	if err != nil {
		return nil, err
	}
	limit := max(greatest, -least)
	if h.Limit > 0 {
		limit = h.Limit
	}
	if limit == 0 {
		limit = 1
	}
	bar := &colourBar{top: limit, label: h.Label, palette: &sequential}
	if least < 0 {
		bar.low, bar.palette = -limit, &diverging
	}
	rows, columns := len(h.Values), len(h.Values[0])
	axes := newAxes(h.XLabel, h.YLabel)
	axes.X.Min, axes.X.Max = -0.5, float64(columns)-0.5
	axes.Y.Min, axes.Y.Max = -0.5, float64(rows)-0.5
	c := cells{h.Values, bar}
	axes.Add(raster(c.raster), c, frame{colour: soft})
	p := &panel{title: h.Title, axes: axes, bar: bar, aspect: float64(columns) / float64(rows)}
	p.height = bodyHeight / vg.Length(math.Sqrt(max(p.aspect, 1)))
	p.namesX, p.namesY = h.Columns, make([]string, rows)
	if h.Columns == nil {
		p.namesX = counted(columns)
	}
	names := h.Rows
	if h.Rows == nil {
		names = counted(rows)
	}
	for i, name := range names { // the axis runs upwards
		p.namesY[rows-1-i] = name
	}
	return single(p, fmt.Sprintf("Heat map of %d × %d numbers", rows, columns)), nil
}

// counted names n things by their numbers, of many only each fifth or tenth and so on.
func counted(n int) []string {
	every := 1
	for _, step := range []int{1, 2, 5, 10, 20, 50, 100, 200, 500, 1000} {
		every = step
		if n/step <= 8 {
			break
		}
	}
	out := make([]string, n)
	for i := range out {
		if (i+1)%every == 0 || i == 0 && every > 2 {
			out[i] = number(float64(i+1), 0)
		}
	}
	return out
}

// cells are the entries of a matrix.
type cells struct {
	values [][]float64
	bar    *colourBar
}

func (k cells) raster(width, height int) *image.NRGBA {
	img := image.NewNRGBA(image.Rect(0, 0, width, height))
	rows, columns := len(k.values), len(k.values[0])
	for y := range height {
		row := k.values[y*rows/height]
		for x := range width {
			img.SetNRGBA(x, y, k.bar.colour(row[x*columns/width]))
		}
	}
	return img
}

// Plot writes the numbers, all with the same decimals, where the longest has room in a cell.
func (k cells) Plot(c draw.Canvas, _ *plot.Plot) {
	rows, columns := len(k.values), len(k.values[0])
	width, height := c.Size().X/vg.Length(columns), c.Size().Y/vg.Length(rows)
	size := min(labelSize, 0.6*height)
	if size < 6.5 {
		return
	}
	s := textStyle(size, ink)
	s.XAlign, s.YAlign = draw.XCenter, draw.YCenter
	limit := max(math.Abs(k.bar.low), k.bar.top)
	// Three digits of the greatest number; fewer where that makes it fit.
	for decimals := max(0, 2-int(math.Floor(math.Log10(limit)))); decimals >= 0; decimals-- {
		if decimals > 4 {
			continue // the axis of colours has the exponent
		}
		widest := vg.Length(0)
		for _, row := range k.values {
			for _, v := range row {
				widest = max(widest, s.Width(number(v, decimals)))
			}
		}
		if widest > 0.86*width {
			if decimals == 0 || math.Pow10(1-decimals) > limit {
				return
			}
			continue
		}
		for i, row := range k.values {
			for j, v := range row {
				at := vg.Point{X: c.Min.X + width*vg.Length(float64(j)+0.5), Y: c.Max.Y - height*vg.Length(float64(i)+0.5)}
				s.Color = readable(k.bar.colour(v))
				c.FillText(s, at, number(v, decimals))
			}
		}
		return
	}
}

// readable returns the colour of letters on a ground: dark, or white on a dark one.
func readable(ground color.NRGBA) color.Color {
	if 0.299*float64(ground.R)+0.587*float64(ground.G)+0.114*float64(ground.B) < 110 {
		return paper
	}
	return ink
}
