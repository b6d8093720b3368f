// Package doctor examines a machine and a set-up: what works, what does not, and what to do about it.
//
// Map: doctor.go has the findings and their order, machine.go looks at the machine, installed.go at the set-up, training.go
// opens the backend and trains a small score network for a second.
package doctor

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/scorekit/lab/internal/setup"
)

// Verdict says how bad a finding is.
type Verdict string

const (
	// Works: as it should be.
	Works Verdict = "ok"
	// Lacking: something that one can do without.
	Lacking Verdict = "note"
	// Failed: something that is needed does not work.
	Failed Verdict = "FAIL"
)

// Finding is the outcome of one look.
type Finding struct {
	Verdict Verdict
	// Subject is what was looked at, Detail what was seen.
	Subject, Detail string
	// Cure is what to do about it; "" when it works.
	Cure string
}

// String returns the finding as a line, with the cure on a second.
func (f Finding) String() string {
	const column = "\n                       "
	line := fmt.Sprintf("%-5s %-16s %s", f.Verdict, f.Subject, strings.ReplaceAll(strings.TrimSpace(f.Detail), "\n", column))
	if f.Cure != "" {
		line += column + "→ " + f.Cure
	}
	return line
}

const cureSetup = "run: go run ./cmd/scorelab setup"

// Examine looks at everything in turn: what the machine has, what is set up, whether it computes. It stops when ctx ends.
func Examine(ctx context.Context, s setup.Setup) iter.Seq[Finding] {
	looks := []func(context.Context, setup.Setup) []Finding{
		goTool, compiler, python, steps, environment, kernelPrograms, plugins, computing,
	}
	return func(yield func(Finding) bool) {
		for _, look := range looks {
			for _, finding := range look(ctx, s) {
				if ctx.Err() != nil || !yield(finding) {
					return
				}
			}
		}
	}
}
