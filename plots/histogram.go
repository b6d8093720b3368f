package plots

import (
	"errors"
	"fmt"
	"image/color"
	"math"
	"slices"

	"github.com/gomlx/gomlx/pkg/core/tensors"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Histogram draws how numbers are distributed, as a density (bars of total area 1), against exact density curves.
type Histogram struct {
	Title string
	// Name of the sample, for the legend: "samples" unless it says otherwise.
	Name string
	// Values are the sample, [n] or [n, 1].
	Values *tensors.Tensor
	// Bins is their number. 0 takes it from the rule of Freedman and Diaconis (1981), width 2·IQR/n^⅓, between 10 and
	// 100.
	Bins int
	// Min and Max are the range shown, of bars and curves; both 0 show all. Values outside count in the density but have no
	// bar; the legend says how many they are.
	Min, Max float64
	// Curves are drawn over the bars.
	Curves []Curve
	// Label names the horizontal axis: "x" unless it says otherwise.
	Label string
}

// Curve is a function of one variable.
type Curve struct {
	// Name stands in the legend.
	Name string
	// X, increasing, and Y are [n] or [n, 1]. [Interval] makes an X.
	X, Y *tensors.Tensor
}

// Figure draws bars and curves. It returns an error for values that are empty, not of one column or not finite, a
// negative number of bins, a range without area or values, and a curve without a name, with fewer than 2 points, with X not increasing, or with X and Y
// of different lengths.
func (h Histogram) Figure() (*Figure, error) {
	f, err := h.figure()
	if err != nil {
		return nil, fmt.Errorf("plots: histogram: %w", err)
	}
	return f, nil
}

func (h Histogram) figure() (*Figure, error) {
	values, err := column("values", h.Values, false)
	if err != nil {
		return nil, err
	}
	if h.Bins < 0 {
		return nil, fmt.Errorf("%d bins: must be 0 or more", h.Bins)
	}
	slices.Sort(values)
	lo, hi := h.Min, h.Max
	ranged := lo != 0 || hi != 0
	if ranged && (!(lo < hi) || math.IsInf(hi-lo, 0) || tooNarrow(lo, hi)) {
		return nil, fmt.Errorf("range %v to %v: must be finite, the lower end below the upper", lo, hi)
	}
	inside := values
	if ranged {
		inside = slices.DeleteFunc(slices.Clone(values), func(v float64) bool { return v < lo || v > hi })
		if len(inside) == 0 {
			return nil, fmt.Errorf("range %v to %v: no value inside", lo, hi)
		}
	}
	b, err := binned(inside, h.Bins)
	if err != nil {
		return nil, err
	}
	if ranged {
		b = fixedBins(values, lo, hi, len(b.density))
	}
	name, label := h.Name, h.Label
	if name == "" {
		name = "samples"
	}
	if label == "" {
		label = "x"
	}
	if out := len(values) - len(inside); out > 0 {
		name += fmt.Sprintf(", %s of %s outside", number(float64(out), 0), number(float64(len(values)), 0))
	}
	p := curvePanel(h.Title, label, "density")
	p.axes.Add(grid(), b)
	p.keys = []key{{name, 10, boxSample(barColour)}}
	for i, c := range h.Curves {
		line, err := c.line()
		if err != nil {
			return nil, fmt.Errorf("curve %d (%s): %w", i, c.Name, err)
		}
		line.LineStyle = curveStyle(i+1, i)
		p.axes.Add(line)
		p.keys = append(p.keys, key{c.Name, thumbWidth, lineSample(line.LineStyle)})
	}
	p.axes.Add(frame{colour: soft, open: true})
	if ranged {
		p.axes.X.Min, p.axes.X.Max = lo, hi
	}
	p.axes.Y.Min = 0
	p.axes.Y.Max *= 1.06
	if math.IsInf(p.axes.X.Max-p.axes.X.Min, 0) || math.IsInf(p.axes.Y.Max, 0) {
		return nil, errors.New("values and curves too far apart to draw")
	}
	return single(p, "Histogram"), nil
}

func (c Curve) line() (*plotter.Line, error) {
	if c.Name == "" {
		return nil, errors.New("no name")
	}
	x, err := column("X", c.X, false)
	if err != nil {
		return nil, err
	}
	y, err := column("Y", c.Y, false)
	if err != nil {
		return nil, err
	}
	if len(x) != len(y) || len(x) < 2 {
		return nil, fmt.Errorf("%d values of X, %d of Y: must be as many, at least 2", len(x), len(y))
	}
	points := make(plotter.XYs, len(x))
	for i := range x {
		if i > 0 && x[i] <= x[i-1] {
			return nil, fmt.Errorf("row %d of X: %v after %v: must increase", i, x[i], x[i-1])
		}
		points[i] = plotter.XY{X: x[i], Y: y[i]}
	}
	return &plotter.Line{XYs: points, LineStyle: draw.LineStyle{Width: dataLine}}, nil
}

var barColour = color.NRGBA{R: 0x8c, G: 0xbe, B: 0xdc, A: 0xff} // the first series colour, lightened

// bars are those of a histogram: equal bins from lo upwards.
type bars struct {
	lo, width float64
	density   []float64
}

func binned(sorted []float64, bins int) (bars, error) {
	n := len(sorted)
	lo, hi := sorted[0], sorted[n-1]
	if lo == hi || tooNarrow(lo, hi) && !math.IsInf(hi-lo, 0) { // one value, n times: one bar around it
		half := max(0.5, 0.05*math.Abs(lo))
		lo, hi, bins = lo-half, hi+half, 1
	}
	if math.IsInf(hi-lo, 0) {
		return bars{}, fmt.Errorf("values %v to %v: too far apart to draw", lo, hi)
	}
	if bins == 0 {
		quartiles := sorted[3*(n-1)/4] - sorted[(n-1)/4]
		bins = 10
		if quartiles > 0 {
			bins = int(min(max(math.Ceil((hi-lo)/(2*quartiles/math.Cbrt(float64(n)))), 10), 100))
		}
	}
	b := bars{lo, (hi - lo) / float64(bins), make([]float64, bins)}
	for _, v := range sorted {
		b.density[min(int((v-lo)/b.width), bins-1)] += 1 / (float64(n) * b.width)
	}
	return b, nil
}

// DataRange returns the extent of the bars.
func (b bars) DataRange() (xmin, xmax, ymin, ymax float64) {
	return b.lo, b.lo + b.width*float64(len(b.density)), 0, slices.Max(b.density)
}

// Plot draws the bars with a thin white line between them.
func (b bars) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for i, d := range b.density {
		if d == 0 {
			continue
		}
		left := x(b.lo + b.width*float64(i))
		box := vg.Rectangle{Min: vg.Point{X: left, Y: y(0)}, Max: vg.Point{X: x(b.lo+b.width*float64(i+1)) - 0.5, Y: y(d)}}
		c.SetColor(barColour)
		c.Fill(box.Path())
	}
}
