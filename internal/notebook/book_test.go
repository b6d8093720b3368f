package notebook_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/scorekit/lab/internal/notebook"
	"github.com/scorekit/lab/internal/setuptest"
)

// TestBook makes a book of two small notebooks with the real Python environment.
func TestBook(t *testing.T) {
	s, ok := setuptest.Jupyter(t, "making a book with nbconvert")
	if !ok {
		return
	}
	folder := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const form = `{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [
		{"cell_type": "markdown", "id": "%s-00", "metadata": {}, "source": ["# %s\n", "\n", "%s"]},
		{"cell_type": "code", "id": "%s-01", "metadata": {}, "execution_count": 1, "source": "%%%%\nfmt.Println(42)",
		 "outputs": [{"output_type": "stream", "name": "stdout", "text": "stored output of %s\n"}]}]}`
	write("00-one.ipynb", fmt.Sprintf(form, "nb00", "The first & best", `Then [two](02-two.ipynb#cell-id=nb02-01), of $x^2$; [elsewhere](09-other.ipynb).`, "nb00", "one"))
	write("02-two.ipynb", fmt.Sprintf(form, "nb02", "The second", "After [one](./00-one.ipynb).", "nb02", "two"))
	write("README.md", "# All of them\n\n| notebook | cell |\n|---|---|\n| [one](00-one.ipynb) | [its cell](02-two.ipynb#cell-id=nb02-01) |\n")
	books, err := notebook.List(folder)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "book")
	index, err := notebook.Book{Setup: s, Folder: out, Contents: filepath.Join(folder, "README.md"), Title: "Book"}.Make(t.Context(), books)
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{}
	for _, name := range []string{"index", "00-one", "02-two"} {
		text, err := os.ReadFile(filepath.Join(out, name+".html"))
		if err != nil {
			t.Fatal(err)
		}
		pages[name] = string(text)
		if found := regexp.MustCompile(`(?:src|href)="(?:https?:)?//[^"]*"`).FindString(pages[name]); found != "" {
			t.Errorf("%s asks the network for %s", name, found)
		}
	}
	if index != filepath.Join(out, "index.html") {
		t.Errorf("the contents are said to be %s", index)
	}
	for page, wants := range map[string][]string{
		"index":  {`href="00-one.html"`, `href="02-two.html#cell-id=nb02-01"`, "All of them"},
		"00-one": {`href="02-two.html#cell-id=nb02-01"`, `href="09-other.ipynb"`, "stored output of one", `href="index.html">Contents`, `href="02-two.html">The second →`, "mathjax/MathJax.js"},
		"02-two": {`href="00-one.html"`, "stored output of two", "← The first &amp; best", `id="cell-id=nb02-01"`},
	} {
		for _, want := range wants {
			if !strings.Contains(pages[page], want) {
				t.Errorf("no %q in %s", want, page)
			}
		}
	}
	if _, err := os.Stat(filepath.Join(out, "mathjax", "MathJax.js")); err != nil {
		t.Error(err)
	}
	if _, err := (notebook.Book{Setup: s, Folder: out, Contents: filepath.Join(folder, "none.md")}).Make(t.Context(), books); err == nil || !strings.Contains(err.Error(), "after 0 of 3 pages") {
		t.Errorf("a book without contents: %v", err)
	}
}
