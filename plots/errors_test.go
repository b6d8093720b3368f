package plots

import (
	"math"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/shapes"
	"github.com/gomlx/gomlx/pkg/core/tensors"
)

func TestBadInputIsNamed(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	square := Window{0, 1, 0, 1}
	lattice := Lattice{square, 2, 1}
	fields := []Field{{"s", points(1, 0, 0, 1)}}
	images := tensors.FromFlatDataAndDimensions(make([]float32, 24), 4, 6)
	row := func(v ...float64) *tensors.Tensor { return tensors.FromFlatDataAndDimensions(v, len(v)) }
	gone := points(1, 2)
	gone.MustFinalizeAll()
	figure := func(f interface{ Figure() (*Figure, error) }) func() (*Figure, error) { return f.Figure }
	sets := func(p *tensors.Tensor) func() (*Figure, error) { return Scatter{Sets: []PointSet{{Points: p}}}.Figure }
	runs := func(r ...Run) func() (*Figure, error) { return LossCurve{Runs: r}.Figure }

	for _, c := range []struct {
		call func() (*Figure, error)
		want string // the words that the error must hold, after "plots: "
	}{
		{sets(nil), "scatter: set 0: nil"},
		{sets(gone), "scatter: set 0: "},
		{sets(tensors.FromScalar(1.0)), "a scalar"},
		{sets(tensors.FromShape(shapes.Make(dtypes.Float32, 0, 2))), "shape [0 2]: empty"},
		{sets(tensors.FromFlatDataAndDimensions([]int32{1, 2}, 1, 2)), "dtype Int32: must be Float32 or Float64"},
		{sets(row(1, 2)), "shape [2]: must be [n, 2]"},
		{sets(tensors.FromFlatDataAndDimensions([]float64{1, 2, 3}, 1, 3)), "shape [1 3]: must be [n, 2]"},
		{sets(tensors.FromFlatDataAndDimensions([]float64{1, 2}, 1, 1, 2)), "shape [1 1 2]: must be [n, 2]"},
		{sets(points(1, 2, 3, nan)), "row 1, column 1: NaN: must be finite"},
		{sets(points(1, 2, inf, 4)), "row 1, column 0: +Inf: must be finite"},
		{sets(points(-math.MaxFloat64, 0, math.MaxFloat64, 0)), "too far apart"},
		{figure(Scatter{}), "scatter: no sets"},
		{figure(Scatter{Sets: []PointSet{{"a", points(1, 2)}, {"", points(1, 2)}}}), "set 1: no name"},
		{figure(Scatter{Sets: []PointSet{{"", points(1, 2)}}, Window: Window{1, 0, 0, 1}}), "window x 1 to 0"},
		{figure(Scatter{Sets: []PointSet{{"", points(1, 2)}}, Window: Window{0, nan, 0, 1}}), "must be finite"},
		{figure(Scatter{Sets: []PointSet{{"", points(9, 9)}}, Window: Window{0, 1, 0, 30}}), "at most 20 times"},
		{figure(Scatter{Sets: []PointSet{{"", points(9, 9)}}, Window: Window{1e9, 1e9 + 1e-3, 0, 1e-3}}), "too narrow"},
		{figure(Scatter{Sets: []PointSet{{"", points(9, 9)}}, Window: square}), "no point inside"},
		{figure(ScoreField{Fields: fields}), "score field: lattice: window"},
		{figure(ScoreField{Lattice: Lattice{square, 0, 1}, Fields: fields}), "0 × 1 cells: must be at least 1 × 1"},
		{figure(ScoreField{Lattice: lattice}), "no fields"},
		{figure(ScoreField{Lattice: Lattice{square, 3, 1}, Fields: fields}), "field 0 (s): 2 scores: must be 3"},
		{figure(ScoreField{Lattice: lattice, Fields: []Field{{"s", points(nan, 0, 0, 0)}}}), "field 0 (s): row 0, column 0: NaN"},
		{figure(ScoreField{Lattice: lattice, Fields: fields, Density: Density{Lattice: lattice, Log: row(1, 2, 3)}}), "log-density: 3 values: must be 2"},
		{figure(ScoreField{Lattice: lattice, Fields: fields, Density: Density{Lattice: lattice, Log: row(0, nan)}}), "log-density: row 1, column 0: NaN"},
		{figure(ScoreField{Lattice: lattice, Fields: fields, Density: Density{Lattice: lattice, Log: row(-inf, -inf)}}), "−Inf everywhere"},
		{figure(ScoreField{Lattice: lattice, Fields: fields, Density: Density{Lattice: lattice, Log: row(0, 800)}}), "set Relative"},
		{figure(ScoreField{Lattice: lattice, Fields: fields, Density: Density{Lattice: lattice, Log: points(1, 2)}}), "must be [n] or [n, 1]"},
		{figure(ScoreField{Lattice: lattice, Fields: fields, Density: Density{Lattice: Lattice{Window{0, 2, 0, 1}, 2, 1}, Log: row(1, 2)}}), "must be that of the scores"},
		{runs(), "loss curve: no runs"},
		{runs(Run{Loss: []float64{1}}), "run 0: 1 losses: must be at least 2"},
		{runs(Run{Loss: []float64{1, nan, 2}, Steps: []int{10, 20, 30}}), "loss 1, at step 20: NaN: must be finite"},
		{runs(Run{Loss: []float64{1, 2}, Steps: []int{1}}), "1 steps for 2 losses"},
		{runs(Run{Loss: []float64{1, 2}, Steps: []int{3, 3}}), "step 3 after step 3: must increase"},
		{runs(Run{Loss: []float64{1, 2}}, Run{Loss: []float64{1, 2}}), "run 0: no name"},
		{figure(LossCurve{Runs: []Run{{Loss: []float64{1, 0}}}, Log: true}), "must be positive on a logarithmic scale"},
		{figure(LossCurve{Runs: []Run{{Loss: []float64{1, 2}}}, Smooth: -1}), "smooth -1"},
		{figure(LossCurve{Runs: []Run{{Loss: []float64{1, 2}}}, Reference: Reference{"floor", nan}}), `reference "floor": NaN`},
		{figure(LossCurve{Runs: []Run{{Loss: []float64{1, 2}}}, Reference: Reference{"floor", -1}, Log: true}), `must be positive`},
		{figure(LossCurve{Runs: []Run{{Loss: []float64{-math.MaxFloat64, math.MaxFloat64}}}}), "too far apart"},
		{figure(Histogram{}), "histogram: values: nil"},
		{figure(Histogram{Values: points(1, 2)}), "must be [n] or [n, 1]"},
		{figure(Histogram{Values: row(1, 2), Bins: -1}), "-1 bins"},
		{figure(Histogram{Values: row(1, 2), Min: 2, Max: 1}), "histogram: range 2 to 1"},
		{figure(Histogram{Values: row(1, 2), Min: 3, Max: 4}), "range 3 to 4: no value inside"},
		{figure(Histogram{Values: row(-math.MaxFloat64, math.MaxFloat64)}), "too far apart"},
		{figure(Histogram{Values: row(1, 2), Curves: []Curve{{"", row(1, 2), row(1, 2)}}}), "curve 0 (): no name"},
		{figure(Histogram{Values: row(1, 2), Curves: []Curve{{"p", row(1, 2), row(1)}}}), "2 values of X, 1 of Y"},
		{figure(Histogram{Values: row(1, 2), Curves: []Curve{{"p", row(2, 1), row(1, 1)}}}), "row 1 of X: 1 after 2: must increase"},
		{figure(ImageGrid{}), "image grid: images: nil"},
		{figure(ImageGrid{Images: images}), "6 pixels each: not a square"},
		{figure(ImageGrid{Images: images, Pixels: Pixels{Height: 2, Width: 2}}), "must be Height × Width, 2 × 2"},
		{figure(ImageGrid{Images: row(1, 2)}), "must be [n, h·w]"},
		{figure(ImageGrid{Images: images, Columns: -1}), "-1 columns"},
		{figure(ImageGrid{Images: images, Rows: -1}), "-1 rows"},
		{figure(ImageGrid{Images: images, Pixels: Pixels{Height: 2, Width: 3, Min: 1, Max: 1}}), "Min below Max"},
		{figure(PointStrip{}), "point strip: no frames"},
		{figure(PointStrip{Frames: []Frame{{"σ = 1", points(nan, 0)}}}), "frame 0 (σ = 1): row 0, column 0: NaN"},
		{figure(PointStrip{Frames: []Frame{{"a", points(0, 0)}, {"b", points(9, 9)}}, Window: Window{-1, 1, -1, 1}}), "frame 1 (b): no point inside"},
		{figure(ImageStrip{}), "image strip: no frames"},
		{figure(ImageStrip{Frames: []Frame{{"a", row(1)}}}), "must be [n, h·w]"},
		{figure(ImageStrip{Frames: []Frame{
			{"a", tensors.FromFlatDataAndDimensions(make([]float32, 8), 2, 4)}, {"b", tensors.FromFlatDataAndDimensions(make([]float32, 4), 1, 4)}}}),
			"frame 1 (b): 1 images of 2 × 2: must be 2 of 2 × 2"},
		{figure(PointStrip{Frames: []Frame{{"a", points(0, 0)}}, Densities: make([]Density, 2)}), "2 densities for 1 frames"},
		{figure(PointStrip{Frames: []Frame{{"a", points(0, 0)}}, Densities: make([]Density, 1)}), "density 0: density: lattice: window"},
		{figure(Scatter{Sets: []PointSet{{"", points(0, 0)}}, Density: Density{Log: row(1)}}), "scatter: density: lattice: window"},
		{figure(ImageGrid{Images: images, Pixels: Pixels{Height: 2, Width: 3}, Labels: []string{"a"}}), "1 labels for 4 images"},
		{figure(DensityMap{}), "density map: density: lattice: window"},
		{figure(DensityMap{Contours: -1}), "-1 contours: must be 0 to 20"},
		{figure(DensityMap{Density: Density{Lattice: lattice, Log: row(0, 0), Top: -1}}), "density: top -1: must be 0 or positive"},
		{figure(DensityMap{Density: Density{Lattice: lattice, Log: row(0, 0), Top: nan}}), "density: top NaN"},
		{figure(EnergySurface{}), "energy surface: lattice: window"},
		{figure(EnergySurface{Lattice: lattice, Energy: row(1, -inf)}), "energy: row 1, column 0: -Inf"},
		{figure(EnergySurface{Lattice: lattice, Energy: row(1)}), "energy: 1 values: must be 2"},
		{figure(EnergySurface{Lattice: lattice, Energy: row(1, 1)}), "energy from 1 to a top of 1: the top must be finite and above"},
		{figure(EnergySurface{Lattice: lattice, Energy: row(1, 2), Top: nan}), "a top of NaN"},
		{figure(EnergySurface{Lattice: lattice, Energy: row(1, 2), Contours: 21}), "21 contours"},
		{figure(Trajectories{}), "trajectories: no paths"},
		{figure(Trajectories{Paths: []Path{{}, {}}}), "path 0: no name"},
		{figure(Trajectories{Paths: []Path{{States: []*tensors.Tensor{points(0, 0)}}}}), "path 0: 1 states: must be at least 2"},
		{figure(Trajectories{Paths: []Path{{States: []*tensors.Tensor{points(0, 0), points(0, 0, 1, 1)}}}}), "path 0: state 1: 2 chains: must be 1"},
		{figure(Trajectories{Paths: []Path{{Name: "a", States: []*tensors.Tensor{points(0, 0), points(0, nan)}}}}), "path 0 (a): state 1: row 0, column 1: NaN"},
		{figure(Trajectories{Paths: []Path{{States: []*tensors.Tensor{points(0, 0), points(0, 0)}, Chains: -1}}}), "-1 chains"},
		{figure(Trajectories{Paths: []Path{{States: []*tensors.Tensor{points(0, 0), points(0, 0)}}}, Density: Density{Lattice: lattice, Log: row(0, 0)}, Window: Window{0, 2, 0, 2}}), "must be that of the density"},
		{figure(HistogramStrip{}), "histogram strip: no frames"},
		{figure(HistogramStrip{Frames: []Frame{{"a", row(1, 1)}}}), "range 1 to 1"},
		{figure(HistogramStrip{Frames: []Frame{{"a", row(1, 1)}}, Min: 2, Max: 3}), "range 2 to 3: no number inside"},
		{figure(HistogramStrip{Frames: []Frame{{"a", row(1, nan)}}}), "frame 0 (a): row 1, column 0: NaN"},
		{figure(HistogramStrip{Frames: []Frame{{"a", row(1, 2)}}, Bins: -1}), "-1 bins"},
		{figure(HistogramStrip{Frames: []Frame{{"a", row(1, 2)}}, Curves: make([]Curve, 2)}), "2 curves for 1 frames"},
		{figure(HistogramStrip{Frames: []Frame{{"a", row(1, 2)}}, Curves: make([]Curve, 1)}), "curve 0 (): no name"},
		{figure(Lines{}), "lines: no lines and no curves"},
		{figure(Lines{Lines: []Line{{}}}), "line 0: 0 values of X, 0 of Y"},
		{figure(Lines{Lines: []Line{{}, {}}}), "line 0: no name"},
		{figure(Lines{Lines: []Line{{Name: "a", X: []float64{1, 1}, Y: []float64{1, 2}}}}), "line 0 (a): X 1: 1 after 1: must increase"},
		{figure(Lines{Lines: []Line{{X: []float64{1}, Y: []float64{nan}}}}), "line 0: Y 0: NaN: must be finite"},
		{figure(Lines{Lines: []Line{{X: []float64{0}, Y: []float64{1}}}, LogX: true}), "X 0: 0: must be positive on a logarithmic scale"},
		{figure(Lines{Lines: []Line{{X: []float64{1}, Y: []float64{-1}}}, LogY: true}), "Y 0: -1: must be positive"},
		{figure(Lines{Lines: []Line{{X: []float64{1}, Y: []float64{1}, Error: []float64{}}}}), "0 standard errors for 1 values"},
		{figure(Lines{Lines: []Line{{X: []float64{1}, Y: []float64{1}, Error: []float64{-1}}}}), "standard error 0: -1: must be 0 or more"},
		{figure(Lines{Curves: []Curve{{"p", row(0, 1), row(1, 1)}}, LogX: true}), "curve 0 (p): X 0: 0: must be positive"},
		{figure(Lines{Curves: []Curve{{"p", row(0, 1), row(1, 1)}}, References: []Reference{{"", 1}}}), "reference 0: no name"},
		{figure(Lines{Curves: []Curve{{"p", row(0, 1), row(1, 1)}}, YMin: 2, YMax: 1}), "vertical axis from 2 to 1"},
		{figure(Lines{Curves: []Curve{{"p", row(0, 1), row(1, 1)}}, YMax: 1, LogY: true}), "vertical axis from 0: must be positive"},
		{figure(Lines{Curves: []Curve{{"p", row(0, 1), row(-math.MaxFloat64, math.MaxFloat64)}}}), "too far apart"},
		{figure(PowerLaw{}), "power law: no lines"},
		{figure(PowerLaw{Lines: []Line{{X: []float64{1, 2}, Y: []float64{1, 2}}}}), "line 0: 2 values to fit: must be at least 3"},
		{figure(PowerLaw{Lines: []Line{{X: []float64{1, 2, 3}, Y: []float64{1, 2, 0}}}}), "Y 2: 0: must be positive"},
		{figure(PowerLaw{Lines: []Line{{X: []float64{1, 2, 3}, Y: []float64{1, 2, 3}, Error: []float64{1, 0, 1}}}}), "standard error 1: 0: must be positive to be a weight"},
		{figure(PowerLaw{Lines: []Line{{X: []float64{1, 2, 3}, Y: []float64{1, 2, 3}}}, From: -1}), "from -1"},
		{figure(PowerLaw{Lines: []Line{{X: []float64{1, 2, 3}, Y: []float64{1, 2, 3}}}, From: 9}), "0 values to fit"},
		{figure(PowerLaw{Lines: []Line{{X: []float64{1, 2, 3}, Y: []float64{1, 2, 3}}}, Expected: inf}), "expected slope +Inf"},
		{figure(Bars{}), "bars: no groups"},
		{figure(Bars{Groups: []string{"a"}}), "no sets"},
		{figure(Bars{Groups: []string{"a"}, Sets: []BarSet{{}}}), "set 0: 0 values: must be 1"},
		{figure(Bars{Groups: []string{"a"}, Sets: []BarSet{{}, {}}}), "set 0: no name"},
		{figure(Bars{Groups: []string{"a"}, Sets: []BarSet{{Values: []float64{nan}}}}), "value 0 (a): NaN"},
		{figure(Bars{Groups: []string{"a"}, Sets: []BarSet{{Values: []float64{1}, Error: []float64{inf}}}}), "standard error 0 (a): +Inf"},
		{figure(Bars{Groups: []string{"a"}, Sets: []BarSet{{Values: []float64{1}}}, Reference: Reference{"r", nan}}), `reference "r": NaN`},
		{figure(HeatMap{}), "heat map: no values"},
		{figure(HeatMap{Values: [][]float64{{1, 2}, {1}}}), "row 1: 1 values: must be 2"},
		{figure(HeatMap{Values: [][]float64{{1, nan}}}), "row 0, column 1: NaN"},
		{figure(HeatMap{Values: [][]float64{{1}}, Rows: []string{}}), "0 names of rows: must be 1"},
		{figure(HeatMap{Values: [][]float64{{1}}, Columns: []string{"a", "b"}}), "2 names of columns: must be 1"},
		{figure(HeatMap{Values: [][]float64{{1}}, Limit: -1}), "limit -1"},
		{figure(HeatMap{Values: [][]float64{make([]float64, 21)}}), "at most 20 times"},
		{figure(Violins{}), "violins: no groups"},
		{figure(Violins{Groups: []Sample{{"", nil}}}), "group 0: no name"},
		{figure(Violins{Groups: []Sample{{"a", nil}}}), "group 0 (a): no numbers"},
		{figure(Violins{Groups: []Sample{{"a", []float64{nan}}}}), "number 0: NaN"},
		{figure(Violins{Groups: []Sample{{"a", []float64{0}}}, Log: true}), "number 0: 0: must be positive"},
		{figure(Paths{}), "paths: no paths"},
		{figure(Paths{X: []float64{1}, Paths: [][]float64{{1}}}), "1 values of X: must be at least 2"},
		{figure(Paths{X: []float64{1, 2}, Paths: [][]float64{{1}}}), "path 0: 2 values of X, 1 of Y"},
		{figure(Paths{X: []float64{1, 2}, Paths: [][]float64{{1, 2}}, Curves: make([]Curve, 1)}), "curve 0: no name"},
		{func() (*Figure, error) { return Row() }, "panels: no figures"},
		{func() (*Figure, error) { return Row(nil) }, "figure 0: nil"},
		{func() (*Figure, error) { return Panels(0, &Figure{}) }, "0 columns"},
	} {
		f, err := c.call()
		if err == nil {
			t.Errorf("%v: no error: want %q", f.Alt, c.want)
			continue
		}
		if f != nil || !strings.HasPrefix(err.Error(), "plots: ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %q: want %q in it", err, c.want)
		}
	}
}

func TestFiguresThatCannotBeDrawn(t *testing.T) {
	long := "a title far wider than the figure that it stands above may ever be, so that its panel has no room left at all on the page, however it is laid out"
	fine := must(t, Scatter{Sets: []PointSet{{Points: points(1, 2)}}})
	for _, c := range []struct {
		figure *Figure
		want   string
	}{
		{nil, "no panels"},
		{&Figure{}, "no panels"},
		{&Figure{Width: -1, panels: fine.panels, columns: 1}, "width -1 cm"},
		{&Figure{Width: math.NaN(), panels: fine.panels, columns: 1}, "width NaN cm"},
		{&Figure{Width: 1, panels: fine.panels, columns: 1}, "leave no room"},
		{must(t, Scatter{Title: "∇ log p", Sets: []PointSet{{Points: points(1, 2)}}}), `text "∇ log p": the typeface has no '∇'`},
		{must(t, PointStrip{Title: long + long, Frames: []Frame{{"", points(1, 2)}}}), "its title leaves no room"},
		{must(t, ImageGrid{Images: tensors.FromFlatDataAndDimensions([]float32{1}, 1, 1), Labels: []string{"∈"}}), `text "∈"`},
		{must(t, Scatter{Title: long, Sets: []PointSet{{Points: points(1, 2)}}}), "leave no room for 1 panels"},
	} {
		for name, encode := range map[string]func(*Figure) ([]byte, error){"PNG": (*Figure).PNG, "SVG": (*Figure).SVG} {
			if _, err := encode(c.figure); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: error %v: want %q in it", name, err, c.want)
			}
		}
	}
}

// TestExtremesAreDrawn holds what is unusual but has a picture.
func TestExtremesAreDrawn(t *testing.T) {
	one := tensors.FromFlatDataAndDimensions([]float64{5, 5, 5}, 3)
	for _, f := range []*Figure{
		must(t, Scatter{Sets: []PointSet{{Points: points(3, 3)}}}),                    // one point
		must(t, Scatter{Sets: []PointSet{{Points: points(1e9, 1, 1e9, 2)}}}),          // a vertical line far away
		must(t, Scatter{Sets: []PointSet{{Points: points(1e-9, 0, 3e-9, 1e-9)}}}),     // tiny
		must(t, Scatter{Sets: []PointSet{{Points: points(1e9, 1e9, 1e9+1e-6, 1e9)}}}), // tiny and far away
		must(t, Histogram{Values: tensors.FromFlatDataAndDimensions([]float64{1e9, 1e9 + 1e-6}, 2)}),
		must(t, Histogram{Values: one}),                                                   // one value
		must(t, LossCurve{Runs: []Run{{Loss: []float64{2, 2}}}}),                          // a constant
		must(t, LossCurve{Runs: []Run{{Loss: []float64{2, 2}}}, Log: true}),               // a constant
		must(t, LossCurve{Runs: []Run{{Loss: []float64{1e-12, 1e12}}}, Log: true}),        // many decades
		must(t, ImageGrid{Images: tensors.FromFlatDataAndDimensions([]float32{1}, 1, 1)}), // one pixel
		must(t, ImageGrid{Images: tensors.FromFlatDataAndDimensions(make([]float32, 3000), 3000, 1), Columns: 60}),
		must(t, ScoreField{Lattice: Lattice{Window{0, 1, 0, 1}, 1, 2}, Fields: []Field{{"", points(0, 0, 0, 0)}}}), // a zero field
		must(t, ScoreField{Lattice: Lattice{Window{0, 1, 0, 1}, 1, 2}, Fields: []Field{{"", points(0, 0, 0, 0)}}, Magnitude: true}),
		must(t, DensityMap{Density: Density{Lattice: Lattice{Window{0, 1, 0, 1}, 1, 1}, Log: tensors.FromFlatDataAndDimensions([]float64{0}, 1)}, Contours: 3}), // one cell
		must(t, EnergySurface{Lattice: Lattice{Window{0, 1, 0, 1}, 2, 1}, Energy: tensors.FromFlatDataAndDimensions([]float64{1e6, 3e6}, 2), Relief: true}),
		must(t, HeatMap{Values: [][]float64{{0}}}),                                                // all zero
		must(t, HeatMap{Values: [][]float64{{1e-9, -1e-9}}}),                                      // tiny
		must(t, Bars{Groups: []string{"a"}, Sets: []BarSet{{Values: []float64{0}}}}),              // a bar of no height
		must(t, Bars{Groups: []string{"a"}, Sets: []BarSet{{Values: []float64{-1}}}}),             // all below zero
		must(t, Lines{Lines: []Line{{X: []float64{1}, Y: []float64{1}}}, LogX: true, LogY: true}), // one value
		must(t, Lines{Lines: []Line{{X: []float64{1e-9, 1e9}, Y: []float64{1e-9, 1e9}}}, LogX: true, LogY: true}),
		must(t, Violins{Groups: []Sample{{"a", make([]float64, 100)}}}),                               // one number, 100 times
		must(t, Trajectories{Paths: []Path{{States: []*tensors.Tensor{points(1, 1), points(1, 1)}}}}), // a chain that rests
	} {
		if _, err := f.PNG(); err != nil {
			t.Errorf("%s: %v", f.Alt, err)
		}
	}
}
