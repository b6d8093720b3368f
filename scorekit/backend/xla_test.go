//go:build cgo && (linux || darwin)

package backend

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/internal/home"
)

func forgetInProcess() {
	inProcessMu.Lock()
	defer inProcessMu.Unlock()
	inProcess = nil
}

// installedCPU is the installed CPU plugin, found before tests change the environment.
var installedCPU, installedErr = func() (*Plugin, error) {
	plugins, err := Installed()
	for _, p := range plugins {
		if p.Name == "cpu" {
			return &p, err
		}
	}
	return nil, err
}()

var sayLeftOut sync.Once

// withInstalled returns the installed CPU plugin, or false after saying what is left out.
func withInstalled(t *testing.T) (Plugin, bool) {
	t.Helper()
	if installedErr != nil {
		t.Fatal(installedErr)
	}
	if installedCPU == nil {
		const reason = "no plugin named cpu installed; run go run ./cmd/scorelab setup"
		if os.Getenv("SCOREKIT_REQUIRE_XLA") == "1" {
			t.Fatal("SCOREKIT_REQUIRE_XLA=1, but", reason)
		}
		sayLeftOut.Do(func() { fmt.Fprintln(os.Stderr, "opening XLA left out:", reason) })
		return Plugin{}, false
	}
	return *installedCPU, true
}

// build compiles a shared library whose constructor runs the C statements body, or returns false after saying what is
// left out.
func build(t *testing.T, body string) (path string, ok bool) {
	t.Helper()
	compiler, err := exec.LookPath("cc")
	if err != nil {
		compiler, err = exec.LookPath("gcc")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, t.Name(), "left out: no C compiler")
		return "", false
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "plugin.c")
	path = filepath.Join(dir, "plugin.so")
	code := `#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/wait.h>
__attribute__((constructor)) static void begin(void) { ` + body + ` }
`
	if err := os.WriteFile(source, []byte(code), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(compiler, "-shared", "-fPIC", "-O0", "-o", path, source).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path, true
}

// install lists plugins, given as name and path, in the set-up folder dir.
func install(t *testing.T, dir string, namesAndPaths ...string) {
	t.Helper()
	var listed []home.Plugin
	for k := 0; k < len(namesAndPaths); k += 2 {
		name, path := namesAndPaths[k], namesAndPaths[k+1]
		file := "xla/" + name + ".so"
		if err := os.MkdirAll(home.XLA(dir), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(path, filepath.Join(dir, file)); err != nil {
			t.Fatal(err)
		}
		listed = append(listed, home.Plugin{Name: name, File: file, Source: "made-" + name + " 1"})
	}
	if err := home.WritePlugins(dir, listed); err != nil {
		t.Fatal(err)
	}
}

func TestFilesThatCannotBePlugins(t *testing.T) {
	dir := alone(t)
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
		return path
	}
	pipe := filepath.Join(dir, "pipe.so")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	type junk struct{ path, want string }
	cases := []junk{
		{filepath.Join(dir, "missing.so"), "the file does not exist"},
		{dir, "this is not a file but a folder"},
		{pipe, "this is not a file but a device or pipe"},
		{file("empty.so", ""), "the file is not a shared library, or damaged"},
		{file("page.so", "<html>404</html>"), "the file is not a shared library, or damaged"},
		{file("header.so", "\x7fELF\x02\x01\x01"), "the file is not a shared library, or damaged"},
	}
	if runtime.GOOS == "linux" {
		if path, ok := build(t, ""); ok {
			good, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			other := []byte(string(good))
			binary.LittleEndian.PutUint16(other[18:], uint16(elf.EM_RISCV))
			cases = append(cases, junk{file("riscv.so", string(other)), "the file is for another processor (EM_RISCV)"})
			program := []byte(string(good))
			binary.LittleEndian.PutUint16(program[16:], uint16(elf.ET_EXEC))
			cases = append(cases, junk{file("program", string(program)), "the file is not a shared library, or damaged"})
			cases = append(cases, junk{file("half.so", string(good[:len(good)/2])), "the file is not a shared library, or damaged"})
		}
	}
	for _, c := range cases {
		_, err := OpenConfig("xla:" + c.path)
		wantError(t, err, `configuration "xla:`+c.path+`": XLA plugin `+c.path+": ", c.want, "give the path of a PJRT plugin for this machine, or unset GOMLX_BACKEND")
		wantError(t, Check(c.path), "XLA plugin "+c.path+": ", c.want)
	}
	if len(inProcess) != 0 {
		t.Error("a child process was started for a file that cannot be a plugin")
	}
}

func TestPluginsThatFail(t *testing.T) {
	probeLimit = time.Second
	defer func() { probeLimit = time.Minute }()
	for _, c := range []struct{ name, body, want string }{
		{"aborts", `abort();`, "crashes when it is opened (SIGABRT)"},
		{"segfaults", `*(volatile int *)0 = 1;`, "crashes when it is opened (SIGSEGV)"},
		{"explains itself", `fputs("bad flag --x\nsecond line\n", stderr); abort();`, "crashes when it is opened (SIGABRT: bad flag --x)"},
		{"is killed", `kill_self();`, "crashes when it is opened (signal: killed)"},
		{"ends the process", `_exit(0);`, "crashes when it is opened (it ended the process)"},
		{"hangs", `for (;;) sleep(1);`, "hangs: no answer within 1s of opening it"},
		{"is no plugin", ``, "cannot be loaded: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := alone(t)
			body := strings.ReplaceAll(c.body, "kill_self()", `extern int kill(pid_t, int); kill(getpid(), 9)`)
			path, ok := build(t, body)
			if !ok {
				return
			}
			_, err := OpenConfig("xla:" + path)
			wantError(t, err, `configuration "xla:`+path+`": XLA plugin `+path+": "+c.want, "give the path of a PJRT plugin")
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line: %q", err)
			}

			install(t, dir, "cpu", path)
			file := filepath.Join(dir, "xla", "cpu.so")
			want := `XLA plugin "cpu" (` + file + "): " + c.want
			cure := `: run "scorelab setup" to install it again, or set GOMLX_BACKEND=go to use pure Go`
			_, err = Open()
			wantError(t, err, "scorekit: backend: "+want, cure)
			t.Setenv(backends.ConfigEnvVar, "xla:cpu")
			_, err = Open()
			wantError(t, err, `GOMLX_BACKEND "xla:cpu": `+want, cure)
		})
	}
}

func TestMissingPluginThatWasInstalled(t *testing.T) {
	dir := alone(t)
	install(t, dir, "cpu", filepath.Join(dir, "gone"))
	_, err := Open()
	wantError(t, err, `XLA plugin "cpu" (`, "the file does not exist", `run "scorelab setup" to install it again`)
}

func TestNotInstalled(t *testing.T) {
	dir := alone(t)
	for _, asked := range []string{"xla", "xla:cpu", "hlo:cuda"} {
		t.Setenv(backends.ConfigEnvVar, asked)
		_, err := Open()
		wantError(t, err, `GOMLX_BACKEND "`+asked+`": no XLA plugin is installed in `+dir+`: run "go run ./cmd/scorelab setup" in a clone`, "or set GOMLX_BACKEND=go")
	}
	install(t, dir, "cpu", "/nowhere", "rocm", "/nowhere")
	t.Setenv(backends.ConfigEnvVar, "xla:cuda")
	_, err := Open()
	wantError(t, err, `GOMLX_BACKEND "xla:cuda": no XLA plugin "cuda" is installed, only rocm, cpu: run "scorelab setup" to install others`)

	if err := os.WriteFile(home.PluginsFile(dir), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, asked := range []string{"", "xla", "xla:cpu"} {
		t.Setenv(backends.ConfigEnvVar, asked)
		_, err = Open()
		wantError(t, err, "list of installed XLA plugins: "+home.PluginsFile(dir), `run "scorelab setup" again`)
	}
}

// TestAChildHasNoChild lets a plugin start the program again while it is being opened: that process must end at once
// with status 1, without trying the plugin in its turn.
func TestAChildHasNoChild(t *testing.T) {
	if runtime.GOOS != "linux" {
		fmt.Fprintln(os.Stderr, t.Name(), "left out: it starts the program through /proc")
		return
	}
	alone(t)
	log := filepath.Join(t.TempDir(), "log")
	t.Setenv("SCOREKIT_TEST_LOG", log)
	path, ok := build(t, `
	char program[4096]; ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1); program[n] = 0;
	FILE *log = fopen(getenv("SCOREKIT_TEST_LOG"), "a"); fputs("opened ", log); fflush(log);
	int status, pid = fork();
	if (pid == 0) { execl(program, program, (char *)0); _exit(99); }
	waitpid(pid, &status, 0);
	fprintf(log, "status %d ", WEXITSTATUS(status)); fclose(log); abort();`)
	if !ok {
		return
	}
	wantError(t, Check(path), "crashes when it is opened (SIGABRT)")
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(text); got != "opened status 1 " {
		t.Errorf("log %q, want one opening whose own child ends with status 1", got)
	}
}

// TestRemembers counts how often a plugin is tried.
func TestRemembers(t *testing.T) {
	dir := alone(t)
	log := filepath.Join(t.TempDir(), "log")
	t.Setenv("SCOREKIT_TEST_LOG", log)
	path, ok := build(t, `FILE *log = fopen(getenv("SCOREKIT_TEST_LOG"), "a"); fputs("x", log); fclose(log); abort();`)
	if !ok {
		return
	}
	install(t, dir, "cpu", path)
	tries := 0
	step := func(what string, wantTries int, open func() error) {
		t.Helper()
		wantError(t, open(), "crashes when it is opened (SIGABRT)")
		text, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(text) - tries; got != wantTries {
			t.Errorf("%s: tried %d times, want %d", what, got, wantTries)
		}
		tries = len(text)
	}
	auto := func() error { _, err := Open(); return err }
	asked := func() error { _, err := OpenConfig("xla:cpu"); return err }

	step("first", 1, auto)
	step("in the same process", 0, auto)
	forgetInProcess()
	step("in another process", 0, auto)
	step("asked for by name", 1, asked)
	step("Check", 1, func() error { return Check(filepath.Join(dir, "xla", "cpu.so")) })

	later := time.Now().Add(time.Minute)
	if err := os.Chtimes(path, later, later); err != nil {
		t.Fatal(err)
	}
	step("file of another time", 1, auto)
	step("and again", 0, auto)
	t.Setenv("XLA_FLAGS", "--xla_something")
	step("other environment", 1, auto)
	step("and again", 0, auto)

	if err := os.WriteFile(home.ProbesFile(dir), []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	forgetInProcess()
	step("damaged memory", 1, auto)
	for k := range inProcess {
		inProcess[k].When = time.Now().Add(-61 * time.Minute)
	}
	step("an hour later", 1, auto)

	// A set-up folder that cannot be written to: its folder for plugins is in the way of the file.
	elsewhere := filepath.Join(t.TempDir(), home.FolderName)
	if err := os.MkdirAll(filepath.Join(home.ProbesFile(elsewhere), "occupied"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv(home.EnvVar, elsewhere)
	t.Setenv("XLA_FLAGS", "--xla_else")
	byPath := func() error {
		_, err := try(path, false)
		if err != nil {
			err = fmt.Errorf("scorekit: backend: %w", err)
		}
		return err
	}
	step("memory in the temporary folder", 1, byPath)
	forgetInProcess()
	step("and again", 0, byPath)
}

func TestOpensInstalledPlugin(t *testing.T) {
	plugin, ok := withInstalled(t)
	if !ok {
		return
	}
	dir := alone(t)
	install(t, dir, "cpu", plugin.Path)
	square := func(b backends.Backend) {
		t.Helper()
		got, err := graph.ExecOnce(b, func(x *graph.Node) *graph.Node { return graph.Mul(x, x) }, float64(3))
		if err != nil {
			t.Fatal(err)
		}
		if got.Value() != float64(9) {
			t.Errorf("3² = %v", got.Value())
		}
	}
	start := time.Now()
	b, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("Open with a trial: %v", time.Since(start))
	if got, want := Describe(b), "XLA on CPU (made-cpu 1), from .scorelab"; got != want {
		t.Errorf("Describe: %q, want %q", got, want)
	}
	if !b.HasSharedBuffers() || b.NumDevices() != 1 {
		t.Errorf("shared buffers %v, %d devices: want true, 1", b.HasSharedBuffers(), b.NumDevices())
	}
	square(b)
	if again, err := Open(); err != nil || again != b {
		t.Errorf("a second Open returned %v, %v", again, err)
	}
	b.Finalize()
	forgetInProcess()
	start = time.Now()
	b, err = Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("Open with the trial remembered: %v", time.Since(start))
	square(b)

	many, err := OpenConfig("xla:cpu,noshared_buffers,cpu_device_count=3")
	if err != nil {
		t.Fatal(err)
	}
	if many.HasSharedBuffers() || many.NumDevices() != 3 {
		t.Errorf("shared buffers %v, %d devices: want false, 3", many.HasSharedBuffers(), many.NumDevices())
	}

	// By path, a plugin that was installed keeps its source; another has only its name.
	t.Setenv(backends.ConfigEnvVar, "xla:"+filepath.Join(dir, "xla", "cpu.so"))
	byPath, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	if got, want := Describe(byPath), "XLA on CPU (made-cpu 1), as GOMLX_BACKEND asks"; got != want {
		t.Errorf("Describe: %q, want %q", got, want)
	}
	link := filepath.Join(dir, "linked.so")
	if err := os.Symlink(plugin.Path, link); err != nil {
		t.Fatal(err)
	}
	other, err := OpenConfig("xla:" + link)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := Describe(other), "XLA on CPU (linked.so), as asked for"; got != want {
		t.Errorf("Describe: %q, want %q", got, want)
	}
	if !other.HasSharedBuffers() || other.NumDevices() != 1 {
		t.Errorf("by path: shared buffers %v, %d devices: want true, 1", other.HasSharedBuffers(), other.NumDevices())
	}
	if err := Check(link); err != nil {
		t.Error(err)
	}
}

func TestFallsFromGPUToCPU(t *testing.T) {
	plugin, ok := withInstalled(t)
	if !ok {
		return
	}
	dir := alone(t)
	broken, ok := build(t, `abort();`)
	if !ok {
		return
	}
	install(t, dir, "cpu", plugin.Path, "cuda", broken)
	b, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	want := `XLA on CPU (made-cpu 1), from .scorelab, because the plugin "cuda" failed: crashes when it is opened (SIGABRT)`
	if got := Describe(b); got != want {
		t.Errorf("Describe: %q, want %q", got, want)
	}
	_, err = OpenConfig("xla:cuda")
	wantError(t, err, `XLA plugin "cuda" (`, "crashes when it is opened (SIGABRT)")
}

// TestUnknownXLAFlag: XLA ends the process over a flag that it does not know, also when the plugin opened before.
func TestUnknownXLAFlag(t *testing.T) {
	plugin, ok := withInstalled(t)
	if !ok {
		return
	}
	alone(t)
	if err := Check(plugin.Path); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XLA_FLAGS", "--no_such_flag")
	_, err := OpenConfig("xla:" + plugin.Path)
	wantError(t, err, "crashes when it is opened (", "XLA_FLAGS", "--no_such_flag")
}
