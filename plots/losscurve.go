package plots

import (
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// LossCurve draws the loss of one or several training runs against the step.
type LossCurve struct {
	Title string
	Runs  []Run
	// Log draws the loss on a logarithmic scale; all values must then be positive.
	Log bool
	// Smooth draws, over the faded curve, its mean over windows of this many recorded values around each, of a quarter of
	// the run at most. 0: none.
	Smooth int
	// Reference is a dashed horizontal line, such as the least loss possible, where it has a name.
	Reference Reference
	// Label names the vertical axis: "loss" unless it says otherwise.
	Label string
}

// Run is the recorded loss of a training run.
type Run struct {
	// Name stands in the legend. A single run may do without.
	Name string
	// Steps are where the losses were recorded, increasing. nil stands for 1, 2, ….
	Steps []int
	// Loss are the values.
	Loss []float64
}

// Reference is a named value to compare with.
type Reference struct {
	Name  string
	Value float64
}

// Figure draws the runs. It returns an error for no run, one of fewer than 2 values, steps that do not match or do not
// increase, a loss that is not finite or, with Log, not positive, a negative Smooth, and a run without a name beside
// others.
func (l LossCurve) Figure() (*Figure, error) {
	f, err := l.figure()
	if err != nil {
		return nil, fmt.Errorf("plots: loss curve: %w", err)
	}
	return f, nil
}

func (l LossCurve) check() error {
	if len(l.Runs) == 0 {
		return errors.New("no runs")
	}
	if l.Smooth < 0 {
		return fmt.Errorf("smooth %d: must be 0 or more", l.Smooth)
	}
	allowed := func(v float64) string {
		switch {
		case math.IsNaN(v) || math.IsInf(v, 0):
			return "must be finite"
		case l.Log && v <= 0:
			return "must be positive on a logarithmic scale"
		}
		return ""
	}
	for i, r := range l.Runs {
		name := numbered("run", i, r.Name)
		switch {
		case r.Name == "" && len(l.Runs) > 1:
			return fmt.Errorf("run %d: no name: must have one to be told from the others", i)
		case len(r.Loss) < 2:
			return fmt.Errorf("%s: %d losses: must be at least 2", name, len(r.Loss))
		case r.Steps != nil && len(r.Steps) != len(r.Loss):
			return fmt.Errorf("%s: %d steps for %d losses: must be as many", name, len(r.Steps), len(r.Loss))
		}
		for j, v := range r.Loss {
			if why := allowed(v); why != "" {
				return fmt.Errorf("%s: loss %d, at step %v: %v: %s", name, j, r.step(j), v, why)
			}
			if j > 0 && r.step(j) <= r.step(j-1) {
				return fmt.Errorf("%s: step %v after step %v: must increase", name, r.step(j), r.step(j-1))
			}
		}
	}
	if why := allowed(l.Reference.Value); l.Reference.Name != "" && why != "" {
		return fmt.Errorf("reference %q: %v: %s", l.Reference.Name, l.Reference.Value, why)
	}
	return nil
}

func (r Run) step(i int) float64 {
	if r.Steps == nil {
		return float64(i + 1)
	}
	return float64(r.Steps[i])
}

func (l LossCurve) figure() (*Figure, error) {
	if err := l.check(); err != nil {
		return nil, err
	}
	label := l.Label
	if label == "" {
		label = "loss"
	}
	p := curvePanel(l.Title, "step", label)
	p.axes.Add(grid())
	var smoothed []plot.Plotter
	for i, r := range l.Runs {
		points := make(plotter.XYs, len(r.Loss))
		for j, v := range r.Loss {
			points[j] = plotter.XY{X: r.step(j), Y: v}
		}
		style := draw.LineStyle{Color: series[i%len(series)], Width: dataLine}
		raw := style
		window := min(l.Smooth, len(r.Loss)/4) // a longer one would flatten the run
		if window > 1 {
			raw.Color, raw.Width = fade(series[i%len(series)], 0.3), 0.8
		}
		p.axes.Add(&plotter.Line{XYs: points, LineStyle: raw})
		if window > 1 { // drawn last, so that no faded curve covers it
			smoothed = append(smoothed, &plotter.Line{XYs: smooth(points, window), LineStyle: style})
		}
		name := r.Name
		if window > 1 {
			if name == "" {
				name = label
			}
			name += fmt.Sprintf(", mean of %s", number(float64(window), 0))
		}
		if name != "" {
			p.keys = append(p.keys, key{name, thumbWidth, lineSample(style)})
		}
	}
	p.axes.Add(smoothed...)
	if x := &p.axes.X; x.Min > 0 && x.Min < 0.05*x.Max {
		x.Min = 0
	}
	if l.Reference.Name != "" {
		style := draw.LineStyle{Color: ink, Width: 1, Dashes: []vg.Length{4, 3}}
		lo, hi := p.axes.X.Min, p.axes.X.Max
		p.axes.Add(&plotter.Line{XYs: plotter.XYs{{X: lo, Y: l.Reference.Value}, {X: hi, Y: l.Reference.Value}}, LineStyle: style})
		p.keys = append(p.keys, key{fmt.Sprintf("%s, %s", l.Reference.Name, short(l.Reference.Value)), thumbWidth, lineSample(style)})
	}
	p.axes.Add(frame{colour: soft, open: true})
	y := &p.axes.Y
	if math.IsInf(y.Max-y.Min, 0) {
		return nil, fmt.Errorf("losses from %v to %v: too far apart to draw", y.Min, y.Max)
	}
	if l.Log {
		p.logY = true
		p.scale()
		room := math.Pow(max(y.Max/y.Min, 1.01), 0.05)
		y.Min, y.Max = y.Min/room, y.Max*room
	} else {
		room := 0.05 * (y.Max - y.Min)
		if tooNarrow(y.Min, y.Max) || room == 0 {
			room = max(math.Abs(y.Max)/10, 1e-3)
		}
		y.Min, y.Max = y.Min-room, y.Max+room
	}
	return single(p, "Loss curve"), nil
}

// curvePanel returns axes of two different quantities.
func curvePanel(title, x, y string) *panel {
	return &panel{title: title, axes: newAxes(x, y), aspect: 1.7, height: 0.9 * bodyHeight}
}

// smooth returns the mean of the n values around each. Near the start, where a loss falls fast, the window shrinks to
// both sides alike, which adds no bias; near the end it only loses what is missing, which keeps the noise low.
func smooth(points plotter.XYs, n int) plotter.XYs {
	sums := make([]float64, len(points)+1)
	for i, p := range points {
		sums[i+1] = sums[i] + p.Y
	}
	out := make(plotter.XYs, len(points))
	for i, p := range points {
		half := min(n/2, i)
		end := min(i+half+1, len(points))
		out[i] = plotter.XY{X: p.X, Y: (sums[end] - sums[i-half]) / float64(end-i+half)}
	}
	return out
}
