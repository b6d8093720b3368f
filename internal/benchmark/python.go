package benchmark

import (
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"

	"github.com/scorekit/lab/internal/process"
)

// python is a Python and the versions of what the peers need, by the names of the packages; "" for what it has not.
type python struct {
	path     string
	versions map[string]string
}

// packages are all that some peer needs.
var packages = []string{"numpy", "jax", "optax", "torch", "torchebm", "scipy", "scikit-learn"}

// lookInto asks a Python what it has, without importing it.
func lookInto(ctx context.Context, path string) (python, error) {
	full, err := exec.LookPath(path)
	if err != nil {
		return python{}, fmt.Errorf("--python %s: %w", path, err)
	}
	const program = `
import importlib.metadata, json, sys
versions = {}
for name in sys.argv[1:]:
    try:
        versions[name] = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        pass
print(json.dumps(versions))`
	command := process.Command(ctx, full, append([]string{"-c", program}, packages...)...)
	out, err := command.Output()
	p := python{path: full}
	if err == nil {
		err = json.Unmarshal(out, &p.versions)
	}
	if err != nil {
		return python{}, fmt.Errorf("--python %s: %w", path, err)
	}
	return p, nil
}

// having returns the first Python that has all the packages.
func having(pythons []python, needs ...string) (python, error) {
	for _, p := range pythons {
		all := true
		for _, name := range needs {
			all = all && p.versions[name] != ""
		}
		if all {
			return p, nil
		}
	}
	return python{}, fmt.Errorf("no Python has %s: name one with --python, see bench/README.md", strings.Join(needs, " and "))
}
