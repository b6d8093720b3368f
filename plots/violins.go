package plots

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Violins draws how numbers of several groups are spread: an error over seeds for each method, a norm over samples for
// each dimension. Of a group of up to 60 numbers each is a point; of 20 and more the density is drawn as a shape (a
// Gaussian kernel estimate, bandwidth 0.9·min(s, IQR/1.34)·n^{−1/5}: Silverman, "Density Estimation", 1986, eq. 3.31). A
// line marks the median.
type Violins struct {
	Title  string
	Groups []Sample
	// Label names the vertical axis.
	Label string
	// Log makes the vertical axis logarithmic; all numbers must then be positive.
	Log bool
	// Reference is a dashed level, where it has a name.
	Reference Reference
}

// Sample is a named group of numbers.
type Sample struct {
	Name   string
	Values []float64
}

// Figure draws the groups. It returns an error for no group, a group without a name or numbers, and a number that is not
// finite or, with Log, not positive.
func (v Violins) Figure() (*Figure, error) {
	f, err := v.figure()
	if err != nil {
		return nil, fmt.Errorf("plots: violins: %w", err)
	}
	return f, nil
}

func (v Violins) figure() (*Figure, error) {
	if len(v.Groups) == 0 {
		return nil, errors.New("no groups")
	}
	p := curvePanel(v.Title, "", v.Label)
	p.logY = v.Log
	g := grid()
	g.Vertical.Width = 0
	p.axes.Add(g)
	for i, group := range v.Groups {
		if group.Name == "" {
			return nil, fmt.Errorf("group %d: no name", i)
		}
		if len(group.Values) == 0 {
			return nil, fmt.Errorf("%s: no numbers", numbered("group", i, group.Name))
		}
		for j, value := range group.Values {
			switch {
			case math.IsNaN(value) || math.IsInf(value, 0):
				return nil, fmt.Errorf("%s: number %d: %v: must be finite", numbered("group", i, group.Name), j, value)
			case v.Log && value <= 0:
				return nil, fmt.Errorf("%s: number %d: %v: must be positive on a logarithmic scale", numbered("group", i, group.Name), j, value)
			}
		}
		p.axes.Add(newViolin(group.Values, i, v.Log))
		p.namesX = append(p.namesX, group.Name)
	}
	if v.Reference.Name != "" {
		if err := p.reference(v.Reference, 0, v.Log); err != nil {
			return nil, err
		}
	}
	if err := p.room(); err != nil {
		return nil, err
	}
	p.axes.X.Min, p.axes.X.Max = -0.6, float64(len(v.Groups))-0.4
	p.axes.Add(frame{colour: soft, open: true})
	return single(p, "Spread of groups", v.Label), nil
}

const (
	allPoints  = 60 // groups up to this size show each number
	leastShape = 20 // groups from this size on show their density
)

// violin is a group, at whole number which of the horizontal axis.
type violin struct {
	which  int
	values []float64 // sorted
	at     []float64 // where the density is evaluated, on the vertical axis
	share  []float64 // of its greatest value
	median float64
}

func newViolin(values []float64, which int, log bool) violin {
	v := violin{which: which, values: slices.Clone(values)}
	slices.Sort(v.values)
	n := len(v.values)
	v.median = (v.values[(n-1)/2] + v.values[n/2]) / 2
	if n < leastShape || v.values[0] == v.values[n-1] {
		return v
	}
	scaled := slices.Clone(v.values)
	if log {
		for i := range scaled {
			scaled[i] = math.Log(scaled[i])
		}
	}
	h := bandwidth(scaled)
	lo, hi := scaled[0], scaled[n-1]
	const steps = 96
	greatest := 0.0
	for i := range steps + 1 {
		x := lo + (hi-lo)*float64(i)/steps
		density := 0.0
		for _, s := range scaled {
			density += math.Exp(-(x - s) * (x - s) / (2 * h * h))
		}
		greatest = max(greatest, density)
		if log {
			x = math.Exp(x)
		}
		v.at, v.share = append(v.at, x), append(v.share, density)
	}
	for i := range v.share {
		v.share[i] /= greatest
	}
	return v
}

// bandwidth is Silverman's rule for sorted numbers that are not all the same.
func bandwidth(sorted []float64) float64 {
	n := float64(len(sorted))
	var mean, squares float64
	for _, v := range sorted {
		mean += v / n
	}
	for _, v := range sorted {
		squares += (v - mean) * (v - mean)
	}
	spread := math.Sqrt(squares / (n - 1))
	if quartiles := sorted[3*(len(sorted)-1)/4] - sorted[(len(sorted)-1)/4]; quartiles > 0 {
		spread = min(spread, quartiles/1.34)
	}
	return 0.9 * spread * math.Pow(n, -0.2)
}

// DataRange returns the extent of the numbers.
func (v violin) DataRange() (xmin, xmax, ymin, ymax float64) {
	return float64(v.which) - 0.5, float64(v.which) + 0.5, v.values[0], v.values[len(v.values)-1]
}

// Plot draws shape, points and median.
func (v violin) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	colour := series[v.which%len(series)]
	centre := float64(v.which)
	const half = 0.38
	if len(v.at) > 0 {
		var outline []vg.Point
		for i := range v.at {
			outline = append(outline, vg.Point{X: x(centre - half*v.share[i]), Y: y(v.at[i])})
		}
		for i := len(v.at) - 1; i >= 0; i-- {
			outline = append(outline, vg.Point{X: x(centre + half*v.share[i]), Y: y(v.at[i])})
		}
		path := polygon(outline...)
		c.SetColor(fade(colour, 0.3))
		c.Fill(path)
		c.SetLineStyle(draw.LineStyle{Color: colour, Width: 1})
		c.Stroke(path)
	}
	if len(v.values) <= allPoints {
		c.SetColor(fade(colour, 0.8))
		for i, value := range v.values {
			// Neighbours in size move to different places, always the same ones: multiples of the golden ratio.
			_, turn := math.Modf(float64(i) * 0.6180339887)
			disc(&c, vg.Point{X: x(centre + 0.3*(turn-0.5)), Y: y(value)}, 1.7)
		}
	}
	at := y(v.median)
	c.StrokeLine2(draw.LineStyle{Color: ink, Width: 1.5}, x(centre-0.2), at, x(centre+0.2), at)
}
