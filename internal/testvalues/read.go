package testvalues

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// Read fills cases, a pointer, from a JSON file of the tested package's folder testdata.
func Read(t testing.TB, name string, cases any) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, cases); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}
