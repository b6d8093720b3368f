package experiment

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Samples of classes are recognised by a classifier that has learned from the training rows. The table says which class was
// taken for which, and only JSON shows it.
func TestRecognition(t *testing.T) {
	dir := pictures(t, 50)
	run := trained(t, "data", dir, "label", "folders", "conditional", "true", "net", "residual-conv", "width", "8", "blocks", "1", "sigma", "auto", "dtype", "float32",
		"holdout", "0.2", "steps", "40", "batch", "16", "learning-rate", "0.01", "checkpoint-every", "40", "class-dropout", "0.1", "ema", "0.9")
	e := DefaultEvaluating()
	e.Backend, e.Likelihood, e.Recognition, e.Samples, e.Guidance, e.Steps = "go", -1, 40, 3, 1, 10
	got, err := run.Evaluate(t.Context(), e, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := got.Recognition
	if r == nil {
		t.Fatalf("no recognition: %s", got.NoRecognition)
	}
	sum, right := 0, 0
	for class, row := range r.Table {
		of := 0
		for answer, n := range row {
			of += n
			if answer == class {
				right += n
			}
		}
		if of != 20 {
			t.Errorf("%d samples of class %s, want half of 40", of, r.Classes[class])
		}
		sum += of
	}
	if sum != 40 || r.Samples != 40 || math.Abs(r.Share-float64(right)/40) > 1e-9 || r.Guidance != 1 || r.RealExamples != 8 || strings.Join(r.Classes, " ") != "dark light" {
		t.Errorf("%+v", r)
	}
	// Dark and light differ by far more than the noise on either.
	if r.Share < 0.9 || r.Real < 1 {
		t.Errorf("recognised %s", r)
	}
	if want := "real examples held back)"; !strings.Contains(got.String(), "recognised") || !strings.Contains(got.String(), want) || strings.Contains(got.String(), "[[") {
		t.Errorf("the text is\n%s", got)
	}
	if text, err := json.Marshal(got); err != nil || !strings.Contains(string(text), `"table":[[`) {
		t.Errorf("%s: %v", text, err)
	}
	// Another folder with pictures of one class only: it has the number that the run gave it.
	if err := os.RemoveAll(filepath.Join(dir, "dark")); err != nil {
		t.Fatal(err)
	}
	set, err := run.other(t.Context(), dir)
	if err != nil || set.Labels[0] != 1 {
		t.Fatalf("labels %v, want all 1 (%v)", set.Labels, err)
	}
	e.Data = dir
	if got, err = run.Evaluate(t.Context(), e, nil, nil); err != nil || got.Recognition != nil || !strings.Contains(got.NoRecognition, "25 examples of 1 of the 2 classes") {
		t.Errorf("%v: %v", got, err)
	}
	e.Recognition = -1
	if got, err = run.Evaluate(t.Context(), e, nil, nil); err != nil || got.NoRecognition != "" {
		t.Errorf("%v: %v", got, err)
	}
}
