package experiment

import (
	"runtime"
	"runtime/debug"

	"github.com/gomlx/gomlx/backends"

	"github.com/scorekit/lab/scorekit/backend"
)

// Versions says what a run was computed with.
type Versions struct {
	Scorelab string `json:"scorelab"`           // module version
	Revision string `json:"revision,omitempty"` // of the source, where the build knew it
	Go       string `json:"go"`
	System   string `json:"system"`
	GoMLX    string `json:"gomlx,omitempty"`
	Backend  string `json:"backend"` // with the plugin
}

func versions(b backends.Backend) Versions {
	v := Versions{Go: runtime.Version(), System: runtime.GOOS + "/" + runtime.GOARCH, Backend: backend.Describe(b)}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	v.Scorelab = info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			v.Revision = s.Value
		}
	}
	for _, module := range info.Deps {
		if module.Path == "github.com/gomlx/gomlx" {
			v.GoMLX = module.Version
		}
	}
	return v
}

// openBackend opens what a setting asks for.
func openBackend(name string) (backends.Backend, error) {
	if name == Auto {
		return backend.Open()
	}
	return backend.OpenConfig(name)
}
