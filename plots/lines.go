package plots

import (
	"errors"
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Lines draws how quantities depend on another: measured values as lines with markers and, where their standard errors
// are known, a band of ± one, functions as smooth curves, and named levels to compare with.
type Lines struct {
	Title          string
	XLabel, YLabel string
	// Lines are measured values.
	Lines []Line
	// Curves are functions, drawn without markers.
	Curves []Curve
	// References are dashed horizontal lines.
	References []Reference
	// LogX and LogY make an axis logarithmic; all its values must then be positive.
	LogX, LogY bool
	// YMin and YMax are the range of the vertical axis; both 0 show everything.
	YMin, YMax float64
}

// Line is a measured relation.
type Line struct {
	// Name stands in the legend. A single line may do without.
	Name string
	// X, increasing, and Y are as many.
	X, Y []float64
	// Error are the standard errors of Y. nil: unknown.
	Error []float64
}

// Averaged returns the line of the means over several runs, each as long as X, such as those of different seeds, with
// their standard errors s/√n. It returns an error for fewer than 2 runs, a run of another length, and a value that is
// not finite.
func Averaged(name string, x []float64, runs [][]float64) (Line, error) {
	n := float64(len(runs))
	if len(runs) < 2 {
		return Line{}, fmt.Errorf("plots: averaged: %d runs: must be at least 2", len(runs))
	}
	out := Line{Name: name, X: x, Y: make([]float64, len(x)), Error: make([]float64, len(x))}
	for i, run := range runs {
		if len(run) != len(x) {
			return Line{}, fmt.Errorf("plots: averaged: run %d: %d values: must be %d, as X has", i, len(run), len(x))
		}
		for j, v := range run {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return Line{}, fmt.Errorf("plots: averaged: run %d: value %d: %v: must be finite", i, j, v)
			}
			out.Y[j] += v / n
		}
	}
	for j := range x {
		squares := 0.0
		for _, run := range runs {
			squares += (run[j] - out.Y[j]) * (run[j] - out.Y[j])
		}
		out.Error[j] = math.Sqrt(squares / (n - 1) / n)
	}
	return out, nil
}

// Figure draws lines, curves and levels. It returns an error where there is neither line nor curve, for a line of no
// values, for X that does not increase, for X, Y and Error of different lengths, for a value that is not finite or, on a
// logarithmic axis, not positive, for a negative Error, and for a line without a name beside others.
func (l Lines) Figure() (*Figure, error) {
	f, err := l.figure()
	if err != nil {
		return nil, fmt.Errorf("plots: lines: %w", err)
	}
	return f, nil
}

func (l Lines) figure() (*Figure, error) {
	if len(l.Lines)+len(l.Curves) == 0 {
		return nil, errors.New("no lines and no curves")
	}
	if (l.YMin != 0 || l.YMax != 0) && !(l.YMin < l.YMax && !math.IsInf(l.YMax-l.YMin, 0)) {
		return nil, fmt.Errorf("vertical axis from %v to %v: must be finite, YMin below YMax", l.YMin, l.YMax)
	}
	if (l.YMin != 0 || l.YMax != 0) && l.LogY && l.YMin <= 0 {
		return nil, fmt.Errorf("vertical axis from %v: must be positive on a logarithmic scale", l.YMin)
	}
	p := curvePanel(l.Title, l.XLabel, l.YLabel)
	p.logX, p.logY = l.LogX, l.LogY
	p.axes.Add(grid())
	named := len(l.Lines)+len(l.Curves) > 1
	for i, line := range l.Lines {
		if line.Name == "" && named {
			return nil, fmt.Errorf("line %d: no name: must have one to be told from the others", i)
		}
		if err := line.check(numbered("line", i, line.Name), l.LogX, l.LogY); err != nil {
			return nil, err
		}
		p.measured(line, i, line.Name)
	}
	for i, curve := range l.Curves {
		k := len(l.Lines) + i
		line, err := curve.line()
		if err == nil {
			err = positive(line.XYs, l.LogX, l.LogY)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", numbered("curve", i, curve.Name), err)
		}
		line.LineStyle = curveStyle(k, i)
		p.axes.Add(line)
		p.keys = append(p.keys, key{curve.Name, thumbWidth, lineSample(line.LineStyle)})
	}
	for i, r := range l.References {
		if err := p.reference(r, i, l.LogY); err != nil {
			return nil, err
		}
	}
	if err := p.room(); err != nil {
		return nil, err
	}
	if l.YMin != 0 || l.YMax != 0 {
		p.axes.Y.Min, p.axes.Y.Max = l.YMin, l.YMax
	}
	p.measuredAt(l.Lines)
	p.axes.Add(frame{colour: soft, open: true})
	return single(p, "Line chart", against(l.YLabel, l.XLabel)), nil
}

// against names what a chart shows, where its axes are named.
func against(y, x string) string {
	if y == "" || x == "" {
		return ""
	}
	return y + " against " + x
}

// check returns an error that begins with the line's name where the line cannot be drawn.
func (l Line) check(name string, logX, logY bool) error {
	switch {
	case len(l.X) == 0 || len(l.X) != len(l.Y):
		return fmt.Errorf("%s: %d values of X, %d of Y: must be as many, at least 1", name, len(l.X), len(l.Y))
	case l.Error != nil && len(l.Error) != len(l.Y):
		return fmt.Errorf("%s: %d standard errors for %d values: must be as many", name, len(l.Error), len(l.Y))
	}
	for j, x := range l.X {
		if j > 0 && !(x > l.X[j-1]) {
			return fmt.Errorf("%s: X %d: %v after %v: must increase", name, j, x, l.X[j-1])
		}
		if l.Error != nil && !(l.Error[j] >= 0 && !math.IsInf(l.Error[j], 1)) {
			return fmt.Errorf("%s: standard error %d: %v: must be 0 or more and finite", name, j, l.Error[j])
		}
	}
	if err := positive(l.points(), logX, logY); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func (l Line) points() plotter.XYs {
	points := make(plotter.XYs, len(l.X))
	for i := range points {
		points[i] = plotter.XY{X: l.X[i], Y: l.Y[i]}
	}
	return points
}

// positive returns an error for a value that is not finite, or not positive on a logarithmic axis.
func positive(points plotter.XYs, logX, logY bool) error {
	for i, p := range points {
		for _, v := range []struct {
			name  string
			value float64
			log   bool
		}{{"X", p.X, logX}, {"Y", p.Y, logY}} {
			switch {
			case math.IsNaN(v.value) || math.IsInf(v.value, 0):
				return fmt.Errorf("%s %d: %v: must be finite", v.name, i, v.value)
			case v.log && v.value <= 0:
				return fmt.Errorf("%s %d: %v: must be positive on a logarithmic scale", v.name, i, v.value)
			}
		}
	}
	return nil
}

// dashes tell curves apart without their colours.
var dashes = [][]vg.Length{nil, {5, 2.5}, {1.5, 2}, {7, 2.5, 1.5, 2.5}}

// curveStyle is the style of the i-th curve, in the k-th colour.
func curveStyle(k, i int) draw.LineStyle {
	return draw.LineStyle{Color: series[k%len(series)], Width: dataLine, Dashes: dashes[i%len(dashes)]}
}

// measured draws a line with its markers and its band, and explains it.
func (p *panel) measured(l Line, i int, name string) {
	c := series[i%len(series)]
	style := draw.LineStyle{Color: c, Width: dataLine}
	if l.Error != nil {
		p.axes.Add(band{l, fade(c, 0.22), p.logY})
	}
	p.axes.Add(&plotter.Line{XYs: l.points(), LineStyle: style})
	if len(l.X) <= 60 {
		p.axes.Add(markers{l.points(), i})
	}
	if name != "" {
		p.keys = append(p.keys, key{name, thumbWidth, func(cell *draw.Canvas) {
			lineSample(style)(cell)
			if len(l.X) <= 60 {
				marker(cell, cell.Center(), i)
			}
		}})
	}
}

// reference draws a dashed level, and names it with its value.
func (p *panel) reference(r Reference, i int, log bool) error {
	switch {
	case r.Name == "":
		return fmt.Errorf("reference %d: no name", i)
	case math.IsNaN(r.Value) || math.IsInf(r.Value, 0):
		return fmt.Errorf("reference %q: %v: must be finite", r.Name, r.Value)
	case log && r.Value <= 0:
		return fmt.Errorf("reference %q: %v: must be positive on a logarithmic scale", r.Name, r.Value)
	}
	style := draw.LineStyle{Color: ink, Width: 1, Dashes: dashes[1+i%(len(dashes)-1)]}
	p.axes.Add(levelLine{r.Value, style})
	p.keys = append(p.keys, key{fmt.Sprintf("%s, %s", r.Name, short(r.Value)), thumbWidth, lineSample(style)})
	return nil
}

// measuredAt puts the ticks of a logarithmic horizontal axis where values were measured, if those are few.
func (p *panel) measuredAt(lines []Line) {
	var at []float64
	for _, l := range lines {
		at = append(at, l.X...)
	}
	slices.Sort(at)
	at = slices.Compact(at)
	if p.logX && len(at) >= 3 && len(at) <= 10 {
		p.onlyX = at
	}
}

// levelLine is a horizontal line over the whole width.
type levelLine struct {
	value float64
	style draw.LineStyle
}

// DataRange returns the level.
func (l levelLine) DataRange() (xmin, xmax, ymin, ymax float64) {
	return math.Inf(1), math.Inf(-1), l.value, l.value
}

// Plot draws the line.
func (l levelLine) Plot(c draw.Canvas, p *plot.Plot) {
	_, y := p.Transforms(&c)
	at := y(l.value)
	c.StrokeLines(l.style, c.ClipLinesY([]vg.Point{{X: c.Min.X, Y: at}, {X: c.Max.X, Y: at}})...)
}

// room widens both axes a little beyond their data.
func (p *panel) room() error {
	p.scale()
	for _, a := range []struct {
		axis  *plot.Axis
		log   bool
		share float64
	}{{&p.axes.X, p.logX, 0.02}, {&p.axes.Y, p.logY, 0.05}} {
		lo, hi := a.axis.Min, a.axis.Max
		if math.IsInf(hi-lo, 0) {
			return fmt.Errorf("values from %v to %v: too far apart to draw", lo, hi)
		}
		if a.log {
			by := math.Pow(max(hi/lo, 1.1), a.share)
			a.axis.Min, a.axis.Max = lo/by, hi*by
			continue
		}
		by := a.share * (hi - lo)
		if tooNarrow(lo, hi) || by == 0 {
			by = max(math.Abs(hi)/10, 1e-3)
		}
		a.axis.Min, a.axis.Max = lo-by, hi+by
		if lo >= 0 && a.axis.Min < 0 { // no room below zero for what cannot be negative
			a.axis.Min = 0
		}
	}
	return nil
}

// band is the area of ± one standard error around a line.
type band struct {
	line   Line
	colour color.Color
	log    bool
}

// DataRange returns the extent of the band. On a logarithmic axis an end far below the line does not count, as it may be
// zero or less.
func (b band) DataRange() (xmin, xmax, ymin, ymax float64) {
	xmin, xmax, ymin, ymax = plotter.XYRange(b.line.points())
	for i, y := range b.line.Y {
		ymax = max(ymax, y+b.line.Error[i])
		if low := y - b.line.Error[i]; !b.log || low > 0.1*y {
			ymin = min(ymin, low)
		}
	}
	return xmin, xmax, ymin, ymax
}

// Plot fills the band, cut off at the edges of the axes.
func (b band) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	at := func(i int, sign float64) vg.Point {
		v := b.line.Y[i] + sign*b.line.Error[i]
		return vg.Point{X: x(b.line.X[i]), Y: y(min(max(v, p.Y.Min), p.Y.Max))}
	}
	n := len(b.line.X)
	var path vg.Path
	path.Move(at(0, 1))
	for i := 1; i < n; i++ {
		path.Line(at(i, 1))
	}
	for i := n - 1; i >= 0; i-- {
		path.Line(at(i, -1))
	}
	path.Close()
	c.SetColor(b.colour)
	c.Fill(path)
}

// markers are the points of a line; the shape goes with the colour.
type markers struct {
	points plotter.XYs
	which  int
}

// DataRange returns the extent of the points.
func (m markers) DataRange() (xmin, xmax, ymin, ymax float64) { return plotter.XYRange(m.points) }

// Plot draws those inside the axes.
func (m markers) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for _, q := range m.points {
		if at := (vg.Point{X: x(q.X), Y: y(q.Y)}); c.Contains(at) {
			marker(&c, at, m.which)
		}
	}
}

// marker draws the i-th shape, edged in white, so that lines of a kind stay apart in a grey print.
func marker(c *draw.Canvas, at vg.Point, i int) {
	const r = 2.6
	var path vg.Path
	regular := func(corners int, turn, size float64) {
		for k := range corners {
			a := turn + 2*math.Pi*float64(k)/float64(corners)
			q := at.Add(vg.Point{X: vg.Length(size * math.Cos(a)), Y: vg.Length(size * math.Sin(a))})
			if k == 0 {
				path.Move(q)
			} else {
				path.Line(q)
			}
		}
	}
	switch i % len(series) {
	case 0:
		path.Move(at.Add(vg.Point{X: r}))
		path.Arc(at, r, 0, 2*math.Pi)
	case 1:
		regular(4, math.Pi/4, 1.25*r) // square
	case 2:
		regular(3, math.Pi/2, 1.4*r) // triangle
	case 3:
		regular(4, 0, 1.4*r) // diamond
	case 4:
		regular(3, -math.Pi/2, 1.4*r) // triangle on its tip
	case 5:
		regular(5, math.Pi/2, 1.3*r)
	}
	path.Close()
	c.SetColor(series[i%len(series)])
	c.Fill(path)
	c.SetLineStyle(draw.LineStyle{Color: paper, Width: 0.5})
	c.Stroke(path)
}
