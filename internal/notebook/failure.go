package notebook

import (
	"fmt"
	"regexp"
	"strings"
)

// Output is one output of a cell, in the notebook format: a stream of text or an error.
type Output struct {
	Type  string `json:"output_type"` // stream or error; other types are never looked at
	Name  string `json:"name"`        // of a stream: stdout or stderr
	Text  text   `json:"text"`        // of a stream
	Kind  string `json:"ename"`       // of an error
	Value string `json:"evalue"`      // of an error
	Trace []text `json:"traceback"`   // of an error, by lines or pieces
}

var (
	// exitLine is what GoNB prints to the standard error when a cell's program did not end well, and its only trace where GoNB is
	// used as it is published (see package gonb).
	exitLine = regexp.MustCompile(`(?m)^(exit status \d+|signal: .*)$`)
	// unknownCommand is what it prints for a % command that it does not know, before it goes on as if nothing were.
	unknownCommand = regexp.MustCompile(`unknown or not implemented`)
	// escape is a terminal's colour code.
	escape = regexp.MustCompile("\x1b\\[[0-9;]*[A-Za-z]")
)

// Failure returns what went wrong in a cell by its outputs: what a program that panicked or exited with a status has printed,
// the text of an error (the Go compiler's, mostly), or that of an unknown % command. It is "" for a cell that did not fail.
func Failure(outputs []Output) string {
	var complaint strings.Builder
	for _, out := range outputs {
		if out.Type == "stream" && out.Name == "stderr" {
			complaint.WriteString(string(out.Text))
		}
	}
	said := escape.ReplaceAllString(strings.ReplaceAll(complaint.String(), "\r\n", "\n"), "")
	// First, as the error that belongs to it has only the status.
	if exitLine.MatchString(said) {
		return strings.TrimSpace(said)
	}
	for _, out := range outputs {
		if out.Type == "error" {
			var parts []string
			for _, part := range out.Trace {
				parts = append(parts, strings.TrimRight(string(part), "\n"))
			}
			report := strings.TrimSpace(strings.Join(parts, "\n"))
			if report == "" {
				report = strings.TrimSpace(out.Kind + ": " + out.Value)
			}
			return escape.ReplaceAllString(report, "")
		}
	}
	if unknownCommand.MatchString(said) {
		return strings.TrimSpace(said)
	}
	return ""
}

// claims returns the checks that held among the texts that a cell displayed: those of package inline begin with a tick.
func claims(shown []string) []string {
	var held []string
	for _, text := range shown {
		if claim, ok := strings.CutPrefix(text, "✓ "); ok {
			held = append(held, claim)
		}
	}
	return held
}

// CellError is a cell that failed.
type CellError struct {
	Notebook string
	// Cell counts the code cells that are executed from 1 to Cells.
	Cell, Cells int
	// Source is the cell's text.
	Source string
	// Report is what went wrong, in the words of whoever noticed.
	Report string
}

// The longest excerpts that Error shows, in lines.
const sourceLines, reportLines = 12, 30

// Error names the cell, shows the beginning of its source and, last, the end of the report.
func (e *CellError) Error() string {
	return fmt.Sprintf("%s, code cell %d of %d failed:\n%s\n%s", e.Notebook, e.Cell, e.Cells,
		excerpt(e.Source, "    | ", sourceLines, false), excerpt(e.Report, "  ", reportLines, true))
}

// excerpt returns the first or last lines of a text behind a margin.
func excerpt(text, margin string, most int, last bool) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	switch more := len(lines) - most; {
	case more <= 0:
	case last:
		lines = append([]string{fmt.Sprintf("… (%d lines before)", more)}, lines[more:]...)
	default:
		lines = append(lines[:most:most], fmt.Sprintf("… (%d more lines)", more))
	}
	return margin + strings.Join(lines, "\n"+margin)
}
