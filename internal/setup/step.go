package setup

import (
	"context"
	"errors"
	"path/filepath"
)

// State says how a step of the set-up stands.
type State string

const (
	// Fresh: made from what it would be made from now.
	Fresh State = "fresh"
	// Stale: made from something else, such as older versions, or damaged since.
	Stale State = "stale"
	// Missing: not made, or not to its end.
	Missing State = "missing"
)

// step is one thing to install.
type step struct {
	// name is short: stamps, error messages.
	name string
	// doing is what the user reads while it is made.
	doing string
	// from returns the text that says what the step is made from. It is called at every start, so it must be fast.
	from func(ctx context.Context) (string, error)
	// present tells whether the parts that matter exist.
	present func() bool
	// do makes it, and clears away what an interrupted try has left. The note is for the user.
	do func(ctx context.Context) (note string, err error)
	// partial is the folders that a try that failed or was stopped leaves half made: they are removed, not to fill the disk.
	partial []string
}

// Status is how one step stands.
type Status struct {
	Step  string
	State State
}

// Status returns how every step stands, in order. The error tells what could not be read.
func (s Setup) Status(ctx context.Context) ([]Status, error) {
	var all []Status
	var errs []error
	for _, step := range s.steps() {
		state, err := s.state(ctx, step)
		errs = append(errs, err)
		all = append(all, Status{step.name, state})
	}
	return all, errors.Join(errs...)
}

func (s Setup) state(ctx context.Context, step step) (State, error) {
	stamp, ok := readStamp(s.Home, step.name)
	if !ok {
		return Missing, nil
	}
	from, err := step.from(ctx)
	if err != nil {
		return Stale, err
	}
	if stamp != from || !step.present() {
		return Stale, nil
	}
	return Fresh, nil
}

func in(parts ...string) string { return filepath.Join(parts...) }
