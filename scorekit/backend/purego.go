package backend

import (
	"slices"
	"strings"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/backends/simplego"
)

// openGo opens the pure Go backend with GoMLX's options for it, separated by commas.
//
// Left to itself GoMLX runs the operations of a graph side by side on a pool of workers; each waits there for the parts
// of its own work, and when the operations hold every worker, nobody is left to do the parts. So ops_sequential is
// added unless ops_parallel is asked for by name.
func openGo(options, reason string) (*opened, bool, error) {
	list := strings.Split(options, ",")
	what := "pure Go"
	if slices.Contains(list, "ops_parallel") {
		what = "pure Go with ops_parallel (a graph with many independent products can wait for ever)"
	} else if !slices.Contains(list, "ops_sequential") {
		list = append(list, "ops_sequential")
	}
	config := strings.Trim(strings.Join(list, ","), ",")
	return reuse("go:"+config, reason, func() (backends.Backend, string, error) {
		b, err := simplego.New(config)
		return b, what, err
	})
}
