//go:build unix

package setup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorekit/lab/internal/disktest"
	"github.com/scorekit/lab/internal/home"
)

// fakePython puts a python3 on PATH that makes environments whose pip does what the shell script says.
func fakePython(t *testing.T, pip string) {
	t.Helper()
	bin := t.TempDir()
	text := `#!/bin/sh
case "$1 $2" in
"-c import"*) echo 3.12.1 ;;
"-m venv") mkdir -p "$3/bin" && cp "$0" "$3/bin/python" && : > "$3/bin/jupyter-lab" ;;
"-m pip") ` + pip + ` ;;
esac
`
	if err := os.WriteFile(filepath.Join(bin, "python3"), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
}

// A set-up that there is no room for says so, names a file or folder, leaves nothing half made, and works with room.
func TestSetUpOnAFullDisk(t *testing.T) {
	checkout := t.TempDir()
	if err := os.MkdirAll(in(checkout, "docker"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(in(checkout, "docker", "requirements.txt"), []byte("jupyterlab==4\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	fakePython(t, `head -c 3000000 /dev/zero > "$TMPDIR/unpacked" && cp "$TMPDIR/unpacked" "$(dirname "$0")/../installed"`)
	mine := []string{markerName, ".gitignore", "CACHEDIR.TAG"}
	disktest.Each(t, 80, func(t *testing.T, d disktest.Disk) {
		s := Setup{Home: filepath.Join(d.Dir, "home"), Checkout: checkout, Out: new(bytes.Buffer)}
		steps := []step{s.pythonStep()}
		free := d.Fill(t, 0)
		defer func() { free() }()
		if err := s.ensure(context.Background(), steps); err == nil || !strings.Contains(err.Error(), in(s.Home, markerName)) {
			t.Errorf("without room: error %v, want one that names the first file", err)
		}
		disktest.Holds(t, s.Home)
		free()

		free = d.Fill(t, 1<<20)
		err := s.ensure(context.Background(), steps)
		if err == nil || !strings.Contains(err.Error(), "set-up, python: "+VenvProgram(s.Home, "python")) || !strings.Contains(err.Error(), "write "+in(s.Home, ".room")) {
			t.Errorf("with a little room: error %v, want one that names the step and the folder", err)
		}
		disktest.Holds(t, s.Home, append(mine, "logs/pip.log", "logs/venv.log")...)
		if exists(home.Venv(s.Home)) {
			t.Error("half an environment was left")
		}
		free()

		if err := s.ensure(context.Background(), steps); err != nil {
			t.Fatal(err)
		}
		disktest.Holds(t, s.Home, append(mine, "logs/pip.log", "logs/venv.log", "stamps/python", "venv/bin/python", "venv/bin/jupyter-lab", "venv/installed")...)

		// The stamp itself does not find room: the step is not done.
		fake := &fakeStep{file: filepath.Join(t.TempDir(), "a"), from: strings.Repeat("made from this\n", 1000)}
		fake.during = func() { free = d.Fill(t, 8) } // room for the text of the step's file, but not for that of the stamp
		err = s.ensure(context.Background(), []step{fake.step("a")})
		free()
		if err == nil || !strings.Contains(err.Error(), "writing "+stampFile(s.Home, "a")) {
			t.Errorf("without room for the stamp: %v", err)
		}
		if state, err := s.state(context.Background(), fake.step("a")); state != Missing || err != nil {
			t.Errorf("a step without its stamp is %s, want missing (%v)", state, err)
		}
	})
}

// That the tool failed for want of room is told even when the tool did not say so, and not confused with modules of Python
// that are missing.
func TestVenvOnAFullDisk(t *testing.T) {
	silent := &toolError{tool{command: []string{"python3"}}, "Error: Command '[python3, '-m', 'ensurepip']' returned non-zero exit status 1.", errors.New("exit 1")}
	if got := explainVenv(silent, Python{"/usr/bin/python3", "3.12.3"}); got != error(silent) {
		t.Errorf("%v: want the error as it is", got)
	}
	disktest.Each(t, 1, func(t *testing.T, d disktest.Disk) {
		if d.Limited() {
			return // its errors are not those of a full disk
		}
		got := fmt.Sprint(explain(errors.Join(silent, hasRoom(d.Dir))))
		if !strings.Contains(got, "the disk is full: ") || !strings.Contains(got, d.Dir) {
			t.Errorf("%s", got)
		}
		disktest.Holds(t, d.Dir)
	})
}

// A new plugin that cannot be fetched leaves the one that is there in use.
func TestPluginStaysUntilTheNewOneIsWhole(t *testing.T) {
	checkout := t.TempDir()
	requirements := in(checkout, "requirements.txt")
	if err := os.WriteFile(requirements, []byte("plugin==1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("CGO_ENABLED", "1")
	s := Setup{Home: t.TempDir(), Checkout: checkout, Out: new(bytes.Buffer)}
	var fail error
	version := 1
	step := s.pluginStep(cpuPlugin, "a plugin", requirements, func(_ context.Context, folder string) (string, string, error) {
		err := os.WriteFile(in(folder, "plugin.so"), fmt.Appendf(nil, "version %d", version), 0o644)
		return "plugin.so", fmt.Sprintf("plugin %d", version), errors.Join(err, fail)
	})
	check := func(want string) {
		t.Helper()
		plugins, err := home.ReadPlugins(s.Home)
		if err != nil || len(plugins) != 1 {
			t.Fatalf("%v, %v", plugins, err)
		}
		if text, err := os.ReadFile(plugins[0].Path(s.Home)); err != nil || string(text) != want {
			t.Errorf("%q, %v: want %q", text, err, want)
		}
		disktest.Holds(t, home.XLA(s.Home), "plugins.json", "cpu/plugin.so")
	}
	if err := s.make(context.Background(), step, "1/1"); err != nil {
		t.Fatal(err)
	}
	check("version 1")
	version, fail = 2, errors.New("no space left on device")
	if err := s.make(context.Background(), step, "1/1"); !errors.Is(err, fail) || !strings.Contains(err.Error(), "the disk is full") {
		t.Errorf("%v", err)
	}
	check("version 1")
	fail = nil
	if err := s.make(context.Background(), step, "1/1"); err != nil {
		t.Fatal(err)
	}
	check("version 2")
}
