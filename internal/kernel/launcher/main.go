// Launcher is the program that Jupyter starts for a notebook and, under the name go, the stand-in for go that GoNB calls.
// Set-up builds it; package kernel tells how it works.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/scorekit/lab/internal/kernel"
)

func main() {
	name := strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")
	switch {
	case name == "go":
		os.Exit(kernel.GoTool(os.Args[1:]))
	case len(os.Args) == 2:
		os.Exit(kernel.Launch(os.Args[1]))
	}
	fmt.Fprintln(os.Stderr, "usage: scorelab-kernel CONNECTION_FILE (Jupyter gives that)")
	os.Exit(2)
}
