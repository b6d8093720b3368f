// Setup does for the image what "scorelab setup" does in a clone: the same steps, from the same package. It is a program of
// its own because it needs few of the project's sources: an edit of the others leaves what it installed in the build's cache.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"

	"github.com/scorekit/lab/internal/setup"
)

func main() {
	gpu := flag.Bool("gpu", false, "also the XLA plugin for NVIDIA GPUs")
	gopls := flag.Bool("gopls", false, "also gopls")
	flag.Parse()
	if err := run(*gpu, *gopls); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(gpu, gopls bool) error {
	s, err := setup.Find(".", false)
	if err != nil {
		return err
	}
	s.GPU, s.Gopls = gpu, gopls
	return s.Ensure(context.Background())
}
