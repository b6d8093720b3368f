package gonb_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scorekit/lab/internal/kernel/gonb"
)

// source returns the folder of GoNB in the module cache.
func source(t *testing.T) string {
	t.Helper()
	out, err := exec.Command("go", "mod", "download", "-json", gonb.Module).Output()
	if err != nil {
		t.Fatal(err)
	}
	var module struct{ Dir string }
	if err := json.Unmarshal(out, &module); err != nil {
		t.Fatal(err)
	}
	return module.Dir
}

// TestCorrectionsFit corrects the version that go.mod names. That the result does what it should is for the tests of
// package notebook, which execute cells.
func TestCorrectionsFit(t *testing.T) {
	from, to := source(t), filepath.Join(t.TempDir(), "gonb")
	if err := gonb.Correct(from, to); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"main.go", "go.mod", "internal/goexec/scorelab.go", "internal/jpyexec/scorelab.go", "internal/dispatcher/scorelab.go"} {
		if _, err := os.Stat(filepath.Join(to, filepath.FromSlash(file))); err != nil {
			t.Error(err)
		}
	}
	// A text that is no longer there is told.
	if err := gonb.Correct(to, filepath.Join(t.TempDir(), "again")); err == nil || !strings.Contains(err.Error(), "does not fit this version") {
		t.Errorf("corrected twice: %v", err)
	}
}
