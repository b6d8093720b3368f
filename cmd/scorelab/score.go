package main

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/scorekit/lab/internal/experiment"
)

func scoreCommand() *cobra.Command {
	s := experiment.DefaultScoring()
	var model, out string
	var asJSON bool
	command := &cobra.Command{
		Use:   "score --model FOLDER --at FILE --out FILE",
		Short: "Give the score of a trained model at points",
		Long: `Evaluates the score of a trained model, the gradient of log p along each column, at the points of a file in the units of the data.
A model is trained on transformed data, z = f(x). Its score is brought back to x,

  gradient of log p(x) = Jᵀ s(f(x), sigma) + gradient of log|det J|,  J the Jacobian of f

so that it is per unit of each column; for standardised columns that is s divided by each one's standard deviation. The noise
of sigma is that of z, in whose units it is. Whole numbers are not dequantised.`,
		Args: noArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			switch {
			case model == "":
				return usage(command, errors.New("--model: must name the folder of a run"))
			case s.At == "":
				return usage(command, errors.New("--at: must name a file with points"))
			case out == "":
				return usage(command, errors.New("--out: must name a file that ends in .npy or .csv"))
			}
			if err := experiment.CheckOutput(out, ".npy", ".csv"); err != nil {
				return usage(command, err)
			}
			run, err := experiment.Open(model)
			if err != nil {
				return err
			}
			ctx := command.Context()
			scored, err := stoppable(ctx, always, func() (*experiment.Scored, error) { return run.Score(ctx, s) })
			if err != nil {
				return err
			}
			if err := scored.Save(out); err != nil {
				return err
			}
			result := scored.Result(model, out)
			if asJSON {
				return writeDocument(os.Stdout, result)
			}
			return say("scores of %d points in %s (noise level %v)\n", result.Points, out, result.Sigma)
		},
	}
	folderFlag(command, &model, "model", "folder of the run")
	addSettings(command, experiment.Fields(&s))
	_ = command.MarkFlagFilename("at")
	command.Flags().StringVar(&out, "out", "", "file for the scores, .csv or .npy")
	_ = command.MarkFlagFilename("out", "csv", "npy")
	command.Flags().BoolVar(&asJSON, "json", false, "write a JSON document to standard output")
	return command
}
