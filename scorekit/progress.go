package scorekit

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/schollz/progressbar/v3"
)

// Report says how far a run has come: a training, a sampling, or another verb's work.
type Report struct {
	Verb    string        // what is done: "training", "sampling", "kernel density"
	Unit    string        // what Step counts, in the plural: "points"; empty for steps
	Step    int           // steps (or points, ...) done
	Total   int           // in all; a run that ends early reports fewer as its last
	Rate    float64       // per second, 0 before the first are done, as while a graph is compiled
	Elapsed time.Duration // since the run began
	Left    time.Duration // estimated time left, 0 while unknown
	Loss    float64       // mean loss of the last 50 steps; NaN where there is none, as before the first step
	Done    bool          // the last report of the run
}

// String is one line of text: "training 400/2000 · 310 steps/s · loss 0.705 · 5s left".
func (r Report) String() string {
	s := fmt.Sprintf("%s %d/%d", r.Verb, r.Step, r.Total)
	if r.Rate == 0 && r.Step < r.Total && !r.Done {
		return s + " · compiling"
	}
	if r.Rate > 0 {
		digits := 0
		if r.Rate < 10 {
			digits = 1
		}
		s += fmt.Sprintf(" · %.*f %s/s", digits, r.Rate, cmp.Or(r.Unit, "steps"))
	}
	if !math.IsNaN(r.Loss) {
		s += fmt.Sprintf(" · loss %.4g", r.Loss)
	}
	if r.Done {
		return s + fmt.Sprintf(" · %s", r.Elapsed.Round(100*time.Millisecond))
	}
	return s + fmt.Sprintf(" · %s left", r.Left.Round(time.Second))
}

// TerminalProgress returns a function for [WithProgress] that draws a progress bar on w, with rate, loss and time
// left. It may serve several runs, one after another.
func TerminalProgress(w io.Writer) func(Report) {
	var bar *progressbar.ProgressBar
	return func(r Report) {
		if bar == nil {
			bar = progressbar.NewOptions(r.Total, progressbar.OptionSetWriter(w), progressbar.OptionFullWidth(),
				progressbar.OptionSetPredictTime(false), progressbar.OptionThrottle(100*time.Millisecond))
		}
		// In this order, as Describe draws; only the terminal can fail here, and the work must not stop for it.
		_ = bar.Set(r.Step)
		bar.Describe(r.String())
		if r.Done {
			fmt.Fprintln(w)
			bar = nil
		}
	}
}

// Reporter returns a function that verbs of one's own call with how many of total units are done, as often as they like,
// and at the end, whether they came to it or not, with last. It passes a [Report] on to each of to that is not nil: at
// once, at most every quarter of a second, and the last. The unit is a plural, such as "points". The rate counts from the
// call of Reporter, so that the first reports have in it what is compiled.
func Reporter(verb, unit string, total int, to ...func(Report)) func(done int, last bool) {
	now := time.Now()
	p := &pacer{verb: verb, unit: unit, start: now, first: now, total: total, report: func(r Report) {
		for _, report := range to {
			if report != nil {
				report(r)
			}
		}
	}}
	p.tell(0, math.NaN(), false)
	return func(done int, last bool) {
		if last || p.due(done) {
			p.tell(done, math.NaN(), last)
		}
	}
}

// pacer measures a run and says when a report is due.
type pacer struct {
	verb, unit  string
	report      func(Report)
	start, last time.Time
	first       time.Time // when the first call, which compiles, had returned
	firstStep   int
	total       int
}

const reportEvery = 250 * time.Millisecond

func newPacer(verb string, report func(Report), step, total int) *pacer {
	now := time.Now()
	p := &pacer{verb: verb, report: report, start: now, last: now, firstStep: -1, total: total}
	p.tell(step, math.NaN(), false)
	return p
}

// due reports whether it is time to read results back and report.
func (p *pacer) due(step int) bool {
	if p.firstStep < 0 {
		p.firstStep, p.first = step, time.Now()
	}
	return time.Since(p.last) >= reportEvery
}

func (p *pacer) tell(step int, loss float64, done bool) {
	p.last = time.Now()
	if p.report == nil {
		return
	}
	r := Report{Verb: p.verb, Unit: p.unit, Step: step, Total: p.total, Elapsed: time.Since(p.start), Loss: loss, Done: done}
	// The first call compiles: it says nothing about the rate.
	if since := time.Since(p.first); p.firstStep >= 0 && step > p.firstStep && since > 0 {
		r.Rate = float64(step-p.firstStep) / since.Seconds()
	}
	if r.Rate > 0 {
		r.Left = time.Duration(float64(p.total-step) / r.Rate * float64(time.Second))
	}
	p.report(r)
}
