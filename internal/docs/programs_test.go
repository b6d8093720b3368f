package docs_test

import (
	"encoding/json"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/scorekit/lab/internal/home"
)

// TestReadmeProgram runs the README's program as a reader would: in a module of its own that requires this one.
func TestReadmeProgram(t *testing.T) {
	programs := blocks(read(t, "README.md"), "go")
	if len(programs) != 1 {
		t.Fatalf("%d Go programs in README.md, want 1", len(programs))
	}
	checkout, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"main.go": programs[0], "go.sum": read(t, "go.sum")} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	set(t)
	goTool(t, dir, "mod", "init", "example.com/reader")
	goTool(t, dir, "mod", "edit", "-require=github.com/scorekit/lab@v0.0.0", "-replace=github.com/scorekit/lab="+checkout)
	t.Setenv("GOFLAGS", "-mod=mod")
	if out, want := goTool(t, dir, "run", "."), "1000 steps, 2000 draws in draws.png\n"; !strings.HasSuffix(out, want) {
		t.Errorf("it prints %q, want %q at the end", out, want)
	}
	picture, err := os.Open(filepath.Join(dir, "draws.png"))
	if err != nil {
		t.Fatal(err)
	}
	defer picture.Close()
	if _, err := png.Decode(picture); err != nil {
		t.Error(err)
	}
}

// TestContributingExamples puts the files that CONTRIBUTING.md shows in their place, as an overlay, and runs their tests.
func TestContributingExamples(t *testing.T) {
	path := regexp.MustCompile(`^// (scorekit/(?:objective|sampler)/\w+\.go)\n`)
	checkout, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	var overlay struct{ Replace map[string]string }
	overlay.Replace = map[string]string{}
	dir := t.TempDir()
	for _, text := range blocks(read(t, "CONTRIBUTING.md"), "go") {
		m := path.FindStringSubmatch(text)
		if m == nil {
			t.Fatalf("an example does not begin with its path: %.60q", text)
		}
		place, copied := filepath.Join(checkout, filepath.FromSlash(m[1])), filepath.Join(dir, filepath.Base(m[1]))
		if _, err := os.Stat(place); err == nil {
			t.Errorf("%s exists by now: show another example", m[1])
		}
		if err := os.WriteFile(copied, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		overlay.Replace[place] = copied
	}
	list, err := json.Marshal(overlay)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "overlay.json"), list, 0o644); err != nil {
		t.Fatal(err)
	}
	set(t)
	out := goTool(t, root, "test", "-v", "-overlay="+filepath.Join(dir, "overlay.json"), "-run=^(TestAntithetic|TestHeavyBall)$",
		"./scorekit/objective", "./scorekit/sampler")
	for _, test := range []string{"TestAntithetic", "TestHeavyBall"} {
		if !strings.Contains(out, "--- PASS: "+test) {
			t.Errorf("%s did not run:\n%s", test, out)
		}
	}
}

// set makes programs outside the checkout find the plugins that tests in it find.
func set(t *testing.T) {
	t.Helper()
	if dir, ok := home.Dir(); ok {
		t.Setenv(home.EnvVar, dir)
	}
}

// goTool runs the go command in dir and returns what it writes.
func goTool(t *testing.T, dir string, arguments ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", arguments...)
	command.Dir = dir
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(arguments, " "), err, out)
	}
	return string(out)
}
