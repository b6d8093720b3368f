//go:build cgo && (linux || darwin)

package backend

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/gomlx/go-xla/pkg/pjrt"
	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/backends/xla"
	"github.com/gomlx/gomlx/pkg/core/graph"
)

func supported() error { return nil }

// load opens the plugin at path, which computes on platform, in this process.
func load(path, platform string, options xlaOptions) (backends.Backend, error) {
	if strings.Contains(path, ",") {
		return nil, fmt.Errorf("GoMLX cannot open a path that holds a comma")
	}
	prepare()
	config := append([]string{path}, options.forward...)
	named := map[string]any{}
	if platform == "cpu" {
		if !options.buffers {
			config = append(config, "shared_buffers")
		}
		named["cpu_device_count"] = max(options.devices, 1)
	} else if options.devices > 0 {
		return nil, fmt.Errorf("option cpu_device_count=%d: the plugin computes on %s", options.devices, device(platform))
	}
	b, err := xla.NewWithOptions(strings.Join(config, ","), named)
	if err != nil {
		return nil, fmt.Errorf("%s", oneLine(err.Error()))
	}
	return b, nil
}

// prepare keeps GoMLX from downloading plugins, and go-xla from pointing XLA at a CUDA folder that exists on its
// author's machine only (which its search for CUDA does).
func prepare() {
	xla.EnableAutoInstall(false)
	for _, setting := range [][2]string{{xla.NoAutoInstallEnv, "1"}, {"GOPJRT_CUDA_CHECKS", "0"}} {
		if _, isSet := os.LookupEnv(setting[0]); !isSet {
			os.Setenv(setting[0], setting[1])
		}
	}
}

// compute opens the plugin at path in this process, asks it for its platform and lets it compute: plugins fail when
// they are loaded, when they look for their device, and when they first compile.
func compute(path string) (platform string, err error) {
	defer func() {
		if r := recover(); r != nil {
			platform, err = "", fmt.Errorf("panics: %s", oneLine(fmt.Sprint(r)))
		}
	}()
	prepare()
	plugin, err := pjrt.GetPlugin(path)
	if err != nil {
		return "", fmt.Errorf("cannot be loaded: %s", oneLine(err.Error()))
	}
	client, err := plugin.NewClient(nil)
	if err != nil {
		return "", fmt.Errorf("cannot open its device: %s", oneLine(err.Error()))
	}
	platform = strings.ToLower(client.Platform())
	if err := client.Destroy(); err != nil {
		return "", fmt.Errorf("cannot close its device: %s", oneLine(err.Error()))
	}
	b, err := load(path, platform, xlaOptions{})
	if err != nil {
		return "", fmt.Errorf("cannot open its device: %w", err)
	}
	defer b.Finalize()
	sum, err := graph.ExecOnce(b, func(x *graph.Node) *graph.Node { return graph.Add(x, x) }, []float32{1, 2.5})
	if err != nil {
		return "", fmt.Errorf("cannot compute: %s", oneLine(err.Error()))
	}
	defer sum.MustFinalizeAll()
	if got, ok := sum.Value().([]float32); !ok || !slices.Equal(got, []float32{2, 5}) {
		return "", fmt.Errorf("computes wrongly: 2·(1, 2.5) = %v", sum.Value())
	}
	return platform, nil
}
