//go:build unix

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/scorekit/lab/internal/disktest"
	"github.com/scorekit/lab/internal/setuptest"
)

// isCommand makes this test program the command itself.
const isCommand = "SCORELAB_TEST_IS_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(isCommand) != "" {
		main()
	}
	os.Exit(m.Run())
}

// said is what a process has written so far.
type said struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *said) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *said) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// interrupt starts the command as a process of its own, gives it a Ctrl-C once ready says so, and returns its status and
// what it said. It fails the test when the end takes long, or leaves temporary files or processes. The promise is two
// seconds; thirty are waited for on a slow machine, where children may use all of process.Grace, and how long it took is logged.
func interrupt(t *testing.T, ready func(pid int, said string) bool, line ...string) (status int, text string) {
	t.Helper()
	temp := t.TempDir()
	command := exec.Command(os.Args[0], line...)
	command.Env = append(os.Environ(), isCommand+"=1", "SCOREKIT_QUIET=1", "TMPDIR="+temp)
	var out said
	command.Stdout, command.Stderr = &out, &out
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	defer command.Process.Kill()
	for waited := time.Now(); !ready(command.Process.Pid, out.String()); time.Sleep(20 * time.Millisecond) {
		select {
		case err := <-ended:
			t.Fatalf("it ended before the Ctrl-C: %v\n%s", err, out.String())
		default:
		}
		if time.Since(waited) > 2*time.Minute {
			t.Fatalf("it is not at work after two minutes:\n%s", out.String())
		}
	}
	begin, worked := time.Now(), processorTime(command.Process.Pid)
	if err := command.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Fatalf("still there thirty seconds after Ctrl-C:\n%s", out.String())
	}
	worked = command.ProcessState.UserTime() + command.ProcessState.SystemTime() - worked
	t.Logf("%s ended %.2f s after Ctrl-C, %.2f s of processor time", line[0], time.Since(begin).Seconds(), worked.Seconds())
	left, err := os.ReadDir(temp)
	if err != nil || len(left) > 0 {
		t.Errorf("temporary files left behind: %v, %v", left, err)
	}
	// What was killed is gone a moment later; what was not stays. A notebook's kernel has a folder below this one.
	var running []string
	for end := time.Now().Add(5 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if running = processesWith("TMPDIR=" + temp); len(running) == 0 {
			break
		}
	}
	for _, process := range running {
		t.Errorf("left running: %s", process)
	}
	return command.ProcessState.ExitCode(), out.String()
}

// processesWith returns the command lines of the processes that have this variable, or one that names something in this folder,
// on Linux.
func processesWith(variable string) []string {
	folders, _ := filepath.Glob("/proc/[0-9]*")
	var found []string
	for _, folder := range folders {
		environment, err := os.ReadFile(filepath.Join(folder, "environ"))
		if err == nil && (bytes.Contains(environment, []byte(variable+"\x00")) || bytes.Contains(environment, []byte(variable+"/"))) {
			line, _ := os.ReadFile(filepath.Join(folder, "cmdline"))
			found = append(found, strings.ReplaceAll(string(line), "\x00", " "))
		}
	}
	return found
}

// processorTime is for how long a process has worked, and 0 where that cannot be seen.
func processorTime(pid int) time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	var user, system time.Duration
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')'):]))
	fmt.Sscan(fields[12]+" "+fields[13], &user, &system)
	return (user + system) * 10 * time.Millisecond
}

// after is ready once the process has worked for so long, however busy the machine is. Where that cannot be seen, it is
// ready after three seconds.
func after(work time.Duration) func(int, string) bool {
	var begin time.Time
	return func(pid int, _ string) bool {
		if begin.IsZero() {
			begin = time.Now()
		}
		worked := processorTime(pid)
		return worked > work || worked == 0 && time.Since(begin) > 3*time.Second
	}
}

// exists is ready once a file is there whose name matches.
func exists(pattern string) func(int, string) bool {
	return func(int, string) bool {
		found, _ := filepath.Glob(pattern)
		return len(found) > 0
	}
}

// wide is a network whose work takes a while in pure Go.
func wide(t *testing.T) (run string) {
	t.Helper()
	t.Setenv("SCOREKIT_QUIET", "1")
	run = filepath.Join(t.TempDir(), "run")
	status, _, complaint := capture(t, t.Context(), "train", "--data", "ring", "--out", run, "--rows", "20000", "--hidden", "256,256", "--steps", "1", "--batch", "8",
		"--samples-every", "-1", "--backend", "go")
	if status != 0 {
		t.Fatal(complaint)
	}
	return run
}

// Ctrl-C ends each verb that works on models in the middle of its work, with status 130. A training is saved and goes on, and
// of the others nothing is left.
func TestCtrlCOnModels(t *testing.T) {
	run := wide(t)
	dir := t.TempDir()
	stopped := func(status int, text string) {
		t.Helper()
		if status != 130 || !strings.Contains(text, "interrupted") && !strings.Contains(text, "stopped") {
			t.Errorf("status %d, want 130: %s", status, text)
		}
	}
	t.Run("train", func(t *testing.T) {
		out := filepath.Join(dir, "training")
		status, text := interrupt(t, exists(filepath.Join(out, "checkpoints", "step-*")), "train", "--data", "ring", "--out", out, "--hidden", "8", "--steps", "100000000",
			"--batch", "16", "--checkpoint-every", "50", "--samples-every", "-1", "--backend", "go")
		stopped(status, text)
		if !strings.Contains(text, "which is saved in") || !strings.Contains(text, "train --resume --out "+out) {
			t.Errorf("it does not say how to go on: %s", text)
		}
		if hidden, _ := filepath.Glob(filepath.Join(out, "checkpoints", ".*")); len(hidden) > 0 {
			t.Errorf("left behind: %q", hidden)
		}
		if status, _, complaint := capture(t, t.Context(), "sample", "--model", out, "-n", "3", "--out", filepath.Join(dir, "three.csv"), "--backend", "go"); status != 0 {
			t.Errorf("the run is of no use: %s", complaint)
		}
	})
	t.Run("train, before the first step", func(t *testing.T) {
		out := filepath.Join(dir, "early")
		// One step of a network of this width takes long.
		status, text := interrupt(t, exists(filepath.Join(out, "checkpoints", ".lock")), "train", "--data", "ring", "--out", out, "--hidden", "2000,2000", "--steps", "10",
			"--batch", "5000", "--samples-every", "-1", "--backend", "go")
		stopped(status, text)
		if !strings.Contains(text, "stopped before the first step; begin again with:") || !strings.Contains(text, "train --resume --out "+out) {
			t.Errorf("it does not say how to go on: %s", text)
		}
		disktest.Holds(t, out, "config.toml", "summary.json", "checkpoints/.lock")
		if status, _, complaint := capture(t, t.Context(), "info", out); status != 0 {
			t.Errorf("the run is of no use: %s", complaint)
		}
	})
	for _, test := range []struct {
		out  string
		line []string
	}{
		{"samples.csv", []string{"sample", "-n", "500", "--steps", "1000000"}},
		{"one-call.csv", []string{"sample", "-n", "60000", "--steps", "50"}},
		{"", []string{"eval", "--data", points(t, 20_000), "--examples", "20000", "--samples", "20000", "--likelihood", "20000"}},
		{"", []string{"eval", "--examples", "2000", "--samples", "20000", "--likelihood", "-1"}},
		{"scores.npy", []string{"score", "--at", points(t, 100_000)}},
	} {
		t.Run(strings.Join(test.line[:2], " "), func(t *testing.T) {
			line := append(test.line, "--model", run, "--backend", "go")
			if test.out != "" {
				line = append(line, "--out", filepath.Join(dir, test.out))
			}
			stopped(interrupt(t, after(500*time.Millisecond), line...))
			if _, err := os.Stat(filepath.Join(dir, test.out)); test.out != "" && !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a part of the output is there: %v", err)
			}
		})
	}
	t.Run("bench", func(t *testing.T) {
		out := filepath.Join(dir, "bench")
		stopped(interrupt(t, exists(filepath.Join(out, "work", "*")), "bench", "--seconds", "60", "--judge=false", "--out", out))
		if _, err := os.Stat(filepath.Join(out, "bench.json")); err == nil {
			t.Error("a measurement that was stopped at its beginning has a report")
		}
	})
	for _, test := range []struct {
		said, file string // what is said before the Ctrl-C, and where the report is
		line       []string
	}{
		{"dsm2d", "bench", []string{"bench", "dsm2d", "conv_dsm", "--judge=false"}},
		{"denoising_d, d = 2:", "curves", []string{"bench", "curves", "denoising_d"}},
	} {
		t.Run("what was measured, "+test.file, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			first := func(_ int, said string) bool { return strings.Contains(said, test.said) }
			stopped(interrupt(t, first, append(test.line, "--turns", "1", "--seconds", "0.01", "--out", out)...))
			text, err := os.ReadFile(filepath.Join(out, test.file+".md"))
			if err != nil || !strings.Contains(string(text), "stopped early") || !strings.Contains(string(text), "d = 2 |") && !strings.Contains(string(text), "| dsm2d | steps") {
				t.Errorf("%v: %s", err, text)
			}
		})
	}
}

// points writes a table of points of the plane.
func points(t *testing.T, n int) string {
	t.Helper()
	var text strings.Builder
	text.WriteString("x,y\n")
	for i := range n {
		fmt.Fprintf(&text, "%d.%d,%d\n", i%5, i%1000, i%7)
	}
	path := filepath.Join(t.TempDir(), "points.csv")
	if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// Ctrl-C ends a set-up while a tool is at work, and leaves the folder so that the next one goes on. The tool is told to stop, and
// not killed before it can.
func TestCtrlCOnSetUp(t *testing.T) {
	home, bin := filepath.Join(t.TempDir(), "home"), t.TempDir()
	at, told := filepath.Join(bin, "at-work"), filepath.Join(bin, "told")
	python := "#!/bin/sh\ncase \"$1\" in\n-c) echo 3.12.1 ;;\n*) trap ': > " + told + "; exit 143' TERM; mkdir -p \"$3/bin\"; : > \"$TMPDIR/unpacked\"; : > " + at +
		"; sleep 600 & wait ;;\nesac\n"
	if err := os.WriteFile(filepath.Join(bin, "python3"), []byte(python), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("SCORELAB_HOME", home)
	status, text := interrupt(t, exists(at), "setup")
	if status != 130 || !strings.Contains(text, "run it again and it goes on from there") {
		t.Errorf("status %d: %s", status, text)
	}
	if _, err := os.Stat(told); err != nil {
		t.Errorf("the tool was not told to stop: %v", err)
	}
	disktest.Holds(t, home, "SCORELAB", ".gitignore", "CACHEDIR.TAG", "logs/venv.log")
	for _, folder := range []string{"venv", "tmp"} {
		if _, err := os.Stat(filepath.Join(home, folder)); err == nil {
			t.Errorf("%s was left behind", folder)
		}
	}
}

// Ctrl-C ends the verbs that work with Jupyter.
func TestCtrlCOnNotebooks(t *testing.T) {
	s, ok := setuptest.Jupyter(t, "Ctrl-C on run, book and lab")
	if !ok {
		return
	}
	runtime := filepath.Join(s.Home, "jupyter", "runtime", "*-*.json")
	before, _ := filepath.Glob(runtime)
	out := t.TempDir()
	// A kernel that starts has a file by which it is found, which must go with it.
	scratch := filepath.Join(os.TempDir(), t.Name()+"*", "*", "scorelab-*", "tmp", "*.json")
	kernels := filepath.Join(s.Home, "jupyter", "runtime", "*.json")
	there, _ := filepath.Glob(kernels)
	starts := func(pid int, text string) bool {
		now, _ := filepath.Glob(kernels)
		return exists(scratch)(pid, text) || len(now) > len(there)
	}
	for _, test := range []struct {
		ready  func(int, string) bool
		status int
		line   []string
	}{
		{func(_ int, text string) bool { return strings.Contains(text, "starting") }, 130, []string{"run", "00", "--out", filepath.Join(out, "early")}},
		{starts, 130, []string{"run", "00", "--out", filepath.Join(out, "kernel")}},
		{func(_ int, text string) bool { return strings.Contains(text, "1/") }, 130, []string{"run", "00", "--out", filepath.Join(out, "run")}},
		{exists(filepath.Join(out, "book", "index.html")), 130, []string{"book", "--out", filepath.Join(out, "book")}},
		// It is left by Ctrl-C: that is no failure.
		{func(_ int, text string) bool { return strings.Contains(text, "127.0.0.1:") }, 0, []string{"lab", "--no-browser"}},
	} {
		t.Run(test.line[0], func(t *testing.T) {
			if status, text := interrupt(t, test.ready, test.line...); status != test.status {
				t.Errorf("status %d, want %d: %s", status, test.status, text)
			}
		})
	}
	// What was executed before the Ctrl-C is kept.
	if text, err := os.ReadFile(filepath.Join(out, "run", "00-tour.ipynb")); err != nil || !bytes.Contains(text, []byte(`"execution_count": 1,`)) {
		t.Errorf("the first cell's output is not in the notebook of %d bytes: %v", len(text), err)
	}
	for _, pattern := range []string{".*.new", "*.new"} {
		if left, _ := filepath.Glob(filepath.Join(out, "*", pattern)); len(left) > 0 {
			t.Errorf("half-written files: %q", left)
		}
	}
	if now, _ := filepath.Glob(runtime); len(now) > len(before) {
		t.Errorf("Jupyter's files of kernels and servers that are gone: %q", now)
	}
}

// A result that does not reach standard output is no success.
func TestFullStandardOutput(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		fmt.Println("left out: standard output without room:", err)
		return
	}
	defer full.Close()
	t.Setenv("SCOREKIT_QUIET", "1")
	run := filepath.Join(t.TempDir(), "run")
	if status, _, complaint := capture(t, t.Context(), append([]string{"train", "--data", "ring", "--out", run}, small...)...); status != 0 {
		t.Fatal(complaint)
	}
	for _, line := range [][]string{
		{"info", run}, {"info", run, "--json"}, {"train", "--data", "ring", "--print-config"},
		{"train", "--resume", "--out", run}, {"train", "--resume", "--out", run, "--json"},
		{"sample", "--model", run, "-n", "2", "--steps", "2", "--out", filepath.Join(t.TempDir(), "s.csv"), "--backend", "go"},
		{"eval", "--model", run, "--examples", "5", "--samples", "5", "--steps", "2", "--likelihood", "-1", "--backend", "go"},
	} {
		command := exec.Command(os.Args[0], line...)
		command.Env = append(os.Environ(), isCommand+"=1")
		var complaint bytes.Buffer
		command.Stdout, command.Stderr = full, &complaint
		var status *exec.ExitError
		if err := command.Run(); !errors.As(err, &status) || status.ExitCode() != 1 || !strings.Contains(complaint.String(), syscall.ENOSPC.Error()) {
			t.Errorf("%v: %v: %s", line, err, complaint.String())
		}
	}
}
