package benchmark

import (
	"fmt"
	"slices"
	"strings"
)

// Task is work that every program does alike.
type Task struct {
	Name  string
	Unit  string // what is counted: steps, or items of which a step has several
	Steps int    // of the run that is judged; 0: the last timed run is
	Judge string // which of its numbers is shown
	// Target is the least ratio of this program's speed to that of the fastest other one.
	Target float64
	kind   kind
}

// kind is how a task is measured.
type kind int

const (
	timed   kind = iota // speed, in turns
	cold                // seconds from the start of the process to the end of the first step
	backend             // speed of pure Go, beside that of XLA
	onCurve             // one point of a curve: a time, in turns
)

// Tasks lists what there is to measure.
var Tasks = []Task{
	{Name: "dsm2d", Unit: "steps", Steps: 2000, Judge: "fisher_rel", Target: 1.2},
	{Name: "ism_exact", Unit: "steps", Steps: 1000, Judge: "fisher_rel", Target: 1.5},
	{Name: "ism_exact_d16", Unit: "steps", Steps: 1000, Judge: "fisher_rel", Target: 1.8},
	{Name: "ssm", Unit: "steps", Steps: 1000, Judge: "fisher_rel", Target: 1.2},
	{Name: "hutch8", Unit: "steps", Steps: 500, Judge: "fisher_rel", Target: 1.5},
	{Name: "ncsn_digits", Unit: "steps", Steps: netSteps, Judge: "denoising_loss", Target: 1.2},
	{Name: "nc2d", Unit: "steps", Steps: netSteps, Judge: "fisher_rel_0.5", Target: 1.2},
	{Name: "conv_dsm", Unit: "images", Steps: 60, Judge: "loss_per_pixel", Target: 1},
	{Name: "sample_ald", Unit: "chain-steps", Judge: "sliced_w2", Target: 1.3},
	{Name: "sample_pfode", Unit: "samples", Judge: "sliced_w2", Target: 1.3},
	{Name: "langevin_analytic", Unit: "chain-steps", Judge: "mode_variance", Target: 1.3},
	{Name: "kde_score_d2", Unit: "pairs", Judge: "relative_error", Target: 1.5},
	{Name: "kde_score_d64", Unit: "pairs", Judge: "relative_error", Target: 1.5},
	{Name: coldStart, kind: cold},
	{Name: "pure_go", Unit: "steps", Target: 0.2, kind: backend},
}

const coldStart = "cold_start"

// netSteps is how long the networks are trained that sample_ald and sample_pfode draw with.
const netSteps = 3000

// asked is the task that the programs are asked to do.
func (t Task) asked() string {
	if t.kind == cold || t.kind == backend {
		return "dsm2d"
	}
	return t.Name
}

// Choose returns the tasks of those names, all for none. The error names one that does not exist.
func Choose(names []string) ([]Task, error) {
	if len(names) == 0 {
		return Tasks, nil
	}
	var chosen []Task
	for _, name := range names {
		i := slices.IndexFunc(Tasks, func(t Task) bool { return t.Name == name })
		if i < 0 {
			return nil, fmt.Errorf("task %q: must be one of %s", name, strings.Join(Names(), ", "))
		}
		chosen = append(chosen, Tasks[i])
	}
	return chosen, nil
}

// Names lists the names of the tasks.
func Names() []string {
	var names []string
	for _, t := range Tasks {
		names = append(names, t.Name)
	}
	return names
}
