package plots

import (
	"errors"
	"fmt"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Paths draws a bundle of functions of one variable as thin lines, such as paths of a Wiener process, with named curves
// over them, such as their exact mean and standard deviation.
type Paths struct {
	Title          string
	XLabel, YLabel string
	// X, increasing, is what all paths share, such as times.
	X []float64
	// Paths are as long as X.
	Paths [][]float64
	// Name of the paths, for the legend: none where it is empty.
	Name string
	// Curves are drawn over the paths.
	Curves []Curve
}

// Figure draws paths and curves. It returns an error for no path, fewer than 2 values of X, X that does not increase, a
// path that is not as long as X, a value that is not finite, and a curve that is not a function.
func (p Paths) Figure() (*Figure, error) {
	f, err := p.figure()
	if err != nil {
		return nil, fmt.Errorf("plots: paths: %w", err)
	}
	return f, nil
}

func (p Paths) figure() (*Figure, error) {
	if len(p.Paths) == 0 {
		return nil, errors.New("no paths")
	}
	if len(p.X) < 2 {
		return nil, fmt.Errorf("%d values of X: must be at least 2", len(p.X))
	}
	out := curvePanel(p.Title, p.XLabel, p.YLabel)
	out.axes.Add(grid())
	bundle := draw.LineStyle{Color: fade(series[0], min(0.6, 0.25+5/float64(len(p.Paths)))), Width: 0.7}
	for i, y := range p.Paths {
		line := Line{X: p.X, Y: y}
		if err := line.check(fmt.Sprintf("path %d", i), false, false); err != nil {
			return nil, err
		}
		out.axes.Add(&plotter.Line{XYs: line.points(), LineStyle: bundle})
	}
	if p.Name != "" {
		out.keys = []key{{p.Name, thumbWidth, func(c *draw.Canvas) {
			style := bundle
			style.Width = 1
			for _, y := range []vg.Length{-2, 0, 2} {
				c.StrokeLine2(style, c.Min.X, c.Center().Y+y, c.Max.X, c.Center().Y+y)
			}
		}}}
	}
	for i, curve := range p.Curves {
		line, err := curve.line()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", numbered("curve", i, curve.Name), err)
		}
		line.LineStyle = curveStyle(i+1, i)
		out.axes.Add(line)
		out.keys = append(out.keys, key{curve.Name, thumbWidth, lineSample(line.LineStyle)})
	}
	if err := out.room(); err != nil {
		return nil, err
	}
	out.axes.X.Min, out.axes.X.Max = p.X[0], p.X[len(p.X)-1]
	out.axes.Add(frame{colour: soft, open: true})
	return single(out, fmt.Sprintf("Bundle of %d paths", len(p.Paths)), against(p.YLabel, p.XLabel)), nil
}
