package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/scorekit/lab/internal/atomicfile"
	"github.com/scorekit/lab/internal/benchmark"
)

func curvesCommand() *cobra.Command {
	request := benchRequest{Suite: benchmark.Suite{Out: os.Stdout}}
	command := &cobra.Command{
		Use:   "curves [CURVE …]",
		Short: "Measure how the time of a step grows: with the dimension, the batch, the chains, the centres",
		Long: `Measures the curves that are named, or all: ` + joined(benchmark.CurveNames(), 90) + `.
bench/README.md says what they are. Exponents are fitted to the upper half of each curve and stand beside those of theory.
The tables go to OUT/curves.md, a picture of each family to OUT/curves-FAMILY.png and all numbers to OUT/curves.json.
Of the other libraries JAX and PyTorch take part. What was measured before a stop is written, too.`,
		ValidArgs: benchmark.CurveNames(),
		RunE: func(command *cobra.Command, arguments []string) error {
			curves, err := benchmark.ChooseCurves(arguments)
			if err != nil {
				return usage(command, err)
			}
			if err := request.complete(command); err != nil {
				return err
			}
			report, err := request.RunCurves(command.Context(), curves)
			if report == nil {
				return err
			}
			return errors.Join(err, writeCurves(request.out, report))
		},
	}
	request.flags(command, 3, 0.4)
	return command
}

func writeCurves(out string, report *benchmark.CurveReport) error {
	numbers, err := report.JSON()
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{"curves.json": numbers, "curves.md": []byte(report.Markdown())} {
		if err := atomicfile.Write(filepath.Join(out, name), content, 0o644); err != nil {
			return err
		}
	}
	fmt.Printf("\n%s\nTables and numbers: %s\n", report.Markdown(), filepath.Join(out, "curves.md"))
	figures, err := report.Figures()
	if err != nil {
		return err
	}
	for family, figure := range figures {
		if err := figure.Save(filepath.Join(out, "curves-"+family+".png")); err != nil {
			return err
		}
	}
	return nil
}
