package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/scorekit/lab/internal/experiment"
)

func infoCommand() *cobra.Command {
	var asJSON bool
	command := &cobra.Command{
		Use:   "info FOLDER",
		Short: "Say what a run is: model, data, loss, versions, how to go on",
		Args: func(command *cobra.Command, arguments []string) error {
			if len(arguments) != 1 {
				return usage(command, fmt.Errorf("%d arguments: must be one, the folder of a run", len(arguments)))
			}
			return nil
		},
		RunE: func(_ *cobra.Command, arguments []string) error {
			info, err := experiment.ReadInfo(arguments[0], programName())
			if err != nil {
				return err
			}
			if asJSON {
				return writeDocument(os.Stdout, info)
			}
			return say("%s", info)
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
	}
	command.Flags().BoolVar(&asJSON, "json", false, "write a JSON document to standard output")
	return command
}
