package docs_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// cell is a cell of a notebook file.
type cell struct {
	Type   string   `json:"cell_type"`
	ID     string   `json:"id"`
	Source []string `json:"source"`
}

func (c cell) text() string { return strings.Join(c.Source, "") }

// notebookCells returns the cells of every notebook, by the file's name.
func notebookCells(t *testing.T) map[string][]cell {
	t.Helper()
	all := map[string][]cell{}
	for _, path := range files(t, ".ipynb") {
		if filepath.Dir(path) != "notebooks" {
			continue
		}
		var book struct{ Cells []cell }
		if err := json.Unmarshal([]byte(read(t, path)), &book); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all[filepath.Base(path)] = book.Cells
	}
	return all
}

var (
	indexRow = regexp.MustCompile(`(?m)^\| (\d{3} [^|]+?) \|.*$`)
	toCell   = regexp.MustCompile(`\]\((\d\d-[\w-]+\.ipynb)#cell-id=([\w-]+)\)`)
	covers   = regexp.MustCompile(`^<!-- covers: (.+?) -->\n`)
)

// TestNotebookIndex checks the index in notebooks/README.md in both directions: each link leads to a cell that says that it covers
// the place in the document, and each place that a cell says it covers is linked to it from there.
func TestNotebookIndex(t *testing.T) {
	index := read(t, filepath.Join("notebooks", "README.md"))
	books := notebookCells(t)
	claimed := map[string]map[string][]string{} // notebook → cell → what it covers
	for name, cells := range books {
		if !strings.Contains(index, "]("+name+")") {
			t.Errorf("%s is not in the index", name)
		}
		claimed[name] = map[string][]string{}
		for _, c := range cells {
			if m := covers.FindStringSubmatch(c.text()); m != nil {
				for _, place := range strings.Split(m[1], ";") {
					claimed[name][c.ID] = append(claimed[name][c.ID], strings.TrimSpace(place))
				}
			}
		}
	}
	rows := indexRow.FindAllStringSubmatch(index, -1)
	linked := map[string]bool{} // notebook, cell and place
	for _, row := range rows {
		links := toCell.FindAllStringSubmatch(row[0], -1)
		if len(links) == 0 {
			t.Errorf("%s: no cell", row[1])
		}
		for _, link := range links {
			found := false
			for _, place := range claimed[link[1]][link[2]] {
				if place == row[1] || strings.HasPrefix(place, row[1]+" ") {
					found = true
					linked[link[1]+link[2]+place] = true
				}
			}
			if !found {
				t.Errorf("%s: %s, cell %s does not say that it covers it", row[1], link[1], link[2])
			}
		}
	}
	for name, cells := range claimed {
		for id, places := range cells {
			for _, place := range places {
				if !linked[name+id+place] {
					t.Errorf("%s, cell %s covers %s, to which the index has no link", name, id, place)
				}
			}
		}
	}
	if len(rows) < 15 {
		t.Errorf("%d rows found: the pattern has missed most", len(rows))
	}
}

// TestNotebookLinks checks that links in notebooks to other files lead to them, and to a cell of them where one is named,
// that each notebook has outputs and a heading, and that no two cells of it have one name.
func TestNotebookLinks(t *testing.T) {
	books := notebookCells(t)
	checked := 0
	for name, cells := range books {
		ids, title := map[string]bool{}, false
		for _, c := range cells {
			if c.ID == "" || ids[c.ID] {
				t.Errorf("%s: cell named %q twice or not at all", name, c.ID)
			}
			ids[c.ID] = true
			if c.Type != "markdown" {
				continue
			}
			title = title || strings.HasPrefix(c.text(), "# ")
			for _, m := range link.FindAllStringSubmatch(c.text(), -1) {
				target, fragment, _ := strings.Cut(m[1], "#")
				if strings.Contains(target, "://") || target == "" {
					continue
				}
				checked++
				if _, err := os.Stat(filepath.Join(root, "notebooks", target)); err != nil {
					t.Errorf("%s, cell %s: link to %s: %v", name, c.ID, m[1], err)
				}
				if id, ok := strings.CutPrefix(fragment, "cell-id="); ok && !hasCell(books[target], id) {
					t.Errorf("%s, cell %s: link to %s: no such cell", name, c.ID, m[1])
				}
			}
		}
		if !title {
			t.Errorf("%s has no heading", name)
		}
		if !strings.Contains(read(t, filepath.Join("notebooks", name)), `"image/png"`) && !strings.Contains(read(t, filepath.Join("notebooks", name)), "data:image/png;base64") {
			t.Errorf("%s holds no picture: it must be stored with its outputs", name)
		}
	}
	if checked < 5 {
		t.Errorf("%d links found: the pattern has missed most", checked)
	}
}

func hasCell(cells []cell, id string) bool {
	for _, c := range cells {
		if c.ID == id {
			return true
		}
	}
	return false
}
