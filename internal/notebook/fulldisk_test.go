package notebook

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scorekit/lab/internal/disktest"
	"github.com/scorekit/lab/internal/setup"
	"github.com/scorekit/lab/internal/setuptest"
)

// pageWriter returns a way to call functions of page.py, with a few lines before the call, and a folder of five files of 20 kB.
// It is nil without Python.
func pageWriter(t *testing.T) (call func(before, line string) (complaint string, err error), source string) {
	t.Helper()
	python, err := setup.FindPython(t.Context())
	if err != nil {
		fmt.Println("left out: what becomes of pages that cannot be written:", err)
		return nil, ""
	}
	source = filepath.Join(t.TempDir(), "static")
	if err := os.Mkdir(source, 0o755); err != nil {
		t.Fatal(err)
	}
	for k := range 5 {
		if err := os.WriteFile(filepath.Join(source, fmt.Sprint(k)), bytes.Repeat([]byte{1}, 20_000), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return func(before, line string) (string, error) {
		command := exec.Command(python.Path, "-B", "-c", "import os, pathlib, page\n"+before+"\npage."+line)
		var complaint bytes.Buffer
		command.Env, command.Stderr = append(os.Environ(), "PYTHONPATH=."), &complaint
		err := command.Run()
		return complaint.String(), err
	}, source
}

// A page that is killed before it is whole is not there, and the one before it stays; so it is with the folder of fonts.
func TestPagesAppearWhole(t *testing.T) {
	call, source := pageWriter(t)
	if call == nil {
		return
	}
	folder := t.TempDir()
	page, fonts := filepath.Join(folder, "00-tour.html"), filepath.Join(folder, "mathjax")
	if err := os.WriteFile(page, []byte("what was there"), 0o644); err != nil {
		t.Fatal(err)
	}
	for line, before := range map[string]string{
		fmt.Sprintf("replace(pathlib.Path(%q), 'x' * 50000)", page):                 "write = pathlib.Path.write_text\npathlib.Path.write_text = lambda *a, **k: (write(*a, **k), os._exit(9))",
		fmt.Sprintf("copy(pathlib.Path(%q), pathlib.Path(%q), '4')", source, fonts): "copy = page.shutil.copytree\npage.shutil.copytree = lambda *a, **k: (copy(*a, **k), os._exit(9))",
	} {
		if said, err := call(before, line); err == nil || said != "" {
			t.Errorf("%s was not ended in its middle: %v: %s", line, err, said)
		}
	}
	if text, err := os.ReadFile(page); err != nil || string(text) != "what was there" {
		t.Errorf("%d bytes of a page, %v", len(text), err)
	}
	if _, err := os.Stat(fonts); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder of fonts is there, %v", err)
	}
}

// The Python half writes notebooks and pages, and copies the fonts of the formulas: each whole or not at all.
func TestPagesOnAFullDisk(t *testing.T) {
	call, source := pageWriter(t)
	if call == nil {
		return
	}
	disktest.Each(t, 1, func(t *testing.T, d disktest.Disk) {
		page, fonts := filepath.Join(d.Dir, "00-tour.html"), filepath.Join(d.Dir, "mathjax")
		replace := fmt.Sprintf("replace(pathlib.Path(%q), 'x' * 50000)", page)
		copyFonts := fmt.Sprintf("copy(pathlib.Path(%q), pathlib.Path(%q), '4')", source, fonts)
		if err := os.WriteFile(page, []byte("what was there"), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, room := range []int{0, 12 << 10} {
			free := d.Fill(t, room)
			defer free()
			for file, line := range map[string]string{page: replace, fonts: copyFonts} {
				said, err := call("", line)
				last := lastLines(said, 1)
				if err == nil || !strings.Contains(last, file) || len(last) > 300 {
					t.Errorf("%s with room for %d bytes: %v, %s: want an error in one line that names it", file, room, err, said)
				}
			}
			free()
			disktest.Holds(t, d.Dir, "00-tour.html")
			if text, err := os.ReadFile(page); err != nil || string(text) != "what was there" {
				t.Errorf("with room for %d bytes: %q, %v", room, text, err)
			}
			if left, _ := filepath.Glob(fonts + "*"); len(left) > 0 {
				t.Errorf("left behind: %q", left)
			}
		}
		for _, line := range []string{replace, copyFonts} {
			if said, err := call("", line); err != nil {
				t.Errorf("with room: %v: %s", err, said)
			}
		}
		disktest.Holds(t, d.Dir, "00-tour.html", "mathjax/0", "mathjax/1", "mathjax/2", "mathjax/3")
	})
}

// The list of results and the index of pages stay as they were where there is no room for new ones.
func TestResultsOnAFullDisk(t *testing.T) {
	source := t.TempDir()
	if err := os.WriteFile(filepath.Join(source, "00-tour.ipynb"), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	disktest.Each(t, 1, func(t *testing.T, d disktest.Disk) {
		if err := record(d.Dir, source, Result{Name: "00-tour", Cells: 3, Passed: 3}); err != nil {
			t.Fatal(err)
		}
		free := d.Fill(t, 0)
		defer free()
		err := record(d.Dir, source, Result{Name: "00-tour", Cells: 4, Passed: 1})
		if err == nil || !strings.Contains(err.Error(), "writing "+filepath.Join(d.Dir, resultsName)) {
			t.Errorf("error %v, want one that names the file", err)
		}
		free()
		disktest.Holds(t, d.Dir, resultsName, "index.html")
		if results, err := readResults(d.Dir); err != nil || results["00-tour"].Cells != 3 {
			t.Errorf("results %v, %v", results, err)
		}
	})
}

// A folder for temporary files without room ends a run before it begins, and is left as it was.
func TestScratchOnAFullDisk(t *testing.T) {
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "points.csv"), bytes.Repeat([]byte("1,2\n"), 9000), 0o644); err != nil {
		t.Fatal(err)
	}
	book := Notebook{filepath.Join(folder, "00-tour.ipynb"), "00-tour"}
	if err := os.WriteFile(book.Path, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	disktest.Each(t, 1, func(t *testing.T, d disktest.Disk) {
		t.Setenv("TMPDIR", d.Dir)
		free := d.Fill(t, 8<<10)
		defer free()
		err := Runner{Folder: out, Timeout: time.Second, Out: io.Discard}.execute(t.Context(), book, new(Result))
		if err == nil || !strings.Contains(err.Error(), d.Dir) || !strings.Contains(err.Error(), "points.csv") || errors.Is(err, os.ErrNotExist) {
			t.Errorf("error %v, want one that names the file", err)
		}
		free()
		if left, err := os.ReadDir(d.Dir); err != nil || len(left) > 0 {
			t.Errorf("left behind: %v, %v", left, err)
		}
	})
}

// A result replaces the one before it also where that is of the future: the clock may have gone back between the two.
func TestResultAfterTheClockWentBack(t *testing.T) {
	folder, source := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(source, "00-tour.ipynb"), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, year := range []int{2100, 2026} {
		if err := record(folder, source, Result{Name: "00-tour", Cells: year, Finished: time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)}); err != nil {
			t.Fatal(err)
		}
	}
	if results, err := readResults(folder); err != nil || results["00-tour"].Cells != 2026 {
		t.Errorf("results %v, %v", results, err)
	}
}

// A notebook that was executed and finds no room for what came out ends in one line that names the file, and leaves nothing
// half-written.
func TestRunOnAFullDisk(t *testing.T) {
	s, ok := setuptest.Jupyter(t, "executing a notebook on a full disk")
	if !ok {
		return
	}
	folder := t.TempDir()
	cell := `{"cell_type": "code", "execution_count": null, "id": "a", "metadata": {}, "outputs": [], "source": ["%%\n", "for range 9000 {\n", "\tfmt.Println(\"a line\")\n", "}"]}`
	book := Notebook{filepath.Join(folder, "00-tour.ipynb"), "00-tour"}
	if err := os.WriteFile(book.Path, []byte(`{"cells": [`+cell+`], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}`), 0o644); err != nil {
		t.Fatal(err)
	}
	disktest.Each(t, 1, func(t *testing.T, d disktest.Disk) {
		if d.Limited() { // what the cell is compiled to would be too long, too
			return
		}
		free := d.Fill(t, 40<<10)
		defer free()
		err := Runner{Setup: s, Folder: d.Dir, HTML: true, Timeout: time.Minute, Out: io.Discard}.execute(t.Context(), book, new(Result))
		if want := "00-tour: what was executed cannot be written: " + filepath.Join(d.Dir, "00-tour.ipynb") + ": No space left on device"; fmt.Sprint(err) != want {
			t.Errorf("error %v, want %s", err, want)
		}
		free()
		disktest.Holds(t, d.Dir)
	})
}
