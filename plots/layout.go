package plots

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// page is a figure with every panel in its place.
type page struct {
	width, height vg.Length
	panels        []*panel
	bodies        []vg.Rectangle // of each panel: the rectangle between its axes
	tops          []vg.Length    // of each panel: the upper end of its row's titles
	banners       []banner
}

// banner is a title over several panels, centred on a point of its base line.
type banner struct {
	text string
	at   vg.Point
}

// margins is the room that a panel's texts take around its body.
type margins struct{ left, right, bottom, top vg.Length }

// layout gives all bodies one height, h, lines up those of a column and of a row, and leaves each the room its texts
// need. The total width is linear in h, so h follows from the width wanted; as texts wrap and ticks change with the
// width, the margins are measured again a few times. Where two sizes of h would each lead to the other, the room for
// both is kept.
func (f *Figure) layout() (*page, error) {
	if f == nil || len(f.panels) == 0 {
		return nil, errors.New("plots: figure: no panels: make one with a figure's Figure method")
	}
	if !(f.Width >= 0 && f.Width <= 200) {
		return nil, fmt.Errorf("plots: figure: width %v cm: must be between 0 and 200", f.Width)
	}
	for _, p := range f.panels {
		if err := p.checkText(); err != nil {
			return nil, err
		}
	}
	rows := (len(f.panels) + f.columns - 1) / f.columns
	var natural vg.Length
	for _, p := range f.panels {
		natural = max(natural, p.height)
	}
	h := natural
	cols, lines := make([]margins, f.columns), make([]margins, rows)
	widest := make([]float64, f.columns)
	heads := make([]vg.Length, rows) // height of each row's banners
	for i, p := range f.panels {
		if p.banner != "" {
			heads[i/f.columns] = textGap + lineHeight(titleSize)
		}
	}
	for round := range 6 {
		if round < 3 {
			clear(cols)
			clear(lines)
		}
		for i, p := range f.panels {
			m := p.measure(h*vg.Length(p.aspect), h)
			c, r := i%f.columns, i/f.columns
			widest[c] = max(widest[c], p.aspect)
			cols[c].left, cols[c].right = max(cols[c].left, m.left), max(cols[c].right, m.right)
			lines[r].bottom, lines[r].top = max(lines[r].bottom, m.bottom), max(lines[r].top, m.top)
		}
		texts := 2*pageMargin + panelGap*vg.Length(f.columns-1)
		var shares vg.Length
		for c, m := range cols {
			texts += m.left + m.right
			shares += vg.Length(widest[c])
		}
		switch {
		case f.Width > 0:
			h = (vg.Length(f.Width)*centimetre - texts) / shares
		default:
			h = min(natural, (greatest-texts)/shares)
		}
		h = dot * vg.Length(math.Floor(float64(h/dot)+1e-6))
		if h < 12 {
			return nil, fmt.Errorf("plots: figure: width %.3g cm: its texts leave no room for %d panels in a row", max(f.Width, float64(greatest/centimetre)), f.columns)
		}
	}

	out := &page{panels: f.panels, bodies: make([]vg.Rectangle, len(f.panels)), tops: make([]vg.Length, len(f.panels))}
	x := make([]vg.Length, f.columns)
	at := pageMargin
	for c, m := range cols {
		x[c] = snap(at + m.left)
		at = x[c] + h*vg.Length(widest[c]) + m.right + panelGap
	}
	out.width = toPixel(at - panelGap + pageMargin)
	if f.Width > 0 {
		out.width = toPixel(vg.Length(f.Width) * centimetre)
	}
	below := pageMargin
	for r := rows - 1; r >= 0; r-- {
		y := snap(below + lines[r].bottom)
		for c := range f.columns {
			if i := r*f.columns + c; i < len(f.panels) {
				w := snap(h * vg.Length(f.panels[i].aspect))
				out.bodies[i] = vg.Rectangle{Min: vg.Point{X: x[c], Y: y}, Max: vg.Point{X: x[c] + w, Y: y + h}}
				out.tops[i] = y + h + lines[r].top
			}
		}
		below = y + h + lines[r].top + heads[r]
		if r > 0 {
			below += panelGap
		}
	}
	out.height = toPixel(below + pageMargin)
	return out, out.head(f)
}

// head puts the banners over their panels, and widens the page where one is wider.
func (p *page) head(f *Figure) error {
	var shift vg.Length
	width := p.width
	for i, q := range p.panels {
		if q.banner == "" {
			continue
		}
		last := min(i+q.span, (i/f.columns+1)*f.columns, len(p.panels)) - 1
		at := vg.Point{X: (p.bodies[i].Min.X + p.bodies[last].Max.X) / 2, Y: p.tops[i] + textGap + 0.25*titleSize}
		half := titleStyle().Width(q.banner) / 2
		shift = max(shift, pageMargin+half-at.X)
		width = max(width, at.X+half+pageMargin)
		p.banners = append(p.banners, banner{q.banner, at})
	}
	shift = snap(max(shift, 0))
	if width += shift; width > p.width {
		if f.Width > 0 || width > greatest {
			return fmt.Errorf("plots: figure: its title leaves no room: %.3g cm wide", width/centimetre)
		}
		p.width = toPixel(width)
	}
	for i := range p.bodies {
		p.bodies[i].Min.X += shift
		p.bodies[i].Max.X += shift
	}
	for i := range p.banners {
		p.banners[i].at.X += shift
	}
	return nil
}

// snap moves a length to a whole dot, so that frames and pictures are sharp.
func snap(l vg.Length) vg.Length { return dot * vg.Length(math.Round(float64(l/dot))) }

// toPixel rounds a length to whole screen pixels, so that a PNG is exactly twice as large.
func toPixel(l vg.Length) vg.Length { return 0.75 * vg.Length(math.Ceil(float64(l)/0.75-1e-6)) }

func (p *page) draw(c draw.Canvas) {
	c.SetColor(paper)
	c.Fill(c.Rectangle.Path())
	for i, q := range p.panels {
		q.draw(c, p.bodies[i], p.tops[i])
	}
	for _, b := range p.banners {
		c.FillText(titleStyle(), b.at, b.text)
	}
}
