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
		Long: `Opens the notebooks in JupyterLab, on this machine only (127.0.0.1) and behind a token: that of $JUPYTER_TOKEN, or a new
one. What is missing is set up first. Ctrl-C ends it. Arguments after -- go to JupyterLab.`,
		Args: func(command *cobra.Command, arguments []string) error {
			if dash := command.ArgsLenAtDash(); len(arguments) > 0 && dash != 0 {
				return usageError{fmt.Errorf("scorelab lab: argument %q: put what is meant for JupyterLab after --", arguments[0])}
			}
			if lab.Port < 0 || lab.Port > 65535 {
				return usageError{errors.New("scorelab lab: --port " + strconv.Itoa(lab.Port) + ": must be from 1 to 65535, or 0 for JupyterLab's choice")}
			}
			lab.Arguments = arguments
			return usage(command, lab.Check())
		},
		RunE: func(command *cobra.Command, _ []string) error {
			s, err := setup.Find(".", false)
			if err != nil {
				return err
			}
			if err := s.Ensure(command.Context()); err != nil {
				return err
			}
			lab.Setup, lab.Browser = s, !noBrowser
			return lab.Run(command.Context())
		},
	}
	command.Flags().BoolVar(&noBrowser, "no-browser", false, "print the address and open no browser")
	command.Flags().StringVar(&lab.IP, "ip", "127.0.0.1", "address to listen at; 0.0.0.0 lets in from other machines who knows the token")
	command.Flags().IntVar(&lab.Port, "port", 0, "port to listen on; 0: 8888 or the next free one")
	return command
}
