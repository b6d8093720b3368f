//go:build unix

package setup

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFindPython puts stand-ins on PATH, which are shell scripts.
func TestFindPython(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	ctx := context.Background()
	if _, err := FindPython(ctx); err == nil || !strings.Contains(err.Error(), "no Python on PATH") {
		t.Errorf("without Python: %v", err)
	}
	stand := func(name, version string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\necho "+version+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	stand("python3", "3.9.6")
	if _, err := FindPython(ctx); err == nil || !strings.Contains(err.Error(), "3.9.6") {
		t.Errorf("with an old Python only: %v", err)
	}
	stand("python3.12", "3.12.1")
	if got, err := FindPython(ctx); err != nil || got.Version != "3.12.1" || filepath.Base(got.Path) != "python3.12" {
		t.Errorf("got %v, %v; want python3.12", got, err)
	}
}
