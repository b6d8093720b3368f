package plots

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image"
	"image/color"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	"gonum.org/v1/plot/vg"
)

// svgTexts returns what is written in a figure, each text on a line.
func svgTexts(t *testing.T, f *Figure) string {
	t.Helper()
	data, err := f.SVG()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	out.WriteString("\n")
	in := ""
	for decoder := xml.NewDecoder(bytes.NewReader(data)); ; {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return out.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			in = token.Name.Local
		case xml.CharData:
			if in == "text" {
				out.WriteString(string(token) + "\n")
			}
		case xml.EndElement:
			in = ""
		}
	}
}

// on evaluates a function at a lattice's points.
func on(t *testing.T, l Lattice, f func(x, y float64) float64) *tensors.Tensor {
	t.Helper()
	points, err := l.Points(dtypes.Float64)
	if err != nil {
		t.Fatal(err)
	}
	at := tensors.MustCopyFlatData[float64](points)
	out := make([]float64, len(at)/2)
	for i := range out {
		out[i] = f(at[2*i], at[2*i+1])
	}
	return tensors.FromFlatDataAndDimensions(out, len(out))
}

func TestContoursFollowTheLevel(t *testing.T) {
	lattice := Lattice{Window{-3, 3, -3, 3}, 90, 90}
	normal := on(t, lattice, func(x, y float64) float64 { return -(x*x + y*y) / 2 })
	f := must(t, DensityMap{Density: Density{Lattice: lattice, Log: normal, Relative: true}, Contours: 2})
	img, body := render(t, f, nil)
	// Its only round value between 0 and 1 is ½, on the circle r² = 2 log 2.
	if levels := f.panels[0].bar.levels; len(levels) != 1 || levels[0] != 0.5 {
		t.Fatalf("levels %v", levels)
	}
	r := math.Sqrt(2 * math.Log(2))
	line := func(c color.NRGBA) bool { return c.B < 0xa0 }
	found := 0
	for k := range 24 {
		a := 2 * math.Pi * float64(k) / 24
		at := between01(body, 0.5+r*math.Cos(a)/6, 0.5+r*math.Sin(a)/6)
		if _, n := extent(img, image.Rect(at.X-2, at.Y-2, at.X+3, at.Y+3), line); n > 0 {
			found++
		}
		inner := between01(body, 0.5+(r-0.4)*math.Cos(a)/6, 0.5+(r-0.4)*math.Sin(a)/6)
		if k%6 == 0 && pixel(img, inner.X, inner.Y).B < 0xa0 {
			t.Errorf("a line inside the circle, at %v", inner)
		}
	}
	if found < 20 { // all but where the label is
		t.Errorf("the contour passes %d of 24 places of its circle", found)
	}
	if texts := svgTexts(t, f); strings.Count(strings.ReplaceAll(texts, "\n", "\n\n"), "\n0.5\n") != 2 {
		t.Errorf("0.5 must be written on the line and beside the colour bar: %q", texts)
	}
}

func TestTopMakesMapsComparable(t *testing.T) {
	lattice := Lattice{Window{0, 2, 0, 2}, 2, 2}
	half := column1(math.Log(0.5), math.Log(0.5), math.Log(0.5), math.Log(0.5))
	for top, want := range map[float64]color.NRGBA{0: sequential[255], 1: sequential[128], 0.25: sequential[255]} {
		img, body := render(t, must(t, DensityMap{Density: Density{Lattice: lattice, Log: half, Top: top}}), nil)
		if c := pixel(img, centre(body).X, centre(body).Y); !near(want)(c) {
			t.Errorf("top %v: colour %v, want %v", top, c, want)
		}
	}
}

func TestMagnitudeIsTold(t *testing.T) {
	_, lattice, err := Grid(0, 3, 0, 1, 3, 1)
	if err != nil {
		t.Fatal(err)
	}
	f := must(t, ScoreField{Lattice: lattice, Fields: []Field{{"", points(1, 0, 2, 0, 4, 0)}}, Magnitude: true})
	img, body := render(t, f, nil)
	var length [3]int
	for i, share := range []float64{0.25, 0.5, 1} {
		box := image.Rect(body.Min.X+i*body.Dx()/3, body.Min.Y, body.Min.X+(i+1)*body.Dx()/3, body.Max.Y).Inset(3)
		arrow, n := extent(img, box, near(pick(&heat, share)))
		if n < 10 {
			t.Errorf("arrow %d has not the colour of %v of the scale", i, share)
		}
		length[i] = arrow.Dx()
	}
	if max(length[0], length[1], length[2])-min(length[0], length[1], length[2]) > 3 {
		t.Errorf("arrows of %v pixels: must be equally long", length)
	}
	if bar := f.panels[0].bar; bar == nil || bar.top != 4 || bar.label != "‖s(x)‖" {
		t.Errorf("colour bar %+v", bar)
	}
	// With a density the outline has a key, and the map's colours are not there.
	log := column1(0, 0, 0)
	f = must(t, ScoreField{Lattice: lattice, Fields: []Field{{"", points(1, 0, 2, 0, 4, 0)}}, Magnitude: true, Density: Density{Lattice: lattice, Log: log}})
	img, body = render(t, f, nil)
	if _, n := extent(img, body.Inset(3), blue); n > 0 || len(f.panels[0].keys) != 1 {
		t.Errorf("%d blue pixels, %d keys", n, len(f.panels[0].keys))
	}
}

func TestTrajectoriesStartAndEnd(t *testing.T) {
	states := []*tensors.Tensor{points(-2, -2, 2, -2), points(-2, 2, 2, 0), points(0, 2, 2, 2)}
	f := must(t, Trajectories{Paths: []Path{{States: states}}, Window: Window{-3, 3, -3, 3}})
	img, body := render(t, f, nil)
	at := func(x, y float64) image.Point { return between01(body, (x+3)/6, (y+3)/6) }
	for chain, c := range []struct{ start, end, mid image.Point }{
		{at(-2, -2), at(0, 2), at(-2, 0.5)}, {at(2, -2), at(2, 2), at(2, 1)},
	} {
		colour := near(pathColours[chain])
		if got := pixel(img, c.start.X, c.start.Y); !near(paper)(got) {
			t.Errorf("chain %d: the middle of its starting ring is %v", chain, got)
		}
		if _, n := extent(img, image.Rect(c.start.X-9, c.start.Y-9, c.start.X+10, c.start.Y+10), colour); n < 20 {
			t.Errorf("chain %d: %d pixels of its starting ring", chain, n)
		}
		if got := pixel(img, c.end.X, c.end.Y); !colour(got) {
			t.Errorf("chain %d ends in %v", chain, got)
		}
		if _, n := extent(img, image.Rect(c.mid.X-3, c.mid.Y-1, c.mid.X+4, c.mid.Y+2), colour); n == 0 {
			t.Errorf("chain %d does not pass %v", chain, c.mid)
		}
	}
	// One chain of two, and two paths each in its own colour.
	f = must(t, Trajectories{Paths: []Path{{Name: "a", States: states, Chains: 1}, {Name: "b", States: []*tensors.Tensor{points(1, 1, 0, 0), points(-1, 1, 0, 0)}, Chains: 1}}, Window: Window{-3, 3, -3, 3}})
	img, body = render(t, f, nil)
	if q := at(2, 1); near(pathColours[1])(pixel(img, q.X, q.Y)) {
		t.Error("the second chain is drawn")
	}
	if q := at(-1, 1); !near(pathColours[1])(pixel(img, q.X, q.Y)) {
		t.Errorf("the second path ends in %v", pixel(img, q.X, q.Y))
	}
}

func TestEnergyValleysAreDark(t *testing.T) {
	lattice := Lattice{Window{-2, 2, -2, 2}, 40, 40}
	bowl := on(t, lattice, func(x, y float64) float64 { return (x-1)*(x-1) + y*y - 3 })
	f := must(t, EnergySurface{Lattice: lattice, Energy: bowl, Top: 1, Relief: true})
	img, body := render(t, f, nil)
	bottom, far := between01(body, 0.75, 0.52), between01(body, 0.03, 0.5)
	deep, high := pixel(img, bottom.X, bottom.Y), pixel(img, far.X, far.Y)
	if !near(sequential[255-16])(deep) || !near(sequential[16])(high) { // bands of ½ of a range of 4: their middles
		t.Errorf("valley %v, far above the top %v: want %v and %v", deep, high, sequential[255-16], sequential[16])
	}
	if b := bodies(t, f); len(b) != 2 || b[0].Min.Y != b[1].Min.Y || b[0].Max.Y != b[1].Max.Y {
		t.Errorf("bodies %v", b)
	}
}

// TestReliefRises looks at an energy that rises to the right: the surface's right end must be higher above the floor
// than its left end.
func TestReliefRises(t *testing.T) {
	lattice := Lattice{Window{-2, 2, -2, 2}, 20, 20}
	top := func(slope float64) (left, right int) {
		f := must(t, EnergySurface{Lattice: lattice, Energy: on(t, lattice, func(x, y float64) float64 { return slope * x }), Relief: true})
		img, _ := render(t, f, nil)
		body := bodies(t, f)[1]
		drawn := func(c color.NRGBA) bool { return c != paper }
		all, _ := extent(img, body, drawn)
		l, _ := extent(img, image.Rect(all.Min.X+all.Dx()/4, body.Min.Y, all.Min.X+all.Dx()/4+4, body.Max.Y), drawn)
		r, _ := extent(img, image.Rect(all.Max.X-all.Dx()/4-4, body.Min.Y, all.Max.X-all.Dx()/4, body.Max.Y), drawn)
		return l.Min.Y, r.Min.Y
	}
	upLeft, upRight := top(1)
	downLeft, downRight := top(-1)
	if upRight >= downRight || downLeft >= upLeft {
		t.Errorf("rising: tops at rows %d and %d; falling: %d and %d", upLeft, upRight, downLeft, downRight)
	}
	// What is in front is lower in the picture, and what is high is higher.
	_, front := project(0, -0.5, 0)
	_, back := project(0, 0.5, 0)
	_, up := project(0, -0.5, 1)
	if front >= back || up <= front {
		t.Errorf("front at %v, back at %v, raised %v", front, back, up)
	}
}

func TestStripsShareTheirAxes(t *testing.T) {
	lattice := Lattice{Window{-3, 3, -3, 3}, 60, 60}
	density := Density{Lattice: lattice, Log: on(t, lattice, func(x, y float64) float64 { return -(x*x + y*y) / 2 })}
	frames := []Frame{{"t = 0", points(0, 0)}, {"t = 1", points(1, 1)}}
	strip := PointStrip{Title: "a title far wider than two small panels together, as titles often are", Frames: frames, Window: lattice.Window, Densities: []Density{density}}
	f := must(t, strip)
	img, _ := render(t, f, nil)
	for i, body := range bodies(t, f) {
		at := between01(body, 0.5+math.Sqrt(-2*math.Log(0.3))/6, 0.5) // where the density is 30 % of its maximum
		if _, n := extent(img, image.Rect(at.X-2, at.Y-2, at.X+3, at.Y+3), near(color.NRGBA{R: 0x77, G: 0x77, B: 0x77, A: 0xff})); n == 0 {
			t.Errorf("frame %d: no outline at %v", i, at)
		}
	}
	// A density for each frame: the second is half as wide.
	narrow := Density{Lattice: lattice, Log: on(t, lattice, func(x, y float64) float64 { return -2 * (x*x + y*y) })}
	each := must(t, PointStrip{Frames: frames, Window: lattice.Window, Densities: []Density{density, narrow}})
	img, _ = render(t, each, nil)
	for i, body := range bodies(t, each) {
		at := between01(body, 0.5-math.Sqrt(-2*math.Log(0.05))/6, 0.5) // the outermost line of the wide one
		if _, n := extent(img, image.Rect(at.X-2, at.Y-2, at.X+3, at.Y+3), near(color.NRGBA{R: 0x77, G: 0x77, B: 0x77, A: 0xff})); n > 0 != (i == 0) {
			t.Errorf("frame %d: outline of the first density: %v", i, n > 0)
		}
	}

	page, err := f.layout()
	if err != nil {
		t.Fatal(err)
	}
	half := titleStyle().Width(strip.Title) / 2
	if at := page.banners[0].at; at.X-half < 0 || at.X+half > page.width || math.Abs(float64(at.X-(page.bodies[0].Min.X+page.bodies[1].Max.X)/2)) > 0.01 {
		t.Errorf("the title is centred on %v of %v", at.X, page.width)
	}
	if texts := svgTexts(t, f); !strings.Contains(texts, strip.Title) || !strings.Contains(texts, "exact density") {
		t.Errorf("texts %q", texts)
	}
	both, err := Panels(2, f, f)
	if err != nil {
		t.Fatal(err)
	}
	page, err = both.layout()
	if err != nil {
		t.Fatal(err)
	}
	if len(page.banners) != 2 || page.banners[0].at.Y <= page.bodies[0].Max.Y || page.banners[1].at.Y >= page.bodies[0].Min.Y || page.banners[1].at.Y <= page.bodies[2].Max.Y {
		t.Errorf("titles at %v over bodies %v", page.banners, page.bodies)
	}
}

func TestHistogramStripSharesItsAxes(t *testing.T) {
	frames := []Frame{{"a", column1(-0.5, -0.5, -0.5, -0.5)}, {"b", column1(-0.5, 0.5, 0.5, 9)}}
	f := must(t, HistogramStrip{Title: "head", Frames: frames, Min: -1, Max: 1, Bins: 2, Curves: []Curve{{"exact", column1(-1, 1), column1(0.5, 0.5)}}})
	img, _ := render(t, f, nil)
	// Bins of width 1: densities 1 and 0; 1/4 and 1/2, as a number outside counts. Axes end at 1.06.
	want := [][]float64{{1, 0}, {0.25, 0.5}}
	for i, body := range bodies(t, f) {
		for bin, density := range want[i] {
			column := body.Min.X + body.Dx()*(2*bin+1)/4
			got, _ := extent(img, image.Rect(column, body.Min.Y, column+1, body.Max.Y-2), near(barColour))
			height := float64(body.Max.Y-got.Min.Y) / float64(body.Dy())
			if got.Empty() {
				height = 0
			}
			if math.Abs(height-density/1.06) > 0.015 {
				t.Errorf("frame %d, bin %d: %.3f of the height, want %.3f", i, bin, height, density/1.06)
			}
		}
	}
	for _, p := range f.panels {
		if math.Abs(p.axes.Y.Max-1.06) > 1e-9 || p.axes.X.Min != -1 || p.axes.X.Max != 1 {
			t.Errorf("axes to %v, from %v to %v", p.axes.Y.Max, p.axes.X.Min, p.axes.X.Max)
		}
	}
	if keys := f.panels[0].keys; len(keys) != 1 || keys[0].name != "exact" || len(f.panels[1].keys) != 0 {
		t.Errorf("keys %v", keys)
	}
}

func TestLabelsStandUnderTheirImages(t *testing.T) {
	images := tensors.FromFlatDataAndDimensions(make([]float64, 6*16), 6, 16)
	labels := []string{"a1", "b2", "c3", "d4", "e5", "f6"}
	f := must(t, ImageGrid{Images: images, Labels: labels, Columns: 3, Pixels: Pixels{Min: -1, Max: 0}}) // all white
	img, body := render(t, f, nil)
	f.Width = 10
	scaled, small := render(t, f, nil)
	for _, c := range []struct {
		img  image.Image
		body image.Rectangle
	}{{img, body}, {scaled, small}} {
		for i := range labels {
			box := image.Rect(c.body.Min.X+i%3*c.body.Dx()/3, c.body.Min.Y+i/3*c.body.Dy()/2, c.body.Min.X+(i%3+1)*c.body.Dx()/3, c.body.Min.Y+(i/3+1)*c.body.Dy()/2)
			text, n := extent(c.img, box, dark)
			if n == 0 || text.Min.Y < box.Min.Y+box.Dy()/2 || max(centre(text).X-centre(box).X, centre(box).X-centre(text).X) > 4 {
				t.Errorf("label %d at %v of %v", i, text, box)
			}
		}
	}
	shown := must(t, ImageGrid{Images: images, Labels: labels, Columns: 3, Rows: 1})
	if texts := svgTexts(t, shown); !strings.Contains(texts, "c3") || strings.Contains(texts, "d4") {
		t.Errorf("texts %q", texts)
	}
}

func TestScatterOverADensity(t *testing.T) {
	lattice := Lattice{Window{-3, 3, -3, 3}, 60, 60}
	density := Density{Lattice: lattice, Log: on(t, lattice, func(x, y float64) float64 { return -(x*x + y*y) / 2 })}
	f := must(t, Scatter{Sets: []PointSet{{Name: "drawn", Points: points(0, 0)}}, Window: lattice.Window, Density: density})
	img, body := render(t, f, nil)
	at := between01(body, 0.5, 0.5-math.Sqrt(-2*math.Log(0.8))/6)
	if _, n := extent(img, image.Rect(at.X-2, at.Y-2, at.X+3, at.Y+3), near(color.NRGBA{R: 0x77, G: 0x77, B: 0x77, A: 0xff})); n == 0 {
		t.Errorf("no outline at %v", at)
	}
	if keys := f.panels[0].keys; len(keys) != 2 || !strings.Contains(keys[1].name, "5, 30 and 80 %") {
		t.Errorf("keys %v", keys)
	}
}

func TestNamesUnderAnAxisFit(t *testing.T) {
	names := []string{"exact trace", "Hutchinson, one probe", "sliced"}
	f := must(t, Bars{Groups: names, Sets: []BarSet{{Values: []float64{1, 2, 3}}}})
	p := f.panels[0]
	place := func(width vg.Length) vg.Length { return width / vg.Length(p.axes.X.Max-p.axes.X.Min) }
	for _, width := range []vg.Length{300, 200} {
		for _, tick := range p.fitNames(width) {
			for _, line := range strings.Split(tick.Label, "\n") {
				if w := textStyle(tickSize, soft).Width(line); w > place(width) {
					t.Errorf("width %v: %q takes %v of %v", width, line, w, place(width))
				}
			}
		}
		if p.axes.X.Tick.Label.Rotation != 0 {
			t.Errorf("width %v: turned", width)
		}
	}
	if p.fitNames(60); p.axes.X.Tick.Label.Rotation == 0 {
		t.Error("names wider than their places are not turned")
	}
}

func TestAxesOfPlanesHaveNames(t *testing.T) {
	lattice := Lattice{Window{-1, 1, -1, 1}, 4, 4}
	density := Density{Lattice: lattice, Log: on(t, lattice, func(x, y float64) float64 { return -x * x })}
	for name, f := range map[string]*Figure{
		"trajectories": must(t, Trajectories{Paths: []Path{{States: []*tensors.Tensor{points(0, 0), points(1, 1)}}}, XLabel: "time t", YLabel: "state"}),
		"scatter":      must(t, Scatter{Sets: []PointSet{{Points: points(0, 0, 1, 1)}}, XLabel: "time t", YLabel: "state"}),
		"density map":  must(t, DensityMap{Density: density, XLabel: "time t", YLabel: "state"}),
	} {
		if texts := svgTexts(t, f); !strings.Contains(texts, "time t") || !strings.Contains(texts, "state") || strings.Contains(texts, "x₁") || strings.Contains(texts, "x₂") {
			t.Errorf("%s: texts %q", name, texts)
		}
	}
	if _, err := (Scatter{Sets: []PointSet{{Points: points(0, 0, 1, 1)}}, XLabel: "∇"}).Figure(); err != nil {
		t.Fatal(err)
	}
	if _, err := must(t, Scatter{Sets: []PointSet{{Points: points(0, 0, 1, 1)}}, XLabel: "∇"}).PNG(); err == nil || !strings.Contains(err.Error(), "no '∇'") {
		t.Errorf("a letter that is not there: %v", err)
	}
}

// TestOnlyFramesWithPointsOutsideSaySo has one frame of three with points outside, and in an animation the same size
// for all.
func TestOnlyFramesWithPointsOutsideSaySo(t *testing.T) {
	strip := PointStrip{Window: Window{-3, 3, -3, 3}, Frames: []Frame{
		{"start", points(0, 0, 9, 9, 9, 8)}, {"later", points(0, 0, 1, 1, 1, 2)}, {"end", points(0, 0, 1, 1, 2, 1)}}}
	f := must(t, strip)
	if texts := svgTexts(t, f); strings.Count(texts, "outside") != 1 || !strings.Contains(texts, "2 outside") {
		t.Errorf("texts %q", texts)
	}
	a, err := strip.Animation()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.GIF(); err != nil {
		t.Error(err)
	}
	for i, frame := range a.Frames {
		if texts := svgTexts(t, frame); strings.Contains(texts, "outside") != (i == 0) {
			t.Errorf("frame %d: texts %q", i, texts)
		}
	}
	strip.Frames = strip.Frames[1:]
	if keys := must(t, strip).panels[0].keys; len(keys) != 0 {
		t.Errorf("%d entries of a legend for nothing", len(keys))
	}
}

// TestLabelsStayOnThePage lays out rows of maps of many proportions: whatever ticks their colour bars come to have, the
// room that the texts of the last one need ends before the page does.
func TestLabelsStayOnThePage(t *testing.T) {
	for n := 1; n <= 3; n++ {
		for high := 2.0; high < 6; high += 0.1 {
			lattice := Lattice{Window{-3.6, 3.6, -high, high}, 2, 2}
			var row []*Figure
			for range n {
				row = append(row, must(t, DensityMap{Density: Density{Lattice: lattice, Log: column1(0, 0, 0, 0), Top: 0.26}}))
			}
			f, err := Row(row...)
			if err != nil {
				t.Fatal(err)
			}
			page, err := f.layout()
			if err != nil {
				t.Fatal(err)
			}
			body := page.bodies[n-1]
			need := body.Max.X + page.panels[n-1].measure(body.Size().X, body.Size().Y).right + pageMargin
			if need > page.width+dot { // positions are rounded to dots
				t.Errorf("%d maps of %.3g × %.3g: %v wide, need %v", n, 7.2, 2*high, page.width, need)
			}
		}
	}
}
