// Package notebook executes notebooks without a browser and finds out whether they failed.
//
// That is less plain than it sounds: to GoNB as it is published, a cell whose Go program panics, exits with a status or fails its
// tests is a success, as is a cell with an unknown % command, for the kernel itself did what it was asked to. So [Failure]
// looks at what each cell has printed. The execution is done by a small Python program, execute.py, on top of nbclient: it tells
// of each cell as it ends and asks whether to go on.
//
// Each notebook runs in a scratch folder of its own, a copy of the notebooks' folder without the notebooks, with its
// temporary files beside it. Both are removed in the end, so that neither the checkout nor the system's temporary folder
// is littered. The executed notebook, a page made from it and an index of all pages go to the output folder.
//
// A book is made of the notebooks as they are, with the outputs that are stored in them.
//
// Map: notebook.go lists and chooses notebooks, failure.go judges a cell, runner.go executes, execute.py is its Python half,
// scratch.go makes the scratch folder, results.go and index.go keep and show the results, book.go and book.py make the
// book, page.py makes a page, lab.go opens JupyterLab.
package notebook

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Notebook is a notebook file.
type Notebook struct {
	// Path is the file.
	Path string
	// Name is the file's name without the extension, such as 00-tour.
	Name string
}

// List returns the notebooks of a folder by name. The error says so when there are none.
func List(folder string) ([]Notebook, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var found []Notebook
	for _, entry := range entries {
		name, isNotebook := strings.CutSuffix(entry.Name(), ".ipynb")
		if isNotebook && name != "" && !strings.HasPrefix(name, ".") && entry.Type().IsRegular() {
			found = append(found, Notebook{filepath.Join(folder, entry.Name()), name})
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%s holds no notebooks (*.ipynb)", folder)
	}
	return found, nil
}

// Choose returns the notebooks that were asked for, each once, in the order of all; all of them when nothing was asked for.
// Each wish is a name, with or without its folder and extension, or the number that a name begins with (08 or 8, or its
// first words, 08-noise). The error tells of a wish that no notebook answers and lists what there is.
func Choose(all []Notebook, wishes []string) ([]Notebook, error) {
	if len(wishes) == 0 {
		return all, nil
	}
	wanted := map[string]bool{}
	for _, wish := range wishes {
		name := strings.TrimSuffix(filepath.Base(wish), ".ipynb")
		found := false
		for _, n := range all {
			if matches(n.Name, name) {
				wanted[n.Name], found = true, true
			}
		}
		if !found {
			var names []string
			for _, n := range all {
				names = append(names, n.Name)
			}
			return nil, fmt.Errorf("no notebook %q; there are: %s", wish, strings.Join(names, ", "))
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(n Notebook) bool { return !wanted[n.Name] }), nil
}

// matches tells whether a wish means the notebook: its whole name, its number, or its beginning up to a hyphen or later.
func matches(name, wish string) bool {
	number, _, _ := strings.Cut(name, "-")
	isNumber := wish != "" && strings.Trim(wish, "0123456789") == ""
	if isNumber {
		return strings.TrimLeft(number, "0") == strings.TrimLeft(wish, "0") && strings.Trim(number, "0123456789") == ""
	}
	return name == wish || wish != "" && strings.HasPrefix(name, wish) && strings.Contains(wish, "-")
}

// Title returns the first heading of the notebook, or its name when it has none or cannot be read.
func (n Notebook) Title() string {
	data, err := os.ReadFile(n.Path)
	if err != nil {
		return n.Name
	}
	var book struct {
		Cells []struct {
			Type   string `json:"cell_type"`
			Source text   `json:"source"`
		} `json:"cells"`
	}
	if json.Unmarshal(data, &book) != nil {
		return n.Name
	}
	for _, cell := range book.Cells {
		if cell.Type != "markdown" {
			continue
		}
		for line := range strings.Lines(string(cell.Source)) {
			if title, ok := strings.CutPrefix(strings.TrimSpace(line), "# "); ok {
				return strings.TrimSpace(title)
			}
		}
	}
	return n.Name
}

// text is a string that notebook files hold either whole or as a list of lines.
type text string

// UnmarshalJSON reads either form.
func (t *text) UnmarshalJSON(data []byte) error {
	var lines []string
	if json.Unmarshal(data, &lines) == nil {
		*t = text(strings.Join(lines, ""))
		return nil
	}
	return json.Unmarshal(data, (*string)(t))
}
