package plots

import (
	"image"
	"image/color"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/pkg/core/tensors"
)

// near holds for a colour within a few levels of another in each channel.
func near(want color.NRGBA) func(color.NRGBA) bool {
	return func(c color.NRGBA) bool {
		d := func(a, b uint8) int { return max(int(a)-int(b), int(b)-int(a)) }
		return max(d(c.R, want.R), d(c.G, want.G), d(c.B, want.B)) <= 6
	}
}

// between01 returns the pixel at shares of the body's width, from the left, and height, from below.
func between01(body image.Rectangle, x, y float64) image.Point {
	return image.Pt(body.Min.X+int(math.Round(x*float64(body.Dx()))), body.Max.Y-int(math.Round(y*float64(body.Dy()))))
}

func close2(a, b image.Point, pixels int) bool {
	d := a.Sub(b)
	return max(d.X, -d.X, d.Y, -d.Y) <= pixels
}

func centre(r image.Rectangle) image.Point { return r.Min.Add(r.Max).Div(2) }

func column1(values ...float64) *tensors.Tensor {
	return tensors.FromFlatDataAndDimensions(values, len(values))
}

// place returns where a value lies on the first panel's axes, as shares.
func place(f *Figure, x, y float64) (u, v float64) {
	p := f.panels[0].axes
	return p.X.Norm(x), p.Y.Norm(y)
}

func TestLinesPutMarkersWhereTheValuesAre(t *testing.T) {
	for _, log := range []bool{false, true} {
		f := must(t, Lines{Lines: []Line{{X: []float64{1, 10, 100}, Y: []float64{1, 1000, 10}}}, LogX: log, LogY: log})
		img, body := render(t, f, nil)
		// The middle point: the marker is the widest thing in its surroundings.
		u, v := place(f, 10, 1000)
		want := map[bool][2]float64{false: {9.0 / 99, 1}, true: {0.5, 1}}[log]
		// Axes are a little wider than the data: 2 % across, 5 % up, on their own scale.
		wantU := (want[0] + 0.02) / 1.04
		wantV := (want[1] + 0.05) / 1.10
		if !log { // no room below zero: the values start at 1 of 1000
			wantU, wantV = 10/(100+0.02*99), 1000/(1000+0.05*999)
		}
		if math.Abs(u-wantU) > 0.005 || math.Abs(v-wantV) > 0.005 {
			t.Errorf("log %v: (10, 1000) at (%.3f, %.3f) of the axes: want (%.3f, %.3f)", log, u, v, wantU, wantV)
		}
		at := between01(body, u, v)
		if c := pixel(img, at.X, at.Y); !near(series[0])(c) {
			t.Errorf("log %v: %v at the marker", log, c)
		}
		// Left of the peak by a marker's width there is nothing but the marker.
		if _, n := extent(img, image.Rect(at.X-5, at.Y-5, at.X+6, at.Y+6), near(series[0])); n < 60 {
			t.Errorf("log %v: %d pixels of a marker", log, n)
		}
	}
}

func TestBandIsOneStandardError(t *testing.T) {
	f := must(t, Lines{Lines: []Line{{X: []float64{0, 1, 2}, Y: []float64{1, 1, 1}, Error: []float64{0.5, 0.25, 0.5}}}})
	img, body := render(t, f, nil)
	for _, c := range []struct{ x, half float64 }{{0.5, 0.375}, {1.5, 0.375}} {
		u, lowV := place(f, c.x, 1-c.half)
		_, highV := place(f, c.x, 1+c.half)
		column := between01(body, u, 0).X
		band, _ := extent(img, image.Rect(column, body.Min.Y, column+1, body.Max.Y), func(c color.NRGBA) bool { return int(c.B)-int(c.R) > 20 })
		low, high := between01(body, u, lowV).Y, between01(body, u, highV).Y
		if max(band.Max.Y-low, low-band.Max.Y, band.Min.Y-high, high-band.Min.Y) > 2 {
			t.Errorf("at %v: band from row %d to %d: want %d to %d", c.x, band.Min.Y, band.Max.Y, high, low)
		}
	}
	if y := f.panels[0].axes.Y; math.Abs(y.Min-0.45) > 1e-9 || math.Abs(y.Max-1.55) > 1e-9 { // from 0.5 to 1.5 and 5 % of it
		t.Errorf("axis from %v to %v", y.Min, y.Max)
	}
	// On a logarithmic axis an error larger than the value reaches the lower edge, and does not stretch the axis.
	f = must(t, Lines{Lines: []Line{{X: []float64{1, 2}, Y: []float64{1, 2}, Error: []float64{3, 0.1}}}, LogY: true})
	if low := f.panels[0].axes.Y.Min; low < 0.8 {
		t.Errorf("the axis starts at %v", low)
	}
	if _, err := f.PNG(); err != nil {
		t.Error(err)
	}
}

func TestCurvesAndReferencesOfLines(t *testing.T) {
	f := must(t, Lines{
		Curves:     []Curve{{"a", column1(0, 1), column1(0, 1)}, {"b", column1(0, 1), column1(1, 0)}},
		References: []Reference{{"level", 0.25}}, YMin: -1, YMax: 3,
	})
	img, body := render(t, f, nil)
	u, v := place(f, 0.25, 0.25)
	if y := f.panels[0].axes.Y; y.Min != -1 || y.Max != 3 || math.Abs(v-1.25/4) > 1e-9 {
		t.Errorf("axis from %v to %v", y.Min, y.Max)
	}
	at := between01(body, u, v)
	if _, n := extent(img, image.Rect(at.X-3, at.Y-3, at.X+4, at.Y+4), near(series[0])); n == 0 {
		t.Error("the first curve is not at (0.25, 0.25)")
	}
	at = between01(body, u, 1.75/4)
	if _, n := extent(img, image.Rect(at.X-20, at.Y-20, at.X+20, at.Y+20), near(series[1])); n == 0 {
		t.Error("the second curve is not at (0.25, 0.75)")
	}
	row := between01(body, 0, v).Y
	dashed, n := extent(img, image.Rect(body.Min.X+2, row-2, body.Max.X, row+3), dark)
	if dashed.Dx() < body.Dx()*9/10 || n < body.Dx()/2 {
		t.Errorf("reference drawn over %v of %v", dashed, body)
	}
	if keys := f.panels[0].keys; len(keys) != 3 || keys[2].name != "level, 0.25" {
		t.Errorf("legend %v", keys)
	}
}

func TestAveraged(t *testing.T) {
	line, err := Averaged("a", []float64{1, 2}, [][]float64{{1, 5}, {2, 5}, {6, 5}})
	if err != nil {
		t.Fatal(err)
	}
	// Mean 3; variance ((−2)² + (−1)² + 3²)/2 = 7; standard error √(7/3).
	if line.Y[0] != 3 || line.Y[1] != 5 || math.Abs(line.Error[0]-math.Sqrt(7.0/3)) > 1e-12 || line.Error[1] != 0 {
		t.Errorf("%+v", line)
	}
	for _, runs := range [][][]float64{nil, {{1, 2}}, {{1, 2}, {1}}, {{1, 2}, {1, math.NaN()}}} {
		if _, err := Averaged("a", []float64{1, 2}, runs); err == nil || !strings.HasPrefix(err.Error(), "plots: averaged: ") {
			t.Errorf("%v: error %v", runs, err)
		}
	}
}

func TestFitPower(t *testing.T) {
	x := []float64{1, 2, 4, 8, 16}
	exact := Line{X: x}
	for _, v := range x {
		exact.Y = append(exact.Y, 3*math.Pow(v, -1.5))
	}
	p, err := FitPower(exact)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(p.Exponent+1.5) > 1e-12 || math.Abs(p.Factor-3) > 1e-12 || p.StandardError > 1e-12 || math.Abs(p.At(4)-3.0/8) > 1e-12 {
		t.Errorf("exact law: %+v", p)
	}
	// log y = 0, 1, 0 at log x = −1, 0, 1: slope 0, mean 1/3, residuals −1/3, 2/3, −1/3, their squares' sum 2/3 over 1
	// degree of freedom; Σ(log x)² = 2; the standard error is √(2/3/2) = 1/√3.
	e := math.E
	p, err = FitPower(Line{X: []float64{1 / e, 1, e}, Y: []float64{1, e, 1}})
	if err != nil || math.Abs(p.Exponent) > 1e-12 || math.Abs(p.StandardError-1/math.Sqrt(3)) > 1e-12 || math.Abs(p.Factor-math.Exp(1.0/3)) > 1e-12 {
		t.Errorf("three points: %+v, error %v", p, err)
	}
	// Two values far more exact than the third fix the law.
	p, err = FitPower(Line{X: []float64{1, 2, 4}, Y: []float64{1, 2, 100}, Error: []float64{1e-6, 2e-6, 50}})
	if err != nil || math.Abs(p.Exponent-1) > 1e-5 {
		t.Errorf("weighted: %+v, error %v", p, err)
	}

	// Both standard errors against the spread of 4000 fits to noisy values; a variance from n fits has a relative standard
	// error of √(2/n), its root half of that: 1.1 %. 5 % is over four of them, and leaves the logarithm's curvature (5 %
	// noise) its 0.3 %.
	rng := rand.New(rand.NewPCG(5, 6))
	for _, known := range []bool{true, false} {
		const n = 4000
		var sum, squares, stated float64
		for range n {
			l := Line{X: x, Y: make([]float64, len(x))}
			for i, v := range exact.Y {
				l.Y[i] = v * (1 + 0.05*rng.NormFloat64())
			}
			if known {
				l.Error = make([]float64, len(x))
				for i := range l.Error {
					l.Error[i] = 0.05 * l.Y[i]
				}
			}
			p, err := FitPower(l)
			if err != nil {
				t.Fatal(err)
			}
			sum, squares = sum+p.Exponent, squares+p.Exponent*p.Exponent
			stated += p.StandardError * p.StandardError / n
		}
		spread := math.Sqrt(squares/n - sum/n*sum/n)
		if ratio := math.Sqrt(stated) / spread; math.Abs(ratio-1) > 0.05 {
			t.Errorf("errors known %v: stated %.4f, spread %.4f", known, math.Sqrt(stated), spread)
		}
	}
}

func TestPowerLawDrawsItsFit(t *testing.T) {
	x := []float64{1, 10, 100, 1000}
	f := must(t, PowerLaw{Lines: []Line{{X: x, Y: []float64{900, 1, 0.1, 0.01}}}, From: 10, Expected: -2})
	img, body := render(t, f, nil)
	keys := f.panels[0].keys
	if len(keys) != 2 || !strings.HasPrefix(keys[0].name, "slope −1.000 ± 0.000") || keys[1].name != "slope −2 expected" {
		t.Errorf("legend %q, %q", keys[0].name, keys[len(keys)-1].name)
	}
	// The fitted line of slope −1 through (10^1.5, 10^−0.5); nothing of it left of From; the guide through its middle, 10².
	for _, c := range []struct {
		x, y   float64
		colour func(color.NRGBA) bool
		drawn  bool
	}{
		{math.Pow(10, 1.5), math.Pow(10, -0.5), near(series[0]), true},
		{math.Pow(10, 2.5), math.Pow(10, -1.5), near(series[0]), true},
		{math.Pow(10, 0.5), math.Pow(10, 0.5), near(series[0]), false},
		{1, 900, near(series[0]), true}, // a point that is not fitted
		{math.Pow(10, 1.1), math.Pow(10, 0.8), dark, true},
		{math.Pow(10, 2.9), math.Pow(10, -2.8), dark, true},
	} {
		u, v := place(f, c.x, c.y)
		at := between01(body, u, v)
		if _, n := extent(img, image.Rect(at.X-12, at.Y-12, at.X+13, at.Y+13), c.colour); n > 0 != c.drawn {
			t.Errorf("at (%.3g, %.3g): drawn %v, want %v", c.x, c.y, n > 0, c.drawn)
		}
	}
}

func TestBarsStandOnZero(t *testing.T) {
	f := must(t, Bars{Groups: []string{"a", "b"}, Sets: []BarSet{
		{Name: "one", Values: []float64{4, -2}}, {Name: "two", Values: []float64{2, 1}, Error: []float64{1, 0}}}})
	img, body := render(t, f, nil)
	for set, values := range [][]float64{{4, -2}, {2, 1}} {
		for group, value := range values {
			x := float64(group) + 0.38*(float64(set)-0.5) // two bars fill 0.76 of a place
			u, v0 := place(f, x+0.1, 0)
			_, v := place(f, x+0.1, value)
			column := between01(body, u, 0).X
			got, _ := extent(img, image.Rect(column, body.Min.Y, column+1, body.Max.Y), near(series[set]))
			top, bottom := between01(body, u, max(v, v0)).Y, between01(body, u, min(v, v0)).Y
			if max(got.Min.Y-top, top-got.Min.Y, got.Max.Y-bottom, bottom-got.Max.Y) > 2 {
				t.Errorf("set %d, group %d: rows %d to %d: want %d to %d", set, group, got.Min.Y, got.Max.Y, top, bottom)
			}
		}
	}
	// The whisker of 2 ± 1.
	u, low := place(f, 0.19, 1)
	_, high := place(f, 0.19, 3)
	column := between01(body, u, 0).X
	whisker, _ := extent(img, image.Rect(column-1, between01(body, 0, high).Y-6, column+2, between01(body, 0, low).Y+6), dark)
	if top, bottom := between01(body, u, high).Y, between01(body, u, low).Y; max(whisker.Min.Y-top, top-whisker.Min.Y, whisker.Max.Y-bottom, bottom-whisker.Max.Y) > 3 {
		t.Errorf("whisker from row %d to %d: want %d to %d", whisker.Min.Y, whisker.Max.Y, top, bottom)
	}
}

func TestHeatMapIsWrittenFromTheTop(t *testing.T) {
	values := [][]float64{{2, -1, 0}, {1, 0, -2}}
	f := must(t, HeatMap{Values: values, Label: "covariance"})
	img, body := render(t, f, nil)
	for i, row := range values {
		for j, v := range row {
			at := image.Pt(body.Min.X+body.Dx()*(6*j+1)/18, body.Min.Y+body.Dy()*(12*i+1)/24) // beside the number
			want := diverging[int(math.Round(255*(v+2)/4))]
			if c := pixel(img, at.X, at.Y); !near(want)(c) {
				t.Errorf("row %d, column %d: colour %v, want %v", i, j, c, want)
			}
		}
	}
	svg := svgTexts(t, f)
	for _, want := range []string{"2.00", "−1.00", "0.00", "−2.00", "covariance", "1", "3"} {
		if !strings.Contains(svg, "\n"+want+"\n") {
			t.Errorf("no %q written", want)
		}
	}
	// Names: the first row's is above the second's.
	named := must(t, HeatMap{Values: values, Rows: []string{"first", "second"}, Columns: []string{"p", "q", "r"}})
	if p := named.panels[0]; p.namesY[1] != "first" || p.namesX[0] != "p" {
		t.Errorf("names %v, %v", p.namesX, p.namesY)
	}
	// Without negative numbers white is zero, and a limit is the fullest colour.
	f = must(t, HeatMap{Values: [][]float64{{0, 1}, {3, 9}}, Limit: 4})
	img, body = render(t, f, nil)
	for i, want := range []color.NRGBA{sequential[0], sequential[64], sequential[191], sequential[255]} {
		at := image.Pt(body.Min.X+body.Dx()*(6*(i%2)+1)/12, body.Min.Y+body.Dy()*(12*(i/2)+1)/24)
		if c := pixel(img, at.X, at.Y); !near(want)(c) {
			t.Errorf("cell %d: colour %v, want %v", i, c, want)
		}
	}
	// 64 × 64 numbers have no room.
	big := make([][]float64, 64)
	for i := range big {
		big[i] = make([]float64, 64)
	}
	if got := svgTexts(t, must(t, HeatMap{Values: big})); strings.Contains(got, "0.00") || strings.Count(got, "\n") > 40 {
		t.Errorf("texts %q", got)
	}
}

func TestViolins(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	skew := make([]float64, 400)
	for i := range skew {
		skew[i] = math.Exp(0.5 * rng.NormFloat64())
	}
	f := must(t, Violins{Groups: []Sample{{"few", []float64{1, 2, 4}}, {"many", skew}}, Log: true})
	img, body := render(t, f, nil)
	for group, median := range []float64{2, newViolin(skew, 1, true).median} {
		u, v := place(f, float64(group), median)
		at := between01(body, u, v)
		line, _ := extent(img, image.Rect(at.X-40, at.Y-3, at.X+41, at.Y+4), dark)
		if !close2(centre(line), at, 2) {
			t.Errorf("group %d: median at %v, want %v", group, centre(line), at)
		}
	}
	// The shape is symmetric about its place.
	u, v := place(f, 1, 1.5)
	row := between01(body, u, v)
	shape, _ := extent(img, image.Rect(body.Min.X+body.Dx()/2, row.Y, body.Max.X, row.Y+1), func(c color.NRGBA) bool { return int(c.R)-int(c.B) > 25 })
	if d := shape.Min.X + shape.Max.X - 2*row.X; shape.Dx() < 20 || max(d, -d) > 3 {
		t.Errorf("the shape covers %v to %v about %v", shape.Min.X, shape.Max.X, row.X)
	}
	// A normal sample: s and IQR/1.34 agree; the rule is 0.9·σ·n^(−1/5). Quantiles of a grid stand in for draws.
	var grid []float64
	for i := range 999 {
		grid = append(grid, math.Sqrt2*math.Erfinv(2*float64(i+1)/1000-1))
	}
	if h := bandwidth(grid); math.Abs(h/(0.9*math.Pow(999, -0.2))-1) > 0.02 {
		t.Errorf("bandwidth %v", h)
	}
	if h := bandwidth([]float64{0, 0, 0, 0, 1}); math.Abs(h-0.9*math.Sqrt(0.2)*math.Pow(5, -0.2)) > 1e-12 {
		t.Errorf("bandwidth without quartiles: %v", h)
	}
}

func TestPathsAreDrawn(t *testing.T) {
	f := must(t, Paths{X: []float64{0, 1, 2}, Paths: [][]float64{{0, 1, 0}, {0, -1, 0}}, Name: "2 paths", Curves: []Curve{{"mean", column1(0, 2), column1(0, 0)}}})
	img, body := render(t, f, nil)
	for _, c := range []struct {
		x, y   float64
		colour func(color.NRGBA) bool
	}{
		{0.5, 0.5, func(c color.NRGBA) bool { return int(c.B)-int(c.R) > 40 }},
		{1.5, -0.5, func(c color.NRGBA) bool { return int(c.B)-int(c.R) > 40 }},
		{1.2, 0, near(series[1])},
	} {
		u, v := place(f, c.x, c.y)
		at := between01(body, u, v)
		if _, n := extent(img, image.Rect(at.X-3, at.Y-3, at.X+4, at.Y+4), c.colour); n == 0 {
			t.Errorf("nothing at (%v, %v)", c.x, c.y)
		}
	}
}
