package main

import (
	"errors"
	"os"

	"github.com/spf13/cobra"

	"github.com/scorekit/lab/internal/experiment"
)

func sampleCommand() *cobra.Command {
	s := experiment.DefaultSampling()
	var model, out string
	var asJSON bool
	command := &cobra.Command{
		Use:   "sample --model FOLDER -n N --out FILE",
		Short: "Draw samples of a trained model, in the units of its data",
		Long: `Draws samples of a model that train has trained. They are written in the units of the data: the transform is undone, whole numbers
are whole again. The file's ending says how: .csv, .npy (images: [n, height, width, channels]), .png (images side by side,
or points of the plane).

Samplers for one noise level, and for models of many levels:
  ` + joined(experiment.Samplers(), 110) + `
Without --sampler it is langevin for a model of one level and heun, the probability flow, for one of many. The others of many
levels: euler, the dpmpp and dormand-prince follow that flow, too; reverse-sde, predictor-corrector, churn, annealed and ddpm
draw fresh noise on the way; ddim does as --eta says.`,
		Args: noArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			switch {
			case model == "":
				return usage(command, errors.New("--model: must name the folder of a run"))
			case out == "":
				return usage(command, errors.New("--out: must name a file that ends in .npy, .csv or .png"))
			}
			if err := experiment.CheckOutput(out, experiment.Outputs...); err != nil {
				return usage(command, err)
			}
			run, err := experiment.Open(model)
			if err != nil {
				return err
			}
			ctx := command.Context()
			drawn, err := stoppable(ctx, always, func() (*experiment.Drawn, error) { return run.Sample(ctx, s, reporter(false)) })
			if err != nil {
				return err
			}
			if err := drawn.Save(out); err != nil {
				return err
			}
			if asJSON {
				return writeDocument(os.Stdout, drawn.Result(model, out))
			}
			return say("%d samples in %s (%s, %d steps, %.3gs)\n", s.N, out, drawn.Sampler, drawn.Steps, drawn.Seconds)
		},
	}
	folderFlag(command, &model, "model", "folder of the run")
	command.Flags().StringVar(&out, "out", "", "file for the samples, .csv, .npy or .png")
	_ = command.MarkFlagFilename("out", "csv", "npy", "png")
	addSettings(command, experiment.Fields(&s))
	command.Flags().BoolVar(&asJSON, "json", false, "write a JSON document to standard output")
	return command
}
