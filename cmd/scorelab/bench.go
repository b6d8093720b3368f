package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scorekit/lab/internal/atomicfile"
	"github.com/scorekit/lab/internal/benchmark"
)

func benchCommand() *cobra.Command {
	request := benchRequest{Suite: benchmark.Suite{Out: os.Stdout}}
	command := &cobra.Command{
		Use:   "bench [TASK …]",
		Short: "Measure how fast this trains and samples, beside other libraries",
		Long: `Measures the tasks that are named, or all: ` + joined(benchmark.Names(), 90) + `.
bench/README.md says what they are. Every program works in a process of its own; they take turns, and ratios are of one turn.
The tables go to OUT/bench.md, a picture to OUT/bench.png and all numbers to OUT/bench.json.

With --peers the same work is done by other libraries: those that a Python named by --python (or python3) has. With
--peers=NAME,… (` + strings.Join(benchmark.PeerNames(), ", ") + `) a missing one is an error. bench/peers/requirements.txt installs them all.

The verb curves measures how the time of a step grows with the dimension, the batch and the like.`,
		ValidArgs: benchmark.Names(),
		RunE: func(command *cobra.Command, arguments []string) error {
			var err error
			if request.Tasks, err = benchmark.Choose(arguments); err != nil {
				return usage(command, err)
			}
			if err := request.complete(command); err != nil {
				return err
			}
			report, err := request.Run(command.Context())
			if report == nil {
				return err
			}
			return errors.Join(err, writeReport(request.out, report))
		},
	}
	request.flags(command, 7, 2)
	command.Flags().BoolVar(&request.Judge, "judge", true, "train for a fixed number of steps, too, and judge the result")
	command.AddCommand(curvesCommand())
	return command
}

// benchRequest is what the command line of a benchmark asks for.
type benchRequest struct {
	benchmark.Suite
	peers []string
	out   string
}

// flags adds the flags that all benchmarks have, with so many turns of so many seconds.
func (r *benchRequest) flags(command *cobra.Command, turns int, seconds float64) {
	flags := command.Flags()
	flags.StringSliceVar(&r.peers, "peers", nil, "measure other libraries, too: all there are, or those named")
	flags.Lookup("peers").NoOptDefVal = "all"
	flags.StringArrayVar(&r.Pythons, "python", nil, "a Python that has some of the other libraries; may be given several times")
	flags.Float64Var(&r.Seconds, "seconds", seconds, "length of a turn")
	flags.IntVar(&r.Turns, "turns", turns, "number of turns")
	flags.StringVar(&r.out, "out", filepath.Join("build", "bench"), "output folder")
	_ = command.MarkFlagDirname("out")
	flags.SortFlags = false
}

// complete checks the flags after they are read.
func (r *benchRequest) complete(command *cobra.Command) (err error) {
	r.Peers = command.Flags().Changed("peers")
	if len(r.peers) != 1 || r.peers[0] != "all" {
		r.Named = r.peers
	}
	if err := r.Validate(); err != nil {
		return usage(command, err)
	}
	r.Folder, err = filepath.Abs(filepath.Join(r.out, "work"))
	return err
}

func writeReport(out string, report *benchmark.Report) error {
	text, err := json.MarshalIndent(report, "", "  ")
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{"bench.json": text, "bench.md": []byte(report.Markdown())} {
		if err := atomicfile.Write(filepath.Join(out, name), content, 0o644); err != nil {
			return err
		}
	}
	fmt.Printf("\n%s\nTables and numbers: %s\n", report.Markdown(), filepath.Join(out, "bench.md"))
	if !report.Compares() {
		return nil
	}
	figure, err := report.Figure()
	if err != nil {
		return err
	}
	return figure.Save(filepath.Join(out, "bench.png"))
}

// benchworkCommand does one task as one of the programs that take turns: see internal/benchmark.
func benchworkCommand() *cobra.Command {
	var request benchmark.Request
	var cold, serve bool
	command := &cobra.Command{
		Use:    benchmark.WorkVerb,
		Hidden: true,
		Args:   noArguments,
		RunE: func(command *cobra.Command, _ []string) error {
			switch {
			case cold:
				request.How = benchmark.Cold
			case serve:
				request.How = benchmark.Serve
			default:
				request.How = benchmark.Judge
			}
			return benchmark.Do(command.Context(), request, os.Stdin, os.Stdout)
		},
	}
	flags := command.Flags()
	flags.StringVar(&request.Task, "task", "", "")
	flags.StringVar(&request.Folder, "folder", ".", "")
	flags.IntVar(&request.Steps, "steps", 0, "")
	flags.Int64Var(&request.Seed, "seed", 0, "")
	flags.BoolVar(&cold, "cold", false, "")
	flags.BoolVar(&serve, "serve", false, "")
	return command
}
