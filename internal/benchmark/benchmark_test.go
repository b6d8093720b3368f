package benchmark

import (
	"context"
	"encoding/json"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/scorekit/lab/internal/testbackend"
)

func TestSpread(t *testing.T) {
	for _, test := range []struct {
		values []float64
		want   Spread
	}{
		{nil, Spread{}},
		{[]float64{3}, Spread{3, 3, 3}},
		{[]float64{5, 1, 2}, Spread{2, 1, 5}},
		{[]float64{4, 1, 2, 8}, Spread{3, 1, 8}},
	} {
		if got := spreadOf(test.values); got != test.want {
			t.Errorf("spread of %v: %v, want %v", test.values, got, test.want)
		}
	}
}

func TestShort(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.01234: "0.0123", 12.34: "12.3", 536.4: "536", 123456: "123456", 7.137e8: "7.14·10⁸", 1e12: "1.00·10¹²"} {
		if got := short(v); got != want {
			t.Errorf("%v is written %s, want %s", v, got, want)
		}
	}
}

func TestChoose(t *testing.T) {
	if chosen, err := Choose([]string{"ssm", "dsm2d"}); err != nil || len(chosen) != 2 || chosen[0].Name != "ssm" {
		t.Errorf("chosen %v, %v", chosen, err)
	}
	if _, err := Choose([]string{"dsm3d"}); err == nil || !strings.Contains(err.Error(), `task "dsm3d": must be one of dsm2d, `) {
		t.Errorf("error %v", err)
	}
}

// A result is compared turn by turn with the one that is best in the median; log-densities do not count as scores.
func TestRatio(t *testing.T) {
	r := Result{Task: "kde_score_d2", Unit: "pairs", Measured: []Measured{
		{Program: Ours, Rates: []float64{10, 30, 40}, Items: 2},
		{Program: "JAX", Rates: []float64{10, 10, 20}, Items: 2},
		{Program: "PyTorch", Rates: []float64{100, 1, 1}, Items: 2},
		{Program: "SciPy", Rates: []float64{99, 99, 99}, Items: 99},
	}}
	if got, ok := r.ratio(); !ok || got != (Spread{2, 1, 3}) {
		t.Errorf("ratio %v, want 2 (1–3)", got)
	}
	if got := r.speed(r.of(Ours)); got != "60 (20–80)" {
		t.Errorf("speed %s", got)
	}
	// The cold start is compared with JAX, whoever is faster; rates are one over seconds.
	r = Result{Task: coldStart, Measured: []Measured{
		{Program: Ours, Rates: []float64{0.5}}, {Program: "JAX", Rates: []float64{0.25}}, {Program: "PyTorch", Rates: []float64{1}},
	}}
	if got, ok := r.ratio(); !ok || got.Median != 2 {
		t.Errorf("ratio %v, want 2", got)
	}
	if got := r.speed(r.of(Ours)); got != "2.00 (2.00–2.00) s" {
		t.Errorf("speed %s", got)
	}
	r = Result{Task: "pure_go", Unit: "steps", Measured: []Measured{{Program: Ours, Rates: []float64{8}}, {Program: PureGo, Rates: []float64{2}}}}
	if got, ok := r.ratio(); !ok || got.Median != 0.25 {
		t.Errorf("ratio %v, want 0.25", got)
	}
	if _, ok := (Result{Task: "ssm", Measured: []Measured{{Program: Ours, Rates: []float64{1}}}}).ratio(); ok {
		t.Error("there is a ratio to nobody")
	}
}

func sample() *Report {
	return &Report{
		Date: time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC), Machine: Machine{CPU: "abacus", Cores: 2, System: "linux/amd64", Commit: "abc"},
		Programs: []string{Ours, "JAX 1.0"}, Turns: 3, Seconds: 2, Notes: []string{"torch left out: there is none"},
		Results: []Result{
			{Task: "matmul", Measured: []Measured{{Program: Ours, Rates: []float64{1, 2}, Flops: 5e10}}},
			{Task: "dsm2d", Unit: "steps", Measured: []Measured{
				{Program: Ours, Rates: []float64{300, 400, 500}, Flops: 1e8, PeakMB: 210, Quality: map[string]float64{"fisher_rel": 0.0123}, CPU: []float64{0.002}},
				{Program: "JAX", Rates: []float64{300, 200, 250}, Flops: 1e8, PeakMB: 350, Quality: map[string]float64{"fisher_rel": 0.0234}},
			}},
			{Task: coldStart, Measured: []Measured{{Program: Ours, Rates: []float64{0.5}}, {Program: "JAX", Rates: []float64{0.25}}}},
		},
	}
}

func TestMarkdown(t *testing.T) {
	text := sample().Markdown()
	for _, want := range []string{
		"Measured on 30 November 2026: abacus, 2 cores, linux/amd64, commit abc.", "was at 100 GFLOP/s.",
		"| dsm2d | steps | 400 (300–500) | 250 (200–300) | 2.00 (1.00–2.00) | ≥ 1.2 |",
		"| cold_start | (seconds) | 2.00 (2.00–2.00) s | 4.00 (4.00–4.00) s | 0.50 (0.50–0.50) | ≤ 0.5 of JAX |",
		"| dsm2d | fisher_rel after 2000 steps | 0.0123 | 0.0234 |", "| dsm2d | peak memory, MB | 210 | 350 |",
		"| dsm2d | share of the peak | 40 % | 25 % |", "| dsm2d | processor time of a step, ms | 2 |  |", "- torch left out: there is none",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q:\n%s", want, text)
		}
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
}

func TestFigure(t *testing.T) {
	f, err := sample().Figure()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.PNG(); err != nil {
		t.Error(err)
	}
	if path := os.Getenv("SCORELAB_KEEP"); path != "" {
		if err := f.Save(path); err != nil {
			t.Error(err)
		}
	}
}

// What a peer writes is read, whatever it leaves out.
func TestMessage(t *testing.T) {
	var m Message
	line := `{"items": 512, "flops": 102236160, "quality": {"fisher_rel": 0.059}, "peak_mb": 371.2}`
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		t.Fatal(err)
	}
	if m.Items != 512 || m.Flops != 102236160 || m.Quality["fisher_rel"] != 0.059 || m.PeakMB != 371.2 || m.Ready {
		t.Errorf("read %+v", m)
	}
}

// Every network of the tasks has the flops that the peers count.
func TestFlops(t *testing.T) {
	for task, want := range map[string]float64{"dsm2d": 102236160, "ism_exact": 306708480, "ism_exact_d16": 534773760, "ssm": 301989888,
		"hutch8": 1358954496, "ncsn_digits": 566231040, "conv_dsm": 15437266944} {
		t_ := trainings[task]
		if got := float64(t_.batch) * t_.flops; got != want {
			t.Errorf("%s: %.0f flops, want %.0f", task, got, want)
		}
	}
}

// Every task that pure Go can do in seconds takes a step and says how good it is.
func TestWork(t *testing.T) {
	testbackend.Go(t)
	t.Setenv("GOMLX_BACKEND", "go")
	t.Setenv("SCOREKIT_QUIET", "1")
	for _, task := range []string{"dsm2d", "ism_exact_d16", "ncsn_digits", "nc2d"} {
		out := &strings.Builder{}
		if err := Do(t.Context(), Request{Task: task, How: Cold}, strings.NewReader(""), out); err != nil {
			t.Errorf("%s: %v", task, err)
		}
		var m Message
		if err := json.Unmarshal([]byte(out.String()), &m); err != nil || m.Items == 0 || m.Flops == 0 {
			t.Errorf("%s: %q, %v", task, out, err)
		}
	}
}

// chore is work that takes a second for four steps.
type chore struct{ steps int }

func (c *chore) advance() (int, error) { c.steps += 4; time.Sleep(time.Second); return 4, nil }
func (c *chore) judge(context.Context) (map[string]float64, error) {
	return map[string]float64{"steps": float64(c.steps)}, nil
}
func (c *chore) size() (items, flops float64) { return 2, 3 }
func (c *chore) close()                       {}

// A program that serves is ready after a first chunk, takes turns, and ends with its input.
func TestServe(t *testing.T) { synctest.Test(t, testServe) }

func testServe(t *testing.T) {
	out := &strings.Builder{}
	if err := do(t.Context(), &chore{}, true, Request{How: Serve}, strings.NewReader("1.5\n0.5\n"), out); err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(strings.NewReader(out.String()))
	var messages []Message
	for {
		var m Message
		if err := decoder.Decode(&m); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		messages = append(messages, m)
	}
	if len(messages) != 4 || !messages[0].Ready || messages[1].Steps != 8 || messages[1].Seconds != 2 || messages[2].Steps != 4 ||
		messages[3].Items != 2 || messages[3].Flops != 3 || messages[3].Quality["steps"] != 16 {
		t.Errorf("messages %+v", messages)
	}
	out.Reset()
	if err := do(t.Context(), &chore{}, true, Request{How: Judge, Steps: 5}, nil, out); err != nil || !strings.Contains(out.String(), `"steps":8`) {
		t.Errorf("5 steps: %s, %v", out, err)
	}
	err := do(t.Context(), &chore{}, false, Request{How: Serve}, strings.NewReader("soon\n"), io.Discard)
	if err == nil || err.Error() != `turn "soon": must be a number of seconds` {
		t.Errorf("error %v", err)
	}
}

func TestUnknownTask(t *testing.T) {
	t.Setenv("GOMLX_BACKEND", "go")
	t.Setenv("SCOREKIT_QUIET", "1")
	if err := Do(context.Background(), Request{Task: "nothing", How: Cold}, nil, io.Discard); err == nil {
		t.Error("no error")
	}
}

// The distance of a shift c is ‖c‖/√d up to the choice of directions, whose relative error is below 1/√256 here.
func TestSlicedW2(t *testing.T) {
	set, err := ring.Sample(500, 1)
	if err != nil {
		t.Fatal(err)
	}
	a, b := set.Rows(), set.Rows()
	for _, row := range b {
		row[0] += 3
	}
	if got, want := slicedW2(a, b), 3/math.Sqrt2; math.Abs(got/want-1) > 0.1 {
		t.Errorf("distance %v, want about %v", got, want)
	}
	if got := slicedW2(a, a); got != 0 {
		t.Errorf("distance %v of a set from itself", got)
	}
}
