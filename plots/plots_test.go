package plots

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gomlx/gomlx/pkg/core/tensors"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
)

// render draws a figure and returns its pixels and the body of its first panel in them.
func render(t *testing.T, f *Figure, err error) (image.Image, image.Rectangle) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	data, err := f.PNG()
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return img, bodies(t, f)[0]
}

func bodies(t *testing.T, f *Figure) (out []image.Rectangle) {
	t.Helper()
	p, err := f.layout()
	if err != nil {
		t.Fatal(err)
	}
	at := func(l vg.Length) int { return int(math.Round(float64(l / dot))) }
	for _, b := range p.bodies {
		out = append(out, image.Rect(at(b.Min.X), at(p.height-b.Max.Y), at(b.Max.X), at(p.height-b.Min.Y)))
	}
	return out
}

// extent returns the smallest rectangle that holds all pixels of r for which is holds, and their number.
func extent(img image.Image, r image.Rectangle, is func(color.NRGBA) bool) (image.Rectangle, int) {
	var out image.Rectangle
	n := 0
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			if is(pixel(img, x, y)) {
				out = out.Union(image.Rect(x, y, x+1, y+1))
				n++
			}
		}
	}
	return out, n
}

func pixel(img image.Image, x, y int) color.NRGBA {
	return color.NRGBAModel.Convert(img.At(x, y)).(color.NRGBA)
}

// blue holds for pixels of the first series colour, also when faded; grey ones are axes and text.
func blue(c color.NRGBA) bool { return int(c.B)-int(c.R) > 60 }

func dark(c color.NRGBA) bool { return c.R < 0x60 && c.G < 0x60 && c.B < 0x60 }

func points(values ...float64) *tensors.Tensor {
	return tensors.FromFlatDataAndDimensions(values, len(values)/2, 2)
}

func TestYAxisPointsUp(t *testing.T) {
	for _, c := range []struct{ x, y float64 }{{4, 3}, {-4, 3}, {4, -3}} {
		f, err := Scatter{Sets: []PointSet{{Points: points(c.x, c.y)}}, Window: Window{-5, 5, -5, 5}}.Figure()
		img, body := render(t, f, err)
		at, n := extent(img, body, blue)
		if n == 0 {
			t.Fatal("no point drawn")
		}
		middle := at.Min.Add(at.Max).Div(2)
		want := image.Pt(body.Min.X+int((c.x+5)/10*float64(body.Dx())), body.Max.Y-int((c.y+5)/10*float64(body.Dy())))
		if d := middle.Sub(want); max(d.X, -d.X, d.Y, -d.Y) > 2 {
			t.Errorf("(%v, %v) drawn at %v: want %v in %v", c.x, c.y, middle, want, body)
		}
	}
}

func TestCircleIsRound(t *testing.T) {
	var ring []float64
	for i := range 720 {
		a := float64(i) * math.Pi / 360
		ring = append(ring, 10+3*math.Cos(a), 3*math.Sin(a))
	}
	for _, w := range []Window{{}, {6, 14, -4, 9}, {0, 20, -4, 4}} {
		f, err := Scatter{Sets: []PointSet{{Points: points(ring...)}}, Window: w}.Figure()
		f2, err2 := Row(f, must(t, LossCurve{Runs: []Run{{Loss: []float64{1, 2}}}}))
		for _, figure := range []*Figure{f, f2} {
			if err2 != nil {
				t.Fatal(err2)
			}
			img, body := render(t, figure, err)
			at, _ := extent(img, body, blue)
			if ratio := float64(at.Dx()) / float64(at.Dy()); math.Abs(ratio-1) > 0.02 {
				t.Errorf("window %v: circle is %v × %v pixels", w, at.Dx(), at.Dy())
			}
		}
	}
}

func must(t *testing.T, f interface{ Figure() (*Figure, error) }) *Figure {
	t.Helper()
	out, err := f.Figure()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestArrowsPointAlongTheScore(t *testing.T) {
	_, lattice, err := Grid(-1, 1, -1, 1, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range [][2]float64{{1, 0}, {-1, 0}, {0, 1}, {0, -1}} {
		img, body := render(t, must(t, ScoreField{Lattice: lattice, Fields: []Field{{Score: points(s[0], s[1])}}}), nil)
		inner := body.Inset(6)
		at, n := extent(img, inner, dark)
		if n == 0 {
			t.Fatal("no arrow drawn")
		}
		if horizontal := at.Dx() > at.Dy(); horizontal != (s[0] != 0) {
			t.Errorf("score %v: arrow covers %v", s, at)
		}
		// The arrow is centred on its point, and its head has more ink than its tail.
		weight := 0.0
		for y := inner.Min.Y; y < inner.Max.Y; y++ {
			for x := inner.Min.X; x < inner.Max.X; x++ {
				if dark(pixel(img, x, y)) {
					weight += s[0]*float64(2*x+1-body.Min.X-body.Max.X) - s[1]*float64(2*y+1-body.Min.Y-body.Max.Y)
				}
			}
		}
		if weight <= 0 {
			t.Errorf("score %v: the head is at the wrong end", s)
		}
	}
}

// TestScoreArrowsAreLaidOutOnTheLattice puts the only long arrow at one cell and looks for it there.
func TestScoreArrowsAreLaidOutOnTheLattice(t *testing.T) {
	grid, lattice, err := Grid(0, 4, 0, 3, 4, 3)
	if err != nil {
		t.Fatal(err)
	}
	at := tensors.MustCopyFlatData[float32](grid)
	values := make([]float64, len(at))
	const ix, iy = 2, 0
	for i := range len(at) / 2 {
		if at[2*i] == ix+0.5 && at[2*i+1] == iy+0.5 {
			values[2*i] = 1
		}
	}
	img, body := render(t, must(t, ScoreField{Lattice: lattice, Fields: []Field{{Score: points(values...)}}}), nil)
	cell := body.Dx() / 4
	for y := range 3 {
		for x := range 4 {
			box := image.Rect(body.Min.X+x*cell, body.Max.Y-(y+1)*cell, body.Min.X+(x+1)*cell, body.Max.Y-y*cell).Inset(4)
			drawn, _ := extent(img, box, dark)
			if long := drawn.Dx() > cell/2; long != (x == ix && y == iy) {
				t.Errorf("cell %d, %d: arrow %v long", x, y, drawn.Dx())
			}
		}
	}
}

func TestPanelsShareTheArrowScale(t *testing.T) {
	_, lattice, err := Grid(-1, 1, -1, 1, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	f := must(t, ScoreField{Lattice: lattice, Fields: []Field{{"long", points(2, 0)}, {"short", points(1, 0)}}})
	img, _ := render(t, f, nil)
	var length [2]int
	for i, body := range bodies(t, f) {
		at, _ := extent(img, body.Inset(6), dark)
		length[i] = at.Dx()
	}
	if ratio := float64(length[0]) / float64(length[1]); math.Abs(ratio-2) > 0.1 {
		t.Errorf("scores of size 2 and 1 are drawn %d and %d pixels long", length[0], length[1])
	}
}

func TestDensityMapIsUpright(t *testing.T) {
	_, lattice, err := Grid(0, 4, 0, 4, 8, 8)
	if err != nil {
		t.Fatal(err)
	}
	logs := make([]float64, 64)
	for i := range logs {
		logs[i] = math.Inf(-1)
	}
	logs[6*8+1] = 0 // second column from the left, second row from the top
	zero := make([]float64, 128)
	f := must(t, ScoreField{
		Lattice: lattice, Fields: []Field{{Score: points(zero...)}},
		Density: Density{Lattice: lattice, Log: tensors.FromFlatDataAndDimensions(logs, 64, 1)},
	})
	img, body := render(t, f, nil)
	at, _ := extent(img, body, blue)
	middle := at.Min.Add(at.Max).Div(2)
	want := image.Pt(body.Min.X+body.Dx()*3/16, body.Min.Y+body.Dy()*3/16)
	if d := middle.Sub(want); max(d.X, -d.X, d.Y, -d.Y) > 3 {
		t.Errorf("the peak is drawn at %v: want %v", middle, want)
	}
}

func TestImageGridOrder(t *testing.T) {
	// Six images of 2 × 3 pixels, image i with one white pixel, number i from the top left.
	values := make([]float32, 6*6)
	for i := range 6 {
		values[i*6+i] = 1
	}
	for name, images := range map[string]*tensors.Tensor{
		"flat":    tensors.FromFlatDataAndDimensions(values, 6, 6),
		"plain":   tensors.FromFlatDataAndDimensions(values, 6, 2, 3),
		"channel": tensors.FromFlatDataAndDimensions(values, 6, 2, 3, 1),
	} {
		g := ImageGrid{Images: images, Columns: 3}
		if name == "flat" {
			g.Height, g.Width = 2, 3
		}
		img, body := render(t, must(t, g), nil)
		tileW := (body.Dx() - 2*imageGap) / 3
		tileH := (body.Dy() - imageGap) / 2
		if tileW%3 != 0 || tileH%2 != 0 || tileW/3 != tileH/2 {
			t.Fatalf("%s: tiles of %d × %d dots: pixels must be whole squares", name, tileW, tileH)
		}
		side := tileW / 3
		for i := range 6 {
			for p := range 6 {
				x0 := body.Min.X + i%3*(tileW+imageGap) + p%3*side
				y0 := body.Min.Y + i/3*(tileH+imageGap) + p/3*side
				want := color.NRGBA{A: 255}
				if p == i {
					want = color.NRGBA{R: 255, G: 255, B: 255, A: 255}
				}
				for _, corner := range []image.Point{{x0, y0}, {x0 + side - 1, y0 + side - 1}} { // sharp up to its corners
					if got := pixel(img, corner.X, corner.Y); got != want {
						t.Errorf("%s: image %d, pixel %d, at %v: %v, want %v", name, i, p, corner, got, want)
					}
				}
			}
		}
	}
}

func TestImageGridLeavesRowsOut(t *testing.T) {
	images := tensors.FromFlatDataAndDimensions(make([]float32, 7*4), 7, 4)
	for rows, want := range map[int]int{0: 4, 1: 1, 2: 2, 9: 4} {
		_, body := render(t, must(t, ImageGrid{Images: images, Columns: 2, Rows: rows}), nil)
		tile := (body.Dx() - imageGap) / 2
		if got := (body.Dy() + imageGap) / (tile + imageGap); got != want {
			t.Errorf("Rows %d: %d rows drawn, want %d", rows, got, want)
		}
	}
}

func TestImageRange(t *testing.T) {
	images := tensors.FromFlatDataAndDimensions([]float64{-5, -1, 0, 1}, 4, 1, 1)
	for _, c := range []struct {
		pixels Pixels
		want   [4]uint8
	}{
		{Pixels{}, [4]uint8{0, 0, 0, 255}},
		{Pixels{Min: -1, Max: 1}, [4]uint8{0, 0, 128, 255}},
		{Pixels{Min: -1, Max: 1, Ink: true}, [4]uint8{255, 255, 128, 0}},
	} {
		p, err := c.pixels.read("images", images)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range c.want {
			if got := p.grey[i][0]; got != want {
				t.Errorf("%+v: image %d: %d, want %d", c.pixels, i, got, want)
			}
		}
	}
}

func TestImageStripHasARowForEachChain(t *testing.T) {
	// Chain 1 is white in frame 0, everything else black.
	var frames []Frame
	for i := range 3 {
		state := []float32{0, 0}
		if i == 0 {
			state[1] = 1
		}
		frames = append(frames, Frame{State: tensors.FromFlatDataAndDimensions(state, 2, 1, 1)})
	}
	img, body := render(t, must(t, ImageStrip{Frames: frames}), nil)
	for row := range 2 {
		for col := range 3 {
			at := image.Pt(body.Min.X+body.Dx()*(2*col+1)/6, body.Min.Y+body.Dy()*(2*row+1)/4)
			if white := pixel(img, at.X, at.Y).R == 255; white != (row == 1 && col == 0) {
				t.Errorf("chain %d, frame %d: white %v", row, col, white)
			}
		}
	}
}

func TestPointStripSharesItsWindow(t *testing.T) {
	f := must(t, PointStrip{Frames: []Frame{{"near", points(-1, -1, 1, 1)}, {"far", points(-8, -8, 8, 8)}}})
	img, _ := render(t, f, nil)
	var width [2]float64
	for i, body := range bodies(t, f) {
		at, _ := extent(img, body, blue)
		width[i] = float64(at.Dx())
	}
	if width[1] < 4*width[0] {
		t.Errorf("points 2 and 16 apart are drawn %v and %v pixels wide", width[0], width[1])
	}
}

func TestHistogramHasAreaOne(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	values := make([]float64, 4000)
	for i := range values {
		values[i] = rng.NormFloat64()
	}
	for _, bins := range []int{0, 1, 7} {
		b, err := binned([]float64{-1, 0, 0, 0, 3}, bins)
		if err != nil {
			t.Fatal(err)
		}
		area := 0.0
		for _, d := range b.density {
			area += d * b.width
		}
		if math.Abs(area-1) > 1e-12 {
			t.Errorf("%d bins: area %v", bins, area)
		}
	}
	// Three of five values lie in the second of four bins of width 1.
	b, err := binned([]float64{0, 1.2, 1.3, 1.4, 4}, 4)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []float64{0.2, 0.6, 0, 0.2} {
		if math.Abs(b.density[i]-want) > 1e-12 {
			t.Errorf("bin %d: density %v, want %v", i, b.density[i], want)
		}
	}
	must(t, Histogram{Values: tensors.FromFlatDataAndDimensions(values, 4000, 1)})
}

func TestHistogramRange(t *testing.T) {
	f := must(t, Histogram{Values: column1(0.25, 0.25, 0.75, 50), Min: 0, Max: 1, Bins: 2})
	img, body := render(t, f, nil)
	// A bar of half the values on half a unit, density 1, beside one of a quarter, density ½; the axis ends at 1.06.
	for bin, want := range []float64{1 / 1.06, 0.5 / 1.06} {
		column := body.Min.X + body.Dx()*(2*bin+1)/4
		bar, _ := extent(img, image.Rect(column, body.Min.Y, column+1, body.Max.Y-2), near(barColour))
		if got := float64(body.Max.Y-bar.Min.Y) / float64(body.Dy()); math.Abs(got-want) > 0.01 {
			t.Errorf("bin %d: %.3f of the height, want %.3f", bin, got, want)
		}
	}
	if p := f.panels[0]; p.keys[0].name != "samples, 1 of 4 outside" || math.Abs(p.axes.Y.Max-1.06) > 1e-9 {
		t.Errorf("legend %q, axis to %v", p.keys[0].name, p.axes.Y.Max)
	}
}

func TestLossCurveFallsToTheRight(t *testing.T) {
	for _, log := range []bool{false, true} {
		img, body := render(t, must(t, LossCurve{Runs: []Run{{Loss: []float64{8, 1, 0.1}, Steps: []int{10, 20, 30}}}, Log: log}), nil)
		left, _ := extent(img, image.Rect(body.Min.X, body.Min.Y, body.Min.X+body.Dx()/10, body.Max.Y), blue)
		right, _ := extent(img, image.Rect(body.Max.X-body.Dx()/10, body.Min.Y, body.Max.X, body.Max.Y), blue)
		middle, _ := extent(img, image.Rect(body.Min.X+body.Dx()/2, body.Min.Y, body.Min.X+body.Dx()/2+1, body.Max.Y), blue)
		if left.Min.Y >= right.Min.Y {
			t.Errorf("log %v: the loss falls from row %d to row %d", log, left.Min.Y, right.Min.Y)
		}
		// Half way, a loss of 1: log(8/1)/log(8/0.1) = 0.475 of the way down on a logarithmic scale, 0.886 on a linear one.
		want := 0.886
		if log {
			want = 0.475
		}
		top, bottom := float64(left.Min.Y), float64(right.Max.Y)
		if got := (float64(middle.Min.Y) - top) / (bottom - top); math.Abs(got-want) > 0.05 {
			t.Errorf("log %v: a loss of 1 is %.3f of the way down: want %.3f", log, got, want)
		}
	}
}

func TestSmoothing(t *testing.T) {
	line := make(plotter.XYs, 21)
	for i := range line {
		line[i] = plotter.XY{X: float64(i), Y: float64(10 * i)}
	}
	got := smooth(line, 5)
	for i := range line {
		want := line[i].Y // the mean of a straight line around a point is its value there
		if over := i + 2 - 20; over > 0 {
			want -= 5 * float64(over) // the window lacks its last values: its middle moves by half of each
		}
		if math.Abs(got[i].Y-want) > 1e-12 || got[i].X != line[i].X {
			t.Errorf("value %d: %v, want %v", i, got[i], want)
		}
	}
}

func TestSameFigureSameBytes(t *testing.T) {
	build := func() []*Figure {
		rng := rand.New(rand.NewPCG(3, 4))
		cloud := make([]float64, 400)
		for i := range cloud {
			cloud[i] = rng.NormFloat64()
		}
		_, lattice, err := Grid(-2, 2, -2, 2, 10, 10)
		if err != nil {
			t.Fatal(err)
		}
		images := make([]float64, 90)
		for i := range images {
			images[i] = rng.Float64()
		}
		log := make([]float64, 100)
		for i := range log {
			log[i] = -cloud[i] * cloud[i]
		}
		return []*Figure{
			must(t, Scatter{Title: "points", Sets: []PointSet{{"a", points(cloud...)}, {"b", points(cloud[:100]...)}}}),
			must(t, ScoreField{Lattice: lattice, Fields: []Field{{"s", points(cloud[:200]...)}},
				Density: Density{Lattice: lattice, Log: tensors.FromFlatDataAndDimensions(log, 100)}}),
			must(t, ImageGrid{Images: tensors.FromFlatDataAndDimensions(images, 10, 9)}),
			must(t, LossCurve{Runs: []Run{{Loss: images}}, Smooth: 4, Reference: Reference{"floor", 0.1}}),
		}
	}
	first, second := build(), build()
	first, second = append(first, panels(t, first)), append(second, panels(t, second))
	for i := range first {
		for _, encode := range []func(*Figure) ([]byte, error){(*Figure).PNG, (*Figure).SVG} {
			a, err := encode(first[i])
			if err != nil {
				t.Fatal(err)
			}
			b, err := encode(second[i])
			if err != nil {
				t.Fatal(err)
			}
			again, err := encode(first[i])
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(a, b) || !bytes.Equal(a, again) {
				t.Errorf("figure %d: bytes differ between encodings", i)
			}
		}
	}
}

func panels(t *testing.T, figures []*Figure) *Figure {
	t.Helper()
	f, err := Panels(2, figures...)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
