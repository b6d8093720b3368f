package main

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/scorekit/lab/internal/leaktest"
	"github.com/scorekit/lab/internal/testbackend"
)

// However a verb that works on models ends, it leaves no goroutine, no open file and no temporary file. A backend is opened by
// the training before: that stays open.
func TestVerbsLeaveNothing(t *testing.T) {
	t.Setenv("SCOREKIT_QUIET", "1")
	t.Run("go", func(t *testing.T) { leavesNothing(t, "go") })
	if _, ok := testbackend.XLA(t); ok {
		t.Run("xla", func(t *testing.T) { leavesNothing(t, "xla") })
	}
}

func leavesNothing(t *testing.T, backend string) {
	dir := t.TempDir()
	run := filepath.Join(dir, "run")
	line := func(more ...string) []string {
		return append(append(append([]string{"train"}, more...), small...), "--backend", backend)
	}
	if status, _, complaint := capture(t, t.Context(), line("--data", "ring", "--out", run)...); status != 0 {
		t.Fatal(complaint)
	}
	table := filepath.Join(dir, "points.csv")
	stopped, stop := context.WithCancelCause(t.Context())
	stop(errInterrupted)
	for _, test := range []struct {
		name   string
		ctx    context.Context
		status int
		line   []string
	}{
		{"sample", t.Context(), 0, []string{"sample", "--model", run, "-n", "9", "--steps", "2", "--out", table, "--backend", backend}},
		{"sample into no folder", t.Context(), 2, []string{"sample", "--model", run, "--out", filepath.Join(dir, "none", "a.csv")}},
		{"sample by an unknown sampler", t.Context(), 1, []string{"sample", "--model", run, "--out", table, "--sampler", "huen", "--backend", backend}},
		{"sample stopped", stopped, 130, []string{"sample", "--model", run, "-n", "9", "--out", table, "--backend", backend}},
		{"score", t.Context(), 0, []string{"score", "--model", run, "--at", table, "--out", filepath.Join(dir, "s.npy"), "--backend", backend}},
		{"score at nothing", t.Context(), 1, []string{"score", "--model", run, "--at", filepath.Join(dir, "none.csv"), "--out", filepath.Join(dir, "s.npy"), "--backend", backend}},
		{"score stopped", stopped, 130, []string{"score", "--model", run, "--at", table, "--out", filepath.Join(dir, "t.npy"), "--backend", backend}},
		{"eval", t.Context(), 0, []string{"eval", "--model", run, "--data", table, "--examples", "9", "--samples", "9", "--steps", "2", "--likelihood", "2", "--backend", backend}},
		{"eval on nothing", t.Context(), 1, []string{"eval", "--model", run, "--data", filepath.Join(dir, "none.csv"), "--backend", backend}},
		{"eval stopped", stopped, 130, []string{"eval", "--model", run, "--data", table, "--backend", backend}},
		{"train", t.Context(), 0, line("--data", table, "--out", filepath.Join(dir, "finished"), "--stream", "yes")},
		{"train into the folder of a run", t.Context(), 1, line("--data", table, "--out", run)},
		{"train on nothing", t.Context(), 1, line("--data", filepath.Join(dir, "none.csv"), "--out", filepath.Join(dir, "failed"))},
		{"train stopped", stopped, 130, line("--data", table, "--out", filepath.Join(dir, "stopped"))},
		{"info", t.Context(), 0, []string{"info", run}},
	} {
		t.Run(test.name, func(t *testing.T) {
			leaktest.Run(t, func() {
				if status, out, complaint := capture(t, test.ctx, test.line...); status != test.status {
					t.Errorf("status %d, want %d: %s%s", status, test.status, out, complaint)
				}
			})
		})
	}
}
