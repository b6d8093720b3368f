package backend

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gomlx/gomlx/backends"

	"github.com/scorekit/lab/internal/home"
)

// Plugin is an XLA plugin (PJRT) that "scorelab setup" installed.
type Plugin struct {
	// Name is what GOMLX_BACKEND asks for it by, as in xla:cpu.
	Name string
	// Path is the absolute path of its file.
	Path string
	// Source says what was installed, such as "xla-cpu-pjrt 0.0.1".
	Source string
}

// Installed lists the installed XLA plugins in the order in which [Open] tries them: those for a GPU before those for
// the CPU. The list is empty when nothing was set up. It returns an error when the list of plugins in the set-up folder
// cannot be read. Whether a plugin works is for [Check] to say.
func Installed() ([]Plugin, error) {
	plugins, err := installed()
	if err != nil {
		return nil, fmt.Errorf("scorekit: backend: %w", err)
	}
	return plugins, nil
}

// Supported returns nil if this program can open XLA plugins, and otherwise an error that says why it cannot: that it
// was built without cgo, or for a system that XLA does not run on.
func Supported() error {
	if err := supported(); err != nil {
		return fmt.Errorf("scorekit: backend: %w", err)
	}
	return nil
}

// Check tries the XLA plugin at path in a child process, whatever is remembered of it, and returns what is wrong with
// it: that the file is missing or not a plugin for this machine; that it crashes, hangs or fails when it is opened or
// computes; or that this program cannot open plugins. The outcome is remembered for [Open].
func Check(path string) error {
	path, err := filepath.Abs(path)
	if err == nil {
		_, err = tryAnew(path)
	}
	if err != nil {
		return fmt.Errorf("scorekit: backend: XLA plugin %s: %w", path, err)
	}
	return nil
}

func installed() ([]Plugin, error) {
	dir, found := home.Dir()
	if !found {
		return nil, nil
	}
	listed, err := home.ReadPlugins(dir)
	if err != nil {
		return nil, fmt.Errorf(`list of installed XLA plugins: %w: run "scorelab setup" again, or set GOMLX_BACKEND=go to use pure Go`, err)
	}
	plugins := make([]Plugin, len(listed))
	for k, p := range listed {
		plugins[k] = Plugin{Name: p.Name, Path: p.Path(dir), Source: p.Source}
	}
	slices.SortStableFunc(plugins, func(a, b Plugin) int { return rank(a) - rank(b) })
	return plugins, nil
}

// rank is higher for plugins that are tried later.
func rank(p Plugin) int {
	if strings.Contains(strings.ToLower(p.Name), "cpu") {
		return 1
	}
	return 0
}

// openInstalled opens the first of plugins that opens, not trusting a failure that is remembered if fresh is set. The
// description ends with reason and with what was wrong with the plugins before it. The error is about all of them.
func openInstalled(plugins []Plugin, options xlaOptions, reason string, fresh bool) (*opened, bool, error) {
	var failures, remarks []string
	for _, p := range plugins {
		o, isNew, err := openPlugin(p, options, strings.Join(append([]string{reason}, remarks...), ", "), fresh)
		if err == nil {
			return o, isNew, nil
		}
		failures = append(failures, fmt.Sprintf("XLA plugin %q (%s): %v", p.Name, p.Path, err))
		remarks = append(remarks, fmt.Sprintf("because the plugin %q failed: %v", p.Name, err))
	}
	return nil, false, fmt.Errorf(`%s: run "scorelab setup" to install it again, or set GOMLX_BACKEND=go to use pure Go`, strings.Join(failures, "; "))
}

// choose opens the backend when nobody asks for one.
func choose() (*opened, bool, error) {
	if err := supported(); err != nil {
		return openGo("", "because "+err.Error())
	}
	plugins, err := installed()
	if err != nil {
		return nil, false, err
	}
	if len(plugins) == 0 {
		return openGo("", "because "+noPlugin())
	}
	return openInstalled(plugins, xlaOptions{}, "from "+homeName(), false)
}

// openAskedXLA opens what follows "xla:".
func openAskedXLA(text, reason string) (*opened, bool, error) {
	asked, options, err := parseXLA(text)
	if err != nil {
		return nil, false, err
	}
	if err := supported(); err != nil {
		return nil, false, fmt.Errorf("%w; GOMLX_BACKEND=go uses pure Go", err)
	}
	plugins, err := installed()
	if filepath.IsAbs(asked) {
		// One that was installed is better named by its source; a broken list matters to nobody here.
		plugin := Plugin{Path: asked, Source: filepath.Base(asked)}
		if k := slices.IndexFunc(plugins, func(p Plugin) bool { return p.Path == asked }); k >= 0 {
			plugin = plugins[k]
		}
		o, isNew, err := openPlugin(plugin, options, reason, true)
		if err != nil {
			err = fmt.Errorf("XLA plugin %s: %w: give the path of a PJRT plugin for this machine, or unset GOMLX_BACKEND", asked, err)
		}
		return o, isNew, err
	}
	if err != nil {
		return nil, false, err
	}
	if len(plugins) == 0 {
		return nil, false, fmt.Errorf("%s, or set GOMLX_BACKEND=go to use pure Go", noPlugin())
	}
	if asked != "" {
		var names []string
		for _, p := range plugins {
			names = append(names, p.Name)
		}
		k := slices.Index(names, asked)
		if k < 0 {
			return nil, false, fmt.Errorf(`no XLA plugin %q is installed, only %s: run "scorelab setup" to install others`, asked, strings.Join(names, ", "))
		}
		plugins = plugins[k : k+1]
	}
	return openInstalled(plugins, options, reason, true)
}

// openPlugin opens p, tried beforehand if it has not been opened in this process.
func openPlugin(p Plugin, options xlaOptions, reason string, fresh bool) (*opened, bool, error) {
	return reuse("xla:"+p.Path+","+options.text, reason, func() (backends.Backend, string, error) {
		platform, err := try(p.Path, fresh)
		if err != nil {
			return nil, "", err
		}
		b, err := load(p.Path, platform, options)
		if err != nil {
			return nil, "", err
		}
		return b, fmt.Sprintf("XLA on %s (%s)", device(platform), p.Source), nil
	})
}

// device says in the words of a reader what computes on a PJRT platform.
func device(platform string) string {
	switch platform {
	case "cpu":
		return "CPU"
	case "cuda", "rocm", "gpu":
		return "GPU"
	}
	return strings.ToUpper(platform)
}

// homeName says where the installed plugins are: by the name alone of a set-up folder of a clone.
func homeName() string {
	dir, _ := home.Dir()
	if filepath.Base(dir) == home.FolderName {
		return home.FolderName
	}
	return dir
}

// noPlugin says that there is none, where it was looked for, and what to do.
func noPlugin() string {
	const cure = `run "go run ./cmd/scorelab setup" in a clone of scorekit, with --user for programs outside of it`
	if dir, found := home.Dir(); found {
		return fmt.Sprintf("no XLA plugin is installed in %s: %s", dir, cure)
	}
	return "no XLA plugin is installed, as there is no set-up folder here or above: " + cure
}
