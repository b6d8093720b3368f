package main

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// FuzzCommandLine takes command lines apart, one argument a line, as far as that can be done without doing what they ask: an
// error, or flags whose values come back from their own text. Never a panic.
func FuzzCommandLine(f *testing.F) {
	for _, line := range []string{
		"train --data wine --out x", "train --data= --sigma 0.1:2 --hidden 1,2,,3", "sample --model m -n 5 --out a.csv", "sample -n -5", "eval --model", "score --at 1,2;3 --model=m",
		"info x y", "run 00 12", "lab --port 99999999999999999999", "setup --gpu=maybe", "book --out", "clean --yes", "doctor --json", "version", "completion bash", "help train", "-h",
		"--", "-- train", "train --steps 0x10", "train --steps=1e3", "train --class-dropout nan", "train --seed -9223372036854775808", "tarin", "train -n", "", "train --hidden=[1,2]",
		"__complete train --net ", "bench dsm2d --turns -1", "train --columns \"a,b\"", "train --learning-rate 1e999",
	} {
		f.Add(strings.ReplaceAll(line, " ", "\n"))
	}
	f.Fuzz(func(t *testing.T, line string) {
		command, rest, err := rootCommand().Find(strings.Split(line, "\n"))
		if err != nil || command.ParseFlags(rest) != nil {
			return
		}
		_ = command.ValidateArgs(command.Flags().Args())
		command.Flags().Visit(func(flag *pflag.Flag) {
			text := flag.Value.String()
			if strings.Contains(flag.Value.Type(), "lice") || strings.Contains(flag.Value.Type(), "rray") {
				return // these print brackets that they do not read
			}
			if err := flag.Value.Set(text); err != nil {
				t.Fatalf("--%s: its own text %q: %v", flag.Name, text, err)
			}
			if again := flag.Value.String(); again != text {
				t.Fatalf("--%s: %q became %q", flag.Name, text, again)
			}
		})
	})
}
