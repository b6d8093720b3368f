package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print versions",
		Args:  noArguments,
		Run: func(*cobra.Command, []string) {
			info, ok := debug.ReadBuildInfo()
			if !ok {
				fmt.Println("scorelab, built without version information")
				return
			}
			fmt.Printf("scorelab %s\n%s %s/%s\n", info.Main.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			for _, module := range info.Deps {
				if module.Path == "github.com/gomlx/gomlx" || module.Path == "github.com/gomlx/go-xla" {
					fmt.Println(module.Path, module.Version)
				}
			}
		},
	}
}
