package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scorekit/lab/internal/setup"
)

func cleanCommand() *cobra.Command {
	var yes, user bool
	command := &cobra.Command{
		Use:   "clean",
		Short: "Remove the folder that set-up made",
		Args:  noArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			s, err := setup.Find(".", user)
			if err != nil {
				return err
			}
			if _, err := os.Stat(s.Home); os.IsNotExist(err) {
				fmt.Println("Nothing to remove: there is no", s.Home)
				return nil
			}
			if setup.Marked(s.Home) && !yes {
				fmt.Printf("Remove %s and all in it? [y/N] ", s.Home)
				line, _ := bufio.NewReader(os.Stdin).ReadString('\n')
				if answer := strings.ToLower(strings.TrimSpace(line)); answer != "y" && answer != "yes" {
					return fmt.Errorf("nothing removed; answer y, or say --yes")
				}
			}
			if err := setup.Clean(command.Context(), s.Home, os.Stdout); err != nil {
				return err
			}
			fmt.Println("Removed", s.Home)
			return nil
		},
	}
	command.Flags().BoolVar(&yes, "yes", false, "do not ask")
	command.Flags().BoolVar(&user, "user", false, "the folder in your cache folder, as of setup --user")
	return command
}
