package setup

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakeStep makes a file of its own, from a text that a test can change.
type fakeStep struct {
	file   string
	from   string
	made   int
	broken error
	during func() // called half way
}

func (f *fakeStep) step(name string) step {
	return step{
		name:    name,
		doing:   "a " + name,
		from:    func(context.Context) (string, error) { return f.from, nil },
		present: func() bool { return exists(f.file) },
		do: func(context.Context) (string, error) {
			f.made++
			// A half-made part of an earlier try must not get in the way.
			if err := os.WriteFile(f.file, []byte("half"), 0o644); err != nil {
				return "", err
			}
			if f.during != nil {
				f.during()
			}
			if f.broken != nil {
				return "", f.broken
			}
			return "", os.WriteFile(f.file, []byte("whole"), 0o644)
		},
	}
}

func twoSteps(t *testing.T) (Setup, *fakeStep, *fakeStep, []step) {
	t.Helper()
	s := Setup{Home: filepath.Join(t.TempDir(), "home"), Out: new(bytes.Buffer)}
	a := &fakeStep{file: filepath.Join(t.TempDir(), "a"), from: "a 1"}
	b := &fakeStep{file: filepath.Join(t.TempDir(), "b"), from: "b 1"}
	return s, a, b, []step{a.step("a"), b.step("b")}
}

func TestSecondSetUpDoesNothing(t *testing.T) {
	s, a, b, steps := twoSteps(t)
	for range 2 {
		if err := s.ensure(context.Background(), steps); err != nil {
			t.Fatal(err)
		}
	}
	if a.made != 1 || b.made != 1 {
		t.Errorf("made %d and %d times, want once", a.made, b.made)
	}
	s.Force = true
	if err := s.ensure(context.Background(), steps); err != nil || a.made != 2 || b.made != 2 {
		t.Errorf("forced: made %d and %d times, %v; want twice", a.made, b.made, err)
	}
}

func TestOnlyStaleStepsAreMadeAnew(t *testing.T) {
	ctx := context.Background()
	s, a, b, steps := twoSteps(t)
	if err := s.ensure(ctx, steps); err != nil {
		t.Fatal(err)
	}
	a.from = "a 2"
	if err := s.ensure(ctx, steps); err != nil || a.made != 2 || b.made != 1 {
		t.Errorf("after a change of what a is made from: made %d and %d times, %v; want 2 and 1", a.made, b.made, err)
	}
	if err := os.Remove(b.file); err != nil {
		t.Fatal(err)
	}
	if state, _ := s.state(ctx, steps[1]); state != Stale {
		t.Errorf("b without its file is %s, want stale", state)
	}
	if err := s.ensure(ctx, steps); err != nil || a.made != 2 || b.made != 2 {
		t.Errorf("after a loss of b's file: made %d and %d times, %v; want 2 and 2", a.made, b.made, err)
	}
}

// TestKilledStepHeals stops a step half way as a kill does, by a panic that nothing handles but the test. The parts of an
// earlier, complete version are there, so that only the stamp can tell.
func TestKilledStepHeals(t *testing.T) {
	ctx := context.Background()
	s, a, b, steps := twoSteps(t)
	if err := s.ensure(ctx, steps); err != nil {
		t.Fatal(err)
	}
	a.from, a.during = "a 2", func() { panic("killed") }
	func() {
		defer func() { _ = recover() }()
		_ = s.ensure(ctx, steps)
	}()
	// Back to what the complete version was made from: its stamp would match, were it still there.
	a.from, a.during = "a 1", nil
	if state, _ := s.state(ctx, steps[0]); state != Missing {
		t.Errorf("a killed step is %s, want missing", state)
	}
	if err := s.ensure(ctx, steps); err != nil {
		t.Fatal(err)
	}
	if text, _ := os.ReadFile(a.file); string(text) != "whole" || b.made != 1 {
		t.Errorf("a is %q, b made %d times; want whole, once", text, b.made)
	}
}

func TestFailureKeepsEarlierSteps(t *testing.T) {
	ctx := context.Background()
	s, a, b, steps := twoSteps(t)
	b.broken = errors.New("no luck")
	if err := s.ensure(ctx, steps); !errors.Is(err, b.broken) || !strings.Contains(err.Error(), "set-up, b") {
		t.Errorf("error %v, want the step's, with its name", err)
	}
	b.broken = nil
	if err := s.ensure(ctx, steps); err != nil || a.made != 1 || b.made != 2 {
		t.Errorf("made %d and %d times, %v; want 1 and 2", a.made, b.made, err)
	}
}

func TestInterrupt(t *testing.T) {
	s, a, b, steps := twoSteps(t)
	stop := errors.New("stop")
	ctx, cancel := context.WithCancelCause(context.Background())
	a.during = func() { cancel(stop) }
	if err := s.ensure(ctx, steps); !errors.Is(err, stop) || b.made != 0 {
		t.Errorf("error %v, next step made %d times; want the cause and none", err, b.made)
	}
}

func TestLockKeepsOthersOut(t *testing.T) {
	dir := t.TempDir()
	var out bytes.Buffer
	unlock, err := lock(context.Background(), dir, &out)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	stop := errors.New("stop")
	cancel(stop)
	if _, err := lock(ctx, dir, &out); !errors.Is(err, stop) {
		t.Errorf("second lock: %v, want to wait until ctx ends", err)
	}
	if !strings.Contains(out.String(), "Waiting") {
		t.Errorf("the wait was not told: %q", out.String())
	}
	unlock()
	again, err := lock(context.Background(), dir, &out)
	if err != nil {
		t.Fatal(err)
	}
	again()
}

func TestForeignFolderIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "thesis.txt")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := (Setup{Home: dir, Out: new(bytes.Buffer)}).ensure(context.Background(), nil); err == nil {
		t.Error("set-up took a folder with files in it")
	}
	if err := Clean(context.Background(), dir, new(bytes.Buffer)); err == nil || !strings.Contains(err.Error(), markerName) {
		t.Errorf("clean: %v, want a refusal that names the marker", err)
	}
	if !exists(file) {
		t.Error("the file is gone")
	}
}

func TestCleanRemovesAll(t *testing.T) {
	s, _, _, steps := twoSteps(t)
	if err := s.ensure(context.Background(), steps); err != nil {
		t.Fatal(err)
	}
	if err := Clean(context.Background(), s.Home, new(bytes.Buffer)); err != nil || exists(s.Home) {
		t.Errorf("clean: %v; folder still there: %t", err, exists(s.Home))
	}
}
