package benchmark

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Report is what was measured.
type Report struct {
	Date     time.Time `json:"date"`
	Machine  Machine   `json:"machine"`
	Programs []string  `json:"programs"`
	Turns    int       `json:"turns"`
	Seconds  float64   `json:"seconds"` // of a turn
	Notes    []string  `json:"notes,omitempty"`
	Results  []Result  `json:"results"`
}

// Result is of one task, with this program first.
type Result struct {
	Task     string     `json:"task"`
	Unit     string     `json:"unit,omitempty"`
	Measured []Measured `json:"measured"`
}

// Measured is one program in one task.
type Measured struct {
	Program string             `json:"program"`
	Rates   []float64          `json:"rates"`         // steps a second in each turn, counted from the same turn for all programs
	CPU     []float64          `json:"cpu,omitempty"` // processor time of a step in each turn, seconds
	Items   float64            `json:"items,omitempty"`
	Flops   float64            `json:"flops,omitempty"`
	PeakMB  float64            `json:"peak_mb"`
	Quality map[string]float64 `json:"quality,omitempty"`
}

// of returns what a program did, nil if it did nothing.
func (r Result) of(program string) *Measured {
	for i, m := range r.Measured {
		if m.Program == program {
			return &r.Measured[i]
		}
	}
	return nil
}

// rates are in the task's unit: items of this program's own step, where that is what is counted.
func (r Result) rates(m *Measured) []float64 {
	per := 1.0
	if r.Unit != "steps" && m.Items > 0 {
		per = m.Items
	}
	out := make([]float64, len(m.Rates))
	for i, rate := range m.Rates {
		out[i] = per * rate
	}
	return out
}

// best is the program other than this one with the highest median, nil where there is none. SciPy and scikit-learn give no
// score but the log-density alone, and compete only if nobody else does.
func (r Result) best() *Measured {
	var best *Measured
	top := 0.0
	for i := range r.Measured {
		m := &r.Measured[i]
		if m.Program == Ours || m.Program == "SciPy" || m.Program == "scikit-learn" {
			continue
		}
		if median := spreadOf(r.rates(m)).Median; median > top {
			best, top = m, median
		}
	}
	return best
}

// rival is whom this program is compared with: the best other one, but JAX, the other one that compiles, for the cold start.
func (r Result) rival() *Measured {
	if jax := r.of("JAX"); r.Task == coldStart && jax != nil {
		return jax
	}
	return r.best()
}

// ratio is this program's speed over that of its rival, turn by turn; for pure_go that of pure Go over XLA's.
func (r Result) ratio() (Spread, bool) {
	own, best := r.of(Ours), r.rival()
	if own == nil || best == nil {
		return Spread{}, false
	}
	if best.Program == PureGo {
		own, best = best, own
	}
	return spreadOf(ratios(r.rates(own), r.rates(best))), true
}

// line tells a result while the suite goes on.
func (r Result) line(t Task) string {
	var parts []string
	for i := range r.Measured {
		m := &r.Measured[i]
		parts = append(parts, m.Program+" "+r.speed(m))
	}
	text := fmt.Sprintf("%s: %s", r.Task, strings.Join(parts, ", "))
	if ratio, ok := r.ratio(); ok {
		text += fmt.Sprintf("; ratio %s", fixed(ratio))
	}
	return text
}

// speed is a rate, or a time for the cold start.
func (r Result) speed(m *Measured) string {
	rates := r.rates(m)
	if r.Task == coldStart {
		for i, rate := range rates {
			rates[i] = 1 / rate
		}
		return fixed(spreadOf(rates)) + " s"
	}
	return spreadOf(rates).String()
}

// Compares says whether there is any other program to compare with.
func (r *Report) Compares() bool {
	for _, result := range r.Results {
		if t, ok := taskNamed(result.Task); ok && t.kind != backend && result.best() != nil {
			return true
		}
	}
	return false
}

// peak is the highest rate of matrix products that any program reached, in flops a second.
func (r *Report) peak() float64 {
	peak := 0.0
	for _, result := range r.Results {
		if result.Task != matmul.Name {
			continue
		}
		for _, m := range result.Measured {
			peak = max(peak, m.Flops*spreadOf(m.Rates).Max)
		}
	}
	return peak
}

// Markdown returns the tables with where and how they were measured.
func (r *Report) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured on %s: %s. Medians of %d turns of %g s (least–greatest); programs: %s.", r.Date.Format("2 January 2006"),
		r.Machine, r.Turns, r.Seconds, strings.Join(r.Programs, "; "))
	if peak := r.peak(); peak > 0 {
		fmt.Fprintf(&b, " The fastest product of two float32 matrices of 2048×2048 was at %.0f GFLOP/s.", peak/1e9)
	}
	b.WriteString("\n\n")
	r.speeds(&b)
	b.WriteString("\n")
	r.rest(&b)
	for _, line := range r.Notes {
		fmt.Fprintf(&b, "\n- %s", line)
	}
	if len(r.Notes) > 0 {
		b.WriteString("\n")
	}
	return b.String()
}

// columns lists the programs of the tasks, in the order in which they come.
func (r *Report) columns() []string {
	var names []string
	seen := map[string]bool{}
	for _, result := range r.Results {
		for _, m := range result.Measured {
			if result.Task != matmul.Name && !seen[m.Program] {
				seen[m.Program] = true
				names = append(names, m.Program)
			}
		}
	}
	return names
}

func (r *Report) speeds(b *strings.Builder) {
	names := r.columns()
	row(b, append(append([]string{"task", "a second"}, names...), "ratio to the best other", "aim")...)
	rule(b, 2, len(names)+2)
	for _, result := range r.Results {
		task, ok := taskNamed(result.Task)
		if !ok {
			continue
		}
		unit := task.Unit
		if task.kind == cold {
			unit = "(seconds)"
		}
		cells := []string{result.Task, unit}
		for _, name := range names {
			cell := ""
			if m := result.of(name); m != nil {
				cell = result.speed(m)
			}
			cells = append(cells, cell)
		}
		ratio, aim := "", ""
		if spread, ok := result.ratio(); ok {
			ratio = fixed(spread)
			switch {
			case task.kind == cold: // the times are the inverse of the rates
				ratio = fixed(Spread{1 / spread.Median, 1 / spread.Max, 1 / spread.Min})
				aim = "≤ 0.5 of JAX"
			default:
				aim = fmt.Sprintf("≥ %g", task.Target)
			}
		}
		row(b, append(cells, ratio, aim)...)
	}
}

// rest is quality, memory and the share of the peak.
func (r *Report) rest(b *strings.Builder) {
	names := r.columns()
	row(b, append([]string{"task", ""}, names...)...)
	rule(b, 2, len(names))
	peak := r.peak()
	for _, result := range r.Results {
		task, ok := taskNamed(result.Task)
		if !ok {
			continue
		}
		line := func(what string, value func(m *Measured) string) {
			cells, any := []string{result.Task, what}, false
			for _, name := range names {
				cell := ""
				if m := result.of(name); m != nil {
					cell = value(m)
				}
				any = any || cell != ""
				cells = append(cells, cell)
			}
			if any {
				row(b, cells...)
			}
		}
		what := task.Judge
		if task.Steps > 0 {
			what += fmt.Sprintf(" after %d steps", task.Steps)
		}
		line(what, func(m *Measured) string {
			if v, ok := m.Quality[task.Judge]; ok {
				return fmt.Sprintf("%.3g", v)
			}
			return ""
		})
		line("processor time of a step, ms", func(m *Measured) string {
			if cpu := spreadOf(m.CPU).Median; cpu > 0 {
				return short(1000 * cpu)
			}
			return ""
		})
		line("peak memory, MB", func(m *Measured) string { return fmt.Sprintf("%.0f", m.PeakMB) })
		line("share of the peak", func(m *Measured) string {
			if peak == 0 || m.Flops == 0 {
				return ""
			}
			return fmt.Sprintf("%.0f %%", 100*m.Flops*spreadOf(m.Rates).Median/peak)
		})
	}
}

func taskNamed(name string) (Task, bool) {
	for _, t := range Tasks {
		if t.Name == name {
			return t, true
		}
	}
	return Task{}, false
}

func row(b *strings.Builder, cells ...string) {
	b.WriteString("| " + strings.Join(cells, " | ") + " |\n")
}

func rule(b *strings.Builder, left, right int) {
	b.WriteString(strings.Repeat("|---", left) + strings.Repeat("|---:", right) + "|\n")
}

// short writes a number with three digits, and millions and more as powers.
func short(v float64) string {
	switch {
	case v == 0:
		return "0"
	case v >= 1e6:
		e := int(math.Floor(math.Log10(v)))
		return fmt.Sprintf("%.2f·10%s", v/math.Pow10(e), superscript(e))
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

func superscript(n int) string {
	var b strings.Builder
	for _, digit := range fmt.Sprint(n) {
		b.WriteRune([]rune("⁰¹²³⁴⁵⁶⁷⁸⁹")[digit-'0'])
	}
	return b.String()
}

// fixed writes a spread of ratios or seconds with two decimals.
func fixed(s Spread) string { return fmt.Sprintf("%.2f (%.2f–%.2f)", s.Median, s.Min, s.Max) }
