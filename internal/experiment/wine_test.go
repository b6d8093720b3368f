package experiment

import (
	"math"
	"path/filepath"
	"testing"

	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/metric"
)

// The thirteen measures of wine are learned standardised, and draws come back in their own units: the mean of every column
// within 5 standard errors of that of the data, and no difference from rows that were held out that an MMD test rejects at
// 0.01.
func TestWine(t *testing.T) {
	c := set(t, "data", "wine", "holdout", "0.3", "seed", "4", "hidden", "64,64", "steps", "800", "learning-rate", "0.003", "cosine", "true", "ema", "0.995",
		"checkpoint-every", "800", "samples-every", "-1", "backend", "go")
	dir := filepath.Join(t.TempDir(), "wine")
	if _, err := train(t, t.Context(), c, dir, false, nil); err != nil {
		t.Fatal(err)
	}
	run, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := DefaultSampling()
	s.Backend, s.Seed = "go", 1
	drawn, err := run.Sample(t.Context(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	d, err := load(t.Context(), run.Config)
	if err != nil {
		t.Fatal(err)
	}
	draws, err := scorekit.Rows(drawn.X)
	if err != nil {
		t.Fatal(err)
	}
	for name, part := range map[string][][]float64{"training": d.train.Rows(), "held-out": d.held.Rows()} {
		for j, measure := range run.Facts.Columns {
			a, b := estimate(column(draws, j)), estimate(column(part, j))
			if z := math.Abs(a.Mean-b.Mean) / math.Hypot(a.StandardError, b.StandardError); !(z < 5) {
				t.Errorf("%s: mean %v of draws, %v of %s rows: %.1f standard errors apart", measure, a.Mean, b.Mean, name, z)
			}
		}
	}
	held, _, err := run.pipe.Apply(d.held.X, 1)
	if err != nil {
		t.Fatal(err)
	}
	test, err := metric.MMD{Seed: 1}.Test(t.Context(), drawn.Z, held)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("MMD² %.3g of %d draws and %d held-out rows, p = %.3g", test.U, len(draws), len(d.held.Rows()), test.P)
	if test.P <= 0.01 {
		t.Errorf("MMD test: p = %v, want above 0.01", test.P)
	}
	// The units are those of the data: proline is of the order of 750, hue of 1.
	means := map[string]float64{}
	for j, name := range run.Facts.Columns {
		means[name] = estimate(column(draws, j)).Mean
	}
	if p := means["proline"]; p < 500 || p > 1000 || means["hue"] < 0.5 || means["hue"] > 1.5 {
		t.Errorf("means %v", means)
	}
}
