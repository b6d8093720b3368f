package home_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/scorekit/lab/internal/home"
)

func mkdir(t *testing.T, elements ...string) string {
	t.Helper()
	dir := filepath.Join(elements...)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	mkdir(t, filepath.Dir(path))
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestDir adds the places where a set-up folder may be one by one, the least important first.
func TestDir(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	working := mkdir(t, root, "project", "notebooks")
	t.Chdir(working)
	for _, name := range []string{"HOME", "XDG_CACHE_HOME", "LocalAppData"} {
		t.Setenv(name, filepath.Join(root, "user"))
	}
	t.Setenv(home.EnvVar, "")
	user, err := home.UserDir()
	if err != nil {
		t.Fatal(err)
	}

	steps := []struct {
		what string
		add  func() string
	}{
		{"user's own", func() string { return mkdir(t, user) }},
		{"two folders up", func() string { return mkdir(t, root, home.FolderName) }},
		{"working folder's parent", func() string { return mkdir(t, root, "project", home.FolderName) }},
		{"a file of that name is not one", func() string {
			write(t, filepath.Join(working, home.FolderName), "")
			return filepath.Join(root, "project", home.FolderName)
		}},
		{"environment, relative and missing", func() string {
			t.Setenv(home.EnvVar, filepath.Join("..", "elsewhere"))
			return filepath.Join(root, "project", "elsewhere")
		}},
	}
	if got, found := home.Dir(); found {
		t.Fatalf("found %s where there is none", got)
	}
	for _, step := range steps {
		want := step.add()
		if got, found := home.Dir(); !found || got != want {
			t.Errorf("%s: Dir() = %q, %v, want %q", step.what, got, found, want)
		}
	}
}

func TestPluginsRoundTrip(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", home.FolderName)
	if got, err := home.ReadPlugins(dir); got != nil || err != nil {
		t.Fatalf("before set-up: %v, %v", got, err)
	}
	for _, want := range [][]home.Plugin{
		{
			{Name: "cuda", File: "xla/cuda/plugin.so", Source: "jax-cuda12-pjrt 0.7.0"},
			{Name: "cpu", File: "xla/cpu/xla_cpu_pjrt.so", Source: "xla-cpu-pjrt 0.0.1"},
		},
		{},
	} {
		if err := home.WritePlugins(dir, want); err != nil {
			t.Fatal(err)
		}
		got, err := home.ReadPlugins(dir)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
	p := home.Plugin{File: "xla/cpu/plugin.so"}
	if want := filepath.Join(dir, "xla", "cpu", "plugin.so"); p.Path(dir) != want {
		t.Errorf("Path %s, want %s", p.Path(dir), want)
	}
}

func TestWritePluginsForgetsProbes(t *testing.T) {
	dir := t.TempDir()
	write(t, home.ProbesFile(dir), "{}")
	if err := home.WritePlugins(dir, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(home.ProbesFile(dir)); !os.IsNotExist(err) {
		t.Errorf("still there: %v", err)
	}
}

func TestBadPlugins(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{`{"plugins":[`, "unexpected end of JSON input"},
		{`{"plugins":{}}`, "cannot unmarshal object"},
		{`{"plugins":[{"file":"a.so"}]}`, "plugin 1: name is empty"},
		{`{"plugins":[{"name":"cpu","file":"a.so"},{"name":"cpu","file":"b.so"}]}`, `plugin "cpu" is listed twice`},
		{`{"plugins":[{"name":"cpu"}]}`, `plugin "cpu": file "": must be a path inside the set-up folder`},
		{`{"plugins":[{"name":"cpu","file":"../a.so"}]}`, `plugin "cpu": file "../a.so": must be a path inside the set-up folder`},
		{`{"plugins":[{"name":"cpu","file":"/a.so"}]}`, `plugin "cpu": file "/a.so": must be a path inside the set-up folder`},
	} {
		dir := t.TempDir()
		write(t, home.PluginsFile(dir), test.text)
		_, err := home.ReadPlugins(dir)
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), home.PluginsFile(dir)) {
			t.Errorf("%s: error %v: want the file's name and %q", test.text, err, test.want)
		}
	}
	dir := t.TempDir()
	if err := home.WritePlugins(dir, []home.Plugin{{Name: "cpu", File: "/abs.so"}}); err == nil {
		t.Error("a list was written that cannot be read")
	}
	if got, err := home.ReadPlugins(dir); got != nil || err != nil {
		t.Errorf("a refused list left %v, %v", got, err)
	}
}

func ExampleReadPlugins() {
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	err = home.WritePlugins(dir, []home.Plugin{{Name: "cpu", File: "xla/cpu/plugin.so", Source: "xla-cpu-pjrt 0.0.1"}})
	if err != nil {
		panic(err)
	}
	plugins, err := home.ReadPlugins(dir)
	if err != nil {
		panic(err)
	}
	for _, p := range plugins {
		fmt.Println(p.Name, "from", p.Source)
	}
	// Output: cpu from xla-cpu-pjrt 0.0.1
}
