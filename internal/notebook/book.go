package notebook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/scorekit/lab/internal/process"
	"github.com/scorekit/lab/internal/setup"
)

// Book makes HTML pages, which need no network, from notebooks as they are, with the outputs stored in them.
type Book struct {
	Setup setup.Setup
	// Folder gets the pages; it is made when missing.
	Folder string
	// Contents is a Markdown file that becomes the page with the contents, index.html. Links to notebooks in it, and from one
	// notebook to another, lead to their pages.
	Contents string
	// Title is that of the page with the contents.
	Title string
}

// bookJob is what book.py is asked to do.
type bookJob struct {
	Output    string      `json:"output"`
	Contents  string      `json:"contents"`
	Title     string      `json:"title"`
	Folder    string      `json:"folder"` // of the notebooks
	Notebooks []bookEntry `json:"notebooks"`
}

type bookEntry struct {
	Path  string `json:"path"`
	Name  string `json:"name"`
	Title string `json:"title"`
}

// Make makes the book and returns the page with the contents. The error is ctx's cause when ctx ended the work, and
// otherwise tells what could not be done.
func (b Book) Make(ctx context.Context, books []Notebook) (index string, err error) {
	if err := os.MkdirAll(b.Folder, 0o755); err != nil {
		return "", err
	}
	output, err := filepath.Abs(b.Folder)
	if err != nil {
		return "", err
	}
	contents, err := filepath.Abs(b.Contents)
	if err != nil {
		return "", err
	}
	job := bookJob{Output: output, Contents: contents, Title: b.Title, Folder: filepath.Dir(contents)}
	for _, book := range books {
		path, err := filepath.Abs(book.Path)
		if err != nil {
			return "", err
		}
		job.Notebooks = append(job.Notebooks, bookEntry{path, book.Name, book.Title()})
	}
	asked, err := json.Marshal(job)
	if err != nil {
		return "", err
	}
	folder, err := os.MkdirTemp("", "scorelab-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	if err := os.CopyFS(folder, programs); err != nil {
		return "", err
	}
	command := process.Command(ctx, setup.VenvProgram(b.Setup.Home, "python"), filepath.Join(folder, "book.py"))
	command.Env = append(b.Setup.JupyterEnviron(), "PYTHONUTF8=1", "PYTHONDONTWRITEBYTECODE=1")
	var done, log bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = bytes.NewReader(append(asked, '\n')), &done, &log
	if err := process.Run(ctx, command); ctx.Err() != nil {
		return "", context.Cause(ctx)
	} else if err != nil {
		return "", fmt.Errorf("making the book did not work after %d of %d pages: %w: %s\n  what to do: scorelab doctor",
			bytes.Count(done.Bytes(), []byte("\n")), len(books)+1, err, lastLines(log.String(), 8))
	}
	return filepath.Join(b.Folder, "index.html"), nil
}
