package notebook

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/scorekit/lab/internal/atomicfile"
)

// Result tells how a notebook's execution went.
type Result struct {
	Name  string `json:"name"`
	Title string `json:"title"`
	// Cells is the number of code cells, Passed how many of them ran without failing.
	Cells  int `json:"cells"`
	Passed int `json:"passed"`
	// Claims are the checks that held, in the words of the notebook.
	Claims []string `json:"claims,omitempty"`
	// Seconds is the time from the start of the kernel to the finished page.
	Seconds  float64   `json:"seconds"`
	Finished time.Time `json:"finished"`
	// Failed is the error, or "".
	Failed string `json:"failed,omitempty"`
	// Page tells whether a page was made.
	Page bool `json:"page"`
}

const resultsName = "results.json"

// record puts the result into the output folder's list, beside those of earlier runs of other notebooks that are still in
// their folder source, and writes the index anew.
func record(folder, source string, result Result) error {
	results, err := readResults(folder)
	if err != nil {
		return err
	}
	maps.DeleteFunc(results, func(name string, _ Result) bool {
		_, err := os.Stat(filepath.Join(source, name+".ipynb"))
		return errors.Is(err, fs.ErrNotExist)
	})
	results[result.Name] = result
	data, err := json.MarshalIndent(results, "", "  ")
	if err != nil {
		return err
	}
	if err := atomicfile.Write(filepath.Join(folder, resultsName), append(data, '\n'), 0o644); err != nil {
		return err
	}
	return writeIndex(filepath.Join(folder, "index.html"), results)
}

func readResults(folder string) (map[string]Result, error) {
	file := filepath.Join(folder, resultsName)
	data, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]Result{}, nil
	}
	if err != nil {
		return nil, err
	}
	var results map[string]Result
	if err := json.Unmarshal(data, &results); err != nil || results == nil {
		return nil, fmt.Errorf("%s is damaged (%w); remove it and run again", file, err)
	}
	return results, nil
}
