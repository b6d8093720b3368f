package plots

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

var contourLine = draw.LineStyle{Color: fade(ink, 0.75), Width: 0.6}

// contours draws the lines on which a function of the plane has given values.
type contours struct {
	lattice Lattice
	values  []float64
	levels  []float64
	style   draw.LineStyle
	bar     *colourBar // of a map under the lines, on which each level is then written
}

// Dims, X, Y and Z make contours a [plotter.GridXYZ].
func (k contours) Dims() (columns, rows int) { return k.lattice.NX, k.lattice.NY }

// Z is the value at a cell's centre.
func (k contours) Z(column, row int) float64 { return k.values[row*k.lattice.NX+column] }

// X is the centre of a column.
func (k contours) X(column int) float64 { x, _ := k.lattice.at(column, 0); return x }

// Y is the centre of a row.
func (k contours) Y(row int) float64 { _, y := k.lattice.at(0, row); return y }

// Plot draws the lines, then the labels.
func (k contours) Plot(c draw.Canvas, p *plot.Plot) {
	if len(k.levels) == 0 || k.lattice.NX < 2 || k.lattice.NY < 2 {
		return
	}
	levels := append([]float64(nil), k.levels...)
	lines := plotter.Contour{GridXYZ: k, Levels: levels, LineStyles: []draw.LineStyle{k.style}, Min: math.Inf(-1), Max: math.Inf(1)}
	lines.Plot(c, p)
	if k.bar != nil {
		k.write(c, p)
	}
}

// write puts each level's label where its line has most room: far from the frame, from the labels before it, and from
// the next line. A level whose lines are all too close to others has no label; the colour bar tells it.
func (k contours) write(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	s := textStyle(tickSize, ink)
	s.XAlign = draw.XCenter
	s.YAlign = draw.YCenter
	const high = tickSize
	var taken []vg.Rectangle
	for i := len(k.levels) - 1; i >= 0; i-- { // the highest has the shortest line, and chooses first
		text := level(k.levels[i], k.levels)
		half := vg.Point{X: s.Width(text)/2 + 1, Y: high / 2}
		var best vg.Point
		const least = 3.5
		most := vg.Length(least)
		for _, at := range k.crossings(k.levels[i]) {
			q := vg.Point{X: x(at[0]), Y: y(at[1])}
			room := min(q.X-half.X-c.Min.X, c.Max.X-q.X-half.X, q.Y-half.Y-c.Min.Y, c.Max.Y-q.Y-half.Y, 12)
			room = min(room, k.spacing(at, k.levels[i], x(1)-x(0), y(1)-y(0)))
			for _, box := range taken {
				away := max(box.Min.X-q.X-half.X, q.X-half.X-box.Max.X, box.Min.Y-q.Y-half.Y, q.Y-half.Y-box.Max.Y)
				room = min(room, away)
			}
			if room > most {
				best, most = q, room
			}
		}
		if most == least {
			continue
		}
		box := vg.Rectangle{Min: best.Sub(half), Max: best.Add(half)}
		taken = append(taken, box)
		c.SetColor(k.bar.colour(k.levels[i]))
		c.Fill(box.Path())
		c.FillText(s, best, text)
	}
}

// crossings returns the points of lattice lines between neighbouring centres where the function passes a level.
func (k contours) crossings(level float64) (out [][2]float64) {
	for iy := range k.lattice.NY {
		for ix := range k.lattice.NX {
			v := k.Z(ix, iy)
			if ix+1 < k.lattice.NX {
				if w := k.Z(ix+1, iy); (v < level) != (w < level) {
					t := (level - v) / (w - v)
					out = append(out, [2]float64{(1-t)*k.X(ix) + t*k.X(ix+1), k.Y(iy)})
				}
			}
			if iy+1 < k.lattice.NY {
				if w := k.Z(ix, iy+1); (v < level) != (w < level) {
					t := (level - v) / (w - v)
					out = append(out, [2]float64{k.X(ix), (1-t)*k.Y(iy) + t*k.Y(iy+1)})
				}
			}
		}
	}
	return out
}

// spacing is the distance, on the page, from a point on one line to the next, less half a label; a unit of x and y is
// so long there.
func (k contours) spacing(at [2]float64, level float64, unitX, unitY vg.Length) vg.Length {
	next := math.Inf(1)
	for _, v := range k.levels {
		if v != level {
			next = min(next, math.Abs(v-level))
		}
	}
	dx, dy := k.lattice.step()
	ix := min(max(int((at[0]-k.lattice.XMin)/dx), 1), k.lattice.NX-2)
	iy := min(max(int((at[1]-k.lattice.YMin)/dy), 1), k.lattice.NY-2)
	if ix < 1 || iy < 1 {
		return 0
	}
	slopeX := (k.Z(ix+1, iy) - k.Z(ix-1, iy)) / (2 * dx * float64(unitX))
	slopeY := (k.Z(ix, iy+1) - k.Z(ix, iy-1)) / (2 * dy * float64(unitY))
	return vg.Length(next/max(math.Hypot(slopeX, slopeY), 1e-300)) - tickSize/2
}

// level writes one of several values with as many decimals as tell them apart.
func level(v float64, all []float64) string {
	decimals := 0
	for _, w := range all {
		if a := math.Abs(w); a > 1e-12 && a < 1e6 {
			text := strconv.FormatFloat(a, 'g', 3, 64)
			if a < 1e-4 {
				return short(v)
			}
			for i := range text {
				if text[i] == '.' {
					decimals = max(decimals, len(text)-i-1)
				}
			}
		}
	}
	return number(v, min(decimals, 4))
}

// levelsOf returns about n round values between low and top, both left out.
func levelsOf(low, top float64, n int) (out []float64) {
	for _, t := range linearTicks(low, top, n) {
		if span := top - low; t.Value > low+1e-3*span && t.Value < top-1e-3*span {
			out = append(out, t.Value)
		}
	}
	return out
}
