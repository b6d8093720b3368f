package experiment

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"codeberg.org/sbinet/npyio/npy"
	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/data"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/likelihood"
	"github.com/scorekit/lab/scorekit/sde"
)

// table writes a CSV of two correlated columns of very different size with a class in words.
func table(t *testing.T, rows int) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, 4))
	var text strings.Builder
	text.WriteString("height,kind,weight\n")
	for range rows {
		a, b := rng.NormFloat64(), rng.NormFloat64()
		fmt.Fprintf(&text, "%g,%s,%g\n", 100+10*a, []string{"cat", "dog"}[rng.IntN(2)], 0.5+0.01*(0.6*a+0.8*b))
	}
	return write(t, "pets.csv", text.String())
}

// trained trains in a second on pure Go and opens the run.
func trained(t *testing.T, pairs ...string) *Run {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	if _, err := train(t, t.Context(), tiny(t, pairs...), dir, false, nil); err != nil {
		t.Fatal(err)
	}
	run, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// The score of a Gaussian in the units of the data: a linear score of standardised columns has its optimum in closed form,
// which after the change of units is −Σ⁻¹(x − μ) of the data themselves, whatever the columns' units.
func TestScoreInTheUnitsOfTheData(t *testing.T) {
	file := table(t, 400)
	run := trained(t, "data", file, "label", "kind", "net", "linear", "objective", "implicit", "sigma", "auto", "steps", "400", "batch", "400",
		"checkpoint-every", "400", "learning-rate", "0.05", "cosine", "true", "ema", "0", "holdout", "0", "rows", "400")
	if want := []string{"height", "weight"}; strings.Join(run.Facts.Columns, " ") != strings.Join(want, " ") || run.Config.Transf != "standardize" {
		t.Fatalf("facts %+v, transform %s", run.Facts, run.Config.Transf)
	}
	if strings.Join(run.Facts.Classes, " ") != "cat dog" {
		t.Errorf("classes %v", run.Facts.Classes)
	}
	// Other columns, and the order of columns, do not matter: they are found by name.
	points := write(t, "at.csv", "weight,age,height\n0.5,3,100\n0.52,4,90\n")
	scored, err := run.Score(t.Context(), Scoring{At: points, Backend: "go"})
	if err != nil {
		t.Fatal(err)
	}
	d, err := load(t.Context(), run.Config)
	if err != nil {
		t.Fatal(err)
	}
	mean, cov := moments(d.train.Rows())
	det := cov[0][0]*cov[1][1] - cov[0][1]*cov[0][1]
	got, err := scorekit.Rows(scored.Score)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range [][]float64{{100, 0.5}, {90, 0.52}} {
		u, v := x[0]-mean[0], x[1]-mean[1]
		want := []float64{-(cov[1][1]*u - cov[0][1]*v) / det, -(cov[0][0]*v - cov[0][1]*u) / det}
		for j := range want {
			// The batches of 400 are drawn with replacement: the optimum moves by about 1/√400 of its size, less what the
			// falling rate averages.
			if math.Abs(got[i][j]-want[j]) > 0.1*math.Abs(want[j])+0.02/math.Sqrt(cov[j][j]) {
				t.Errorf("score %v at %v, want %v", got[i], x, want)
			}
		}
	}
	// Both ways to write it say the same.
	dir := t.TempDir()
	for _, name := range []string{"s.csv", "s.npy"} {
		if err := scored.Save(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "s.csv"))
	if err != nil || !strings.HasPrefix(string(text), "score_height,score_weight\n") {
		t.Errorf("%v: %s", err, text)
	}
	array, err := os.ReadFile(filepath.Join(dir, "s.npy"))
	if err != nil {
		t.Fatal(err)
	}
	var flat []float64
	if err := npy.Read(bytes.NewReader(array), &flat); err != nil || len(flat) != 4 || flat[3] != got[1][1] {
		t.Errorf("NPY %v: %v, want %v", flat, err, got)
	}
	if _, err := run.Score(t.Context(), Scoring{At: points, Sigma: 0.1, Backend: "go"}); err == nil || !strings.Contains(err.Error(), "trained without noise") {
		t.Errorf("with noise: %v", err)
	}
	if _, err := run.Score(t.Context(), Scoring{At: write(t, "b.csv", "height\n1\n"), Backend: "go"}); err == nil || !strings.Contains(err.Error(), "weight") {
		t.Errorf("without a column: %v", err)
	}
	if _, err := run.Score(t.Context(), Scoring{At: points + "x", Backend: "go"}); err == nil || !strings.HasSuffix(err.Error(), "there is no such file") {
		t.Errorf("without a file: %v", err)
	}
}

func moments(rows [][]float64) (mean []float64, cov [2][2]float64) {
	n := float64(len(rows))
	mean = make([]float64, 2)
	for _, row := range rows {
		mean[0], mean[1] = mean[0]+row[0]/n, mean[1]+row[1]/n
	}
	for _, row := range rows {
		for i := range 2 {
			for j := range 2 {
				cov[i][j] += (row[i] - mean[i]) * (row[j] - mean[j]) / n
			}
		}
	}
	return mean, cov
}

// The likelihood is that of the data in their own units: the one of the standardised columns less the logarithms of their
// deviations. All numbers of an evaluation come with their errors.
func TestEvaluate(t *testing.T) {
	run := trained(t, "data", table(t, 200), "label", "kind", "net", "noise-mlp", "sigma", "0.05:10", "holdout", "0.25", "steps", "40", "learning-rate", "0.01", "checkpoint-every", "40")
	e := DefaultEvaluating()
	e.Backend, e.Examples, e.Likelihood, e.Samples = "go", 100, 5, 70
	got, err := run.Evaluate(t.Context(), e, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	d, err := load(t.Context(), run.Config)
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := d.held.Dims(); n != 50 || got.Rows != 50 || got.On != "held-out rows" {
		t.Errorf("%d rows held out, compared with %d %s", n, got.Rows, got.On)
	}
	set, err := choose(d.held, 5, e.Seed)
	if err != nil {
		t.Fatal(err)
	}
	s := run.pipe.Transforms[0].(data.Standardizer)
	z, err := s.Apply(set.X)
	if err != nil {
		t.Fatal(err)
	}
	b, err := openBackend("go")
	if err != nil {
		t.Fatal(err)
	}
	direct, err := likelihood.LogDensity(t.Context(), b, run.Fitted, z, likelihood.Settings{SDE: sde.VE{SigmaMin: 0.05, SigmaMax: 10}})
	if err != nil {
		t.Fatal(err)
	}
	want := 0.0
	for _, log := range direct.LogDensity {
		want += (log - math.Log(s.Std[0]) - math.Log(s.Std[1])) / 5
	}
	if math.Abs(got.Nats.Mean-want) > 1e-6 || got.Nats.Examples != 5 || got.Divergence != "exact" {
		t.Errorf("log p %v, want %v of 5 by the exact divergence", got.Nats, want)
	}
	if bits := -want / 2 / math.Ln2; math.Abs(got.Bits.Mean-bits) > 1e-6 || math.Abs(got.Bits.StandardError-got.Nats.StandardError/2/math.Ln2) > 1e-9 {
		t.Errorf("bits %v, want %v", got.Bits, bits)
	}
	for name, ok := range map[string]bool{
		"loss":    got.Loss.StandardError > 0 && got.Loss.Examples == 100 && got.TrainingLoss != nil,
		"mmd":     got.MMD.P > 0 && got.MMD.P <= 1,
		"energy":  got.Energy.StandardError > 0,
		"sliced":  got.SlicedW2.Distance > 0,
		"ksd":     got.KSD.P > 0 && got.KSD.P <= 1,
		"means":   got.Means.Column == "height" || got.Means.Column == "weight",
		"samples": got.Samples == 70 && got.Sampler == "heun, 25 steps",
		// No more samples in a test than examples.
		"tested":     got.MMD.Samples == 50 && got.MMD.Examples == 50 && got.Means.Samples == 50 && got.KSD.Examples == 50,
		"no classes": got.Recognition == nil && got.NoRecognition == "",
	} {
		if !ok {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for _, want := range []string{"loss", "bits/dim", "p = ", "±", "(5 examples)"} {
		if !strings.Contains(got.String(), want) {
			t.Errorf("the text has no %q:\n%s", want, got)
		}
	}
	if text, err := json.Marshal(got); err != nil || !strings.Contains(string(text), `"bits_per_dim":{"mean":`) {
		t.Errorf("%s: %v", text, err)
	}
	for want, change := range map[string]func(e *Evaluating){
		"examples -1: must be at least 1":                func(e *Evaluating) { e.Examples = -1 },
		"samples -2: must be at least 1":                 func(e *Evaluating) { e.Samples = -2 },
		"likelihood -2: must be at least 1, 0 for":       func(e *Evaluating) { e.Likelihood = -2 },
		"recognition -2: must be at least 1, 0 for":      func(e *Evaluating) { e.Recognition = -2 },
		"tolerance NaN: must be positive":                func(e *Evaluating) { e.Tolerance = math.NaN() },
		"guidance -1: must be finite and not negative":   func(e *Evaluating) { e.Guidance = -1 },
		"guidance 1: the model has no classes: train it": func(e *Evaluating) { e.Guidance = 1 },
	} {
		e := e
		change(&e)
		if _, err := run.Evaluate(t.Context(), e, nil, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one that says %q", err, want)
		}
	}
	// Data that changed since are not those that were held out.
	if err := os.WriteFile(run.Config.Data, []byte("height,kind,weight\n1,cat,2\n3,dog,4\n5,dog,1\n2,dog,1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := run.Evaluate(t.Context(), e, nil, nil); err == nil || !strings.Contains(err.Error(), "have changed since the training") {
		t.Errorf("error %v", err)
	}
}

// A model that does not know the data is found out by each metric.
func TestEvaluateFindsOut(t *testing.T) {
	run := trained(t, "net", "linear", "steps", "1", "checkpoint-every", "1", "holdout", "0.5", "sigma", "0.5")
	e := DefaultEvaluating()
	e.Backend, e.Examples = "go", 100
	got, err := run.Evaluate(t.Context(), e, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got.MMD.P > 0.01 || got.KSD.P > 0.05 || got.Energy.Distance < 5*got.Energy.StandardError || got.Nats != nil || !strings.Contains(got.NoLikelihood, "range of noise levels") {
		t.Errorf("%s", got)
	}
}

// Draws are in the units of the data, follow from their seed, and are written as their file says.
func TestSample(t *testing.T) {
	run := trained(t, "data", table(t, 200), "label", "kind", "net", "noise-mlp", "sigma", "0.05:10", "steps", "3")
	s := DefaultSampling()
	s.N, s.Backend, s.Batch = 30, "go", 20
	drawn, err := run.Sample(t.Context(), s, nil)
	if err != nil {
		t.Fatal(err)
	}
	again, err := run.Sample(t.Context(), s, nil)
	if err != nil || !again.X.Equal(drawn.X) {
		t.Errorf("the same seed gives other draws (%v)", err)
	}
	back, err := run.pipe.Invert(drawn.Z)
	if err != nil || !back.Equal(drawn.X) {
		t.Errorf("draws are not in the units of the data (%v)", err)
	}
	rows, err := scorekit.Rows(drawn.X)
	if err != nil {
		t.Fatal(err)
	}
	if mean := estimate(column(rows, 0)).Mean; math.Abs(mean-100) > 10 {
		t.Errorf("mean height %v, want about 100", mean)
	}
	if fmt.Sprint(rows[0]) == fmt.Sprint(rows[20]) {
		t.Error("the second part repeats the first")
	}
	dir := t.TempDir()
	if err := drawn.Save(filepath.Join(dir, "d.csv")); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "d.csv"))
	if err != nil || !strings.HasPrefix(string(text), "height,weight\n") || strings.Count(string(text), "\n") != 31 {
		t.Errorf("%v: %s", err, text)
	}
	if err := drawn.Save(filepath.Join(dir, "d.png")); err != nil {
		t.Error(err)
	}
	for _, test := range []struct {
		change func(s *Sampling)
		want   string
	}{
		{func(s *Sampling) { s.N = 0 }, "n 0: must be at least 1"},
		{func(s *Sampling) { s.Sampler = "huen" }, `sampler "huen" (did you mean heun?)`},
		{func(s *Sampling) { s.Class = "cat" }, "the model has no classes"},
		{func(s *Sampling) { s.Guidance = 2 }, "must come with a class"},
		{func(s *Sampling) { s.Eta = 0.5 }, "eta 0.5: sampler heun has none"},
		{func(s *Sampling) { s.Sampler = "mala" }, "sampler mala needs an energy"},
		{func(s *Sampling) { s.Sigma = "3:1" }, `sigma "3:1"`},
		{func(s *Sampling) { s.Steps = -1 }, "steps -1"},
	} {
		s := s
		test.change(&s)
		if _, err := run.Sample(t.Context(), s, nil); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("error %v, want one that says %q", err, test.want)
		}
	}
	for path, want := range map[string]string{"a.txt": "must end in .npy, .csv, .png", filepath.Join(dir, "none", "a.csv"): "there is no folder"} {
		if err := drawn.Save(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("to %s: %v", path, err)
		}
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(os.ErrProcessDone)
	if _, err := run.Sample(ctx, s, nil); err == nil || !strings.Contains(err.Error(), os.ErrProcessDone.Error()) {
		t.Errorf("stopped: %v", err)
	}
}

// Each sampler draws from the exact score of a Gaussian what it should: a mistake in a default would show in the mean or
// the deviation.
func TestSamplersOnAnExactScore(t *testing.T) {
	p, err := density.Isotropic([]float64{1, -2}, 1.5)
	if err != nil {
		t.Fatal(err)
	}
	b, err := openBackend("go")
	if err != nil {
		t.Fatal(err)
	}
	energy := scorekit.Energy(func(_ *mlctx.Context, x, sigma *scorekit.Node) *scorekit.Node {
		return graph.Neg(p.LogDensityNoised(x, sigma))
	})
	for _, d := range draws {
		if d.name == "ascent" {
			continue // it goes to the mode
		}
		t.Run(d.name, func(t *testing.T) {
			s := DefaultSampling()
			s.Sampler = d.name
			tgt := target{Sampling: s, low: 0.3, high: 30, std: 1.5, energy: energy}
			sampler, kind, err := tgt.sampler(network{energy: true}, true)
			if err != nil {
				t.Fatal(err)
			}
			options := []scorekit.SampleOption{scorekit.WithShape(2), scorekit.WithSeed(5)}
			if !kind.many {
				options = append(options, scorekit.WithStartNormal(1.53))
			}
			drawn, err := scorekit.Sample(t.Context(), b, p, sampler, 300, options...)
			if err != nil {
				t.Fatal(err)
			}
			rows, err := scorekit.Rows(drawn.X)
			if err != nil {
				t.Fatal(err)
			}
			e := estimate(column(rows, 1))
			std := e.StandardError * math.Sqrt(300)
			// Five standard errors: 5·1.5/√300 = 0.43 of the mean, 5·1.5/√600 = 0.31 of the deviation; a step of 0.1σ² adds
			// less, the noise σ of one level 2 %, and denoising from σ = 0.3 takes less than that off.
			if math.Abs(e.Mean+2) > 0.45 || math.Abs(std-1.5) > 0.35 {
				t.Errorf("mean %v, deviation %v: want -2 and 1.5", e.Mean, std)
			}
		})
	}
}
