package setup

import (
	"os"
	"strings"

	"github.com/scorekit/lab/internal/home"
	"github.com/scorekit/lab/internal/kernel"
)

// JupyterEnviron returns the environment for Jupyter's programs: they keep their files in the set-up folder and see only its
// kernels.
func (s Setup) JupyterEnviron() []string {
	var kept []string
	for _, entry := range pythonEnviron() {
		name, _, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, "JUPYTER") && name != home.EnvVar && name != kernel.RootVar {
			kept = append(kept, entry)
		}
	}
	state := in(s.Home, "jupyter")
	return append(kept,
		home.EnvVar+"="+s.Home,
		"JUPYTER_DATA_DIR="+in(state, "data"),
		"JUPYTER_CONFIG_DIR="+in(state, "config"),
		"JUPYTER_RUNTIME_DIR="+in(state, "runtime"),
		"IPYTHONDIR="+in(state, "ipython"),
		"PATH="+in(VenvProgram(s.Home, "python"), "..")+string(os.PathListSeparator)+os.Getenv("PATH"),
	)
}
