package scorekit_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
)

// TestStoredRun goes on with a run that the first version with a checkpoint format left at step 4 of 10, and must come to
// the weights of that version at step 10, on pure Go, as random numbers are those of a backend. float32 rounds at 6e-8.
func TestStoredRun(t *testing.T) {
	stored := filepath.Join("testdata", "run-of-format-1")
	checkpoint := "step-000000004.safetensors"
	text, err := os.ReadFile(filepath.Join(stored, checkpoint))
	if err != nil {
		t.Fatal(err)
	}
	want, err := scorekit.Load(filepath.Join(stored, "end.safetensors"))
	if err != nil {
		t.Fatal(err)
	}
	be, dir := testbackend.Go(t), t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, checkpoint), text, 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := fitSmall(t, background, be, 10, scorekit.WithCheckpoints(dir, 4), scorekit.WithResume(), scorekit.WithMetadata("unit", "mm"))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(f.History()); n != 6 {
		t.Errorf("%d steps were done, want 6", n)
	}
	testvalues.Near(t, "scores", slices.Concat(scoresAt(t, be, f)...), slices.Concat(scoresAt(t, be, want)...), 1e-5)
	if f.Metadata()["unit"] != "mm" || want.Metadata()["unit"] != "mm" || want.Steps() != 10 {
		t.Errorf("metadata %v and %v, %d steps", f.Metadata(), want.Metadata(), want.Steps())
	}
}
