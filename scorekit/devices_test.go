package scorekit_test

import (
	"bytes"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"

	"github.com/scorekit/lab/data"
	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/backend"
	"github.com/scorekit/lab/scorekit/net"
	"github.com/scorekit/lab/scorekit/objective"
)

// fourDevices is XLA with four devices on the CPU, or false where XLA is left out.
func fourDevices(t *testing.T) (backends.Backend, bool) {
	t.Helper()
	if _, ok := testbackend.XLA(t); !ok {
		return nil, false
	}
	config := "xla:cpu"
	if asked := os.Getenv(backends.ConfigEnvVar); strings.HasPrefix(asked, "xla:") {
		config = asked
	}
	b, err := backend.OpenConfig(config + ",cpu_device_count=4")
	if err != nil {
		t.Fatal(err)
	}
	if n := b.NumDevices(); n != 4 {
		t.Fatalf("%d devices, want 4", n)
	}
	return b, true
}

// allWeights returns every weight of a trained model.
func allWeights(t *testing.T, f *scorekit.Fitted) []float64 {
	t.Helper()
	var all []float64
	for v := range f.Vars().IterVariables() {
		switch flat := v.MustValue().Value().(type) {
		case [][]float64:
			for _, row := range flat {
				all = append(all, row...)
			}
		case []float64:
			all = append(all, flat...)
		case [][]float32:
			for _, row := range flat {
				for _, w := range row {
					all = append(all, float64(w))
				}
			}
		case []float32:
			for _, w := range flat {
				all = append(all, float64(w))
			}
		default:
			t.Fatalf("weight %s of type %T", v.ScopeAndName(), flat)
		}
	}
	return all
}

// sameRun compares two trainings weight by weight and loss by loss.
func sameRun(t *testing.T, what string, got, want *scorekit.Fitted, tolerance float64) {
	t.Helper()
	a, b := allWeights(t, got), allWeights(t, want)
	if len(a) != len(b) || len(a) == 0 {
		t.Fatalf("%s: %d weights, want %d", what, len(a), len(b))
	}
	worst := 0.0
	for i := range a {
		worst = max(worst, math.Abs(a[i]-b[i]))
	}
	if !(worst <= tolerance) {
		t.Errorf("%s: weights differ by up to %.3g, want at most %.3g", what, worst, tolerance)
	}
	x, y := got.History(), want.History()
	if len(x) == 0 || len(x) > len(y) {
		t.Fatalf("%s: %d steps told, want at most %d", what, len(x), len(y))
	}
	y = y[len(y)-len(x):] // a resumed run tells its own steps
	for i := range x {
		if x[i].Step != y[i].Step || !(math.Abs(x[i].Loss-y[i].Loss) <= tolerance*math.Max(1, math.Abs(y[i].Loss))) {
			t.Errorf("%s: %+v, want %+v within %.3g", what, x[i], y[i], tolerance)
		}
	}
}

// Several devices train as one does, but for the order of the sums. In float64 those differ by about 10⁻¹⁶ of the summands,
// which are below 10²; Adam divides a gradient by its own size, of 10⁻⁴ and more but for a few weights, and 30 steps
// add up: 10⁻⁹ is far above all that together, and far below a step (10⁻³) or another draw. In float32 they differ by
// 6·10⁻⁸; plain gradient descent at rate 0.01 passes on a hundredth of it in each of the 30 steps: 10⁻⁵.
func TestDevicesTrainAsOne(t *testing.T) {
	b, ok := fourDevices(t)
	if !ok {
		return
	}
	network := net.MLP{Hidden: []int{16, 16}, Activation: net.Tanh}
	held, err := data.Ring{}.Sample(100, 3)
	if err != nil {
		t.Fatal(err)
	}
	points := examples(t, held.X)
	fed, err := scorekit.Stream(meter{})
	if err != nil {
		t.Fatal(err)
	}
	descent := scorekit.WithOptimizer(scorekit.SGD{Rate: scorekit.Rate{Peak: 0.01}})
	for _, test := range []struct {
		name      string
		model     scorekit.Model
		objective scorekit.Objective
		data      scorekit.Data
		devices   []int
		options   []scorekit.FitOption
		tolerance float64
	}{
		{"drawn points, denoising, Adam", network, objective.Denoising{Sigma: 0.5, Weighted: true}, data.Ring{}, []int{2, 4},
			[]scorekit.FitOption{scorekit.WithDType(dtypes.Float64)}, 1e-9},
		{"held points, exact trace, Adam", network, objective.Implicit{}, points, []int{2},
			[]scorekit.FitOption{scorekit.WithDType(dtypes.Float64), scorekit.WithClipNorm(1)}, 1e-9},
		{"a stream, float32", scorekit.Score(linear), objective.Denoising{Sigma: 1}, fed, []int{4},
			[]scorekit.FitOption{descent}, 1e-5},
	} {
		fit := func(devices int) *scorekit.Fitted {
			options := append([]scorekit.FitOption{scorekit.WithSteps(30), scorekit.WithBatch(32), scorekit.WithUnroll(3), scorekit.WithDevices(devices)}, test.options...)
			f, err := scorekit.Fit(background, b, test.model, test.objective, test.data, options...)
			if err != nil {
				t.Fatalf("%s, %d devices: %v", test.name, devices, err)
			}
			return f
		}
		want := fit(1)
		for _, n := range test.devices {
			sameRun(t, test.name, fit(n), want, test.tolerance)
		}
	}
}

// A run on two devices is interrupted, and goes on to the same end on four.
func TestDevicesResume(t *testing.T) {
	b, ok := fourDevices(t)
	if !ok {
		return
	}
	dir := t.TempDir()
	fit := func(steps, devices int, more ...scorekit.FitOption) *scorekit.Fitted {
		options := append([]scorekit.FitOption{scorekit.WithSteps(steps), scorekit.WithBatch(32), scorekit.WithUnroll(2),
			scorekit.WithDType(dtypes.Float64), scorekit.WithDevices(devices)}, more...)
		f, err := scorekit.Fit(background, b, net.MLP{Hidden: []int{8}}, objective.Denoising{Sigma: 0.5, Weighted: true}, data.Ring{}, options...)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	fit(8, 2, scorekit.WithCheckpoints(dir, 4))
	sameRun(t, "resumed", fit(16, 4, scorekit.WithCheckpoints(dir, 4), scorekit.WithResume()), fit(16, 1), 1e-9)
}

// The batch is really split: in the program that XLA makes for two devices each multiplies half of its 32 rows, and they
// add up their gradients.
func TestDevicesSplitTheBatch(t *testing.T) {
	if _, ok := fourDevices(t); !ok {
		return
	}
	dir := t.TempDir()
	run := exec.Command(os.Args[0], "-test.run=^TestDevicesResume$")
	run.Env = append(os.Environ(), "XLA_FLAGS=--xla_dump_to="+dir+" --xla_dump_hlo_as_text")
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*after_optimizations.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("XLA has written no programs: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(text, []byte("all-reduce(")) && halfBatch.Match(text) {
			return
		}
	}
	t.Errorf("none of %d programs splits the batch", len(files))
}

// halfBatch is a layer's product for half of the batch.
var halfBatch = regexp.MustCompile(`f64\[16,8\]\S* dot\(`)

func TestDevicesErrors(t *testing.T) {
	pure := testbackend.Go(t)
	fit := func(b backends.Backend, options ...scorekit.FitOption) error {
		_, err := scorekit.Fit(background, b, scorekit.Score(linear), objective.Denoising{Sigma: 1}, data.Ring{}, options...)
		return err
	}
	wantError(t, fit(pure, scorekit.WithDevices(0)), "scorekit: Fit: 0 devices: must be at least 1")
	wantError(t, fit(pure, scorekit.WithDevices(2)), "scorekit: Fit: 2 devices: must be at most the 1 of the backend")
	b, ok := fourDevices(t)
	if !ok {
		return
	}
	wantError(t, fit(b, scorekit.WithDevices(5)), "scorekit: Fit: 5 devices: must be at most the 4 of the backend")
	wantError(t, fit(b, scorekit.WithDevices(3), scorekit.WithBatch(100)), "scorekit: Fit: batch of 100 on 3 devices: must be a multiple of their number")
}
