package benchmark

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/scorekit/lab/plots"
)

// CurveReport is what was measured along curves.
type CurveReport struct {
	Date     time.Time     `json:"date"`
	Machine  Machine       `json:"machine"`
	Programs []string      `json:"programs"`
	Turns    int           `json:"turns"`
	Seconds  float64       `json:"seconds"` // of a turn, at least
	Notes    []string      `json:"notes,omitempty"`
	Results  []CurveResult `json:"results"`
}

// CurveResult is one curve.
type CurveResult struct {
	Curve string      `json:"curve"`
	Lines []CurveLine `json:"lines"` // this program first
}

// CurveLine is one program along a curve.
type CurveLine struct {
	Program string       `json:"program"`
	Points  []CurvePoint `json:"points"`
	Stopped string       `json:"stopped,omitempty"` // why it went no further
}

// CurvePoint is one program at one point.
type CurvePoint struct {
	At      int     `json:"at"`
	Seconds Spread  `json:"seconds"`       // of a step
	Ready   float64 `json:"ready_seconds"` // from the start of the process until everything was compiled and done once
	PeakMB  float64 `json:"peak_mb"`
}

// measured says whether there is a point of anybody.
func (r CurveResult) measured() bool {
	return slices.ContainsFunc(r.Lines, func(l CurveLine) bool { return len(l.Points) > 0 || l.Stopped != "" })
}

func (r CurveResult) line(program string) *CurveLine {
	i := slices.IndexFunc(r.Lines, func(l CurveLine) bool { return l.Program == program })
	if i < 0 {
		return nil
	}
	return &r.Lines[i]
}

func (l CurveLine) at(n int) (CurvePoint, bool) {
	i := slices.IndexFunc(l.Points, func(p CurvePoint) bool { return p.At == n })
	if i < 0 {
		return CurvePoint{}, false
	}
	return l.Points[i], true
}

// measured is the line for the plots, from a point on.
func (l CurveLine) measured(from int) plots.Line {
	line := plots.Line{Name: l.Program}
	for _, p := range l.Points {
		if p.At >= from {
			line.X, line.Y = append(line.X, float64(p.At)), append(line.Y, p.Seconds.Median)
		}
	}
	return line
}

// leastFitted is how many points an exponent with a standard error needs.
const leastFitted = 3

// from is the first point that exponents are fitted to, for all programs the same: the upper half of what the one with the
// fewest points has, and at least three of them. Those with fewer have no exponent. false: nobody has one.
func (r CurveResult) from() (int, bool) {
	var fewest []CurvePoint
	for _, l := range r.Lines {
		if n := len(l.Points); n >= leastFitted && (fewest == nil || n < len(fewest)) {
			fewest = l.Points
		}
	}
	if fewest == nil {
		return 0, false
	}
	return fewest[min(len(fewest)/2, len(fewest)-leastFitted)].At, true
}

// exponent is that of a program, false where it has too few points.
func (r CurveResult) exponent(program string) (plots.Power, bool) {
	from, ok := r.from()
	l := r.line(program)
	if !ok || l == nil {
		return plots.Power{}, false
	}
	fit, err := plots.FitPower(l.measured(from))
	return fit, err == nil
}

// counted is the exponent of the products that the formula has, at the points that the program's exponent is fitted to.
func (r CurveResult) counted(c Curve, program string) (float64, bool) {
	from, ok := r.from()
	l := r.line(program)
	if !ok || l == nil {
		return 0, false
	}
	line := l.measured(from)
	for i, n := range line.X {
		line.Y[i] = c.at(int(n)).flops()
	}
	fit, err := plots.FitPower(line)
	return fit.Exponent, err == nil
}

func curveNamed(name string) (Curve, bool) {
	i := slices.IndexFunc(Curves, func(c Curve) bool { return c.Name == name })
	if i < 0 {
		return Curve{}, false
	}
	return Curves[i], true
}

// programs lists those that have a line.
func (r *CurveReport) programs() []string {
	var names []string
	for _, result := range r.Results {
		for _, l := range result.Lines {
			if !slices.Contains(names, l.Program) {
				names = append(names, l.Program)
			}
		}
	}
	return names
}

// Markdown returns the exponents, the times, and where and how they were measured.
func (r *CurveReport) Markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured on %s: %s. Medians of %d turns of at least %g s; programs: %s.\n\n", r.Date.Format("2 January 2006"),
		r.Machine, r.Turns, r.Seconds, strings.Join(r.Programs, "; "))
	names := r.programs()
	head := []string{"curve", "fitted from"}
	for _, name := range names {
		head = append(head, "exponent, "+name)
	}
	row(&b, append(head, "what theory says")...)
	b.WriteString(strings.Repeat("|---", 2) + strings.Repeat("|---:", len(names)) + "|---|\n")
	for _, result := range r.Results {
		c, ok := curveNamed(result.Curve)
		if !ok {
			continue
		}
		start := ""
		if from, ok := result.from(); ok {
			start = fmt.Sprintf("%s = %d", c.Along, from)
		}
		cells := []string{c.Name, start}
		for _, name := range names {
			cell := "–"
			if fit, ok := result.exponent(name); ok {
				count, _ := result.counted(c, name)
				cell = fmt.Sprintf("%.2f ± %.2f [%.2f]", fit.Exponent, fit.StandardError, count)
			}
			cells = append(cells, cell)
		}
		row(&b, append(cells, c.Theory)...)
	}
	b.WriteString("\nIn brackets: the exponent of the products that the formula has, at the same points.\n\n")
	r.times(&b, names)
	for _, line := range r.Notes {
		fmt.Fprintf(&b, "\n- %s", line)
	}
	for _, result := range r.Results {
		for _, l := range result.Lines {
			if l.Stopped != "" {
				fmt.Fprintf(&b, "\n- %s: %s goes no further. %s", result.Curve, l.Program, l.Stopped)
			}
		}
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// times are milliseconds a step, with the least and the greatest of the turns.
func (r *CurveReport) times(b *strings.Builder, names []string) {
	row(b, append([]string{"curve", "at"}, suffixed(names, ", ms a step")...)...)
	b.WriteString("|---" + strings.Repeat("|---:", len(names)+1) + "|\n")
	for _, result := range r.Results {
		c, ok := curveNamed(result.Curve)
		if !ok {
			continue
		}
		for _, n := range c.At {
			cells, any := []string{c.Name, fmt.Sprintf("%s = %d", c.Along, n)}, false
			for _, name := range names {
				cell := "–"
				if l := result.line(name); l != nil {
					if p, ok := l.at(n); ok {
						cell, any = Spread{1000 * p.Seconds.Median, 1000 * p.Seconds.Min, 1000 * p.Seconds.Max}.String(), true
					}
				}
				cells = append(cells, cell)
			}
			if any {
				row(b, cells...)
			}
		}
	}
}

func suffixed(names []string, suffix string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = name + suffix
	}
	return out
}

// Figures draws the curves of each family, one panel a curve, by the family's name. A program with fewer than three points
// is not drawn, and a family of which nobody has three is left out.
func (r *CurveReport) Figures() (map[string]*plots.Figure, error) {
	figures := map[string]*plots.Figure{}
	for _, family := range Families {
		var panels []*plots.Figure
		for _, result := range r.Results {
			c, ok := curveNamed(result.Curve)
			from, fitted := result.from()
			if !ok || !fitted || c.Family != family {
				continue
			}
			chart := plots.PowerLaw{Title: c.Title, XLabel: c.Along, YLabel: "seconds a step", From: float64(from)}
			for _, l := range result.Lines {
				if _, ok := result.exponent(l.Program); ok {
					if chart.Expected == 0 {
						chart.Expected, _ = result.counted(c, l.Program)
					}
					chart.Lines = append(chart.Lines, l.measured(0))
				}
			}
			panel, err := chart.Figure()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.Name, err)
			}
			panels = append(panels, panel)
		}
		if len(panels) == 0 {
			continue
		}
		figure, err := plots.Panels(min(len(panels), 2), panels...)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", family, err)
		}
		figures[family] = figure
	}
	return figures, nil
}

// JSON returns all numbers.
func (r *CurveReport) JSON() ([]byte, error) { return json.MarshalIndent(r, "", "  ") }
