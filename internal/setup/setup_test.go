package setup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/scorekit/lab/internal/home"
)

func TestLastWords(t *testing.T) {
	tests := []struct{ output, want string }{
		{"Collecting x\nERROR: Could not find it\nERROR: No matching distribution found for x\n[notice] new pip\n", "ERROR: No matching distribution found for x"},
		{"a\nWARNING: slow\n\n", "a"},
		{"", ""},
	}
	for _, test := range tests {
		if got := lastWords(test.output); got != test.want {
			t.Errorf("lastWords(%q) = %q, want %q", test.output, got, test.want)
		}
	}
}

func TestExplain(t *testing.T) {
	tests := []struct {
		err  error
		want string
	}{
		{fmt.Errorf("write: %w", syscall.ENOSPC), "disk is full"},
		{&toolError{tool{command: []string{"pip"}}, "OSError: [Errno 28] No space left on device", errors.New("exit 1")}, "disk is full"},
		{&toolError{tool{command: []string{"pip"}}, "Failed to establish a new connection: Temporary failure in name resolution\nERROR: No matching distribution found", errors.New("exit 1")}, "no network"},
		{&toolError{tool{command: []string{"pip"}}, "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES", errors.New("exit 1")}, "differs from what is pinned"},
		{&os.PathError{Op: "mkdir", Path: "/x", Err: os.ErrPermission}, home.EnvVar},
	}
	for _, test := range tests {
		if got := explain(test.err); !errors.Is(got, test.err) || !strings.Contains(got.Error(), test.want) {
			t.Errorf("explain(%v) = %v, want it with %q", test.err, got, test.want)
		}
	}
	plain := errors.New("plain")
	if explain(plain) != plain || explain(nil) != nil {
		t.Error("an unknown error was changed")
	}
}

func TestExplainVenv(t *testing.T) {
	failed := &toolError{tool{command: []string{"python3"}}, "The virtual environment was not created because ensurepip is not available.", errors.New("exit 1")}
	if got := explainVenv(failed, Python{"/usr/bin/python3", "3.12.3"}); !strings.Contains(got.Error(), "apt install python3.12-venv") {
		t.Errorf("%v: want the package named", got)
	}
}

// TestPluginStep installs, replaces and does without a plugin by fake fetchers.
func TestPluginStep(t *testing.T) {
	ctx := context.Background()
	s := Setup{Home: t.TempDir(), Checkout: t.TempDir(), Out: new(bytes.Buffer)}
	requirements := filepath.Join(s.Checkout, "requirements.txt")
	if err := os.WriteFile(requirements, []byte("# made\nxla-x==1.2 \\\n    --hash=sha256:0\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if cgo, err := cgoEnabled(ctx, s.Checkout); err != nil {
		t.Fatal(err)
	} else if !cgo {
		t.Setenv("CGO_ENABLED", "1") // what is done without cgo is told below
	}
	fetch := func(text string) fetcher {
		return func(_ context.Context, folder string) (string, string, error) {
			return "p.so", "xla-x " + text, os.WriteFile(filepath.Join(folder, "p.so"), []byte(text), 0o644)
		}
	}
	for _, text := range []string{"1.2", "1.3"} {
		for _, name := range []string{cpuPlugin, cudaPlugin} {
			if err := s.make(ctx, s.pluginStep(name, "", requirements, fetch(text)), ""); err != nil {
				t.Fatal(err)
			}
		}
		plugins, err := home.ReadPlugins(s.Home)
		if err != nil || len(plugins) != 2 || plugins[0].Name != cudaPlugin || plugins[1].Source != "xla-x "+text {
			t.Fatalf("plugins %v, %v; want cuda, then cpu from %s", plugins, err, text)
		}
		if got, _ := os.ReadFile(plugins[1].Path(s.Home)); string(got) != text {
			t.Errorf("the plugin's file holds %q, want %q", got, text)
		}
	}
	t.Setenv("CGO_ENABLED", "0")
	if state, err := s.state(ctx, s.pluginStep(cpuPlugin, "", requirements, fetch("1.3"))); err != nil || state != Fresh {
		t.Errorf("with cgo turned off for once the installed plugin is %s, %v; want fresh", state, err)
	}
	t.Setenv("CGO_ENABLED", "1")
	none := func(context.Context, string) (string, string, error) { return "", "", fmt.Errorf("%w here", errNone) }
	step := s.pluginStep(cpuPlugin, "", requirements, none)
	if err := s.make(ctx, step, ""); err != nil {
		t.Fatal(err)
	}
	plugins, err := home.ReadPlugins(s.Home)
	if state, stateErr := s.state(ctx, step); err != nil || stateErr != nil || len(plugins) != 1 || state != Fresh {
		t.Errorf("with no plugin for this system: %v, %s, %v; want cuda alone, fresh", plugins, state, errors.Join(err, stateErr))
	}
	t.Setenv("CGO_ENABLED", "0")
	if state, _ := s.state(ctx, step); state != Stale {
		t.Errorf("after cgo was turned off the step is %s, want stale", state)
	}
	asked := s.pluginStep(cpuPlugin, "", requirements, func(context.Context, string) (string, string, error) {
		return "", "", errors.New("something was downloaded for nothing")
	})
	if err := s.make(ctx, asked, ""); err != nil || !asked.present() {
		t.Errorf("without cgo: %v, present %t; want a noted reason", err, asked.present())
	}
}

func TestFind(t *testing.T) {
	checkout := t.TempDir()
	deep := filepath.Join(checkout, "notebooks")
	if err := os.Mkdir(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(checkout, "go.mod"), []byte("module "+modulePath+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("HOME", cache)
	t.Setenv("LocalAppData", cache)
	t.Setenv(home.EnvVar, "")
	own := filepath.Join(checkout, home.FolderName)
	shared, err := home.UserDir()
	if err != nil {
		t.Fatal(err)
	}
	check := func(what string, user bool, want string) {
		t.Helper()
		if got, err := Find(deep, user); err != nil || got.Home != want || got.Checkout != checkout {
			t.Errorf("%s: %q in %q, %v; want %q in %q", what, got.Home, got.Checkout, err, want, checkout)
		}
	}
	check("nothing set up", false, own)
	check("--user", true, shared)
	if err := mark(shared); err != nil {
		t.Fatal(err)
	}
	check("shared set-up only", false, shared)
	if err := mark(own); err != nil {
		t.Fatal(err)
	}
	check("both", false, own)
	t.Setenv(home.EnvVar, cache)
	check("by environment", true, cache)
	if _, err := Find(t.TempDir(), false); err == nil || !strings.Contains(err.Error(), modulePath) {
		t.Errorf("outside a checkout: %v", err)
	}
}

// TestRequirements holds the pinned files to what they promise: a hash for every package, and no server's name.
func TestRequirements(t *testing.T) {
	files, err := filepath.Glob("../../docker/requirements*.txt")
	peers, peersErr := filepath.Glob("../../bench/peers/requirements*.txt")
	if files = append(files, peers...); err != nil || peersErr != nil || len(files) != 5 {
		t.Fatalf("requirement files %q, %v", files, errors.Join(err, peersErr))
	}
	entry := regexp.MustCompile(`(?m)^[a-zA-Z]`)
	pinned := regexp.MustCompile(`(?m)^[a-z0-9-]+==[^ ]+( ; [^\\\n]+)? \\\n    --hash=sha256:[0-9a-f]{64}`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if n, all := len(pinned.FindAll(text, -1)), len(entry.FindAll(text, -1)); n == 0 || n != all {
			t.Errorf("%s: %d of %d packages have a version and a hash", file, n, all)
		}
		if bytes.Contains(text, []byte("://")) || bytes.Contains(text, []byte("--index")) {
			t.Errorf("%s names a server", file)
		}
	}
}
