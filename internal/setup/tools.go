package setup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"golang.org/x/mod/modfile"

	"github.com/scorekit/lab/internal/home"
	"github.com/scorekit/lab/internal/kernel"
	"github.com/scorekit/lab/internal/kernel/gonb"
)

// kernelTools are the programs that the kernel needs, by package; go.mod lists them as tools and so pins their versions.
var kernelTools = []struct{ name, path, module string }{
	{"gonb", gonb.Module, gonb.Module},
	{"goimports", "golang.org/x/tools/cmd/goimports", "golang.org/x/tools"},
}

// toolsStep builds the kernel and its helper.
func (s Setup) toolsStep() step {
	fresh, source := home.Bin(s.Home)+".new", in(s.Home, "gonb-source")
	return step{
		partial: []string{fresh, source},
		name:    "gonb",
		doing:   "GoNB, the Go kernel for Jupyter, and goimports (half a minute)",
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
			return from + gonb.Hash() + "\n", nil
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
			if err := os.RemoveAll(fresh); err != nil {
				return "", err
			}
			arguments, err := s.correctedGoNB(ctx, source)
			if err != nil {
				return "", err
			}
			for _, t := range kernelTools {
				arguments = append(arguments, t.path)
			}
			if err := s.compile(ctx, "gonb", fresh, "install", arguments...); err != nil {
				return "", err
			}
			return "", errors.Join(moveInto(fresh, home.Bin(s.Home)), os.RemoveAll(source))
		},
	}
}

// correctedGoNB puts GoNB's corrected source into a folder, beside a go.mod that is the checkout's but for that, and returns the
// flag that has go use it. All other versions stay the same, so that nothing more is downloaded.
func (s Setup) correctedGoNB(ctx context.Context, folder string) ([]string, error) {
	if err := os.RemoveAll(folder); err != nil {
		return nil, err
	}
	list := tool{dir: s.Checkout, log: s.logFile("gonb"), temp: s.temp(), command: []string{"go", "mod", "download", "-json", gonb.Module}}
	output, err := list.run(ctx)
	if err != nil {
		return nil, err
	}
	var module struct{ Dir string }
	if err := json.Unmarshal([]byte(output), &module); err != nil {
		return nil, fmt.Errorf("go mod download %s: %w", gonb.Module, err)
	}
	corrected := in(folder, "gonb")
	if err := gonb.Correct(module.Dir, corrected); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(in(s.Checkout, "go.mod"))
	if err != nil {
		return nil, err
	}
	file, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		return nil, err
	}
	if err := file.AddReplace(gonb.Module, "", corrected, ""); err != nil {
		return nil, err
	}
	if text, err = file.Format(); err != nil {
		return nil, err
	}
	sums, err := os.ReadFile(in(s.Checkout, "go.sum"))
	if err != nil {
		return nil, err
	}
	// go looks for the sums beside the go.mod.
	err = errors.Join(os.WriteFile(in(folder, "go.mod"), text, 0o644), os.WriteFile(in(folder, "go.sum"), sums, 0o644))
	return []string{"-modfile=" + in(folder, "go.mod")}, err
}

// launcherStep builds the program that Jupyter starts, and puts it twice: once more as the stand-in for go.
func (s Setup) launcherStep() step {
	source := in(s.Checkout, "internal", "kernel")
	fresh := home.Bin(s.Home) + ".new"
	return step{
		partial: []string{fresh},
		name:    "launcher",
		doing:   "the kernel's launcher",
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
	_, err := tool{dir: s.Checkout, environ: environ, log: s.logFile(log), temp: s.temp(), command: command}.run(ctx)
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
