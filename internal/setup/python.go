package setup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strings"

	"github.com/scorekit/lab/internal/home"
)

// oldestMinor is the oldest Python 3 that docker/requirements.txt is made for.
const oldestMinor = 10

// Python is a Python interpreter on this machine.
type Python struct {
	Path    string
	Version string
}

// FindPython returns the first Python on PATH that is new enough. The error says what was found instead and how to get one.
func FindPython(ctx context.Context) (Python, error) {
	names := []string{"python3", "python"}
	for minor := oldestMinor + 4; minor >= oldestMinor; minor-- {
		names = append(names, fmt.Sprintf("python3.%d", minor))
	}
	var found []string
	for _, name := range names {
		path, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		version, err := tool{command: []string{path, "-c", "import sys; print('%d.%d.%d' % sys.version_info[:3])"}}.run(ctx)
		if ctx.Err() != nil {
			return Python{}, context.Cause(ctx)
		}
		if err != nil {
			found = append(found, path+" (does not run)")
			continue
		}
		version = strings.TrimSpace(version)
		var major, minor int
		if _, err := fmt.Sscanf(version, "%d.%d.", &major, &minor); err == nil && major == 3 && minor >= oldestMinor {
			return Python{path, version}, nil
		}
		found = append(found, path+" ("+version+")")
	}
	const cure = "what to do: install Python from https://www.python.org/downloads, or on Debian and Ubuntu: apt install python3 python3-venv"
	if len(found) == 0 {
		return Python{}, fmt.Errorf("no Python on PATH, 3.%d or later is needed\n  %s", oldestMinor, cure)
	}
	return Python{}, fmt.Errorf("Python 3.%d or later is needed, found only %s\n  %s", oldestMinor, strings.Join(found, ", "), cure)
}

// VenvProgram returns the path of a program of the Python environment in the set-up folder.
func VenvProgram(setup, name string) string {
	if runtime.GOOS == "windows" {
		return in(home.Venv(setup), "Scripts", name+".exe")
	}
	return in(home.Venv(setup), "bin", name)
}

// pythonStep makes the Python environment. It cannot be moved, so it's made in place, from nothing each time.
func (s Setup) pythonStep() step {
	requirements := in(s.Checkout, "docker", "requirements.txt")
	return step{
		name:  "python",
		doing: "Python environment with JupyterLab (a minute or two, 260 MB)",
		from: func(context.Context) (string, error) {
			hash, err := hashOf("docker/requirements.txt", requirements)
			return "in " + home.Venv(s.Home) + "\n" + hash, err
		},
		partial: []string{home.Venv(s.Home)},
		present: func() bool {
			return exists(VenvProgram(s.Home, "python")) && exists(VenvProgram(s.Home, "jupyter-lab"))
		},
		do: func(ctx context.Context) (string, error) {
			python, err := FindPython(ctx)
			if err != nil {
				return "", err
			}
			venv := home.Venv(s.Home)
			if err := os.RemoveAll(venv); err != nil {
				return "", err
			}
			make := tool{environ: pythonEnviron(), log: s.logFile("venv"), temp: s.temp(), command: []string{python.Path, "-m", "venv", venv}}
			if _, err := make.run(ctx); err != nil {
				return "", explainVenv(err, python)
			}
			if err := s.pip(ctx, "--requirement", requirements); err != nil {
				return "", err
			}
			return "with Python " + python.Version + " (" + python.Path + ")", nil
		},
	}
}

// pip installs by the environment's own pip, with the hashes that the requirements file must have.
func (s Setup) pip(ctx context.Context, arguments ...string) error {
	command := []string{VenvProgram(s.Home, "python"), "-m", "pip", "install", "--require-hashes", "--no-input",
		"--disable-pip-version-check", "--progress-bar", "off"}
	install := tool{environ: pythonEnviron(), log: s.logFile("pip"), temp: s.temp(), command: append(command, arguments...)}
	_, err := install.run(ctx)
	return err
}

func (s Setup) logFile(name string) string { return in(s.Home, "logs", name+".log") }

// temp is the folder for the temporary files of tools: on the disk that is to have room, and gone with what they leave.
func (s Setup) temp() string { return in(s.Home, "tmp") }

// pythonEnviron is this process's environment without what would make Python or pip look, or install, elsewhere. Where pip
// downloads from and how is the user's own configuration.
func pythonEnviron() []string {
	var kept []string
	for _, entry := range os.Environ() {
		switch name, _, _ := strings.Cut(entry, "="); name {
		case "PYTHONHOME", "PYTHONPATH", "PYTHONSTARTUP", "PIP_TARGET", "PIP_PREFIX", "PIP_USER", "PIP_REQUIRE_VIRTUALENV":
		default:
			kept = append(kept, entry)
		}
	}
	return append(kept, "PYTHONNOUSERSITE=1", "PIP_USER=0")
}

// noVenv is what Python says without the modules. That ensurepip failed is no sign of it: so it does on a full disk.
var noVenv = regexp.MustCompile(`ensurepip is not available|No module named '?(venv|ensurepip)\b`)

// explainVenv adds the cure to a failed "python -m venv". Debian packs Python without the modules that it needs.
func explainVenv(err error, python Python) error {
	var failed *toolError
	if errors.As(err, &failed) && noVenv.MatchString(failed.output) {
		minor := strings.Join(strings.SplitN(python.Version, ".", 3)[:2], ".")
		return fmt.Errorf("%s cannot make environments: its module venv or ensurepip (pip) is missing\n"+
			"  what to do: on Debian and Ubuntu: apt install python%s-venv; elsewhere install Python from https://www.python.org/downloads",
			python.Path, minor)
	}
	return err
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
