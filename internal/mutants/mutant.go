package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mutant is one change that makes a formula wrong.
type mutant struct {
	file string // in the checkout, with slashes
	from string // text of the file, there once
	to   string // what stands in its place
	what string // what is wrong then
	run  string // names of tests that notice it, as go test -run takes them; "" for all tests of the room
}

// room is the folder of a mutant, whose tests must notice it.
func (m mutant) room() string { return filepath.ToSlash(filepath.Dir(m.file)) }

func (m mutant) String() string { return fmt.Sprintf("%s: %s", m.file, m.what) }

// read returns its file, and where in it the text to change begins. It is an error unless that is there, and once.
func (m mutant) read(checkout string) (text string, at int, err error) {
	whole, err := os.ReadFile(filepath.Join(checkout, filepath.FromSlash(m.file)))
	if err != nil {
		return "", 0, err
	}
	text = string(whole)
	if n := strings.Count(text, m.from); n != 1 {
		return "", 0, fmt.Errorf("%v: %q is there %d times: must be once", m, m.from, n)
	}
	return text, strings.Index(text, m.from), nil
}

// list is all mutants.
func list() []mutant { return slices.Concat(ofObjectives(), ofSamplers(), ofProcesses(), ofMetrics()) }
