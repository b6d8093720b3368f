package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/scorekit/lab/internal/notebook"
	"github.com/scorekit/lab/internal/setup"
)

func labCommand() *cobra.Command {
	lab := notebook.Lab{Out: os.Stdout}
	var noBrowser bool
	command := &cobra.Command{
		Use:   "lab [-- JUPYTER ARGUMENTS]",
		Short: "Open the notebooks in JupyterLab, after a set-up where one is needed",
		Long: `Opens the notebooks in JupyterLab, on this machine only (127.0.0.1) and behind a token. What is missing is set up first.
Ctrl-C ends it. Arguments after -- go to JupyterLab.`,
		Args: func(command *cobra.Command, arguments []string) error {
			if dash := command.ArgsLenAtDash(); len(arguments) > 0 && dash != 0 {
				return usageError{fmt.Errorf("scorelab lab: argument %q: put what is meant for JupyterLab after --", arguments[0])}
			}
			if lab.Port < 0 || lab.Port > 65535 {
				return usageError{errors.New("scorelab lab: --port " + strconv.Itoa(lab.Port) + ": must be from 1 to 65535, or 0 for JupyterLab's choice")}
			}
			return nil
		},
		RunE: func(command *cobra.Command, arguments []string) error {
			s, err := setup.Find(".", false)
			if err != nil {
				return err
			}
			if err := s.Ensure(command.Context()); err != nil {
				return err
			}
			lab.Setup, lab.Browser, lab.Arguments = s, !noBrowser, arguments
			return lab.Run(command.Context())
		},
	}
	command.Flags().BoolVar(&noBrowser, "no-browser", false, "print the address and open no browser")
	command.Flags().IntVar(&lab.Port, "port", 0, "port to listen on; 0: 8888 or the next free one")
	return command
}
