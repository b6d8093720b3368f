package scorekit_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/scorekit/lab/scorekit"
)

func TestReportString(t *testing.T) {
	nan := math.NaN()
	for want, r := range map[string]scorekit.Report{
		"training 0/2000 · compiling":                            {Verb: "training", Total: 2000, Loss: nan},
		"training 400/2000 · 310 steps/s · loss 0.705 · 5s left": {Verb: "training", Step: 400, Total: 2000, Rate: 310, Loss: 0.705, Left: 5200 * time.Millisecond},
		"sampling 200/200 · 1250 steps/s · 200ms":                {Verb: "sampling", Step: 200, Total: 200, Rate: 1250, Loss: nan, Elapsed: 210 * time.Millisecond, Done: true},
		"training 4/2000 · loss 1.5 · 1.5s":                      {Verb: "training", Step: 4, Total: 2000, Loss: 1.5, Elapsed: 1500 * time.Millisecond, Done: true}, // stopped after the first call
		"log-density 3/9 · 2.5 points/s · 2s left":               {Verb: "log-density", Unit: "points", Step: 3, Total: 9, Rate: 2.5, Loss: nan, Left: 2400 * time.Millisecond},
		"training 20/20 · 0s":                                    {Verb: "training", Step: 20, Total: 20, Loss: nan, Done: true}, // nothing was left to do
	} {
		if got := r.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A reporter tells all who ask at once, not too often, and at the end, which may come early.
func TestReporter(t *testing.T) {
	var reports []scorekit.Report
	hear := func(r scorekit.Report) { reports = append(reports, r) }
	tell := scorekit.Reporter("kernel density", "points", 10, hear, nil, hear)
	for done := range 6 { // far faster than reports are passed on
		tell(done, false)
	}
	time.Sleep(300 * time.Millisecond)
	tell(6, false)
	tell(7, false)
	tell(8, true)
	var got []string
	for _, r := range reports {
		got = append(got, fmt.Sprintf("%s %d/%d %s %v", r.Verb, r.Step, r.Total, r.Unit, r.Done))
		if rate := float64(r.Step) / r.Elapsed.Seconds(); r.Step > 0 && !(math.Abs(r.Rate/rate-1) < 0.1) || !math.IsNaN(r.Loss) {
			t.Errorf("%+v: rate must be near %v, loss NaN", r, rate)
		}
	}
	want := "kernel density 0/10 points false, kernel density 6/10 points false, kernel density 8/10 points true"
	var twice []string
	for _, line := range strings.Split(want, ", ") {
		twice = append(twice, line, line)
	}
	if strings.Join(got, ", ") != strings.Join(twice, ", ") {
		t.Errorf("reports %q, want each of %q twice", got, want)
	}
	if left := reports[2].Left; !(left > 150*time.Millisecond) { // 4 of 10 left after 300 ms
		t.Errorf("left %v", left)
	}
}

// One bar after another: the second run has another number of steps.
func TestTerminalProgressServesSeveralRuns(t *testing.T) {
	var out strings.Builder
	report := scorekit.TerminalProgress(&out)
	for _, total := range []int{10, 1000} {
		report(scorekit.Report{Verb: "training", Total: total, Loss: math.NaN()})
		report(scorekit.Report{Verb: "training", Step: total, Total: total, Rate: 5, Loss: math.NaN(), Done: true})
	}
	runs := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(runs) != 2 {
		t.Fatalf("output %q: must be two lines", out.String())
	}
	for _, run := range runs {
		if before, after, found := strings.Cut(run, "  0% |"); !found || strings.Contains(before, "100%") || !strings.Contains(after, "100%") {
			t.Errorf("bar %q: must go from 0%% to 100%%", run)
		}
	}
}
