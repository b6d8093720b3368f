package testbackend_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/internal/home"
	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/scorekit/backend"
)

func TestEachComputes(t *testing.T) {
	var seen []string
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		seen = append(seen, b.String())
		got, err := graph.ExecOnce(b, func(x *graph.Node) *graph.Node { return graph.Mul(x, x) }, float64(3))
		if err != nil {
			t.Fatal(err)
		}
		if got.Value() != float64(9) {
			t.Errorf("3² = %v", got.Value())
		}
	})
	want := "go"
	if _, found := testbackend.XLA(t); found {
		want = "go xla"
	}
	if got := strings.Join(seen, " "); got != want {
		t.Errorf("ran on %q, want %q", got, want)
	}
}

// TestInner is what TestReports runs in processes of their own.
func TestInner(t *testing.T) {
	for range 2 {
		testbackend.Each(t, func(t *testing.T, b backends.Backend) {})
	}
}

func TestReports(t *testing.T) {
	damaged := t.TempDir()
	if err := home.WritePlugins(damaged, []home.Plugin{{Name: "cpu", File: "missing.so"}}); err != nil {
		t.Fatal(err)
	}
	empty := t.TempDir()
	// Where no program can have XLA, every case reads as one without a plugin.
	leftOut := "XLA left out: no plugin installed; run go run ./cmd/scorelab setup"
	required := "SCOREKIT_REQUIRE_XLA=1, but no plugin installed"
	broken := `XLA plugin "cpu" (` + filepath.Join(damaged, "missing.so") + "): the file does not exist"
	brokenPasses := false
	if err := backend.Supported(); err != nil {
		reason := strings.TrimPrefix(err.Error(), "scorekit: backend: ")
		leftOut, required, broken, brokenPasses = "XLA left out: "+reason, "SCOREKIT_REQUIRE_XLA=1, but "+reason, "XLA left out: "+reason, true
	}
	for _, test := range []struct {
		name    string
		env     []string
		passes  bool
		message string
	}{
		{"none installed", []string{"SCORELAB_HOME=" + empty}, true, leftOut},
		{"none installed, other backend asked for", []string{"SCORELAB_HOME=" + empty, "GOMLX_BACKEND=go"}, true, leftOut},
		{"none installed but required", []string{"SCORELAB_HOME=" + empty, "SCOREKIT_REQUIRE_XLA=1"}, false, required},
		{"damaged", []string{"SCORELAB_HOME=" + damaged}, brokenPasses, broken},
	} {
		t.Run(test.name, func(t *testing.T) {
			cmd := exec.Command(os.Args[0], "-test.run=^TestInner$")
			cmd.Env = append(os.Environ(), "GOMLX_BACKEND=", "SCOREKIT_REQUIRE_XLA=")
			cmd.Env = append(cmd.Env, test.env...)
			out, err := cmd.CombinedOutput()
			if (err == nil) != test.passes {
				t.Errorf("ended with %v", err)
			}
			text := string(out)
			if !strings.Contains(text, test.message) {
				t.Errorf("no %q in:\n%s", test.message, text)
			}
			if n := strings.Count(text, "XLA left out"); test.passes && n != 1 {
				t.Errorf("said %d times", n)
			}
		})
	}
}
