// Package gonb makes the source that the Go kernel is built from: GoNB as it is published, in the version of go.mod, with a few
// corrections. Without them a reader who makes a mistake gets lost:
//
//   - an error in a function that a cell declares has no line of the cell, or a wrong one;
//   - a trace of a panic often shows a temporary file in place of the cell's line, depending on how fast it is written;
//   - a cell whose program panics or exits with a status counts as a success, and "Run All Cells" goes on after it;
//   - after a restart of the kernel the program of the last cell may still be at work;
//   - completion of names gives up before gopls has answered for the first time.
//
// Each correction replaces a text that must be there exactly once, so that one that no longer fits a newer GoNB stops
// the set-up rather than being lost. What is more than a line long is in files of the folder added, which become part of GoNB's
// packages.
package gonb

import (
	"crypto/sha256"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Module is GoNB's module path.
const Module = "github.com/janpfeifer/gonb"

// NoGoplsVar names the environment variable that keeps the kernel, when it is not empty, from starting gopls.
const NoGoplsVar = "SCORELAB_NO_GOPLS"

//go:embed added
var added embed.FS

// correction replaces a text in a file of GoNB.
type correction struct {
	file     string
	old, new string
	why      string
}

var corrections = []correction{
	{
		"internal/goexec/composer.go",
		"tmpCursor, fileToCellIdAndLine := funcDecl.Comments.Render(w, fileToCellIdAndLine)",
		"tmpCursor, withComments := funcDecl.Comments.Render(w, fileToCellIdAndLine); fileToCellIdAndLine = withComments",
		"the lines of functions got lost in a variable of the loop's own",
	},
	{
		"internal/goexec/execcode.go",
		"cellId, cellLineNum := w.fileToCellIdAndLine[lineNum].Id, w.fileToCellIdAndLine[lineNum].Line",
		"cellId, cellLineNum := w.fileToCellIdAndLine[lineNum].Id, w.fileToCellIdAndLine[lineNum].Line\n" +
			"\t\tif cellLineNum == NoCursorLine {\n\t\t\treturn []byte(\"main.go:\" + lineNumStr)\n\t\t}",
		"a line that is in no cell was shown as line 0 of one",
	},
	{
		"internal/goexec/execcode.go",
		"res := bytes.Join([][]byte{cellText, match}, nil)",
		"res := bytes.TrimSpace(cellText)",
		"the temporary file says nothing to a reader who has the cell's line",
	},
	{
		"internal/goexec/execcode.go",
		`stderrWithAnnotator := newJupyterStackTraceMapperWriter(msg, "stderr", s.CodePath(), fileToCellIdAndLine)`,
		`stderrWithAnnotator := wholePlaces(newJupyterStackTraceMapperWriter(msg, "stderr", s.CodePath(), fileToCellIdAndLine))`,
		"a place that arrived in two pieces was not recognised",
	},
	{
		"internal/jpyexec/jpyexec.go",
		"_, err := io.Copy(exec.stderrWriter, exec.cmdStderr)",
		"_, err := io.Copy(exec.stderrWriter, exec.cmdStderr)\n\t\tflush(exec.stderrWriter)",
		"what was held back to be whole is shown when the program has ended",
	},
	{
		"internal/goexec/gonberror.go",
		`lines := strings.Split(errorMsg, "\n")`,
		`lines := strings.Split(withoutPackage(errorMsg), "\n")`,
		"the name of the temporary package says nothing",
	},
	{
		"internal/goexec/gonberror.go",
		"partRaw += l.getColLine()",
		"partRaw += caretUnder(codeLines[ii], l.getCol())",
		"the mark under the error did not count tabs",
	},
	{
		"internal/goexec/execcode.go",
		"CaptureDisplayDataOutput(s.CaptureFile).\n\t\tExec()",
		"CaptureDisplayDataOutput(s.CaptureFile).\n\t\tExecCell()",
		"a program that fails is a cell that fails",
	},
	{
		"internal/dispatcher/dispatcher.go",
		"err := handleBusyMessage(params.msg, params.goExec)",
		"err := handleUnlessAborted(params.msg, params.goExec)",
		"after a cell that failed, those that wait are not executed: Jupyter's protocol asks for that",
	},
	{
		"internal/dispatcher/dispatcher.go",
		"name, value, traceback := goexec.JupyterErrorSplit(executionErr)",
		"name, value, traceback := goexec.JupyterErrorSplit(executionErr)\n\t\tabortWaiting(content)",
		"the same",
	},
	{
		"internal/dispatcher/dispatcher.go",
		"msg.Kernel().CallInterruptSubscribers() // Interrupt current runs.",
		"endCell(msg.Kernel())",
		"after a restart the old cell's program was still at work, and could stay so",
	},
	{
		"internal/kernel/messages.go",
		"Version:       runtime.Version(),",
		"Version:       goversion.Lang(runtime.Version()),\n\t\t\t\tPygmentsLexer: \"go\",",
		"JupyterLab stores this in notebooks, where a new patch of Go is no news, and pages are coloured by it",
	},
	{
		"internal/kernel/messages.go",
		"\t\"runtime\"\n",
		"\tgoversion \"go/version\"\n\t\"runtime\"\n",
		"the same",
	},
	{
		"internal/goexec/goexec.go",
		`if _, err = exec.LookPath("gopls"); err == nil {`,
		`if _, err = exec.LookPath("gopls"); err == nil && os.Getenv("` + NoGoplsVar + `") == "" {`,
		"gopls outlives a kernel that is killed, and where nobody types it is of no use",
	},
	{
		"internal/goexec/goplsclient/conn.go",
		"CommunicationTimeout = 2000 * time.Millisecond",
		"CommunicationTimeout = 15 * time.Second",
		"on a busy machine gopls needs longer for the first answer of a session",
	},
	{
		"internal/goexec/goplsclient/goplsclient.go",
		"matches = append(matches, edit.NewText)",
		"matches = appendNew(matches, edit.NewText)",
		"names were offered twice",
	},
}

// parts are what the program is built from; examples and documentation, most of the module, are left behind.
var parts = []string{"cache", "common", "gonbui", "internal", "version", "go.mod", "main.go", "version.go", "version.txt", "LICENSE"}

// Hash returns a text that changes with the corrections.
func Hash() string {
	hash := sha256.New()
	fmt.Fprintf(hash, "%q\n", corrections)
	// Of an embedded folder neither can fail.
	_ = fs.WalkDir(added, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := added.ReadFile(name)
		fmt.Fprintf(hash, "%s %d\n%s", name, len(text), text)
		return err
	})
	return fmt.Sprintf("corrections sha256:%x", hash.Sum(nil))
}

// Correct copies GoNB's source from a folder such as Go's module cache into a folder that does not exist yet, and corrects
// the copy. The error names the correction that does not fit.
func Correct(source, target string) error {
	if err := os.MkdirAll(target, 0o755); err != nil {
		return err
	}
	for _, part := range parts {
		if err := copyPart(filepath.Join(source, part), filepath.Join(target, part)); err != nil {
			return err
		}
	}
	for _, c := range corrections {
		file := filepath.Join(target, filepath.FromSlash(c.file))
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if n := strings.Count(string(text), c.old); n != 1 {
			return fmt.Errorf("GoNB's %s: the correction %q does not fit this version: %q is there %d times", c.file, c.why, c.old, n)
		}
		if err := os.WriteFile(file, []byte(strings.Replace(string(text), c.old, c.new, 1)), 0o644); err != nil {
			return err
		}
	}
	return fs.WalkDir(added, "added", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := added.ReadFile(name)
		if err != nil {
			return err
		}
		// added/goexec.go.txt is for the package in internal/goexec.
		room := strings.TrimSuffix(strings.TrimPrefix(name, "added/"), ".go.txt")
		return os.WriteFile(filepath.Join(target, "internal", filepath.FromSlash(room), "scorelab.go"), text, 0o644)
	})
}

// copyPart copies a file or a folder without its tests. What it writes can be written again: the module cache is read-only.
func copyPart(from, to string) error {
	return filepath.WalkDir(from, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(from, file)
		if err != nil {
			return err
		}
		target := filepath.Join(to, relative)
		switch {
		case entry.IsDir():
			return os.MkdirAll(target, 0o755)
		case strings.HasSuffix(file, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		return os.WriteFile(target, text, 0o644)
	})
}
