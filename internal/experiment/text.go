package experiment

import (
	"fmt"
	"path/filepath"
	"strings"
)

// String says in a few lines how a training ended.
func (s *Summary) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%d of %d steps, %s, %.4gs\n", s.Step, s.Steps, lossText(s.Loss), s.Seconds)
	fmt.Fprintf(&out, "run in %s: %s, %s, %s, %s, %s", s.Folder, configName, summaryName, lossName, checkpointsDir, samplesDir)
	return out.String()
}

// Interrupted says what became of a run that was stopped, and how to go on with it.
func (s *Summary) Interrupted() string {
	if s.Step == 0 {
		return fmt.Sprintf("stopped before the first step; begin again with:\n  %s", s.Resume)
	}
	return fmt.Sprintf("stopped after step %d of %d, which is saved in %s; go on with:\n  %s", s.Step, s.Steps,
		filepath.Join(s.Folder, checkpointsDir), s.Resume)
}

func lossText(loss *float64) string {
	if loss == nil {
		return "no loss"
	}
	return fmt.Sprintf("loss %.4g (mean of the last 50)", *loss)
}

// lines are names with what is said of them, in two columns.
type lines struct{ strings.Builder }

func (l *lines) add(name, format string, arguments ...any) {
	fmt.Fprintf(l, "%-14s %s\n", name, fmt.Sprintf(format, arguments...))
}

// String says what a run is, a line for each thing.
func (i *Info) String() string {
	var l lines
	state := "finished"
	if !i.Finished {
		state = "not finished"
	}
	l.add("run", "%s, %s: step %d of %d, batch %d", i.Folder, state, i.Step, i.Steps, i.Batch)
	if i.Weights {
		l.add("model", "%s", i.Model)
		l.add("parameters", "%d, %s", i.Parameters, i.DType)
	} else {
		l.add("model", "%s, without weights yet", i.Net)
	}
	l.add("objective", "%s, sigma %s", i.Objective, i.Sigma)
	l.add("loss", "%s", strings.TrimPrefix(lossText(i.Loss), "loss "))
	l.add("data", "%s, %s: %s rows to learn from, %s held out", i.Data.Name, shapeText(i.Data), rowsText(i.Data.Rows), rowsText(i.Data.Held))
	if len(i.Data.Classes) > 0 {
		l.add("classes", "%s", list(i.Data.Classes))
	}
	l.add("transform", "%s; root mean square deviation %.4g after it", i.Transform, i.Data.Std)
	l.add("seed", "%d", i.Seed)
	l.add("computed by", "%s; scorelab %s, GoMLX %s, %s %s", i.Versions.Backend, i.Versions.Scorelab, i.Versions.GoMLX, i.Versions.Go, i.Versions.System)
	if i.Resume != "" {
		l.add("go on", "%s", i.Resume)
	}
	if i.Weights {
		l.add("sample", "%s", i.Sample)
	}
	return l.Builder.String()
}

func rowsText(n int) string {
	if n < 0 {
		return "an unknown number of"
	}
	return fmt.Sprint(n)
}

// String is the evaluation, a line for each number.
func (e *Evaluation) String() string {
	var l lines
	l.add("model", "%s", e.Model)
	l.add("compared with", "%s, %d", e.On, e.Rows)
	if e.Loss != nil {
		l.add("loss", "%s", e.Loss)
	}
	if e.TrainingLoss != nil {
		l.add("  in training", "%s", e.TrainingLoss)
	}
	switch {
	case e.Nats != nil:
		l.add("log p", "%s nats an example", e.Nats)
		l.add("bits/dim", "%s; at noise %v, divergence %s, tolerance %.0e", e.Bits, e.Noise, e.Divergence, e.Tolerance)
	case e.NoLikelihood != "":
		l.add("log p", "none: %s", e.NoLikelihood)
	}
	if e.NoMetrics != "" {
		l.add("metrics", "none: %s", e.NoMetrics)
	}
	if e.MMD != nil {
		l.add("samples", "%d, %s", e.Samples, e.Sampler)
		l.add("mmd²", "%s", e.MMD)
		l.add("energy", "%.3g ± %.1g", e.Energy.Distance, e.Energy.StandardError)
		l.add("sliced W2", "%.3g ± %.1g", e.SlicedW2.Distance, e.SlicedW2.StandardError)
		l.add("means", "largest difference %.1f standard errors, of %s (%d samples)", e.Means.Largest, e.Means.Column, e.Means.Samples)
	}
	switch {
	case e.KSD != nil:
		l.add("ksd²", "%s", e.KSD)
	case e.NoKSD != "":
		l.add("ksd²", "none: %s", e.NoKSD)
	}
	if e.Recognition != nil {
		l.add("recognised", "%s", e.Recognition)
	} else if e.NoRecognition != "" {
		l.add("recognised", "none: %s", e.NoRecognition)
	}
	return l.Builder.String()
}

// String is "0.705 ± 0.01 (1000 examples)".
func (e *Estimate) String() string {
	return fmt.Sprintf("%.4g ± %.2g (%d examples)", e.Mean, e.StandardError, e.Examples)
}

// String is "0.003, p = 0.4 (53 samples, 53 examples)".
func (t *Test) String() string {
	samples := ""
	if t.Samples > 0 {
		samples = fmt.Sprintf("%d samples, ", t.Samples)
	}
	return fmt.Sprintf("%.3g, p = %.3g (%s%d examples)", t.Squared, t.P, samples, t.Examples)
}

// String is "96.2 % ± 0.6 % of 1000 samples, guidance 1 (98 % ± 0.5 % of 900 real examples held back)".
func (r *Recognition) String() string {
	return fmt.Sprintf("%.1f %% ± %.1f %% of %d samples, guidance %v (%.1f %% ± %.1f %% of %d real examples held back)",
		100*r.Share, 100*r.StandardError, r.Samples, r.Guidance, 100*r.Real, 100*r.RealError, r.RealExamples)
}

// SampleResult is what is said of samples to a program.
type SampleResult struct {
	Model   string  `json:"model"`
	Out     string  `json:"out"`
	Samples int     `json:"samples"`
	Shape   []int   `json:"shape"` // of one
	Classes []int   `json:"classes,omitempty"`
	Sampler string  `json:"sampler"`
	Steps   int     `json:"steps"`
	Seconds float64 `json:"seconds"`
}

// Result returns what is said of the samples to a program.
func (d *Drawn) Result(model, out string) SampleResult {
	shape := []int{d.Facts.dim()}
	if d.Facts.Kind == "images" {
		shape = []int{d.Facts.Height, d.Facts.Width, d.Facts.Channels}
	}
	return SampleResult{model, out, d.X.Shape().Dimensions[0], shape, d.Classes, d.Sampler, d.Steps, d.Seconds}
}

// ScoreResult is what is said of scores to a program.
type ScoreResult struct {
	Model  string  `json:"model"`
	Out    string  `json:"out"`
	Points int     `json:"points"`
	Sigma  float64 `json:"sigma"`
}

// Result returns what is said of the scores to a program.
func (s *Scored) Result(model, out string) ScoreResult {
	return ScoreResult{model, out, s.Score.Shape().Dimensions[0], s.Sigma}
}
