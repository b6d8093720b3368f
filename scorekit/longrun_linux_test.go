package scorekit_test

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/gomlx/gomlx/backends"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/objective"
	"github.com/scorekit/lab/scorekit/sampler"
)

// long asks for the whole training: go test ./scorekit -run LongRun -v -long.
var long = flag.Bool("long", false, "200,000 training steps in TestLongRunOfTraining, not 20,000")

// A training as users have them: with checkpoints, a progress bar, and a callback that now and then reads the losses and takes a
// copy of the model. What a step leaves on purpose is its line in the history.
func TestLongRunOfTraining(t *testing.T) {
	inProcessesOfTheirOwn(t, func(t *testing.T, be backends.Backend) {
		total := 20_000
		if *long {
			total = 200_000
		}
		run := longRun{total: total, keeps: historyBytes}
		// A checkpoint reads what is known of all steps before it, so that at each tenth all of it is in the history.
		fitted, err := scorekit.Fit(t.Context(), be, smallNet, objective.Denoising{Sigma: 0.5}, gaussian(t, 1, 0, 1),
			scorekit.WithSteps(total), scorekit.WithBatch(4), scorekit.WithCheckpoints(t.TempDir(), total/200),
			scorekit.WithProgress(scorekit.TerminalProgress(io.Discard)),
			scorekit.WithCallback(func(s *scorekit.FitStep) error {
				run.after(t, s.Step)
				if s.Step%1000 != 0 {
					return nil
				}
				stats, err := s.Stats()
				if err == nil && len(stats) != s.Step {
					err = fmt.Errorf("%d statistics after %d steps", len(stats), s.Step)
				}
				if err != nil {
					return err
				}
				_, err = s.Fitted()
				return err
			}))
		if err != nil {
			t.Fatal(err)
		}
		if n := len(fitted.History()); n != total {
			t.Errorf("a history of %d steps after %d", n, total)
		}
		run.check(t)
	})
}

// historyBytes returns what the history of so many steps takes, with the room that append leaves at its end.
func historyBytes(steps int) int64 {
	var history []scorekit.StepStats
	for range steps {
		history = append(history, scorekit.StepStats{})
	}
	return int64(cap(history)) * int64(unsafe.Sizeof(scorekit.StepStats{}))
}

// A sampling keeps nothing of its steps: its schedule is there from the start.
func TestLongRunOfSampling(t *testing.T) {
	inProcessesOfTheirOwn(t, func(t *testing.T, be backends.Backend) {
		fitted, err := scorekit.Fit(t.Context(), be, scorekit.Score(linear), objective.Denoising{Sigma: 0.5}, gaussian(t, 1, 0, 1),
			scorekit.WithSteps(200), scorekit.WithBatch(16))
		if err != nil {
			t.Fatal(err)
		}
		run := longRun{total: 100_000, keeps: func(int) int64 { return 0 }}
		for s, err := range scorekit.SampleSteps(t.Context(), be, fitted, sampler.Langevin{StepSize: 0.01, Steps: run.total}, 4,
			scorekit.WithProgress(scorekit.TerminalProgress(io.Discard))) {
			if err != nil {
				t.Fatal(err)
			}
			run.after(t, s.Step)
			if s.Step%1000 != 0 {
				continue
			}
			if _, err := s.X(); err != nil {
				t.Fatal(err)
			}
		}
		run.check(t)
	})
}

// alone is the environment variable that tells a test that it is the only one in its process.
const alone = "SCOREKIT_TEST_ALONE"

// inProcessesOfTheirOwn runs f on each backend in a new process: memory that other tests have used and given back would hide
// what a run takes.
func inProcessesOfTheirOwn(t *testing.T, f func(t *testing.T, be backends.Backend)) {
	t.Helper()
	logged := regexp.MustCompile(`(?m)^ +longrun_linux_test\.go:\d+: (.*)$`)
	testbackend.Each(t, func(t *testing.T, be backends.Backend) {
		if os.Getenv(alone) != "" {
			f(t, be)
			return
		}
		args := []string{"-test.v", "-test.run=^" + strings.ReplaceAll(t.Name(), "/", "$/^") + "$", fmt.Sprintf("-long=%t", *long)}
		if end, ok := t.Deadline(); ok {
			args = append(args, "-test.timeout="+time.Until(end).String())
		}
		cmd := exec.CommandContext(t.Context(), os.Args[0], args...)
		cmd.Env = append(os.Environ(), alone+"=1")
		out, err := cmd.CombinedOutput()
		lines := logged.FindAllStringSubmatch(string(out), -1)
		if err != nil || len(lines) == 0 {
			t.Fatalf("%v\n%s", err, out)
		}
		for _, line := range lines {
			t.Log(line[1])
		}
	})
}

// longRun is what was found at each tenth of a run.
type longRun struct {
	total int
	keeps func(steps int) int64 // bytes that a run keeps on purpose of its first steps

	firstStep int // of the first block, which compiles
	first     time.Time
	found     []held
}

// held is what a process holds.
type held struct {
	step              int
	heap, resident    int64 // bytes: live in Go, and of the whole process
	files, goroutines int
	begin, end        time.Time // of the look
}

// after is called after each block of steps.
func (r *longRun) after(t *testing.T, step int) {
	t.Helper()
	if r.firstStep == 0 {
		r.firstStep, r.first = step, time.Now()
	}
	if step%(r.total/10) == 0 {
		r.found = append(r.found, look(t, step))
	}
}

// look counts what is left when all garbage is collected and given back to the system.
func look(t *testing.T, step int) held {
	t.Helper()
	h := held{step: step, begin: time.Now(), goroutines: runtime.NumGoroutine()}
	for { // what one collection finds may free more by its finalizer, such as a buffer of XLA, and that may take a goroutine
		debug.FreeOSMemory()
		time.Sleep(10 * time.Millisecond)
		h.goroutines = min(h.goroutines, runtime.NumGoroutine())
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		before := h.heap
		if h.heap = int64(m.HeapAlloc); before > 0 && h.heap >= before {
			break
		}
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	if _, err := fmt.Sscan(rest, &h.resident); err != nil {
		t.Fatal(err)
	}
	h.resident *= 1024
	files, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	h.files, h.end = len(files), time.Now()
	return h
}

// check compares the end with the first tenth and, for memory, with the second.
//
// Live in Go is, beyond what is kept on purpose, a byte more a step at most, and 64 kB for what is allocated once and late: pools
// of buffers, tables of types. A tensor kept of each call takes more than 500 bytes, that is 50 a step in calls of ten.
//
// Resident is as much more as live in Go, 16 bytes a step, and what those who hand out memory hold back: the C library 128 kB at
// the end of each of up to 8 arenas a processor, the system 2 MB where Go's heap and where C's meet a huge page. So a tensor of XLA
// that is lost to Go is found when its calls lose 1 kB each. It goes up and down by megabytes, as C's threads come to have arenas:
// the least of the last three looks counts. The race detector keeps more: there it is only logged.
func (r *longRun) check(t *testing.T) {
	t.Helper()
	if len(r.found) != 10 {
		t.Fatalf("%d looks at the run, want one at each tenth", len(r.found))
	}
	for _, h := range r.found {
		t.Logf("step %6d: %8d bytes live in Go and not kept on purpose, %6d kB resident, %d files, %d goroutines",
			h.step, h.heap-r.keeps(h.step), h.resident/1024, h.files, h.goroutines)
	}
	tenth, second, ninth, end := r.found[0], r.found[1], r.found[8], r.found[9]
	t.Logf("steps a second: %.0f in the first tenth, %.0f in the last",
		float64(tenth.step-r.firstStep)/tenth.begin.Sub(r.first).Seconds(), float64(end.step-ninth.step)/end.begin.Sub(ninth.end).Seconds())

	if end.files > tenth.files {
		t.Errorf("%d open files at the end, %d after a tenth", end.files, tenth.files)
	}
	if end.goroutines > tenth.goroutines {
		t.Errorf("%d goroutines at the end, %d after a tenth", end.goroutines, tenth.goroutines)
	}
	steps := int64(end.step - second.step)
	heap := end.heap - second.heap
	if more, most := heap-r.keeps(end.step)+r.keeps(second.step), steps+64<<10; more > most {
		t.Errorf("%d bytes more live in Go after %d more steps: want at most %d", more, steps, most)
	}
	heldBack := int64(2*2<<20 + 8*runtime.NumCPU()*128<<10)
	beside := func(h held) int64 { return h.resident - h.heap }
	var tooMuch []string
	for _, h := range r.found[7:] {
		more, most := beside(h)-beside(second), 16*int64(h.step-second.step)+heldBack
		if more > most {
			tooMuch = append(tooMuch, fmt.Sprintf("%d bytes after %d more steps: want at most %d", more, h.step-second.step, most))
		}
	}
	if len(tooMuch) == 3 && !detectsRaces() {
		t.Errorf("more is resident, besides what is live in Go:\n%s", strings.Join(tooMuch, "\n"))
	}
}

// detectsRaces says whether the test was built with -race.
func detectsRaces() bool {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return false
	}
	for _, s := range info.Settings {
		if s.Key == "-race" && s.Value == "true" {
			return true
		}
	}
	return false
}
