package main

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"testing"
)

// Every mutant's text is in its file, once and in one function, and what replaces it is Go; no two are the same. So the list
// follows the code: where a formula is written anew, its mutants must be, too.
func TestEveryMutantFits(t *testing.T) {
	checkout, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	type change struct{ file, from, to string }
	seen := map[change]bool{}
	for _, m := range list() {
		text, _, err := variants(checkout, m.file, []mutant{m})
		if err != nil {
			t.Error(err)
			continue
		}
		if _, err := parser.ParseFile(token.NewFileSet(), m.file, text, parser.SkipObjectResolution); err != nil {
			t.Errorf("%v: %v", m, err)
		}
		if c := (change{m.file, m.from, m.to}); seen[c] || m.from == m.to {
			t.Errorf("%v: there twice, or no change", m)
		} else {
			seen[c] = true
		}
	}
}
