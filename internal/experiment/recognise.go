package experiment

import (
	"context"
	"fmt"

	"github.com/gomlx/gomlx/backends"

	"github.com/scorekit/lab/data"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/metric"
)

// Recognition is how many samples that were drawn for a class a small classifier, which has learned from real examples,
// takes for it.
type Recognition struct {
	Share         float64  `json:"share"`
	StandardError float64  `json:"standard_error"`
	Samples       int      `json:"samples"`
	Guidance      float64  `json:"guidance"`
	Real          float64  `json:"real"` // the same share of real examples that the classifier has not seen
	RealError     float64  `json:"real_standard_error"`
	RealExamples  int      `json:"real_examples"`
	Classes       []string `json:"classes"`
	Table         [][]int  `json:"table"` // [class][answer]: samples
}

// The classifier is judged by a share of the real examples, of which no more than so many are read from the disk.
const (
	recognisedHoldOut = 0.2
	learnedFrom       = 10_000
)

// recognition draws samples of all classes in equal numbers and has them recognised by a classifier that learns from real.
func (r *Run) recognition(ctx context.Context, b backends.Backend, real data.Set, e Evaluating, out *Evaluation, progress func(scorekit.Report)) error {
	n, _ := real.Dims()
	seen := map[int]bool{}
	for _, class := range real.Labels {
		seen[class] = true
	}
	if known := r.Fitted.NumClasses(); len(seen) < known || n < 10*known {
		out.NoRecognition = fmt.Sprintf("%d examples of %d of the %d classes to learn from: must be at least 10 for each class, of all of them", n, len(seen), known)
		return nil
	}
	s := DefaultSampling()
	s.Sampler, s.Steps, s.Seed, s.Guidance, s.N, s.Class = e.Sampler, e.Steps, e.Seed, e.Guidance, e.Recognition, "all"
	drawn, err := r.draw(ctx, b, s, progress)
	if err != nil {
		return err
	}
	result, err := metric.Recognition{HoldOut: recognisedHoldOut, Seed: e.Seed}.Test(ctx, b, real.X, real.Labels, drawn.X, drawn.Classes)
	if err != nil {
		return err
	}
	out.Recognition = &Recognition{result.Accuracy, result.StandardError, e.Recognition, e.Guidance,
		result.Real, result.RealError, int(recognisedHoldOut*float64(n) + 0.5), r.Facts.Classes, result.Table}
	return nil
}
