package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/scorekit/lab/internal/home"
	"github.com/scorekit/lab/internal/kernel"
	"github.com/scorekit/lab/internal/process"
	"github.com/scorekit/lab/internal/setup"
	"github.com/scorekit/lab/scorekit/backend"
)

// steps looks at each step of the set-up.
func steps(ctx context.Context, s setup.Setup) []Finding {
	if !setup.Marked(s.Home) {
		return []Finding{{Failed, "set-up", "none in " + s.Home, cureSetup}}
	}
	found := []Finding{{Works, "set-up", s.Home, ""}}
	statuses, err := s.Status(ctx)
	if err != nil {
		found = append(found, Finding{Failed, "set-up", err.Error(), "check the checkout"})
	}
	for _, status := range statuses {
		finding := Finding{Works, "  " + status.Step, string(status.State), ""}
		if status.State != setup.Fresh {
			finding.Verdict, finding.Cure = Failed, cureSetup
		}
		found = append(found, finding)
	}
	return found
}

// environment asks the Python environment for what execute.py and lab use.
func environment(ctx context.Context, s setup.Setup) []Finding {
	const subject = "JupyterLab"
	program := setup.VenvProgram(s.Home, "python")
	if _, err := os.Stat(program); err != nil {
		return nil // told by steps
	}
	out, err := output(ctx, s.Checkout, s.JupyterEnviron(), program, "-c",
		"import jupyterlab, nbclient, nbconvert; print(jupyterlab.__version__, 'nbclient', nbclient.__version__, 'nbconvert', nbconvert.__version__)")
	if err != nil {
		return []Finding{{Failed, subject, err.Error(), cureSetup + " --force"}}
	}
	return []Finding{{Works, subject, out, ""}}
}

// kernelPrograms looks at the kernel's entry in Jupyter and at the programs behind it.
func kernelPrograms(ctx context.Context, s setup.Setup) []Finding {
	const subject = "Go kernel"
	text, err := os.ReadFile(setup.KernelspecFile(s.Home))
	if err != nil {
		return nil // told by steps
	}
	var spec struct {
		Argv []string `json:"argv"`
	}
	if err := json.Unmarshal(text, &spec); err != nil || len(spec.Argv) == 0 {
		return []Finding{{Failed, subject, setup.KernelspecFile(s.Home) + " is damaged", cureSetup + " --force"}}
	}
	if _, err := os.Stat(spec.Argv[0]); err != nil {
		return []Finding{{Failed, subject, err.Error(), cureSetup + " --force"}}
	}
	version, err := output(ctx, s.Checkout, nil, filepath.Join(home.Bin(s.Home), kernel.Program("gonb")), "-V")
	if err != nil {
		return []Finding{{Failed, subject, err.Error(), cureSetup + " --force"}}
	}
	return []Finding{{Works, subject, "GoNB " + version + ", started by " + spec.Argv[0], ""}}
}

// plugins tries each installed XLA plugin.
func plugins(_ context.Context, s setup.Setup) []Finding {
	const subject = "XLA plugin"
	list, err := home.ReadPlugins(s.Home)
	if err != nil {
		return []Finding{{Failed, subject, err.Error(), cureSetup}}
	}
	if len(list) == 0 {
		if reasons, _ := filepath.Glob(filepath.Join(home.XLA(s.Home), "*.none")); len(reasons) > 0 {
			text, _ := os.ReadFile(reasons[0])
			return []Finding{{Lacking, subject, "none: " + strings.TrimSpace(string(text)), ""}}
		}
		return []Finding{{Lacking, subject, "none installed: computing in pure Go", cureSetup}}
	}
	if err := backend.Supported(); err != nil {
		return []Finding{{Lacking, subject, "installed, but " + strings.TrimPrefix(err.Error(), "scorekit: backend: ") + "; until then pure Go computes", ""}}
	}
	var found []Finding
	for _, plugin := range list {
		finding := Finding{Works, subject, plugin.Name + ": " + plugin.Source, ""}
		if err := backend.Check(plugin.Path(s.Home)); err != nil {
			finding = Finding{Failed, subject, plugin.Name + ": " + err.Error(), cureSetup + " --force"}
			if plugin.Name == "cuda" {
				finding.Verdict, finding.Cure = Lacking, "check NVIDIA's driver with nvidia-smi; until it works, the CPU computes"
			}
		}
		found = append(found, finding)
	}
	return found
}

// output runs a program and returns what it printed, trimmed; its error has the program's last line.
func output(ctx context.Context, dir string, environ []string, program string, arguments ...string) (string, error) {
	command := process.Command(ctx, program, arguments...)
	command.Dir, command.Env = dir, environ
	var out, complaint bytes.Buffer
	command.Stdout, command.Stderr = &out, &complaint
	if err := process.Run(ctx, command); err != nil {
		lines := strings.Split(strings.TrimSpace(complaint.String()), "\n")
		return "", fmt.Errorf("%s: %w: %s", program, err, lines[len(lines)-1])
	}
	return strings.TrimSpace(out.String()), nil
}
