package backend

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/backends/simplego"
	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/internal/home"
)

// alone gives a test an empty set-up folder and folder for temporary files, no GOMLX_BACKEND, and nothing opened or
// remembered before.
func alone(t *testing.T) (dir string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), home.FolderName)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv(home.EnvVar, dir)
	t.Setenv("TMPDIR", t.TempDir())
	t.Setenv(backends.ConfigEnvVar, "")
	t.Setenv("SCOREKIT_QUIET", "1")
	forget := func() {
		mu.Lock()
		defer mu.Unlock()
		for _, o := range all {
			o.backend.Finalize()
		}
		all = nil
		forgetInProcess()
	}
	forget()
	t.Cleanup(forget)
	return dir
}

// wantError fails unless err holds all the parts.
func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want one with %q", parts)
	}
	if !strings.HasPrefix(err.Error(), "scorekit: backend: ") {
		t.Errorf("error %q does not begin with who reports it", err)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error %q, want %q in it", err, part)
		}
	}
}

func TestPureGoByDefault(t *testing.T) {
	dir := alone(t)
	b, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	want := "pure Go, because no XLA plugin is installed in " + dir + `: run "go run ./cmd/scorelab setup" in a clone of scorekit, with --user for programs outside of it`
	if err := Supported(); err != nil {
		want = "pure Go, because " + strings.TrimPrefix(err.Error(), "scorekit: backend: ")
	}
	if got := Describe(b); got != want {
		t.Errorf("Describe: %q, want %q", got, want)
	}
	if b.String() != "go" {
		t.Errorf("opened %q", b.String())
	}
	again, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	if again != b {
		t.Error("a second Open returned another backend")
	}
	b.Finalize()
	third, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	if third == b || third.IsFinalized() {
		t.Error("a finalized backend was returned again")
	}
}

func TestPureGoAskedFor(t *testing.T) {
	for _, test := range []struct{ asked, key, description string }{
		{"go", "go:ops_sequential", "pure Go, as GOMLX_BACKEND asks"},
		{"go:", "go:ops_sequential", "pure Go, as GOMLX_BACKEND asks"},
		{"go:ops_sequential", "go:ops_sequential", "pure Go, as GOMLX_BACKEND asks"},
		{"go:dotgeneral_small", "go:dotgeneral_small,ops_sequential", "pure Go, as GOMLX_BACKEND asks"},
		{"go:ops_parallel", "go:ops_parallel", "pure Go with ops_parallel (a graph with many independent products can wait for ever), as GOMLX_BACKEND asks"},
	} {
		t.Run(test.asked, func(t *testing.T) {
			alone(t)
			t.Setenv(backends.ConfigEnvVar, test.asked)
			b, err := Open()
			if err != nil {
				t.Fatal(err)
			}
			if got := Describe(b); got != test.description {
				t.Errorf("Describe: %q, want %q", got, test.description)
			}
			if all[0].key != test.key {
				t.Errorf("opened %q, want %q", all[0].key, test.key)
			}
		})
	}
}

func TestUnknown(t *testing.T) {
	alone(t)
	for asked, want := range map[string]string{
		"tpu":                          `GOMLX_BACKEND "tpu": there is no backend "tpu": must be xla, xla:NAME, xla:/path/to/plugin.so or go`,
		"Go":                           `there is no backend "Go"`,
		":cpu":                         `there is no backend ""`,
		"go:fast":                      `GOMLX_BACKEND "go:fast": unknown configuration option "fast"`,
		"xla:cpu,fast":                 `there is no option "fast": must be shared_buffers, noshared_buffers, tf32 or cpu_device_count=N`,
		"xla,fast":                     `there is no option "fast": must be shared_buffers, noshared_buffers, tf32 or cpu_device_count=N`,
		"xla:cpu,tf32=1":               `there is no option "tf32=1"`,
		"xla:cpu,cpu_device_count=0":   `option "cpu_device_count=0": must be a whole number of at least 1`,
		"xla:cpu,cpu_device_count=two": `option "cpu_device_count=two": must be a whole number of at least 1`,
	} {
		t.Setenv(backends.ConfigEnvVar, asked)
		b, err := Open()
		if b != nil {
			t.Errorf("%s: opened %v", asked, b)
		}
		wantError(t, err, want)
	}
	_, err := OpenConfig("")
	wantError(t, err, `configuration "": must be xla`)
	_, err = OpenConfig("abacus")
	wantError(t, err, `configuration "abacus": there is no backend "abacus"`)
}

func TestOpenConfigIgnoresEnvironment(t *testing.T) {
	alone(t)
	t.Setenv(backends.ConfigEnvVar, "nonsense")
	b, err := OpenConfig("go")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := Describe(b), "pure Go, as asked for"; got != want {
		t.Errorf("Describe: %q, want %q", got, want)
	}
}

// TestRegisteredElsewhere opens a backend that the program brings along, and one whose constructor panics.
func TestRegisteredElsewhere(t *testing.T) {
	alone(t)
	backends.Register("brought", func(config string) (backends.Backend, error) {
		switch config {
		case "":
			return simplego.New("ops_sequential")
		case "broken":
			return nil, errors.New("a broken belt")
		}
		panic("no such config " + config)
	})
	b, err := OpenConfig("brought")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := Describe(b), "Simple Go Portable Backend, as asked for"; got != want {
		t.Errorf("Describe: %q, want %q", got, want)
	}
	_, err = OpenConfig("brought:broken")
	wantError(t, err, `configuration "brought:broken": a broken belt`)
	_, err = OpenConfig("brought:other")
	wantError(t, err, `configuration "brought:other": no such config other`)
}

func TestDescribeOthers(t *testing.T) {
	if got := Describe(nil); got != "no backend" {
		t.Errorf("of nil: %q", got)
	}
	b, err := simplego.New("ops_sequential")
	if err != nil {
		t.Fatal(err)
	}
	if got := Describe(b); got != b.Description() {
		t.Errorf("of one opened elsewhere: %q", got)
	}
}

func TestSaysWhatItChoseOnce(t *testing.T) {
	alone(t)
	t.Setenv(backends.ConfigEnvVar, "go")
	said := func() string {
		t.Helper()
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		old := os.Stderr
		os.Stderr = w
		_, openErr := Open()
		os.Stderr = old
		w.Close()
		text, err := io.ReadAll(r)
		if err = errors.Join(openErr, err, r.Close()); err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	t.Setenv("SCOREKIT_QUIET", "")
	if got, want := said(), "scorekit: pure Go, as GOMLX_BACKEND asks\n"; got != want {
		t.Errorf("said %q, want %q", got, want)
	}
	if got := said(); got != "" {
		t.Errorf("said again %q", got)
	}
	t.Setenv("SCOREKIT_QUIET", "1")
	t.Setenv(backends.ConfigEnvVar, "go:dotgeneral_small")
	if got := said(); got != "" {
		t.Errorf("said %q when quiet", got)
	}
}

// TestPureGoDoesNotWaitForEver runs a graph of many independent products, for which GoMLX's own default mode stops for
// good. A product of this size takes a few milliseconds; a minute for all of them means that it waits.
func TestPureGoDoesNotWaitForEver(t *testing.T) {
	for _, config := range []string{"go", "go:parallelism=1"} {
		alone(t)
		b, err := OpenConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		side := make([][]float32, 128)
		for k := range side {
			side[k] = make([]float32, len(side))
			side[k][k] = 1
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		ended := make(chan error, 1)
		go func() {
			out, err := graph.ExecOnce(b, func(x *graph.Node) *graph.Node {
				var sum *graph.Node
				for k := range 64 {
					product := graph.Dot(graph.MulScalar(x, float64(k)), x)
					if sum == nil {
						sum = product
					} else {
						sum = graph.Add(sum, product)
					}
				}
				return graph.ReduceAllSum(sum)
			}, side)
			if err == nil && out.Value() != float32(128*64*63/2) {
				err = errors.New("wrong sum")
			}
			ended <- err
		}()
		select {
		case err := <-ended:
			if err != nil {
				t.Error(config, err)
			}
		case <-ctx.Done():
			t.Fatal(config, "waits for ever")
		}
	}
}

func TestInstalledOrder(t *testing.T) {
	dir := alone(t)
	if got, err := Installed(); len(got) != 0 || err != nil {
		t.Fatalf("before set-up: %v, %v", got, err)
	}
	listed := []home.Plugin{
		{Name: "cpu", File: "xla/cpu.so", Source: "a 1"},
		{Name: "cuda", File: "xla/cuda.so", Source: "b 2"},
		{Name: "rocm", File: "xla/rocm.so", Source: "c 3"},
	}
	if err := home.WritePlugins(dir, listed); err != nil {
		t.Fatal(err)
	}
	got, err := Installed()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, p := range got {
		names = append(names, p.Name)
		if !filepath.IsAbs(p.Path) {
			t.Errorf("%s: path %q is not absolute", p.Name, p.Path)
		}
	}
	if order := strings.Join(names, " "); order != "cuda rocm cpu" {
		t.Errorf("order %q, want GPUs first", order)
	}
	if got[0].Source != "b 2" || got[0].Path != filepath.Join(dir, "xla", "cuda.so") {
		t.Errorf("wrong entry %+v", got[0])
	}

	if err := os.WriteFile(home.PluginsFile(dir), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = Installed()
	wantError(t, err, home.PluginsFile(dir), `run "scorelab setup" again`)
}
