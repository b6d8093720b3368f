package kernel_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"

	"github.com/scorekit/lab/internal/kernel"
)

func TestModule(t *testing.T) {
	root := t.TempDir()
	deep := filepath.Join(root, "notebooks", "more")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, "go.mod"), "module example.com/m\n")
	t.Setenv(kernel.RootVar, "")
	if got, err := kernel.Module(deep); err != nil || got != root {
		t.Errorf("Module(%s) = %q, %v; want %q", deep, got, err, root)
	}
	other := t.TempDir()
	t.Setenv(kernel.RootVar, root)
	if got, err := kernel.Module(other); err != nil || got != root {
		t.Errorf("with %s: %q, %v; want %q", kernel.RootVar, got, err, root)
	}
	t.Setenv(kernel.RootVar, other)
	if _, err := kernel.Module(deep); err == nil || !strings.Contains(err.Error(), other) {
		t.Errorf("%s without a go.mod: error %v, want one that names it", kernel.RootVar, err)
	}
}

func TestEnvironment(t *testing.T) {
	setup := filepath.FromSlash("/set/up")
	path := func(folders ...string) string { return strings.Join(folders, string(filepath.ListSeparator)) }
	tests := []struct {
		name, root string
		environ    []string
		want       []string
		absent     []string
	}{
		{"in a module", "/src", []string{"PATH=/bin", "GOWORK=/x/go.work", "GOPROXY=https://example.com", "KEPT=1"},
			[]string{"PATH=" + path(filepath.Join(setup, "shim"), filepath.Join(setup, "bin"), "/bin"), "KEPT=1", "GOPROXY=off",
				"GOFLAGS='-ldflags=-s -w'", "GOMLX_NO_AUTO_INSTALL=1", "SCORELAB_HOME=" + setup, "SCORELAB_ROOT=/src", "SCORELAB_GO=/go/bin/go"},
			[]string{"GOWORK="}},
		{"outside", "", []string{"PATH=/bin"}, []string{"PATH=" + path(filepath.Join(setup, "bin"), "/bin")}, []string{"SCORELAB_ROOT="}},
		{"flags kept", "", []string{"GOFLAGS=-tags=a -mod=vendor '-gcflags=-N -l' -modfile=x.mod"},
			[]string{"GOFLAGS=-tags=a '-gcflags=-N -l' '-ldflags=-s -w'"}, nil},
		{"linker flags kept", "", []string{`GOFLAGS="-ldflags=-X main.a='b'"`}, []string{`GOFLAGS="-ldflags=-X main.a='b'"`}, nil},
	}
	for _, test := range tests {
		got := kernel.Environment(test.environ, setup, test.root, "/go/bin/go")
		for _, want := range test.want {
			if !slices.Contains(got, want) {
				t.Errorf("%s: no %q in %q", test.name, want, got)
			}
		}
		for _, absent := range test.absent {
			if slices.ContainsFunc(got, func(entry string) bool { return strings.HasPrefix(entry, absent) }) {
				t.Errorf("%s: %q in %q", test.name, absent, got)
			}
		}
	}
}

func TestLink(t *testing.T) {
	root, temporary := t.TempDir(), t.TempDir()
	write(t, filepath.Join(root, "go.mod"), `module example.com/m

go 1.26.0

require example.com/direct v1.2.3

require example.com/indirect v0.1.0 // indirect

replace example.com/indirect => ./local

exclude example.com/direct v1.2.4
`)
	write(t, filepath.Join(root, "go.sum"), "sums\n")
	write(t, filepath.Join(temporary, "go.mod"), "module cell\n\ngo 1.25\n")
	if err := kernel.Link(temporary, root); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(temporary, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	made, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		t.Fatal(err)
	}
	if made.Module.Mod.Path != "cell" || made.Go.Version != "1.26.0" {
		t.Errorf("module %s, go %s; want cell, 1.26.0", made.Module.Mod.Path, made.Go.Version)
	}
	var got []string
	for _, line := range made.Require {
		got = append(got, line.Mod.String())
	}
	for _, line := range made.Replace {
		got = append(got, line.Old.Path+" => "+line.New.Path)
	}
	for _, line := range made.Exclude {
		got = append(got, "not "+line.Mod.String())
	}
	want := []string{"example.com/direct@v1.2.3", "example.com/indirect@v0.1.0", "example.com/m@v0.0.0",
		"example.com/indirect => " + filepath.Join(root, "local"), "example.com/m => " + root, "not example.com/direct@v1.2.4"}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("go.mod has %q\nwant %q", got, want)
	}
	if sums, err := os.ReadFile(filepath.Join(temporary, "go.sum")); err != nil || string(sums) != "sums\n" {
		t.Errorf("go.sum %q, %v", sums, err)
	}
}

// TestCellCanImportTheModule does what GoNB does, with the real go and no network: init, write a program, build.
func TestCellCanImportTheModule(t *testing.T) {
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	stand := filepath.Join(bin, kernel.Program("go"))
	build := exec.Command(goTool, "build", "-o", stand, "./launcher")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	root, cell := filepath.Join(t.TempDir(), "with space"), t.TempDir()
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(root, "go.mod"), "module example.com/m\n\ngo 1.24\n")
	write(t, filepath.Join(root, "m.go"), "package m\n\nconst Answer = 42\n")
	environ := append(kernel.Environment(os.Environ(), bin, root, goTool), "GOTOOLCHAIN=local")
	run := func(program string, arguments ...string) string {
		t.Helper()
		command := exec.Command(program, arguments...)
		command.Dir, command.Env = cell, environ
		out, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %q: %v\n%s", program, arguments, err, out)
		}
		return string(out)
	}
	run(stand, "mod", "init", "cell")
	write(t, filepath.Join(cell, "main.go"), "package main\n\nimport \"example.com/m\"\n\nfunc main() { print(m.Answer) }\n")
	run(stand, "get")
	run(stand, "build", "-o", kernel.Program("cell"))
	if got := run(filepath.Join(cell, kernel.Program("cell"))); got != "42" {
		t.Errorf("the cell printed %q, want 42", got)
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}
