package main

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/scorekit/lab/internal/experiment"
	"github.com/scorekit/lab/scorekit"
)

// stoppedEarly says how to begin again, where a run that was stopped before its first step got as far as to its folder.
func stoppedEarly(err error, out string) error {
	if !errors.Is(err, errInterrupted) {
		return err
	}
	info, infoErr := experiment.ReadInfo(out, programName())
	if infoErr != nil || info.Resume == "" {
		return err
	}
	return interruptedError{"stopped before the first step; begin again with:\n  " + info.Resume}
}

func trainCommand() *cobra.Command {
	t := experiment.Training{Config: experiment.Default()}
	var file string
	var printConfig, asJSON bool
	command := &cobra.Command{
		Use:   "train --data FILE|NAME --out FOLDER",
		Short: "Train a score model on a file, a folder of images or a built-in set",
		Long: `Trains a network on data of your own and leaves everything about it in a folder: config.toml (all settings, also those chosen
from the data; it can be fed back with --config), summary.json (data, seed, versions, loss), loss.csv and loss.png,
checkpoints/, and samples/, drawn over time. Only --data and --out must be given.

Data: CSV, TSV, Parquet, NPY, NPZ, IDX (.gz), a folder of PNG or JPEG, or one of
  ` + joined(experiment.BuiltIn(), 110) + `
Objectives without noise, for one level of it, and for many:
  ` + joined(experiment.Objectives(), 110) + `
Networks for one noise level and, whose names begin with noise- and the convolutional ones, for many:
  ` + joined(experiment.Nets(), 110) + `
Without --net and --objective, tables and points get noise-mlp with multinoise, or with one --sigma mlp with denoising; images
get ` + experiment.ImageNet + ` with edm. All noise levels are in the units of the data after --transform.

A config file, TOML or YAML by its ending, has the names of the flags as keys; flags override it. Ctrl-C saves a checkpoint and
says how to go on; a second Ctrl-C ends at once. With --json, lines of JSON go to standard output: the progress, and the
summary as the last.`,
		Args: noArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			ctx := command.Context()
			t.Command = programName()
			asked := given(command, t.Config.Fields())
			switch {
			case t.Resume && t.Out == "":
				return usage(command, errors.New("--resume: --out must name the folder of the run"))
			case t.Resume && file != "":
				return usage(command, errors.New("--resume and --config: only one may be given: a run goes on with its own config"))
			case t.Resume:
				c, err := experiment.ReadConfig(t.Out)
				if err != nil {
					return usage(command, err)
				}
				t.Config = c
			case file != "":
				if err := t.Config.Read(file); err != nil {
					return usage(command, err)
				}
			}
			if err := override(command, asked); err != nil {
				return err
			}
			if err := t.Config.Validate(); err != nil {
				return usage(command, err)
			}
			if printConfig {
				c, err := stoppable(ctx, always, func() (experiment.Config, error) { return experiment.Prepare(ctx, t.Config) })
				if err != nil {
					return err
				}
				_, err = os.Stdout.Write(c.TOML())
				return err
			}
			if t.Out == "" {
				return usage(command, errors.New("--out: must name the folder for the run"))
			}
			report, first := reporter(asJSON), -1
			var trained atomic.Bool
			t.Progress = func(r scorekit.Report) {
				if first < 0 {
					first = r.Step // of a resumed run, not 0
				}
				trained.Store(r.Step > first)
				report(r)
			}
			untrained := func() bool { return !trained.Load() }
			t.Note = func(line string) { fmt.Fprintln(os.Stderr, line) }
			_, other := experiment.ReadConfig(t.Out)
			summary, err := stoppable(ctx, untrained, func() (*experiment.Summary, error) { return experiment.Train(ctx, t) })
			if summary == nil && (t.Resume || other != nil) { // what the folder says is of this run
				return stoppedEarly(err, t.Out)
			}
			if summary == nil {
				return err
			}
			if asJSON {
				err = errors.Join(err, writeLine(os.Stdout, struct {
					Event string `json:"event"`
					*experiment.Summary
				}{"summary", summary}))
			} else if err == nil {
				err = say("%s\n", summary)
			}
			if errors.Is(err, errInterrupted) {
				return interruptedError{summary.Interrupted()}
			}
			return err
		},
	}
	addSettings(command, t.Config.Fields())
	folderFlag(command, &t.Out, "out", "new folder for the run")
	command.Flags().BoolVar(&t.Resume, "resume", false, "go on with the run in --out, with its settings; --steps may be raised")
	command.Flags().StringVar(&file, "config", "", "config file, .toml, .yaml or .yml")
	_ = command.MarkFlagFilename("config", "toml", "yaml", "yml")
	command.Flags().BoolVar(&printConfig, "print-config", false, "print the settings, with those chosen from the data, as TOML, and do no more")
	command.Flags().BoolVar(&asJSON, "json", false, "write lines of JSON to standard output")
	return command
}
