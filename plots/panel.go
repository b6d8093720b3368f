package plots

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// panel is one set of axes, or one picture without, and the texts around it.
type panel struct {
	title  string
	banner string     // heads this panel and the ones after it
	span   int        // how many panels the banner heads, this one included
	keys   []key      // the legend, above the body
	heads  []string   // titles of equal columns, above the body
	bar    *colourBar // right of the body
	axes   *plot.Plot // what the body holds
	within []string   // texts in the body, beside numbers
	bare   bool       // no ticks at all
	hideY  bool       // no ticks at the left
	logX   bool       // the horizontal axis is logarithmic
	logY   bool       // the vertical axis is
	labelX string     // label of a logarithmic horizontal axis
	labelY string     // that of a vertical one
	onlyX  []float64  // the ticks of a logarithmic horizontal axis, where they are given
	namesX []string   // stand at 0, 1, … under the horizontal axis, in place of numbers
	namesY []string   // the same at the vertical axis
	aspect float64    // width of the body over its height
	height vg.Length  // height of the body, where nothing else decides it
}

// key is one entry of a legend: a sample and its name.
type key struct {
	name   string
	thumb  vg.Length // width of the sample
	sample func(c *draw.Canvas)
}

func (k key) width() vg.Length {
	return k.thumb + textGap + textStyle(labelSize, ink).Width(k.name)
}

// keyRows breaks the legend into rows no wider than the body.
func (p *panel) keyRows(width vg.Length) (rows [][]key) {
	const between = 12
	var used vg.Length
	for _, k := range p.keys {
		if len(rows) == 0 || used+between+k.width() > width {
			rows, used = append(rows, nil), -between
		}
		last := len(rows) - 1
		rows[last] = append(rows[last], k)
		used += between + k.width()
	}
	return rows
}

// lineHeight is the distance between two lines of the given size.
func lineHeight(size vg.Length) vg.Length { return 1.3 * size }

// measure returns the room that the texts need around a body of the given size.
func (p *panel) measure(width, height vg.Length) margins {
	body := vg.Rectangle{Max: vg.Point{X: width, Y: height}}
	outer := p.around(body)
	m := margins{
		left: -outer.Min.X, right: outer.Max.X - width,
		bottom: -outer.Min.Y, top: outer.Max.Y - height,
	}
	if p.bar != nil {
		m.right += p.bar.width(height)
	}
	if p.labelX != "" {
		m.bottom += axisLabel
	}
	if p.labelY != "" {
		m.left += axisLabel
	}
	rows := p.keyRows(width)
	for _, row := range rows {
		if len(row) == 1 {
			m.right = max(m.right, row[0].width()-width)
		}
	}
	over := (titleStyle().Width(p.title) - width) / 2
	m.left, m.right = max(m.left, over), max(m.right, over)
	if len(p.heads) > 0 {
		m.top += lineHeight(labelSize)
		side := width / vg.Length(2*len(p.heads))
		s := textStyle(labelSize, ink)
		m.left = max(m.left, s.Width(p.heads[0])/2-side)
		m.right = max(m.right, s.Width(p.heads[len(p.heads)-1])/2-side)
	}
	if len(rows) > 0 {
		m.top += textGap + lineHeight(labelSize)*vg.Length(len(rows))
	}
	if p.title != "" {
		m.top += textGap + lineHeight(titleSize)
	}
	return m
}

// around returns the rectangle in which the axes must be drawn for their data to fill the body.
func (p *panel) around(body vg.Rectangle) vg.Rectangle {
	p.setTicks(body.Size())
	outer := body
	for range 20 {
		data := p.axes.DataCanvas(draw.Canvas{Rectangle: outer})
		low, high := body.Min.Sub(data.Min), body.Max.Sub(data.Max)
		outer.Min, outer.Max = outer.Min.Add(low), outer.Max.Add(high)
		if math.Abs(float64(low.X))+math.Abs(float64(low.Y))+math.Abs(float64(high.X))+math.Abs(float64(high.Y)) < 1e-9 {
			break
		}
	}
	return outer
}

// setTicks chooses as many ticks as have room.
func (p *panel) setTicks(size vg.Point) {
	if p.bare {
		return
	}
	names := p.fitNames(size.X)
	n := func(l, each vg.Length) int { return min(max(int(l/each), 2), 6) }
	p.axes.X.Tick.Marker = plot.TickerFunc(func(lo, hi float64) []plot.Tick {
		switch {
		case p.namesX != nil:
			return names
		case p.onlyX != nil:
			return ticksAt(p.onlyX, lo, hi, size.X)
		case p.logX:
			return logTicks(lo, hi, n(size.X, 36))
		}
		return linearTicks(lo, hi, n(size.X, 42))
	})
	p.axes.Y.Tick.Marker = plot.TickerFunc(func(lo, hi float64) []plot.Tick {
		switch {
		case p.hideY:
			return nil
		case p.namesY != nil:
			return namedTicks(p.namesY)
		case p.logY:
			return logTicks(lo, hi, n(size.Y, 28))
		}
		return linearTicks(lo, hi, n(size.Y, 36))
	})
}

// fitNames returns the ticks of the names under the axis. Names that are wider than their places are broken into lines
// or, where a word is too wide, all of them are turned.
func (p *panel) fitNames(width vg.Length) []plot.Tick {
	ticks := namedTicks(p.namesX)
	if len(ticks) == 0 {
		return nil
	}
	gap := p.axes.X.Max - p.axes.X.Min
	for i := 1; i < len(ticks); i++ {
		gap = min(gap, ticks[i].Value-ticks[i-1].Value)
	}
	place := width*vg.Length(gap/(p.axes.X.Max-p.axes.X.Min)) - textGap
	label := &p.axes.X.Tick.Label
	label.Rotation, label.XAlign, label.YAlign = 0, draw.XCenter, draw.YTop
	broken := slices.Clone(ticks)
	for i, tick := range ticks {
		text, fits := lines(tick.Label, place)
		if !fits {
			label.Rotation, label.XAlign, label.YAlign = math.Pi/5, draw.XRight, draw.YTop
			return ticks
		}
		broken[i].Label = text
	}
	return broken
}

// lines breaks a text between words so that no line is wider than given, and says whether it could.
func lines(text string, width vg.Length) (string, bool) {
	s := textStyle(tickSize, soft)
	var out []string
	for _, word := range strings.Fields(text) {
		if s.Width(word) > width {
			return text, false
		}
		if n := len(out); n > 0 && s.Width(out[n-1]+" "+word) <= width {
			out[n-1] += " " + word
		} else {
			out = append(out, word)
		}
	}
	return strings.Join(out, "\n"), true
}

// draw puts the panel on the canvas, its title right under top.
func (p *panel) draw(c draw.Canvas, body vg.Rectangle, top vg.Length) {
	outer := p.around(body)
	p.axes.Draw(draw.Canvas{Canvas: c.Canvas, Rectangle: outer})
	if p.bar != nil {
		p.bar.draw(c, outer.Max.X, body)
	}
	p.drawLabels(c, outer, body)
	y := outer.Max.Y
	if len(p.heads) > 0 {
		s := textStyle(labelSize, ink)
		s.XAlign = draw.XCenter
		w := body.Size().X / vg.Length(len(p.heads))
		for i, head := range p.heads {
			c.FillText(s, vg.Point{X: body.Min.X + w*(vg.Length(i)+0.5), Y: y + 0.35*labelSize}, head)
		}
		y += lineHeight(labelSize)
	}
	rows := p.keyRows(body.Size().X)
	if len(rows) > 0 {
		y += textGap
	}
	for i := len(rows) - 1; i >= 0; i-- {
		x := body.Min.X
		for _, k := range rows[i] {
			cell := draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{
				Min: vg.Point{X: x, Y: y}, Max: vg.Point{X: x + k.thumb, Y: y + labelSize}}}
			k.sample(&cell)
			c.FillText(textStyle(labelSize, ink), vg.Point{X: x + k.thumb + textGap, Y: y + 0.15*labelSize}, k.name)
			x += k.width() + 12
		}
		y += lineHeight(labelSize)
	}
	if p.title != "" {
		c.FillText(titleStyle(), vg.Point{X: (body.Min.X + body.Max.X) / 2, Y: top - titleSize}, p.title)
	}
}

// axisLabel is the room of a label beside an axis, labelGap what is left free of it before the ticks' numbers.
const (
	axisLabel = labelSize + 6
	labelGap  = 4
)

// scale makes the axes logarithmic that are to be. Their labels are then drawn by the panel: gonum/plot reserves room for
// a label as if it stood at the arithmetic middle, which on a logarithmic axis is near its end.
func (p *panel) scale() {
	if p.logX {
		p.axes.X.Scale = plot.LogScale{}
		p.labelX, p.axes.X.Label.Text = p.axes.X.Label.Text, ""
	}
	if p.logY {
		p.axes.Y.Scale = plot.LogScale{}
		p.labelY, p.axes.Y.Label.Text = p.axes.Y.Label.Text, ""
	}
}

func (p *panel) drawLabels(c draw.Canvas, outer, body vg.Rectangle) {
	s := textStyle(labelSize, ink)
	s.XAlign = draw.XCenter
	middle := body.Min.Add(body.Max).Scale(0.5)
	s.YAlign = draw.YTop
	c.FillText(s, vg.Point{X: middle.X, Y: outer.Min.Y - labelGap}, p.labelX)
	s.Rotation = math.Pi / 2
	s.YAlign = draw.YBottom
	c.FillText(s, vg.Point{X: outer.Min.X - labelGap, Y: middle.Y}, p.labelY)
}

// checkText returns an error for a letter that the typeface would show as an empty box.
func (p *panel) checkText() error {
	texts := append([]string{p.title, p.banner, p.axes.X.Label.Text, p.axes.Y.Label.Text, p.labelX, p.labelY}, p.heads...)
	texts = append(append(append(texts, p.namesX...), p.namesY...), p.within...)
	for _, k := range p.keys {
		texts = append(texts, k.name)
	}
	if p.bar != nil {
		texts = append(texts, p.bar.label)
	}
	face := plot.DefaultTextHandler.Cache().Lookup(textStyle(labelSize, ink).Font, labelSize).Face
	for _, s := range texts {
		for _, r := range s {
			if i, err := face.GlyphIndex(nil, r); err != nil || i == 0 {
				return fmt.Errorf("plots: text %q: the typeface has no %q", s, r)
			}
		}
	}
	return nil
}

// raster is a picture that fills the body, made at the body's size in dots.
type raster func(width, height int) *image.NRGBA

// Plot draws the picture.
func (r raster) Plot(c draw.Canvas, _ *plot.Plot) {
	size := c.Size()
	w, h := int(math.Round(float64(size.X/dot))), int(math.Round(float64(size.Y/dot)))
	c.DrawImage(c.Rectangle, r(w, h))
}

// frame draws the edge of the body: all of it around a part of the plane, only the left and lower side under a curve.
type frame struct {
	colour color.Color
	open   bool
}

// Plot draws the lines.
func (f frame) Plot(c draw.Canvas, _ *plot.Plot) {
	style := draw.LineStyle{Color: f.colour, Width: thinLine}
	low, high := c.Min, c.Max
	edge := []vg.Point{{X: low.X, Y: high.Y}, low, {X: high.X, Y: low.Y}}
	if !f.open {
		edge = append(edge, high, edge[0], low)
	}
	c.StrokeLines(style, edge)
}
