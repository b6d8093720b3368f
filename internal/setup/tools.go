package setup

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"golang.org/x/mod/modfile"

	"github.com/scorekit/lab/internal/home"
	"github.com/scorekit/lab/internal/kernel"
)

// kernelTools are the programs that the kernel needs, by package; go.mod lists them as tools and so pins their versions.
var kernelTools = []struct{ name, path, module string }{
	{"gonb", "github.com/janpfeifer/gonb", "github.com/janpfeifer/gonb"},
	{"goimports", "golang.org/x/tools/cmd/goimports", "golang.org/x/tools"},
}

// toolsStep builds the kernel and its helper.
func (s Setup) toolsStep() step {
	return step{
		name:  "gonb",
		doing: "GoNB, the Go kernel for Jupyter, and goimports (half a minute)",
		from: func(context.Context) (string, error) {
			text, err := os.ReadFile(in(s.Checkout, "go.mod"))
			if err != nil {
				return "", err
			}
			file, err := modfile.ParseLax("go.mod", text, nil)
			if err != nil {
				return "", err
			}
			from := runtime.Version() + "\n"
			for _, t := range kernelTools {
				for _, line := range file.Require {
					if line.Mod.Path == t.module {
						from += line.Mod.String() + "\n"
					}
				}
			}
			return from, nil
		},
		present: func() bool {
			for _, t := range kernelTools {
				if !exists(in(home.Bin(s.Home), kernel.Program(t.name))) {
					return false
				}
			}
			return true
		},
		do: func(ctx context.Context) (string, error) {
			fresh := home.Bin(s.Home) + ".new"
			if err := os.RemoveAll(fresh); err != nil {
				return "", err
			}
			var paths []string
			for _, t := range kernelTools {
				paths = append(paths, t.path)
			}
			if err := s.compile(ctx, "gonb", fresh, "install", paths...); err != nil {
				return "", err
			}
			return "", moveInto(fresh, home.Bin(s.Home))
		},
	}
}

// launcherStep builds the program that Jupyter starts, and puts it twice: once more as the stand-in for go.
func (s Setup) launcherStep() step {
	source := in(s.Checkout, "internal", "kernel")
	return step{
		name:  "launcher",
		doing: "the kernel's launcher",
		from: func(context.Context) (string, error) {
			files, err := filepath.Glob(in(source, "*.go"))
			if err != nil {
				return "", err
			}
			files = slices.DeleteFunc(files, func(file string) bool {
				test, _ := filepath.Match("*_test.go", filepath.Base(file))
				return test
			})
			hash, err := hashOf("internal/kernel", append(files, in(source, "launcher", "main.go"))...)
			return runtime.Version() + "\n" + hash, err
		},
		present: func() bool {
			return exists(LauncherProgram(s.Home)) && exists(in(kernel.Shim(s.Home), kernel.Program("go")))
		},
		do: func(ctx context.Context) (string, error) {
			fresh := home.Bin(s.Home) + ".new"
			if err := os.RemoveAll(fresh); err != nil {
				return "", err
			}
			built := in(fresh, filepath.Base(LauncherProgram(s.Home)))
			stand := in(fresh, "shim", kernel.Program("go"))
			for _, out := range []string{built, stand} {
				if err := s.compile(ctx, "launcher", fresh, "build", "-o", out, "./internal/kernel/launcher"); err != nil {
					return "", err
				}
			}
			if err := moveInto(in(fresh, "shim"), kernel.Shim(s.Home)); err != nil {
				return "", err
			}
			return "", moveInto(fresh, home.Bin(s.Home))
		},
	}
}

// compile runs "go install", which puts programs into the folder bin, or "go build" in the checkout, for this machine
// whatever GOOS and GOARCH are set to.
func (s Setup) compile(ctx context.Context, log, bin, verb string, arguments ...string) error {
	command := append([]string{"go", verb, "-ldflags=-s -w"}, arguments...)
	environ := append(os.Environ(), "GOBIN="+bin, "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	_, err := tool{dir: s.Checkout, environ: environ, log: s.logFile(log), command: command}.run(ctx)
	return err
}

// LauncherProgram returns the path of the program that Jupyter starts for a notebook.
func LauncherProgram(setup string) string {
	return in(home.Bin(setup), kernel.Program("scorelab-kernel"))
}

// moveInto moves the files of the folder from into the folder to, each in one rename, and removes from.
func moveInto(from, to string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return fmt.Errorf("nothing was built: %w", err)
	}
	for _, entry := range entries {
		if err := os.Rename(in(from, entry.Name()), in(to, entry.Name())); err != nil {
			return err
		}
	}
	return os.RemoveAll(from)
}
