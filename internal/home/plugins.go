package home

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/scorekit/lab/internal/atomicfile"
)

// Plugin is one XLA plugin that set-up installed.
type Plugin struct {
	// Name is what the plugin is asked for by, as in GOMLX_BACKEND=xla:cpu. Names are unique.
	Name string `json:"name"`
	// File is the plugin's shared library: a path with slashes, relative to the set-up folder.
	File string `json:"file"`
	// Source says what was installed, such as "xla-cpu-pjrt 0.0.1".
	Source string `json:"source"`
}

// Path returns the absolute path of the plugin's file in the set-up folder home.
func (p Plugin) Path(home string) string {
	return filepath.Join(home, filepath.FromSlash(p.File))
}

type pluginList struct {
	Plugins []Plugin `json:"plugins"`
}

// ReadPlugins returns the plugins listed in [PluginsFile], in its order; none if there is no such file. The error names
// the file and what is wrong in it. Whether the plugins' own files exist is not looked at.
func ReadPlugins(home string) ([]Plugin, error) {
	file := PluginsFile(home)
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list pluginList
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if err := check(list.Plugins); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return list.Plugins, nil
}

// WritePlugins makes plugins the list in [PluginsFile]; the file always holds a whole list, old or new. What was
// remembered about plugins that were tried is forgotten. It refuses a list that [ReadPlugins] would refuse.
func WritePlugins(home string, plugins []Plugin) error {
	file := PluginsFile(home)
	if err := check(plugins); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if plugins == nil {
		plugins = []Plugin{} // written as a list, not as null
	}
	data, err := json.MarshalIndent(pluginList{Plugins: plugins}, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(XLA(home), 0o755); err != nil {
		return err
	}
	if err := os.Remove(ProbesFile(home)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return atomicfile.Write(file, append(data, '\n'), 0o644)
}

func check(plugins []Plugin) error {
	seen := map[string]bool{}
	for k, p := range plugins {
		switch {
		case p.Name == "":
			return fmt.Errorf("plugin %d: name is empty", k+1)
		case seen[p.Name]:
			return fmt.Errorf("plugin %q is listed twice", p.Name)
		case !filepath.IsLocal(filepath.FromSlash(p.File)):
			return fmt.Errorf("plugin %q: file %q: must be a path inside the set-up folder, relative to it", p.Name, p.File)
		}
		seen[p.Name] = true
	}
	return nil
}
