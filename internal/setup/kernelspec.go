package setup

import (
	"bytes"
	"context"
	"encoding/json"
	"image/png"
	"os"

	"github.com/scorekit/lab/internal/atomicfile"
	"github.com/scorekit/lab/internal/home"
)

// KernelName is the name of the kernel in a notebook's metadata.
const KernelName = "gonb"

// overrides keeps JupyterLab from asking servers for news and updates.
const overrides = `{
  "@jupyterlab/apputils-extension:notification": {"checkForUpdates": false, "doNotDisturbMode": false, "fetchNews": "false"}
}
`

// KernelspecFile returns the file that tells Jupyter of the Go kernel: in the Python environment, where every Jupyter that
// is started from it looks.
func KernelspecFile(setup string) string {
	return in(home.Venv(setup), "share", "jupyter", "kernels", KernelName, "kernel.json")
}

// kernelspecStep tells Jupyter of the kernel.
func (s Setup) kernelspecStep() step {
	file := KernelspecFile(s.Home)
	text := func() ([]byte, error) {
		return json.MarshalIndent(map[string]any{
			"argv":           []string{LauncherProgram(s.Home), "{connection_file}"},
			"display_name":   "Go (scorekit)",
			"language":       "go",
			"interrupt_mode": "signal",
		}, "", "  ")
	}
	return step{
		name:  "kernelspec",
		doing: "the kernel's entry in JupyterLab",
		from: func(context.Context) (string, error) {
			spec, err := text()
			return string(spec) + "\nlogo 1\n" + overrides, err
		},
		present: func() bool { return exists(file) },
		do: func(context.Context) (string, error) {
			settings := in(home.Venv(s.Home), "share", "jupyter", "lab", "settings")
			for _, folder := range []string{in(file, ".."), settings} {
				if err := os.MkdirAll(folder, 0o755); err != nil {
					return "", err
				}
			}
			var picture bytes.Buffer
			if err := png.Encode(&picture, logo(64)); err != nil {
				return "", err
			}
			if err := atomicfile.Write(in(file, "..", "logo-64x64.png"), picture.Bytes(), 0o644); err != nil {
				return "", err
			}
			if err := atomicfile.Write(in(settings, "overrides.json"), []byte(overrides), 0o644); err != nil {
				return "", err
			}
			spec, err := text()
			if err != nil {
				return "", err
			}
			return "", atomicfile.Write(file, append(spec, '\n'), 0o644)
		},
	}
}
