package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/scorekit/lab/internal/doctor"
	"github.com/scorekit/lab/internal/setup"
)

func doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Say what works and what does not, and what to do about it",
		Args:  noArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			s, err := setup.Find(".", false)
			if err != nil {
				return err
			}
			failed := 0
			for finding := range doctor.Examine(command.Context(), s) {
				if finding.Verdict == doctor.Failed {
					failed++
				}
				fmt.Fprintln(os.Stdout, finding)
			}
			if command.Context().Err() != nil {
				return errInterrupted
			}
			if failed > 0 {
				return errors.New("something that is needed does not work: see the lines above")
			}
			return nil
		},
	}
}
