package plots

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	"github.com/google/go-cmp/cmp"
)

func TestPNGIsTwiceTheSize(t *testing.T) {
	f := must(t, LossCurve{Runs: []Run{{Loss: []float64{2, 1}}}})
	for _, width := range []float64{0, 10, 18.52083333} { // 18.52 cm is 700 pixels
		f.Width = width
		w, h, err := f.Size()
		if err != nil {
			t.Fatal(err)
		}
		data, err := f.PNG()
		if err != nil {
			t.Fatal(err)
		}
		got, err := png.DecodeConfig(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if got.Width != 2*w || got.Height != 2*h {
			t.Errorf("PNG of %d × %d for a figure of %d × %d", got.Width, got.Height, w, h)
		}
		if want := int(math.Ceil(width / 2.54 * 96)); width > 0 && w != want {
			t.Errorf("width %v cm: %d pixels, want %d", width, w, want)
		}
	}
}

func TestNaturalWidthFitsANotebook(t *testing.T) {
	f := must(t, Scatter{Sets: []PointSet{{Points: points(1, 2)}}})
	for n := 1; n <= 6; n++ {
		row := make([]*Figure, n)
		for i := range row {
			row[i] = f
		}
		out, err := Row(row...)
		if err != nil {
			t.Fatal(err)
		}
		if w, _, err := out.Size(); err != nil || w > 701 {
			t.Errorf("%d panels: %d pixels wide, error %v", n, w, err)
		}
	}
}

func TestSVGKeepsText(t *testing.T) {
	f := must(t, Scatter{Title: "a < b & σ", Sets: []PointSet{{Points: points(1, 2)}}})
	data, err := f.SVG()
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	decoder := xml.NewDecoder(bytes.NewReader(data))
	in := ""
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("not well-formed: %v", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			in = token.Name.Local
		case xml.CharData:
			if in == "text" || in == "title" {
				texts = append(texts, string(token))
			}
		case xml.EndElement:
			in = ""
		}
	}
	all := strings.Join(texts, "\n")
	for _, want := range []string{"Scatter plot: a < b & σ.", "\na < b & σ", "x₁", "x₂"} {
		if !strings.Contains(all, want) {
			t.Errorf("no text %q in %q", want, all)
		}
	}
	if !bytes.Contains(data, []byte("'Liberation Sans',Arial")) {
		t.Error("no typeface to fall back on")
	}
}

func TestSave(t *testing.T) {
	f := must(t, Scatter{Sets: []PointSet{{Points: points(1, 2)}}})
	dir := t.TempDir()
	for name, start := range map[string]string{"a.png": "\x89PNG", "b.SVG": "<?xml"} {
		path := filepath.Join(dir, name)
		if err := f.Save(path); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.HasPrefix(data, []byte(start)) {
			t.Errorf("%s starts with %q", name, data[:4])
		}
	}
	if err := f.Save(filepath.Join(dir, "a.gif")); err == nil || !strings.Contains(err.Error(), `".gif": must be .png or .svg`) {
		t.Errorf("gif: error %v", err)
	}
	if err := f.Save(filepath.Join(dir, "missing", "a.png")); err == nil {
		t.Error("no error for a folder that is not there")
	}
}

func TestRowKeepsOneHeight(t *testing.T) {
	scatter := must(t, Scatter{Title: "titled", Sets: []PointSet{{"a", points(1, 2)}, {"b", points(2, 1)}}})
	curve := must(t, LossCurve{Runs: []Run{{Loss: []float64{2, 1}}}})
	row, err := Row(scatter, curve)
	if err != nil {
		t.Fatal(err)
	}
	b := bodies(t, row)
	if b[0].Min.Y != b[1].Min.Y || b[0].Max.Y != b[1].Max.Y || b[0].Max.X >= b[1].Min.X {
		t.Errorf("bodies %v and %v are not side by side at one height", b[0], b[1])
	}
	grid, err := Panels(1, scatter, curve)
	if err != nil {
		t.Fatal(err)
	}
	b = bodies(t, grid)
	if b[0].Min.X != b[1].Min.X || b[0].Max.Y >= b[1].Min.Y {
		t.Errorf("bodies %v and %v are not one above the other", b[0], b[1])
	}
}

func TestGrid(t *testing.T) {
	points, lattice, err := Grid(-1, 1, 0, 3, 2, 3)
	if err != nil {
		t.Fatal(err)
	}
	want := []float32{-0.5, 0.5, 0.5, 0.5, -0.5, 1.5, 0.5, 1.5, -0.5, 2.5, 0.5, 2.5}
	if diff := cmp.Diff(want, tensors.MustCopyFlatData[float32](points)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int{6, 2}, points.Shape().Dimensions); diff != "" {
		t.Error(diff)
	}
	double, err := lattice.Points(dtypes.Float64)
	if err != nil || double.DType() != dtypes.Float64 {
		t.Errorf("float64 points: %v, error %v", double, err)
	}
	line, err := Interval(0, 1, 4)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]float32{0.125, 0.375, 0.625, 0.875}, tensors.MustCopyFlatData[float32](line)); diff != "" {
		t.Error(diff)
	}
	for name, call := range map[string]func() error{
		"no area":   func() error { _, _, err := Grid(1, 1, 0, 1, 2, 2); return err },
		"no cells":  func() error { _, _, err := Grid(0, 1, 0, 1, 2, -2); return err },
		"NaN":       func() error { _, _, err := Grid(math.NaN(), 1, 0, 1, 2, 2); return err },
		"int":       func() error { _, err := lattice.Points(dtypes.Int32); return err },
		"backwards": func() error { _, err := Interval(1, 0, 5); return err },
		"few":       func() error { _, err := Interval(0, 1, 1); return err },
		"endless":   func() error { _, err := Interval(0, math.Inf(1), 5); return err },
	} {
		if err := call(); err == nil || !strings.HasPrefix(err.Error(), "plots: ") {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func TestShort(t *testing.T) {
	for v, want := range map[float64]string{7: "7", 7.034: "7.03", 0.04: "0.04", 0.125: "0.125", -0.001: "−0.001", 1e-4: "0.0001", 0.001234: "1.23e−3", 1234.6: "1,235", 2e7: "2e7", 1e-7: "1e−7", 0: "0", 9.999: "10"} {
		if got := short(v); got != want {
			t.Errorf("%v: %q, want %q", v, got, want)
		}
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		lo, hi float64
		n      int
		want   string
	}{
		{-6, 6, 5, "−6 −4 −2 0 2 4 6"},
		{0, 2000, 4, "0 500 1,000 1,500 2,000"},
		{0.1, 0.42, 3, "0.1 0.2 0.3 0.4"},
		{0, 5e6, 2, "0 2e6 4e6"},
		{0, 3e-7, 3, "0 1e−7 2e−7 3e−7"},
		{-4, 4, 2, "−4 −2 0 2 4"}, // in steps of 5 there would be one
	} {
		var labels []string
		for _, tick := range linearTicks(c.lo, c.hi, c.n) {
			labels = append(labels, tick.Label)
		}
		if got := strings.Join(labels, " "); got != c.want {
			t.Errorf("linear ticks from %v to %v: %s, want %s", c.lo, c.hi, got, c.want)
		}
	}
	for _, c := range []struct {
		lo, hi float64
		n      int
		want   string
	}{
		{0.01, 1000, 6, "0.01 0.1 1 10 100 1,000"},
		{1e-12, 1e12, 6, "1e−12 1e−8 0.0001 1 10,000 1e8 1e12"},
		{0.03, 5, 6, "0.03 0.1 0.3 1 3"},
		{5, 60, 6, "5 10 20 50"},
		{0.9, 1.2, 6, "0.9 1.0 1.1 1.2"},
		{2.1, 4.9, 6, "2.5 3.0 3.5 4.0 4.5"},
	} {
		var labels []string
		for _, tick := range logTicks(c.lo, c.hi, c.n) {
			if !tick.IsMinor() {
				labels = append(labels, tick.Label)
			}
		}
		if got := strings.Join(labels, " "); got != c.want {
			t.Errorf("logarithmic ticks from %v to %v: %s, want %s", c.lo, c.hi, got, c.want)
		}
	}
	var labels []string
	for _, tick := range ticksAt([]float64{1, 2, 1000, 1100, 10_000}, 1, 10_000, 200) {
		labels = append(labels, tick.Label)
	}
	if got := strings.Join(labels, "|"); got != "1|2|1,000||10,000" {
		t.Errorf("ticks at values: %s", got)
	}
}
