package objective_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/shapes"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/objective"
)

// memoryRun asks a process of this test binary for one measurement: what kind of model, backend, dimension and batch.
const memoryRun = "SCOREKIT_TEST_MEMORY"

// The memory that one training step of Implicit takes, its loss and gradient, grows with d and not with d². Four times
// the dimension took 4.0 times as much on pure Go, for a score as for an energy, and 3.0 times on XLA, which keeps more
// that does not depend on d. What a pass leaves behind is as wide as the hidden layers, here 32. If
// each also left one array of the size of the points, [batch, d], it would be 6.8 and 5.8 times on pure Go and 3.9 on
// XLA. Each step runs in a process of its own, whose peak is counted from the end of compiling.
func TestImplicitMemoryGrowsWithTheDimension(t *testing.T) {
	if asked := os.Getenv(memoryRun); asked != "" {
		measureMemory(t, asked)
		return
	}
	if testing.Short() {
		t.Skip("-short: starts 6 processes")
	}
	for _, test := range []struct {
		backend, model string
		from, to       int
		most           float64
	}{
		{"go", "score", 64, 256, 4.3},
		{"go", "energy", 64, 256, 4.3},
		{"xla", "score", 16, 64, 3.4},
	} {
		if test.backend == "xla" {
			if _, ok := testbackend.XLA(t); !ok {
				continue
			}
		}
		low := memoryOf(t, fmt.Sprintf("%s %s %d 2048", test.model, test.backend, test.from))
		high := memoryOf(t, fmt.Sprintf("%s %s %d 2048", test.model, test.backend, test.to))
		if !(high <= test.most*low) {
			t.Errorf("%s, %s: %.1f MB in %d dimensions, %.1f MB in %d: more than %v times as much",
				test.backend, test.model, low, test.from, high, test.to, test.most)
		}
	}
}

// memoryOf runs one measurement in a process of its own.
func memoryOf(t *testing.T, asked string) float64 {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	// Every large array is a mapping of its own, so that none hides in what compiling left behind.
	child.Env = append(os.Environ(), memoryRun+"="+asked, "MALLOC_MMAP_THRESHOLD_=65536")
	text, err := child.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", asked, err, text)
	}
	_, after, _ := strings.Cut(string(text), "peak MB: ")
	var peak float64
	if _, err := fmt.Sscan(after, &peak); err != nil || !(peak > 0) {
		t.Fatalf("%s: no measurement in %s", asked, text)
	}
	t.Logf("%s: %s", asked, strings.SplitN(after, "\n", 2)[0])
	return peak
}

// measureMemory prints the peak of resident memory in one training step, in MB above what it was before.
func measureMemory(t *testing.T, asked string) {
	const width = 32
	var model, name string
	var d, batch int
	if _, err := fmt.Sscan(asked, &model, &name, &d, &batch); err != nil {
		t.Fatal(err)
	}
	b := testbackend.Go(t)
	if name == "xla" {
		b, _ = testbackend.XLA(t)
	}
	start := time.Now()
	step, err := graph.NewExec(b, func(in []*graph.Node) []*graph.Node {
		x, w := in[0], in[1:]
		hidden := func(x *graph.Node) *graph.Node {
			h := graph.Tanh(graph.Add(graph.Dot(x, w[0]), graph.InsertAxes(w[1], 0)))
			return graph.Tanh(graph.Add(graph.Dot(h, w[2]), graph.InsertAxes(w[3], 0)))
		}
		score := testvalues.Ignoring(func(x *graph.Node) *graph.Node { return graph.Dot(hidden(x), w[4]) })
		if model == "energy" {
			score = scorekit.Energy(func(_ *mlctx.Context, x, _ *graph.Node) *graph.Node {
				return graph.Reshape(graph.Dot(hidden(x), w[5]), batch)
			}).Score
		}
		return lossAndGradients(objective.Implicit{}.Loss(nil, nil, score, x), w)
	})
	if err != nil {
		t.Fatal(err)
	}
	var inputs []any
	for _, dims := range [][]int{{batch, d}, {d, width}, {width}, {width, width}, {width}, {width, d}, {width, 1}} {
		inputs = append(inputs, tensors.FromShape(shapes.Make(dtypes.Float32, dims...)))
	}
	if err := step.PreCompile(inputs...); err != nil {
		t.Fatal(err)
	}
	compiled := time.Since(start)
	debug.FreeOSMemory()
	before := residentMB(t, "VmRSS")
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil { // 5: forget the peak so far
		t.Fatal(err)
	}
	if _, err := step.Exec(inputs...); err != nil {
		t.Fatal(err)
	}
	fmt.Printf("peak MB: %.1f, compiled in %v\n", residentMB(t, "VmHWM")-before, compiled)
}

// residentMB returns a figure of the process's own status, in MB.
func residentMB(t *testing.T, field string) float64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), field+":")
	var kB float64
	if _, err := fmt.Sscan(after, &kB); err != nil {
		t.Fatal(err)
	}
	return kB / 1024
}
