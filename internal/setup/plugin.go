package setup

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/scorekit/lab/internal/atomicfile"
	"github.com/scorekit/lab/internal/home"
)

// The names of the plugins in the list of package home, and of the steps that install them with "xla-" in front.
const (
	cpuPlugin  = "cpu"
	cudaPlugin = "cuda"
	cudaName   = "xla-" + cudaPlugin
)

// errNone, wrapped, means that there is no plugin for this machine: no failure, as pure Go does the work then.
var errNone = errors.New("no XLA plugin")

// fetcher puts a plugin into a folder and says which file of it the plugin is and what was installed.
type fetcher func(ctx context.Context, folder string) (file, source string, err error)

// cpuPluginStep installs the XLA plugin for the CPU: on linux/amd64 from a wheel whose hash is pinned, elsewhere by
// GoMLX's own installer.
func (s Setup) cpuPluginStep() step {
	requirements := in(s.Checkout, "docker", "requirements-xla.txt")
	fetch, size := s.wheel(requirements, "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so", "xla_cpu_pjrt.so"), "63 MB to download, 260 MB"
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		fetch, size = installedByGoMLX, "by GoMLX's installer; not tried by us on "+runtime.GOOS+"/"+runtime.GOARCH
	}
	return s.pluginStep(cpuPlugin, "XLA plugin for the CPU ("+size+")", requirements, fetch)
}

// cudaPluginStep installs the XLA plugin for NVIDIA GPUs and the CUDA libraries that it loads. The plugin looks for them in
// ../nvidia, seen from its own folder.
func (s Setup) cudaPluginStep() step {
	requirements := in(s.Checkout, "docker", "requirements-cuda.txt")
	fetch := s.wheel(requirements, "jax_plugins/xla_cuda12/xla_cuda_plugin.so", "plugin/xla_cuda_pjrt.so")
	if runtime.GOOS != "linux" {
		fetch = func(context.Context, string) (string, string, error) {
			return "", "", fmt.Errorf("%w for CUDA on %s, only on linux", errNone, runtime.GOOS)
		}
	}
	return s.pluginStep(cudaPlugin, "XLA plugin for NVIDIA GPUs and the CUDA libraries (several GB; needs NVIDIA's driver)", requirements, fetch)
}

// pluginStep makes a plugin in a new folder, puts it in place and lists it; for none, it notes the reason instead.
func (s Setup) pluginStep(name, doing, requirements string, fetch fetcher) step {
	final := in(home.XLA(s.Home), name)
	fresh := final + ".new"
	reason := in(home.XLA(s.Home), name+".none")
	installed := func() (listed, there bool) {
		plugins, err := home.ReadPlugins(s.Home)
		if err != nil {
			return true, false
		}
		k := slices.IndexFunc(plugins, func(p home.Plugin) bool { return p.Name == name })
		return k >= 0, k >= 0 && exists(plugins[k].Path(s.Home))
	}
	return step{
		name:    "xla-" + name,
		partial: []string{fresh},
		doing:   doing,
		from: func(ctx context.Context) (string, error) {
			hash, err := hashOf("docker/requirements of xla-"+name, requirements)
			if err != nil {
				return "", err
			}
			cgo, err := cgoEnabled(ctx, s.Checkout)
			// A plugin that is there stays, though this once CGO_ENABLED=0 asks to do without.
			_, there := installed()
			return fmt.Sprintf("%s/%s cgo %t\n%s", runtime.GOOS, runtime.GOARCH, cgo || there, hash), err
		},
		present: func() bool {
			listed, there := installed()
			return there || !listed && exists(reason)
		},
		do: func(ctx context.Context) (string, error) {
			// The one that is there stays in use until the new one is whole.
			if err := errors.Join(os.RemoveAll(fresh), os.MkdirAll(fresh, 0o755)); err != nil {
				return "", err
			}
			file, source, err := "", "", error(nil)
			if cgo, cgoErr := cgoEnabled(ctx, s.Checkout); cgoErr != nil {
				return "", cgoErr
			} else if cgo {
				file, source, err = fetch(ctx, fresh)
			} else {
				err = fmt.Errorf("%w without a C compiler: install gcc or clang and run scorelab setup again for faster training", errNone)
			}
			if errors.Is(err, errNone) {
				note := err.Error() + "; the computing is done in pure Go"
				return note, errors.Join(s.list(name, nil), os.RemoveAll(fresh), os.RemoveAll(final), atomicfile.Write(reason, []byte(note+"\n"), 0o644))
			}
			if err != nil {
				return "", err
			}
			if err := errors.Join(s.list(name, nil), os.RemoveAll(reason), os.RemoveAll(final)); err != nil {
				return "", err
			}
			if err := os.Rename(fresh, final); err != nil {
				return "", err
			}
			return source, s.list(name, &home.Plugin{Name: name, File: "xla/" + name + "/" + file, Source: source})
		},
	}
}

// list puts the plugin into the list in place of one of that name, the one for GPUs first; nil only takes it out.
func (s Setup) list(name string, plugin *home.Plugin) error {
	plugins, err := home.ReadPlugins(s.Home)
	if err != nil {
		plugins = nil // a damaged list is written anew, and the other plugin's step will find that it is not in it
	}
	plugins = slices.DeleteFunc(plugins, func(p home.Plugin) bool { return p.Name == name })
	switch {
	case plugin == nil:
	case name == cudaPlugin:
		plugins = slices.Insert(plugins, 0, *plugin)
	default:
		plugins = append(plugins, *plugin)
	}
	return home.WritePlugins(s.Home, plugins)
}

// wheel returns a fetcher that installs the requirements by pip and moves the plugin from where its wheel has it.
func (s Setup) wheel(requirements, inside, file string) fetcher {
	return func(ctx context.Context, folder string) (string, string, error) {
		err := s.pip(ctx, "--no-deps", "--no-compile", "--target", folder, "--requirement", requirements)
		var failed *toolError
		if errors.As(err, &failed) && noWheel.MatchString(failed.output) && !networkTrouble.MatchString(failed.output) {
			return "", "", fmt.Errorf("%w for this system: %s", errNone, lastWords(failed.output))
		}
		if err != nil {
			return "", "", err
		}
		source, err := firstRequirement(requirements)
		if err != nil {
			return "", "", err
		}
		target := in(folder, file)
		if err := os.MkdirAll(in(target, ".."), 0o755); err != nil {
			return "", "", err
		}
		if err := os.Rename(in(folder, inside), target); err != nil {
			return "", "", err
		}
		return file, source, os.RemoveAll(in(folder, strings.Split(inside, "/")[0]))
	}
}

// firstRequirement returns "name version" of the first package that a requirements file pins.
func firstRequirement(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(text)) {
		if name, rest, ok := strings.Cut(line, "=="); ok && !strings.HasPrefix(line, "#") {
			return name + " " + strings.TrimRight(strings.Fields(rest)[0], ";\\"), nil
		}
	}
	return "", fmt.Errorf("%s pins no package", file)
}

// cgoEnabled tells whether Go can build what calls C, without which no plugin can be loaded.
func cgoEnabled(ctx context.Context, dir string) (bool, error) {
	output, err := tool{dir: dir, command: []string{"go", "env", "CGO_ENABLED"}}.run(ctx)
	return strings.TrimSpace(output) == "1", err
}
