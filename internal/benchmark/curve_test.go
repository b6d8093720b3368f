package benchmark

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scorekit/lab/internal/testbackend"
)

func TestPoint(t *testing.T) {
	for _, c := range Curves {
		for _, n := range c.At {
			text := c.at(n).String()
			p, err := parsePoint(text)
			if err != nil || p.String() != text || p.numbers[c.Along] != n || !isPoint(text) {
				t.Errorf("%s was read as %v, %v", text, p, err)
			}
		}
	}
	if got := Curves[0].at(64).String(); got != "curve_exact:batch=128,d=64" {
		t.Errorf("%s", got)
	}
	for text, want := range map[string]string{
		"dsm2d":                       "there is none",
		"exact:batch=1,d=2":           "there is none",
		"curve_nothing:d=2":           "there is none",
		"curve_exact":                 `"": must be a name, = and a positive number`,
		"curve_exact:batch=1,d=0":     `"d=0": must be`,
		"curve_exact:batch=1,d=two":   `"d=two": must be`,
		"curve_exact:batch=1":         "must set batch and d",
		"curve_exact:batch=1,d=2,h=3": "must set batch and d",
		"curve_langevin:d=2":          "must set chains",
	} {
		if _, err := parsePoint(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want one with %s", text, err, want)
		}
	}
}

// torchebm does what its sampler does, and nothing else.
func TestLangevinTask(t *testing.T) {
	for name, want := range map[string]bool{"langevin_analytic": true, "curve_langevin:chains=64": true, "curve_denoising:batch=1,d=2": false, "dsm2d": false, "sample_ald": false} {
		if got := langevinTask(Task{Name: name}); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestChooseCurves(t *testing.T) {
	if chosen, err := ChooseCurves([]string{"kde_points", "exact_d"}); err != nil || len(chosen) != 2 || chosen[0].Name != "kde_points" {
		t.Errorf("chosen %v, %v", chosen, err)
	}
	if _, err := ChooseCurves([]string{"exact"}); err == nil || !strings.Contains(err.Error(), `curve "exact": must be one of exact_d, `) {
		t.Errorf("error %v", err)
	}
	names := map[string]bool{}
	for _, c := range Curves {
		if names[c.Name] || c.Theory == "" || len(c.At) < 2*leastFitted {
			t.Errorf("curve %+v", c)
		}
		names[c.Name] = true
	}
}

// The products are those of the formulas: by hand for d = 2 and a batch of 128, where the network has 2·(2·128 + 128² + 128·2)
// = 33,792 of them for one example.
func TestPointFlops(t *testing.T) {
	for text, want := range map[string]float64{
		"curve_exact:batch=128,d=2":        128 * 9 * 33792,
		"curve_hutchinson:batch=128,d=2":   128 * 6 * 33792,
		"curve_sliced:batch=128,d=2":       128 * 6 * 33792,
		"curve_denoising:batch=128,d=2":    128 * 3 * 33792,
		"curve_langevin:chains=10":         10 * 64,
		"curve_kde:centres=100,points=200": 20000 * 8,
	} {
		p, err := parsePoint(text)
		if err != nil || p.flops() != want {
			t.Errorf("%s: %v flops, want %v, %v", text, p.flops(), want, err)
		}
	}
}

// line makes a line of the time f at each point.
func line(program string, at []int, f func(n float64) float64) CurveLine {
	l := CurveLine{Program: program}
	for _, n := range at {
		v := f(float64(n))
		l.Points = append(l.Points, CurvePoint{At: n, Seconds: Spread{v, v, v}})
	}
	return l
}

// Exponents are fitted to the upper half of what the shortest line has, at least three points, the same for all.
func TestExponent(t *testing.T) {
	at := []int{2, 4, 8, 16, 32, 64, 128, 256}
	bent := func(n float64) float64 { return 0.01 + 1e-5*math.Pow(max(n, 32), 1.5) } // flat, then steep
	law := func(n float64) float64 { return 3e-4 * n * n }
	r := CurveResult{Curve: "exact_d", Lines: []CurveLine{line(Ours, at, law), line("JAX", at[:7], func(n float64) float64 { return 2 * n }), line("PyTorch", at[:2], bent)}}
	if from, ok := r.from(); !ok || from != 16 { // 7 points: from the fourth
		t.Errorf("fitted from %v", from)
	}
	if fit, ok := r.exponent(Ours); !ok || math.Abs(fit.Exponent-2) > 1e-9 || fit.StandardError > 1e-9 {
		t.Errorf("exponent %+v, want 2", fit)
	}
	if fit, ok := r.exponent("JAX"); !ok || math.Abs(fit.Exponent-1) > 1e-9 {
		t.Errorf("exponent %+v, want 1", fit)
	}
	for _, name := range []string{"PyTorch", "nobody"} {
		if fit, ok := r.exponent(name); ok {
			t.Errorf("%s has the exponent %+v of too few points", name, fit)
		}
	}
	// The lower half does not count, and what is left of a bend shows in the standard error.
	r.Lines = []CurveLine{line(Ours, at, func(n float64) float64 {
		if n < 32 {
			return 1
		}
		return n / 32
	})}
	if fit, _ := r.exponent(Ours); math.Abs(fit.Exponent-1) > 1e-9 {
		t.Errorf("exponent %+v, want 1", fit)
	}
	r.Lines = []CurveLine{line(Ours, at, bent)}
	if fit, _ := r.exponent(Ours); fit.StandardError < 0.01 {
		t.Errorf("a bent line has the standard error %v", fit.StandardError)
	}
	// Three points are fitted whole.
	r.Lines = []CurveLine{line(Ours, at[:3], law)}
	if from, ok := r.from(); !ok || from != 2 {
		t.Errorf("fitted from %v", from)
	}
	// Products of the exact trace: between those of d passes and of d passes that grow with d themselves.
	c, _ := curveNamed("exact_d")
	if got, ok := r.counted(c, Ours); !ok || got < 0.7 || got > 1 {
		t.Errorf("counted exponent %v at 2 to 8", got)
	}
	r.Lines = []CurveLine{line(Ours, []int{1 << 14, 1 << 15, 1 << 16}, law)}
	if got, ok := r.counted(c, Ours); !ok || math.Abs(got-2) > 0.01 {
		t.Errorf("counted exponent %v far out, want 2", got)
	}
}

func sampleCurves() *CurveReport {
	at := []int{2, 4, 8, 16, 32, 64}
	ours := line(Ours, at, func(n float64) float64 { return 1e-4 * n })
	jax := line("JAX", at[:4], func(n float64) float64 { return 1e-5 * n * n })
	jax.Stopped = "d = 32: not ready"
	r := &CurveReport{
		Date: time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC), Machine: Machine{CPU: "abacus", Cores: 2, System: "linux/amd64", Commit: "abc"},
		Programs: []string{Ours, "JAX 1.0"}, Turns: 3, Seconds: 0.4, Notes: []string{"torch left out: there is none"},
		Results: []CurveResult{{Curve: "exact_d", Lines: []CurveLine{ours, jax}}},
	}
	for _, c := range Curves[1:] {
		r.Results = append(r.Results, CurveResult{Curve: c.Name, Lines: []CurveLine{
			line(Ours, c.At, func(n float64) float64 { return 1e-3 + 1e-5*n }), line("JAX", c.At, func(n float64) float64 { return 2e-3 + 1e-5*n })}})
	}
	return r
}

func TestCurveMarkdown(t *testing.T) {
	text := sampleCurves().Markdown()
	for _, want := range []string{
		"Measured on 30 November 2026: abacus, 2 cores, linux/amd64, commit abc. Medians of 3 turns of at least 0.4 s",
		"| curve | fitted from | exponent, scorekit | exponent, JAX | what theory says |",
		"| exact_d | d = 4 | 1.00 ± 0.00 [", "| 2.00 ± 0.00 [", "d derivatives, each through a network",
		"| exact_d | d = 16 | 1.6 (1.6–1.6) | 2.56 (2.56–2.56) |", "| exact_d | d = 32 | 3.2 (3.2–3.2) | – |",
		"- torch left out: there is none", "- exact_d: JAX goes no further. d = 32: not ready",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "exact_d | d = 128") {
		t.Error("there is a row that nobody measured")
	}
	columns := 0
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "|") {
			columns = 0
		} else if n := strings.Count(line, "|"); columns == 0 {
			columns = n
		} else if n != columns {
			t.Errorf("a row of %d cells in a table of %d: %s", n-1, columns-1, line)
		}
	}
	raw, err := sampleCurves().JSON()
	var back CurveReport
	if err != nil || json.Unmarshal(raw, &back) != nil || back.Results[0].Lines[0].Points[1].Seconds.Median != 4e-4 {
		t.Errorf("read back %+v, %v", back.Results[0], err)
	}
}

func TestCurveFigures(t *testing.T) {
	figures, err := sampleCurves().Figures()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range Families {
		f := figures[family]
		if f == nil {
			t.Errorf("no figure of the family %s", family)
			continue
		}
		if _, err := f.PNG(); err != nil {
			t.Error(err)
		}
		if folder := os.Getenv("SCORELAB_KEEP_CURVES"); folder != "" {
			if err := f.Save(filepath.Join(folder, family+".png")); err != nil {
				t.Error(err)
			}
		}
	}
	if figures, err := (&CurveReport{Results: []CurveResult{{Curve: "exact_d", Lines: []CurveLine{{Program: Ours}}}}}).Figures(); err != nil || len(figures) != 0 {
		t.Errorf("%d figures of nothing, %v", len(figures), err)
	}
}

// Every kind of point is worked on and says how much it is.
func TestPointWork(t *testing.T) {
	testbackend.Go(t)
	t.Setenv("GOMLX_BACKEND", "go")
	t.Setenv("SCOREKIT_QUIET", "1")
	for _, task := range []string{"curve_exact:batch=4,d=3", "curve_hutchinson:batch=4,d=3", "curve_sliced:batch=4,d=3", "curve_denoising:batch=4,d=3",
		"curve_langevin:chains=5", "curve_kde:centres=10,points=20"} {
		p, err := parsePoint(task)
		if err != nil {
			t.Fatal(err)
		}
		out := &strings.Builder{}
		if err := Do(t.Context(), Request{Task: task, How: Cold}, strings.NewReader(""), out); err != nil {
			t.Errorf("%s: %v", task, err)
		}
		var m Message
		if err := json.Unmarshal([]byte(out.String()), &m); err != nil || m.Items == 0 {
			t.Errorf("%s: %q, %v", task, out, err)
		}
		if m.Flops != 0 && math.Abs(m.Flops/p.flops()-1) > 1e-12 && p.work != "langevin" {
			t.Errorf("%s: %v flops, want %v", task, m.Flops, p.flops())
		}
	}
}
