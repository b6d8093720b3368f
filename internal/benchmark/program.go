package benchmark

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/gomlx/gomlx/backends"

	"github.com/scorekit/lab/internal/process"
	backendpkg "github.com/scorekit/lab/scorekit/backend"
)

// Program does tasks in a process of its own.
type Program struct {
	Name    string // as the tables have it
	Version string
	does    func(t Task) bool
	path    string
	first   []string // arguments before those of the task
	set     []string // environment
}

// Names of this program, on the two backends.
const (
	Ours   = "scorekit"
	PureGo = "scorekit, pure Go"
)

// peer is a program in another library.
type peer struct {
	name  string // as it is asked for
	file  string
	needs []string
	kinds []variant
}

// variant is a way to run a peer.
type variant struct {
	name      string
	arguments []string
	does      func(t Task) bool
}

var peers = []peer{
	{name: "jax", file: "peer_jax.py", needs: []string{"jax", "optax", "numpy"}, kinds: []variant{{"JAX", nil, everything}}},
	{name: "torch", file: "peer_torch.py", needs: []string{"torch", "numpy"}, kinds: []variant{
		{"PyTorch", nil, everything},
		{"PyTorch compiled", []string{"--compile"}, func(t Task) bool { return t.kind == timed && everything(t) }},
	}},
	{name: "torchebm", file: "peer_torchebm.py", needs: []string{"torchebm", "torch", "numpy"}, kinds: []variant{{"torchebm", nil, langevinTask}}},
	{name: "scipy", file: "peer_kde.py", needs: []string{"scipy", "numpy"}, kinds: []variant{{"SciPy", []string{"--scipy"}, kernelTask}}},
	{name: "sklearn", file: "peer_kde.py", needs: []string{"scikit-learn", "numpy"}, kinds: []variant{{"scikit-learn", []string{"--sklearn"}, kernelTask}}},
	{name: "numpy", file: "peer_kde.py", needs: []string{"numpy"}, kinds: []variant{{"NumPy", nil, func(t Task) bool { return t.Name == matmul.Name }}}},
}

// matmul is no task of its own: it measures what the machine can do.
var matmul = Task{Name: "matmul", Unit: "products"}

func everything(t Task) bool { return t.kind != backend && t.Name != matmul.Name }
func kernelTask(t Task) bool { return strings.HasPrefix(t.Name, "kde_") }

// langevinTask is what torchebm has: bench/README.md says why it does not train.
func langevinTask(t Task) bool {
	return t.Name == "langevin_analytic" || strings.HasPrefix(t.Name, pointPrefix+"langevin:")
}

// PeerNames lists whom --peers can ask for.
func PeerNames() []string {
	var names []string
	for _, p := range peers {
		names = append(names, p.name)
	}
	return names
}

// threads keeps every library to the cores that there are, and to the CPU.
func threads() []string {
	n := strconv.Itoa(runtime.NumCPU())
	return []string{"OMP_NUM_THREADS=" + n, "OPENBLAS_NUM_THREADS=" + n, "JAX_PLATFORMS=cpu", "CUDA_VISIBLE_DEVICES=",
		// glibc otherwise gives the large temporaries of PyTorch back to the system after each operation.
		"MALLOC_MMAP_THRESHOLD_=1073741824", "MALLOC_TRIM_THRESHOLD_=4294967296", "MALLOC_TOP_PAD_=268435456"}
}

// ours is this program on the backend that is asked for, or XLA on the CPU if that is installed; and, beside XLA, on pure Go.
func ours(folder string) ([]Program, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	first := []string{WorkVerb, "--folder", folder}
	program := Program{Name: Ours, path: self, first: first, does: func(Task) bool { return true }, set: []string{"SCOREKIT_QUIET=1"}}
	if os.Getenv(backends.ConfigEnvVar) == "" {
		plugins, err := backendpkg.Installed()
		if err != nil {
			return nil, err
		}
		if len(plugins) == 0 {
			return []Program{program}, nil
		}
		program.set = append(program.set, backends.ConfigEnvVar+"=xla:cpu")
	} else if os.Getenv(backends.ConfigEnvVar) == "go" {
		return []Program{program}, nil
	}
	pure := Program{Name: PureGo, path: self, first: first, does: func(t Task) bool { return t.kind == backend },
		set: []string{"SCOREKIT_QUIET=1", backends.ConfigEnvVar + "=go"}}
	return []Program{program, pure}, nil
}

// WorkVerb is the verb by which this program does a task as one of the programs; it calls [Do].
const WorkVerb = "benchwork"

// findPeers returns the programs of the peers that are asked for, or, where nobody asked for any by name, of those that some
// Python can run; missing says what it lacks for the others.
func findPeers(ctx context.Context, named []string, paths []string, folder string) (programs []Program, missing []string, err error) {
	if len(paths) == 0 {
		paths = []string{"python3"}
	}
	var pythons []python
	for _, path := range paths {
		p, err := lookInto(ctx, path)
		if err != nil {
			return nil, nil, err
		}
		pythons = append(pythons, p)
	}
	for _, p := range peers {
		if len(named) > 0 && !slices.Contains(named, p.name) {
			continue
		}
		found, err := having(pythons, p.needs...)
		if err != nil && len(named) > 0 {
			return nil, nil, fmt.Errorf("peer %s: %w", p.name, err)
		}
		if err != nil {
			missing = append(missing, fmt.Sprintf("%s left out: %v", p.name, err))
			continue
		}
		for _, v := range p.kinds {
			first := append([]string{filepath.Join(folder, p.file)}, v.arguments...)
			programs = append(programs, Program{Name: v.name, Version: found.versions[p.needs[0]], path: found.path, first: first,
				set: threads(), does: v.does})
		}
	}
	return programs, missing, nil
}

// command is the program, asked for a task. OPENBLAS_CORETYPE and OPENBLAS_L2_SIZE would hold NumPy to the code of another
// processor.
func (p Program) command(ctx context.Context, t Task, seed int64, how string) *exec.Cmd {
	arguments := slices.Concat(p.first, []string{"--task", t.asked(), "--seed", strconv.FormatInt(seed, 10)}, flag(how, strconv.Itoa(t.Steps)))
	command := process.Command(ctx, p.path, arguments...)
	command.Env = slices.DeleteFunc(os.Environ(), func(s string) bool { return strings.HasPrefix(s, "OPENBLAS_") })
	command.Env = append(command.Env, p.set...)
	return command
}
