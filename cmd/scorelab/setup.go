package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/scorekit/lab/internal/setup"
)

func setupCommand() *cobra.Command {
	var gpu, gopls, user, force bool
	command := &cobra.Command{
		Use:   "setup",
		Short: "Install what the notebooks need, all in one folder",
		Long: `Installs a Python environment with JupyterLab, the XLA plugin, and GoNB, the Go kernel for Jupyter, in one folder:
.scorelab in the checkout, or the folder that $SCORELAB_HOME names. "scorelab clean" removes it.
Run again it only does what is missing or out of date.`,
		Args: noArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			s, err := setup.Find(".", user)
			if err != nil {
				return err
			}
			s.GPU, s.Gopls, s.Force, s.Out = gpu, gopls, force, os.Stdout
			if err := s.Ensure(command.Context()); err != nil {
				return err
			}
			fmt.Println("Everything is set up in", s.Home)
			return nil
		},
	}
	command.Flags().BoolVar(&gpu, "gpu", false, "also the XLA plugin for NVIDIA GPUs (several GB; only tried where NVIDIA's driver is installed)")
	command.Flags().BoolVar(&gopls, "gopls", false, "also gopls, where there is none: Tab then completes names in cells")
	command.Flags().BoolVar(&user, "user", false, "in your cache folder, shared by all checkouts, instead of this one's .scorelab")
	command.Flags().BoolVar(&force, "force", false, "make everything anew")
	return command
}
