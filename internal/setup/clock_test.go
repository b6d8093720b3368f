package setup

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// What is fresh follows from what a step was made from. A clock that went back, or files of the future, neither have a step
// made again nor hide one that must be.
func TestFreshnessHasNothingToDoWithTime(t *testing.T) {
	ctx := context.Background()
	s, a, b, steps := twoSteps(t)
	if err := s.ensure(ctx, steps); err != nil {
		t.Fatal(err)
	}
	for _, year := range []int{1980, 2100} {
		when := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
		files, err := filepath.Glob(filepath.Join(s.Home, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range append(files, a.file, b.file, stampFile(s.Home, "a"), stampFile(s.Home, "b")) {
			if err := os.Chtimes(file, when, when); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.ensure(ctx, steps); err != nil || a.made != 1 || b.made != 1 {
			t.Errorf("files of %d: made %d and %d times, %v; want once", year, a.made, b.made, err)
		}
	}
	// The texts of the real steps are names and contents.
	pinned := filepath.Join(t.TempDir(), "requirements.txt")
	var hashes []string
	for _, year := range []int{1980, 2026, 2100} {
		when := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
		if err := errors.Join(os.WriteFile(pinned, []byte("numpy==2.0"), 0o644), os.Chtimes(pinned, when, when)); err != nil {
			t.Fatal(err)
		}
		hash, err := hashOf("venv", pinned)
		if err != nil {
			t.Fatal(err)
		}
		hashes = append(hashes, hash)
	}
	if slices.Sort(hashes); len(slices.Compact(hashes)) != 1 {
		t.Errorf("the same file of three years: %q", hashes)
	}
	a.from = "a 2"
	if err := s.ensure(ctx, steps); err != nil || a.made != 2 || b.made != 1 {
		t.Errorf("a changed: made %d and %d times, %v; want 2 and 1", a.made, b.made, err)
	}
}
