package backend

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// isXLA reports whether name is one of GoMLX's names for its XLA backend.
func isXLA(name string) bool {
	return slices.Contains([]string{"xla", "stablehlo", "shlo", "hlo"}, name)
}

// xlaOptions are the options that may follow the plugin's name.
type xlaOptions struct {
	text    string   // as written, to tell configurations apart
	forward []string // for GoMLX as they are
	buffers bool     // forward says whether buffers are shared
	devices int64    // CPU devices; 0 where it was not said
}

// parseXLA splits what follows "xla:" into a plugin (a name, an absolute path, or "" for the preferred one) and options.
func parseXLA(text string) (plugin string, options xlaOptions, err error) {
	plugin, options.text, _ = strings.Cut(text, ",")
	for option := range strings.SplitSeq(options.text, ",") {
		name, value, hasValue := strings.Cut(option, "=")
		switch {
		case option == "":
		case option == "shared_buffers", option == "noshared_buffers":
			options.forward = append(options.forward, option)
			options.buffers = true
		case option == "tf32":
			options.forward = append(options.forward, option)
		case name == "cpu_device_count" && hasValue:
			options.devices, err = strconv.ParseInt(value, 10, 32)
			if err != nil || options.devices < 1 {
				return "", options, fmt.Errorf("option %q: must be a whole number of at least 1", option)
			}
		default:
			return "", options, fmt.Errorf("there is no option %q: must be shared_buffers, noshared_buffers, tf32 or cpu_device_count=N", option)
		}
	}
	if strings.ContainsRune(plugin, filepath.Separator) || strings.Contains(plugin, "/") {
		if plugin, err = filepath.Abs(plugin); err != nil {
			return "", options, err
		}
	}
	return plugin, options, nil
}
