package notebook

import (
	"bufio"
	"bytes"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/scorekit/lab/internal/kernel"
	"github.com/scorekit/lab/internal/kernel/gonb"
	"github.com/scorekit/lab/internal/process"
	"github.com/scorekit/lab/internal/setup"
)

// The Python half. What executes and what makes the book share page.py.
//
//go:embed execute.py page.py book.py
var programs embed.FS

// Runner executes notebooks with a set-up that is done.
type Runner struct {
	Setup setup.Setup
	// Folder gets the executed notebooks and their pages; it is made when missing.
	Folder string
	// Timeout is the most that one cell may take, in whole seconds.
	Timeout time.Duration
	// HTML asks for the pages.
	HTML bool
	// Out is told of every cell as it ends, one line each.
	Out io.Writer
}

// All executes the notebooks one after the other, a failed one too far as it goes, and brings the results and the index of the
// output folder up to date after each. The error joins what went wrong in each, as [*CellError] where a cell failed; it
// is ctx's cause alone when ctx ended the work.
func (r Runner) All(ctx context.Context, books []Notebook) error {
	var failures []error
	begin, checked := time.Now(), 0
	for _, book := range books {
		result, err := r.Run(ctx, book)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			failures = append(failures, err)
		}
		checked += len(result.Claims)
	}
	fmt.Fprintf(r.Out, "%d of %d notebooks without a failure, %s in %s\n", len(books)-len(failures), len(books), held(checked), took(time.Since(begin).Seconds()))
	return errors.Join(failures...)
}

// Run executes one notebook, stopping at the first cell that fails, and records the result in the output folder. The error
// is a [*CellError] when a cell failed, ctx's cause when ctx ended the work, and otherwise tells what could not be done.
func (r Runner) Run(ctx context.Context, book Notebook) (Result, error) {
	if err := os.MkdirAll(r.Folder, 0o755); err != nil {
		return Result{}, err
	}
	begin := time.Now()
	result := Result{Name: book.Name, Title: book.Title(), Page: r.HTML}
	err := r.execute(ctx, book, &result)
	if ctx.Err() != nil {
		return result, context.Cause(ctx)
	}
	result.Seconds, result.Finished = time.Since(begin).Seconds(), time.Now()
	verdict := "ok"
	if err != nil {
		result.Failed, verdict = err.Error(), "FAILED"
	}
	fmt.Fprintf(r.Out, "%s  %s in %.1f s, %s\n", book.Name, verdict, result.Seconds, held(len(result.Claims)))
	return result, errors.Join(err, record(r.Folder, filepath.Dir(book.Path), result))
}

// job is what execute.py is asked to do.
type job struct {
	Notebook string `json:"notebook"`
	Title    string `json:"title"`
	Output   string `json:"output"` // without the extension
	Folder   string `json:"folder"` // working folder of the kernel
	Kernel   string `json:"kernel"`
	Timeout  int    `json:"timeout"` // seconds
	HTML     bool   `json:"html"`
}

// event is what execute.py tells.
type event struct {
	Event   string   `json:"event"` // kernel, start, cell, written or unwritable
	Cells   int      `json:"cells"`
	Cell    int      `json:"cell"`
	Seconds float64  `json:"seconds"`
	Source  string   `json:"source"`
	Outputs []Output `json:"outputs"`
	Shown   []string `json:"shown"` // what the cell displayed as Markdown
	Error   string   `json:"error"` // what nbclient itself noticed, or why what was executed cannot be written
}

func (r Runner) execute(ctx context.Context, book Notebook, result *Result) (err error) {
	fmt.Fprintf(r.Out, "%s  starting\n", book.Name)
	scratch, err := newScratch(filepath.Dir(book.Path))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, scratch.remove()) }()
	if err := os.CopyFS(scratch.root, programs); err != nil {
		return err
	}
	output, err := filepath.Abs(filepath.Join(r.Folder, book.Name))
	if err != nil {
		return err
	}
	path, err := filepath.Abs(book.Path)
	if err != nil {
		return err
	}

	command := process.Command(ctx, setup.VenvProgram(r.Setup.Home, "python"), filepath.Join(scratch.root, "execute.py"))
	command.Env = append(r.Setup.JupyterEnviron(), kernel.RootVar+"="+r.Setup.Checkout,
		"TMPDIR="+scratch.temp, "TMP="+scratch.temp, "TEMP="+scratch.temp, "PYTHONUTF8=1",
		// The file by which kernel and client find one another would outlive a kernel that is stopped while it starts.
		"JUPYTER_RUNTIME_DIR="+scratch.temp,
		gonb.NoGoplsVar+"=1")
	// Standard error has the kernel's log: of interest only when the program itself fails.
	var log bytes.Buffer
	command.Stderr = &log
	// Pipes of the system, so that nothing here has to read or write for the program to be able to end.
	events, told, err := os.Pipe()
	if err != nil {
		return err
	}
	defer events.Close()
	answers, answer, err := os.Pipe()
	if err != nil {
		return errors.Join(err, told.Close())
	}
	defer answers.Close()
	command.Stdout, command.Stdin = told, answers

	ended := make(chan error, 1)
	go func() {
		err := process.Run(ctx, command)
		told.Close() // so that follow comes to an end
		ended <- err
	}()
	talkErr := json.NewEncoder(answer).Encode(job{path, result.Title, output, scratch.work, setup.KernelName, int(r.Timeout.Seconds()), r.HTML})
	written := false
	if talkErr == nil {
		written, talkErr = r.follow(book, events, answer, result)
	}
	answer.Close()
	endErr := <-ended
	var failed *CellError
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(talkErr, errUnwritable):
		return talkErr
	case endErr == nil && written, errors.As(talkErr, &failed) && endErr == nil:
		return talkErr
	}
	return errors.Join(talkErr, fmt.Errorf("%s: executing it did not work: %w: %s\n  what to do: scorelab doctor",
		book.Name, errors.Join(endErr), lastLines(log.String(), 8)))
}

var errUnwritable = errors.New("what was executed cannot be written")

// follow reads the events to their end, prints a line for each cell, and answers whether to go on. The error is that of the
// first cell that failed.
func (r Runner) follow(book Notebook, events io.Reader, answer io.Writer, result *Result) (written bool, failed error) {
	lines := bufio.NewReader(events)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return written, failed
		}
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			return written, fmt.Errorf("%s: execute.py said %q: %w", book.Name, line, err)
		}
		switch e.Event {
		case "kernel":
			result.Cells = e.Cells
		case "written":
			written = true
		case "unwritable":
			return false, errors.Join(failed, fmt.Errorf("%s: %w: %s", book.Name, errUnwritable, e.Error))
		case "cell":
			report := Failure(e.Outputs)
			if report == "" {
				report = e.Error
			}
			verdict, reply := "ok", "go on"
			if report != "" {
				verdict, reply = "FAILED", "stop"
				failed = &CellError{book.Name, e.Cell, result.Cells, e.Source, report}
			} else {
				result.Passed = e.Cell
				result.Claims = append(result.Claims, claims(e.Shown)...)
			}
			fmt.Fprintf(r.Out, "%s  %d/%d  %.1f s  %s\n", book.Name, e.Cell, result.Cells, e.Seconds, verdict)
			if _, err := fmt.Fprintln(answer, reply); err != nil {
				return written, failed
			}
		}
	}
}

// held says how many claims held.
func held(claims int) string {
	if claims == 1 {
		return "1 claim checked"
	}
	return fmt.Sprintf("%d claims checked", claims)
}

func lastLines(text string, most int) string {
	return strings.TrimSpace(excerpt(strings.TrimSpace(text), "  ", most, true))
}
