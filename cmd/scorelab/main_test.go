package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"
)

// TestExitStatus checks the status of command lines that need no set-up.
func TestExitStatus(t *testing.T) {
	foreign := t.TempDir()
	if err := os.WriteFile(filepath.Join(foreign, "thesis.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SCORELAB_HOME", foreign)
	tests := []struct {
		line []string
		want int
	}{
		{nil, 0},
		{[]string{"--help"}, 0},
		{[]string{"version"}, 0},
		{[]string{"setups"}, 2},
		{[]string{"setup", "now"}, 2},
		{[]string{"setup", "--cpu"}, 2},
		{[]string{"run", "--timeout", "0s"}, 2},
		{[]string{"run", "--timeout", "soon"}, 2},
		{[]string{"lab", "notebooks"}, 2},
		{[]string{"lab", "--port", "70000"}, 2},
		{[]string{"lab", "--ip", "everywhere"}, 2},
		{[]string{"lab", "--ip", "0.0.0.0", "--", "--ServerApp.token="}, 2},
		{[]string{"setup"}, 1},          // the folder is not ours to fill
		{[]string{"clean", "--yes"}, 1}, // nor to remove
	}
	for _, test := range tests {
		if got := execute(context.Background(), test.line); got != test.want {
			t.Errorf("scorelab %q: status %d, want %d", test.line, got, test.want)
		}
	}
	if _, err := os.Stat(filepath.Join(foreign, "thesis.txt")); err != nil {
		t.Error(err)
	}
}
