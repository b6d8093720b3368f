package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/scorekit/lab/internal/notebook"
	"github.com/scorekit/lab/internal/setup"
)

func runCommand() *cobra.Command {
	runner := notebook.Runner{Out: os.Stdout}
	command := &cobra.Command{
		Use:   "run [NOTEBOOK …]",
		Short: "Execute notebooks without a browser, after a set-up where one is needed",
		Long: `Executes the notebooks that are named, by number (08) or name, or all of them, and prints a line for each cell. The executed
notebooks, a page of each and an index of the pages go to the output folder. A cell that does not compile, panics,
exits with a status, takes too long or has an unknown % command fails the run.`,
		Args: func(*cobra.Command, []string) error {
			if runner.Timeout < time.Second {
				return usageError{fmt.Errorf("scorelab run: --timeout %v: must be at least 1s", runner.Timeout)}
			}
			return nil
		},
		RunE: func(command *cobra.Command, arguments []string) error {
			s, err := setup.Find(".", false)
			if err != nil {
				return err
			}
			// Before the set-up, so that a mistyped name is told at once.
			all, err := notebook.List(filepath.Join(s.Checkout, "notebooks"))
			if err != nil {
				return err
			}
			chosen, err := notebook.Choose(all, arguments)
			if err != nil {
				return usageError{fmt.Errorf("scorelab run: %w", err)}
			}
			if err := s.Ensure(command.Context()); err != nil {
				return err
			}
			runner.Setup = s
			if runner.Folder == "" {
				runner.Folder = filepath.Join(s.Checkout, "build", "notebooks")
			}
			err = runner.All(command.Context(), chosen)
			fmt.Println("Pages and executed notebooks:", filepath.Join(runner.Folder, "index.html"))
			return err
		},
	}
	command.Flags().StringVar(&runner.Folder, "out", "", "output folder (default build/notebooks in the checkout)")
	command.Flags().DurationVar(&runner.Timeout, "timeout", 30*time.Minute, "the longest that one cell may take")
	command.Flags().BoolVar(&runner.HTML, "html", true, "make pages, too; --html=false saves a second a notebook")
	return command
}
