package notebook

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "bring notebooks that are not in JupyterLab's form into it")

// identity is what a cell's name looks like: what JupyterLab makes up for new ones, and ours.
var identity = regexp.MustCompile(`(?m)^   "id": "[\w-]+",$`)

// TestForm checks that a diff of a notebook that was saved by JupyterLab shows only what was changed.
func TestForm(t *testing.T) {
	for _, folder := range []string{filepath.Join("..", "..", "notebooks"), "testdata"} {
		books, err := List(folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, book := range books {
			t.Run(book.Name, func(t *testing.T) {
				file, err := os.ReadFile(book.Path)
				if err != nil {
					t.Fatal(err)
				}
				want, err := Form(file)
				if err != nil {
					t.Fatal(err)
				}
				if bytes.Equal(file, want) {
					return
				}
				if *rewrite {
					if err := os.WriteFile(book.Path, want, 0o644); err != nil {
						t.Fatal(err)
					}
					return
				}
				t.Errorf("%s is not as JupyterLab saves it: open and save it there, or run go test ./internal/notebook -run Form -rewrite", book.Path)
			})
		}
	}
}

// TestFormIsJupyters compares with a file that JupyterLab itself saved.
func TestFormIsJupyters(t *testing.T) {
	saved, err := os.ReadFile(filepath.Join("testdata", "saved", "saved.ipynb"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Form(saved); err != nil || !bytes.Equal(got, saved) {
		t.Errorf("%v; the form differs:\n%s", err, got)
	}
	if !identity.Match(saved) {
		t.Error("the cells of the file have no names")
	}
}
