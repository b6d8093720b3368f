package notebook_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scorekit/lab/internal/notebook"
	"github.com/scorekit/lab/internal/setuptest"
)

// TestRunFindsFailures executes the notebooks of testdata with the real kernel.
func TestRunFindsFailures(t *testing.T) {
	s, ok := setuptest.Jupyter(t, "executing the test notebooks with the Go kernel")
	if !ok {
		return
	}
	books, err := notebook.List("testdata")
	if err != nil {
		t.Fatal(err)
	}
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	tests := map[string]struct {
		cell int // that fails; 0: none
		want string
	}{
		"00-passes":           {0, ""},
		"01-panics":           {2, "assignment to entry in nil map"},
		"02-does-not-compile": {1, "cannot use 42"},
		"03-unknown-command":  {1, "%nonsense"},
		"04-hangs":            {1, "not done after 5 s"},
		"05-exits":            {1, "the number is off"},
		// Where it happened, in the cell that declares the function, and who called it.
		"06-panics-in-a-function": {2, "[[ Cell [1] Line 4 ]]"},
	}
	for _, book := range books {
		t.Run(book.Name, func(t *testing.T) {
			test, ok := tests[book.Name]
			if !ok {
				t.Fatal("not in the table")
			}
			var out bytes.Buffer
			folder := t.TempDir()
			runner := notebook.Runner{Setup: s, Folder: folder, Timeout: 5 * time.Second, HTML: test.cell == 0, Out: &out}
			if test.cell == 0 {
				runner.Timeout = time.Minute
			}
			result, err := runner.Run(t.Context(), book)
			var failed *notebook.CellError
			switch {
			case test.cell == 0:
				page, pageErr := os.ReadFile(filepath.Join(folder, book.Name+".html"))
				if err != nil || pageErr != nil || result.Passed != result.Cells || !bytes.Contains(page, []byte("twice: 42")) {
					t.Errorf("passed %d of %d, %v", result.Passed, result.Cells, errors.Join(err, pageErr))
				}
			case strings.Contains(fmt.Sprint(err), temp):
				t.Errorf("a temporary file in the report: %v", err)
			case !errors.As(err, &failed) || failed.Cell != test.cell || !strings.Contains(failed.Report, test.want):
				t.Errorf("%v\nwant a failure of cell %d with %q", err, test.cell, test.want)
			}
			if !strings.Contains(out.String(), book.Name+"  1/") {
				t.Errorf("no line for the first cell:\n%s", out.String())
			}
			if _, err := os.Stat(filepath.Join(folder, book.Name+".ipynb")); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("stopped", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		stop := errors.New("stop")
		runner := notebook.Runner{Setup: s, Folder: t.TempDir(), Timeout: time.Minute, Out: lineFunc(func(line string) {
			if strings.Contains(line, "1/") {
				t.Error("the cell that hangs has ended")
			}
		})}
		time.AfterFunc(6*time.Second, func() { cancel(stop) })
		begin := time.Now()
		if _, err := runner.Run(ctx, books[4]); !errors.Is(err, stop) {
			t.Errorf("error %v, want the context's cause", err)
		}
		if took := time.Since(begin); took > 12*time.Second {
			t.Errorf("stopping took until %v", took)
		}
	})
	left, err := filepath.Glob(filepath.Join(temp, "scorelab-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("scratch folders left behind: %q, %v", left, err)
	}
}

type lineFunc func(string)

func (f lineFunc) Write(p []byte) (int, error) {
	f(string(p))
	return len(p), nil
}
