package plots

import (
	"errors"
	"fmt"
	"image/color"
	"math"
	"slices"

	"github.com/gomlx/gomlx/pkg/core/tensors"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// ScoreField draws scores s(x) = ∇ₓ log p(x) of the plane as arrows, one panel for each field, over a density.
//
// Each arrow is centred on its point and points along the score. Its length is proportional to ‖s(x)‖ up to the 75 %
// quantile of all fields together; longer ones are cut to that length, which the legend states. So arrows compare
// within a panel and between panels, and a few huge scores far from the data do not shrink the rest to dots.
//
// With Magnitude all arrows are equally long and their colours tell ‖s(x)‖, explained by a colour bar that ends at the
// 95 % quantile; the density is then drawn as contour lines, so that only one thing has colours.
type ScoreField struct {
	// Lattice is where the scores were evaluated. About 20 × 20 cells make legible arrows.
	Lattice Lattice
	// Fields are the scores, such as a true and a learned one.
	Fields []Field
	// Density is drawn under the arrows of every panel, where its Log is set. Its window must be that of Lattice.
	Density Density
	// Magnitude tells the size of a score by colour in place of length.
	Magnitude bool
}

// Field is a score at the points of a lattice.
type Field struct {
	// Title stands above the panel.
	Title string
	// Score holds s at the lattice's points, [NX·NY, 2].
	Score *tensors.Tensor
}

// Figure draws the fields side by side. It returns an error for no field, a score or log-density whose shape does not
// match its lattice, a value that is not finite (log p may be −Inf), and windows that differ.
func (s ScoreField) Figure() (*Figure, error) {
	f, err := s.figure()
	if err != nil {
		return nil, fmt.Errorf("plots: score field: %w", err)
	}
	return f, nil
}

func (s ScoreField) figure() (*Figure, error) {
	if err := s.Lattice.check(); err != nil {
		return nil, fmt.Errorf("lattice: %w", err)
	}
	if len(s.Fields) == 0 {
		return nil, errors.New("no fields")
	}
	var under *mapped
	if s.Density.Log != nil {
		var err error
		if under, err = s.Density.read(); err != nil {
			return nil, err
		}
		if s.Density.Lattice.Window != s.Lattice.Window {
			return nil, fmt.Errorf("density: window %v: must be that of the scores, %v", s.Density.Lattice.Window, s.Lattice.Window)
		}
	}
	fields := make([][][]float64, len(s.Fields))
	var sizes []float64
	for i, field := range s.Fields {
		v, err := planar(fmt.Sprintf("field %d (%s)", i, field.Title), field.Score)
		if err != nil {
			return nil, err
		}
		if want := s.Lattice.NX * s.Lattice.NY; len(v) != want {
			return nil, fmt.Errorf("field %d (%s): %d scores: must be %d, one for each of %d × %d cells", i, field.Title, len(v), want, s.Lattice.NX, s.Lattice.NY)
		}
		for _, a := range v {
			sizes = append(sizes, math.Hypot(a[0], a[1]))
		}
		fields[i] = v
	}
	slices.Sort(sizes)
	share := 0.75
	if s.Magnitude {
		share = 0.95
	}
	longest := sizes[int(share*float64(len(sizes)-1)+0.5)]
	greatest := sizes[len(sizes)-1]
	if longest == 0 {
		longest = greatest
	}
	caption := "longest arrows: ‖s(x)‖ = " + short(longest)
	switch {
	case greatest == 0:
		caption = "dots: ‖s(x)‖ = 0"
	case greatest > longest:
		caption += " or more"
	}

	bar := &colourBar{top: longest, label: "‖s(x)‖", palette: &heat}
	if greatest > longest {
		bar.label += ", the darkest: " + short(longest) + " or more"
	}

	f := &Figure{columns: len(fields), Alt: "Score field"}
	for i, v := range fields {
		p := planePanel(s.Fields[i].Title, s.Lattice.Window)
		last := i == len(fields)-1
		field := arrows{lattice: s.Lattice, score: v, longest: longest}
		switch {
		case s.Magnitude && greatest > 0:
			field.bar = bar
			if last {
				p.bar = bar
			}
			if under != nil {
				p.axes.Add(under.outline())
				if i == 0 {
					p.keys = append(p.keys, under.key())
				}
			}
		case under != nil:
			p.axes.Add(raster(under.raster))
			if last {
				p.bar = &under.bar
			}
		}
		p.axes.Add(field, frame{colour: soft})
		if i == 0 && field.bar == nil {
			p.keys = []key{{caption, thumbWidth, func(c *draw.Canvas) {
				arrow(c, c.Center(), vg.Point{X: thumbWidth}, ink, 0.7)
			}}}
		}
		f.panels = append(f.panels, p)
		if s.Fields[i].Title != "" {
			f.Alt += []string{": ", ", "}[min(i, 1)] + s.Fields[i].Title
		}
	}
	f.Alt += "."
	return f, nil
}

// planePanel returns axes of the plane with equal units both ways.
func planePanel(title string, w Window) *panel {
	p := newAxes("x₁", "x₂")
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = w.XMin, w.XMax, w.YMin, w.YMax
	return &panel{title: title, axes: p, aspect: w.aspect(), height: bodyHeight / vg.Length(math.Sqrt(max(w.aspect(), 1)))}
}

// named gives the axes other names than x₁ and x₂, where there are any.
func (p *panel) named(x, y string) *panel {
	if x != "" {
		p.axes.X.Label.Text = x
	}
	if y != "" {
		p.axes.Y.Label.Text = y
	}
	return p
}

// arrows draws a field: an arrow of 0.95 cells stands for a score of size longest or more.
type arrows struct {
	lattice Lattice
	score   [][]float64
	longest float64
	bar     *colourBar // of equally long arrows coloured by their size
}

// Plot draws the arrows.
func (a arrows) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	dx, dy := a.lattice.step()
	cell := min(x(dx)-x(0), y(dy)-y(0))
	for i, s := range a.score {
		px, py := a.lattice.at(i%a.lattice.NX, i/a.lattice.NX)
		at := vg.Point{X: x(px), Y: y(py)}
		size := math.Hypot(s[0], s[1])
		if size == 0 {
			arrow(&c, at, vg.Point{}, ink, 0.7)
			continue
		}
		length := 0.95 * float64(cell) * min(size/a.longest, 1)
		colour, width := ink, vg.Length(0.7)
		if a.bar != nil {
			length, colour, width = 0.85*float64(cell), a.bar.colour(size), 1.1
		}
		arrow(&c, at, vg.Point{X: vg.Length(s[0] / size * length), Y: vg.Length(s[1] / size * length)}, colour, width)
	}
}

// arrow draws along and centred on a point; one too short to show its direction becomes a dot.
func arrow(c *draw.Canvas, centre, along vg.Point, colour color.Color, width vg.Length) {
	length := vg.Length(math.Hypot(float64(along.X), float64(along.Y)))
	c.SetColor(colour)
	if length < 1 {
		var p vg.Path
		p.Arc(centre, 0.5, 0, 2*math.Pi)
		p.Close()
		c.Fill(p)
		return
	}
	unit := along.Scale(1 / length)
	side := vg.Point{X: -unit.Y, Y: unit.X}
	head := min(0.5*length, 4)
	tip := centre.Add(along.Scale(0.5))
	base := tip.Sub(unit.Scale(head))
	c.SetLineStyle(draw.LineStyle{Color: colour, Width: width})
	var shaft, point vg.Path
	shaft.Move(centre.Sub(along.Scale(0.5)))
	shaft.Line(base)
	c.Stroke(shaft)
	point.Move(tip)
	point.Line(base.Add(side.Scale(0.38 * head)))
	point.Line(base.Sub(side.Scale(0.38 * head)))
	point.Close()
	c.Fill(point)
}
