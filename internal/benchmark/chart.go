package benchmark

import (
	"errors"
	"slices"

	"github.com/scorekit/lab/plots"
)

// perRow is how many tasks fit side by side.
const perRow = 7

// visible is the least share that a bar shows: a program that has less at every task is in the tables alone, and leaves its colour to others.
const visible = 0.05

// Figure draws the speed of every program relative to the fastest one other than this, task by task.
func (r *Report) Figure() (*plots.Figure, error) {
	var groups []string
	shares := map[string][]float64{}
	names := r.columns()
	for _, result := range r.Results {
		t, ok := taskNamed(result.Task)
		best := result.best()
		if !ok || t.kind == backend || best == nil {
			continue
		}
		groups = append(groups, result.Task)
		top := spreadOf(result.rates(best)).Median
		for _, name := range names {
			share := 0.0
			if m := result.of(name); m != nil {
				share = spreadOf(result.rates(m)).Median / top
			}
			shares[name] = append(shares[name], share)
		}
	}
	if len(groups) == 0 {
		return nil, errors.New("there is nothing to compare with")
	}
	var rows []*plots.Figure
	for from := 0; from < len(groups); from += perRow {
		to := min(from+perRow, len(groups))
		chart := plots.Bars{Groups: groups[from:to], Label: "speed relative to the best other", Reference: plots.Reference{Name: "the best other", Value: 1}}
		for _, name := range names {
			if name != PureGo && slices.Max(shares[name]) >= visible {
				chart.Sets = append(chart.Sets, plots.BarSet{Name: name, Values: shares[name][from:to]})
			}
		}
		f, err := chart.Figure()
		if err != nil {
			return nil, err
		}
		rows = append(rows, f)
	}
	return plots.Panels(1, rows...)
}
