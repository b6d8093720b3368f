package plots

import (
	"errors"
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Bars draws numbers of named things as bars from zero, side by side where there are several sets: the mass of each
// mode, a time for each method.
type Bars struct {
	Title string
	// Groups are the names under the axis.
	Groups []string
	Sets   []BarSet
	// Label names the vertical axis.
	Label string
	// Reference is a dashed level, where it has a name.
	Reference Reference
}

// BarSet is one number for each group.
type BarSet struct {
	// Name stands in the legend. A single set may do without.
	Name   string
	Values []float64
	// Error are the standard errors of the values, drawn as whiskers of ± one. nil: unknown.
	Error []float64
}

// Figure draws the bars. It returns an error for no group, no set, a set whose values or errors are not as many as the
// groups, a value that is not finite, a negative Error, and a set without a name beside others.
func (b Bars) Figure() (*Figure, error) {
	f, err := b.figure()
	if err != nil {
		return nil, fmt.Errorf("plots: bars: %w", err)
	}
	return f, nil
}

func (b Bars) check() error {
	if len(b.Groups) == 0 {
		return errors.New("no groups")
	}
	if len(b.Sets) == 0 {
		return errors.New("no sets")
	}
	for i, set := range b.Sets {
		name := numbered("set", i, set.Name)
		switch {
		case set.Name == "" && len(b.Sets) > 1:
			return fmt.Errorf("set %d: no name: must have one to be told from the others", i)
		case len(set.Values) != len(b.Groups):
			return fmt.Errorf("%s: %d values: must be %d, one for each group", name, len(set.Values), len(b.Groups))
		case set.Error != nil && len(set.Error) != len(b.Groups):
			return fmt.Errorf("%s: %d standard errors: must be %d, one for each group", name, len(set.Error), len(b.Groups))
		}
		for j, v := range set.Values {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("%s: value %d (%s): %v: must be finite", name, j, b.Groups[j], v)
			}
			if set.Error != nil && !(set.Error[j] >= 0 && !math.IsInf(set.Error[j], 1)) {
				return fmt.Errorf("%s: standard error %d (%s): %v: must be 0 or more and finite", name, j, b.Groups[j], set.Error[j])
			}
		}
	}
	return nil
}

func (b Bars) figure() (*Figure, error) {
	if err := b.check(); err != nil {
		return nil, err
	}
	p := curvePanel(b.Title, "", b.Label)
	p.namesX = b.Groups
	g := grid()
	g.Vertical.Width = 0
	p.axes.Add(g)
	for i, set := range b.Sets {
		columns := columns{set: set, which: i, of: len(b.Sets)}
		p.axes.Add(columns)
		if set.Error != nil {
			p.axes.Add(whiskers{Line{X: columns.centres(), Y: set.Values, Error: set.Error}, ink, false})
		}
		if set.Name != "" {
			p.keys = append(p.keys, key{set.Name, 10, boxSample(series[i%len(series)])})
		}
	}
	if b.Reference.Name != "" {
		if err := p.reference(b.Reference, 0, false); err != nil {
			return nil, err
		}
	}
	x, y := &p.axes.X, &p.axes.Y
	if math.IsInf(y.Max-y.Min, 0) {
		return nil, fmt.Errorf("values from %v to %v: too far apart to draw", y.Min, y.Max)
	}
	x.Min, x.Max = -0.6, float64(len(b.Groups))-0.4
	top, bottom := max(y.Max, 0), min(y.Min, 0)
	if top == bottom {
		top = 1
	}
	if top > 0 {
		y.Max = top + 0.06*(top-bottom)
	} else {
		y.Max = 0
	}
	y.Min = bottom
	if bottom < 0 {
		y.Min = bottom - 0.06*(top-bottom)
		p.axes.Add(levelLine{0, draw.LineStyle{Color: soft, Width: thinLine}})
	}
	p.axes.Add(frame{colour: soft, open: true})
	return single(p, "Bar chart", b.Label), nil
}

// columns are the bars of one of several sets.
type columns struct {
	set       BarSet
	which, of int
}

// barShare is the part of a group's place that its bars fill.
const barShare = 0.76

func (b columns) centres() []float64 {
	out := make([]float64, len(b.set.Values))
	for i := range out {
		out[i] = float64(i) + barShare*((float64(b.which)+0.5)/float64(b.of)-0.5)
	}
	return out
}

// DataRange returns the extent of the bars, zero included.
func (b columns) DataRange() (xmin, xmax, ymin, ymax float64) {
	for _, v := range b.set.Values {
		ymin, ymax = min(ymin, v), max(ymax, v)
	}
	return -0.5, float64(len(b.set.Values)) - 0.5, ymin, ymax
}

// Plot draws the bars with a little white between those of a group.
func (b columns) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	half := barShare / float64(b.of) / 2
	c.SetColor(series[b.which%len(series)])
	for i, centre := range b.centres() {
		v := b.set.Values[i]
		box := vg.Rectangle{Min: vg.Point{X: x(centre-half) + 0.5, Y: y(min(v, 0))}, Max: vg.Point{X: x(centre+half) - 0.5, Y: y(max(v, 0))}}
		c.Fill(box.Path())
	}
}

// whiskers are vertical lines of ± one standard error.
type whiskers struct {
	line   Line
	colour color.Color
	log    bool
}

// DataRange returns the extent of the whiskers, as that of a [band].
func (w whiskers) DataRange() (xmin, xmax, ymin, ymax float64) {
	return band{line: w.line, log: w.log}.DataRange()
}

// Plot draws the whiskers, cut off at the edges of the axes.
func (w whiskers) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	style := draw.LineStyle{Color: w.colour, Width: 1}
	for i, v := range w.line.Y {
		at := x(w.line.X[i])
		low, high := max(v-w.line.Error[i], p.Y.Min), min(v+w.line.Error[i], p.Y.Max)
		if low > high {
			continue
		}
		c.StrokeLine2(style, at, y(low), at, y(high))
		for _, end := range []float64{low, high} {
			c.StrokeLine2(style, at-2, y(end), at+2, y(end))
		}
	}
}
