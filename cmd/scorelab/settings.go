package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/scorekit/lab/internal/experiment"
	"github.com/scorekit/lab/scorekit"
)

// addSettings makes a flag of each setting. What is a name out of a list is completed by the shell.
func addSettings(command *cobra.Command, fields []*experiment.Field) {
	for _, f := range fields {
		short := ""
		if f.Key == "n" {
			short = "n"
		}
		flag := command.Flags().VarPF(f, f.Key, short, f.Usage)
		if f.Type() == "bool" {
			flag.NoOptDefVal = "true"
		}
		if names := experiment.Names(f.Key); names != nil {
			// Only a flag that does not exist can fail here.
			_ = command.RegisterFlagCompletionFunc(f.Key, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
				directive := cobra.ShellCompDirectiveNoFileComp
				if f.Key == "data" { // or a file
					directive = cobra.ShellCompDirectiveDefault
				}
				return names, directive
			})
		}
	}
	command.Flags().SortFlags = false
}

// override sets again the settings whose flags were given: a config file has been read over them.
func override(command *cobra.Command, given map[string]string) error {
	for key, text := range given {
		if err := command.Flags().Lookup(key).Value.Set(text); err != nil {
			return usageError{fmt.Errorf("%s: --%s %w", command.CommandPath(), key, err)}
		}
	}
	return nil
}

// given returns the settings whose flags were given, as text.
func given(command *cobra.Command, fields []*experiment.Field) map[string]string {
	texts := map[string]string{}
	for _, f := range fields {
		if command.Flags().Changed(f.Key) {
			texts[f.Key] = f.String()
		}
	}
	return texts
}

// usage makes an error a mistake in the command line.
func usage(command *cobra.Command, err error) error {
	if err == nil {
		return nil
	}
	return usageError{fmt.Errorf("%s: %w", command.CommandPath(), err)}
}

// folderFlag adds a flag that names a folder.
func folderFlag(command *cobra.Command, into *string, name, text string) {
	command.Flags().StringVar(into, name, "", text)
	_ = command.MarkFlagDirname(name)
}

// reporter tells a person how far a run is, on standard error: by a bar on a terminal and by lines in a pipe. With json it
// writes lines of JSON on standard output instead.
func reporter(asJSON bool) func(scorekit.Report) {
	switch {
	case asJSON:
		// A reader that has gone away does not stop the work.
		return func(r scorekit.Report) { _ = writeLine(os.Stdout, progressLine(r)) }
	case isTerminal(os.Stderr):
		return scorekit.TerminalProgress(os.Stderr)
	}
	return plainLines(os.Stderr, 5*time.Second)
}

// plainLines writes a report at most every so often, and the last one.
func plainLines(w io.Writer, every time.Duration) func(scorekit.Report) {
	last := time.Now()
	return func(r scorekit.Report) {
		if now := time.Now(); r.Done || now.Sub(last) >= every {
			last = now
			fmt.Fprintln(w, r)
		}
	}
}

// progress is a line of JSON that tells how far a run is.
type progress struct {
	Event   string   `json:"event"` // progress
	Verb    string   `json:"verb"`
	Unit    string   `json:"unit,omitempty"`
	Step    int      `json:"step"`
	Total   int      `json:"total"`
	Seconds float64  `json:"seconds"`
	Rate    float64  `json:"rate"` // a second
	Loss    *float64 `json:"loss,omitempty"`
	Done    bool     `json:"done"`
}

func progressLine(r scorekit.Report) progress {
	p := progress{Event: "progress", Verb: r.Verb, Unit: r.Unit, Step: r.Step, Total: r.Total, Seconds: r.Elapsed.Seconds(), Rate: r.Rate, Done: r.Done}
	if r.Loss == r.Loss { // JSON has no NaN
		p.Loss = &r.Loss
	}
	return p
}

// writeLine writes a value as one line of JSON.
func writeLine(w io.Writer, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", text)
	return err
}

// say writes a result to standard output. One that does not get there, as on a full disk, is no success.
func say(format string, arguments ...any) error {
	_, err := fmt.Printf(format, arguments...)
	return err
}

// writeDocument writes a value as an indented JSON document.
func writeDocument(w io.Writer, v any) error {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s\n", text)
	return err
}

// isTerminal says whether a person reads what is written to a file.
func isTerminal(file *os.File) bool {
	info, err := file.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && !slices.Contains([]string{"", "dumb"}, os.Getenv("TERM"))
}

// programName is what the user calls the command, for messages that tell what to do next.
func programName() string {
	name := os.Args[0]
	if strings.Contains(name, "go-build") { // go run
		return "go run ./cmd/scorelab"
	}
	return name
}

// joined lists names in lines of at most so many letters, indented by two.
func joined(names []string, width int) string {
	var out strings.Builder
	line := 0
	for i, name := range names {
		if i < len(names)-1 {
			name += ","
		}
		if line > 0 && line+1+len(name) > width {
			out.WriteString("\n  ")
			line = 0
		} else if line > 0 {
			out.WriteString(" ")
		}
		out.WriteString(name)
		line += 1 + len(name)
	}
	return out.String()
}

// interruptedError is a stop by the user that says what to do next.
type interruptedError struct{ text string }

func (e interruptedError) Error() string { return e.text }
func (interruptedError) Unwrap() error   { return errInterrupted }
