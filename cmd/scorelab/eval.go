package main

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/scorekit/lab/internal/experiment"
)

func evalCommand() *cobra.Command {
	e := experiment.DefaultEvaluating()
	var model string
	var asJSON bool
	command := &cobra.Command{
		Use:   "eval --model FOLDER",
		Short: "Compare a trained model with data that it has not seen",
		Long: `Compares a model with the rows that its run held out, or with other data:

  loss           of its own objective, on held-out and training rows
  likelihood     by the probability flow, for a model of many noise levels: log p of an example in nats, in the units of the data,
                 and bits per dimension; for dequantised images a bound on those of the whole numbers
  mmd            maximum mean discrepancy of samples and data, and the p-value of the test that there is none
  energy         energy distance of samples and data
  sliced W2      sliced Wasserstein-2 distance of samples and data
  means          the largest difference of the means of a column, in its standard errors
  ksd            kernel Stein discrepancy of the data from the model's score at its lowest noise level, and the p-value, for up
                 to 64 columns
  recognised     for a conditional model: share of samples, drawn of all classes in equal numbers with --guidance, that a small
                 classifier takes for their class, and the same share of real examples, which says how good it is. It learns
                 from four fifths of the training rows and is judged by the others. Its table is in --json

Each number comes with its standard error and how many examples it is of. Losses, mmd, energy, sliced W2 and ksd are in the units
of the transformed data.

The p-value of mmd and the errors of means take each sample for a draw of the truth. What the training rows leave unknown of it is
in all samples alike, so that enough of them tell any model from the data. Therefore they use no more samples than
there are examples to compare with; the distances, which come without a p-value, use all. That of ksd is of the score itself,
and a model of few rows will often fail it.

The likelihood is that under the law of the lowest noise level of the training, which is wider than the truth: where pixels are
all of one grey, noise of two thirds of a level costs 0.7 bits of each. For images it is of 64 of them, by a solver of coarse
tolerance, as the text says; --likelihood and --tolerance change that.`,
		Args: noArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			if model == "" {
				return usage(command, errors.New("--model: must name the folder of a run"))
			}
			run, err := experiment.Open(model)
			if err != nil {
				return err
			}
			note := func(text string) {
				if isTerminal(os.Stderr) {
					fmt.Fprintln(os.Stderr, text, "…")
				}
			}
			ctx := command.Context()
			result, err := stoppable(ctx, always, func() (*experiment.Evaluation, error) { return run.Evaluate(ctx, e, note, reporter(false)) })
			if err != nil {
				return err
			}
			if asJSON {
				return writeDocument(os.Stdout, result)
			}
			return say("%s", result)
		},
	}
	folderFlag(command, &model, "model", "folder of the run")
	addSettings(command, experiment.Fields(&e))
	command.Flags().BoolVar(&asJSON, "json", false, "write a JSON document to standard output")
	return command
}
