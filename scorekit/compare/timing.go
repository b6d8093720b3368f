package compare

import (
	"context"
	"fmt"
	"time"

	"github.com/gomlx/gomlx/backends"

	"github.com/scorekit/lab/scorekit"
)

// Entry is one objective in a comparison.
type Entry struct {
	Name      string
	Objective scorekit.Objective
}

// trained is a training run with its times.
type trained struct {
	fitted  *scorekit.Fitted
	compile time.Duration // until the first block of steps was done
	step    time.Duration // mean of the steps after it; 0 if there were none
	steps   int
}

// train runs Fit's loop and times it. Reading the statistics waits for the device: without that the clock would stop
// while the last steps are still at work.
func train(ctx context.Context, backend backends.Backend, model scorekit.Model, e Entry, data scorekit.Data, options []scorekit.FitOption) (trained, error) {
	var out trained
	begin, first := time.Now(), 0
	var last *scorekit.FitStep
	for s, err := range scorekit.FitSteps(ctx, backend, model, e.Objective, data, options...) {
		if err != nil {
			return trained{}, err
		}
		if last = s; first == 0 {
			if _, err := s.Stats(); err != nil {
				return trained{}, err
			}
			first, out.compile = s.Step, time.Since(begin)
			begin = time.Now()
		}
	}
	if last == nil {
		return trained{}, fmt.Errorf("the run was already at its end: there is nothing to compare")
	}
	if _, err := last.Stats(); err != nil {
		return trained{}, err
	}
	if out.steps = last.Step; out.steps > first {
		out.step = time.Since(begin) / time.Duration(out.steps-first)
	}
	var err error
	out.fitted, err = last.Fitted()
	return out, err
}

func checkEntries(entries []Entry) error {
	if len(entries) == 0 {
		return fmt.Errorf("no objectives: there must be at least one")
	}
	seen := map[string]bool{}
	for i, e := range entries {
		if e.Name == "" || e.Objective == nil {
			return fmt.Errorf("entry %d, %q: must have a name and an objective", i, e.Name)
		}
		if seen[e.Name] {
			return fmt.Errorf("entry %d: name %q is taken: must differ from the others", i, e.Name)
		}
		seen[e.Name] = true
	}
	return nil
}
