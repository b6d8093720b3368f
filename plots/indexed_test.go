package plots

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math"
	"slices"
	"testing"
)

// TestIndexedPNG compares the pixels of both encodings: in a map with arrows, which has thousands of colours, none may
// move far, and on the average they must not move visibly; what most of the picture is made of must not move at all.
func TestIndexedPNG(t *testing.T) {
	lattice := Lattice{Window{-3, 3, -3, 3}, 20, 20}
	var scores []float64
	for i := range 400 {
		x, y := lattice.at(i%20, i/20)
		scores = append(scores, -x, -y)
	}
	log := on(t, lattice, func(x, y float64) float64 { return -(x*x + y*y) / 2 })
	f := must(t, ScoreField{Lattice: lattice, Fields: []Field{{"s", points(scores...)}}, Magnitude: true, Density: Density{Lattice: lattice, Log: log}})
	whole, _ := render(t, f, nil)
	small, data := indexedPNG(t, f)
	if full, err := f.PNG(); err != nil || 2*len(data) > len(full) {
		t.Errorf("%d bytes of %d, error %v", len(data), len(full), err)
	}
	if small.Bounds() != whole.Bounds() {
		t.Fatalf("%v, want %v", small.Bounds(), whole.Bounds())
	}
	worst, sum := 0, 0.0
	for y := range whole.Bounds().Dy() {
		for x := range whole.Bounds().Dx() {
			p, q := pixel(small, x, y), pixel(whole, x, y)
			if (q == paper || q == soft) && p != q {
				t.Fatalf("the pixel at %d, %d is %v, want %v", x, y, p, q)
			}
			for _, d := range []int{int(p.R) - int(q.R), int(p.G) - int(q.G), int(p.B) - int(q.B)} {
				worst, sum = max(worst, d, -d), sum+float64(d*d)
			}
		}
	}
	mean := math.Sqrt(sum / float64(3*whole.Bounds().Dx()*whole.Bounds().Dy()))
	if worst > 40 || mean > 1 || worst == 0 {
		t.Errorf("a channel moves by %d, by %.2f in the mean square", worst, mean)
	}
	if _, again := indexedPNG(t, f); !bytes.Equal(data, again) {
		t.Error("the same figure gives other bytes")
	}
}

func TestFewColoursStayAsTheyAre(t *testing.T) {
	img := image.NewNRGBA(image.Rect(3, 5, 19, 21)) // 256 colours
	for y := range 16 {
		for x := range 16 {
			img.SetNRGBA(3+x, 5+y, color.NRGBA{R: uint8(17 * x), G: uint8(17 * y), B: uint8(x * y), A: 255})
		}
	}
	out := indexed(img)
	if len(out.Palette) != 256 || out.Bounds() != image.Rect(0, 0, 16, 16) {
		t.Fatalf("%d colours in %v", len(out.Palette), out.Bounds())
	}
	for y := range 16 {
		for x := range 16 {
			if got, want := pixel(out, x, y), img.NRGBAAt(3+x, 5+y); got != want {
				t.Errorf("%d, %d: %v, want %v", x, y, got, want)
			}
		}
	}
}

func TestChooseKeepsFrequentColours(t *testing.T) {
	// 9 shades, 5 of them different: each stays, the most frequent although it is alone.
	shades := []shade{{[3]uint8{1, 2, 3}, 100}}
	for i := range uint8(4) {
		shades = append(shades, shade{[3]uint8{200 + i%2, 10, 10}, 4}, shade{[3]uint8{10, 10, 200 + i/2}, 4})
	}
	got := choose(shades, 8)
	for _, want := range [][3]uint8{{1, 2, 3}, {200, 10, 10}, {201, 10, 10}, {10, 10, 200}, {10, 10, 201}} {
		if !slices.Contains(got, want) {
			t.Errorf("%v is not among %v", want, got)
		}
	}
	// Groups in which nothing is left to lose are not halved: 5 different colours need no more.
	if len(got) != 5 {
		t.Errorf("%d colours, want 5", len(got))
	}
}

// The most frequent colours stay as they are even where halving alone would mix them with their neighbours.
func TestChooseKeepsFrequentNeighbours(t *testing.T) {
	var shades []shade
	for i := range uint8(2) {
		shades = append(shades, shade{[3]uint8{20 + i, 0, 0}, 3})
	}
	for i := range uint8(200) {
		shades = append(shades, shade{[3]uint8{22 + i, 0, 0}, 1})
	}
	got := choose(shades, 16)
	for _, want := range shades[:2] {
		if !slices.Contains(got, want.c) {
			t.Errorf("%v is not among %v", want.c, got)
		}
	}
	if len(got) != 16 {
		t.Errorf("%d colours, want 16", len(got))
	}
}

func indexedPNG(t *testing.T, f *Figure) (image.Image, []byte) {
	t.Helper()
	data, err := f.IndexedPNG()
	if err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return img, data
}
