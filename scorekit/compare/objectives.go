package compare

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/metric"
)

// Study is what the objectives are compared on.
type Study struct {
	Model scorekit.Model // the network, trained afresh by every objective
	Data  scorekit.Data
	// Truth is the score that should come out, such as the density that the data are drawn from; nil where nobody
	// knows it.
	Truth scorekit.Model
	// Sigma is the noise level that both scores are judged at, on data noised with it: s(x̃, σ) against the truth's
	// ∇log p_σ(x̃). 0 judges s(x) against ∇log p(x) on the data as they are, which counts the bias of a denoising
	// objective against it.
	Sigma    float64
	Examples int // fresh examples that the losses and divergences are averaged over; 0 means 4,096
}

// Result is what became of one objective.
type Result struct {
	Name      string
	Steps     int            // training steps
	Loss      float64        // mean of the objective over fresh examples, for the trained score
	LossError float64        // its standard error
	Fisher    *metric.Fisher // divergence of the trained score from the truth; nil without one
	StepTime  time.Duration  // mean wall-clock time of a step after the first call; 0 if there was one call only
	Compile   time.Duration  // time of the first call, compiling included
	Fitted    *scorekit.Fitted
}

// Table is the outcome of [Objectives], in the order of the entries.
type Table []Result

// Objectives trains study's model once with each objective, from the same initial weights and on the same stream of
// examples, and returns what came out. The options are those of [scorekit.Fit].
//
// It returns an error for missing or impossible settings, and the error of the first objective that fails, by name,
// with the results of those before it; a cancelled ctx is one.
func Objectives(ctx context.Context, backend backends.Backend, study Study, entries []Entry, options ...scorekit.FitOption) (Table, error) {
	if err := study.check(entries); err != nil {
		return nil, fmt.Errorf("compare: Objectives: %w", err)
	}
	if study.Examples == 0 {
		study.Examples = 4096
	}
	points, err := study.points(ctx, backend)
	if err != nil {
		return nil, fmt.Errorf("compare: Objectives: truth: %w", err)
	}
	var table Table
	for _, e := range entries {
		r, err := study.run(ctx, backend, e, points, options)
		if err != nil {
			return table, fmt.Errorf("compare: Objectives: %s: %w", e.Name, err)
		}
		table = append(table, r)
	}
	return table, nil
}

func (s Study) check(entries []Entry) error {
	if s.Model == nil || s.Data == nil {
		return fmt.Errorf("model %T, data %T: both must be given", s.Model, s.Data)
	}
	if !(s.Sigma >= 0) || math.IsInf(s.Sigma, 0) {
		return fmt.Errorf("sigma %v: must be finite and not negative", s.Sigma)
	}
	if s.Examples < 0 || s.Examples == 1 {
		return fmt.Errorf("%d examples: must be at least 2, or 0 for 4,096", s.Examples)
	}
	return checkEntries(entries)
}

// level is the noise level that scores are given: none for 0.
func (s Study) level() []float64 {
	if s.Sigma == 0 {
		return nil
	}
	return []float64{s.Sigma}
}

// Seeds of the fresh examples; training has its own, from its options.
const (
	lossSeed  = 1_000_003
	pointSeed = 1_000_033
)

// run trains with one objective and judges the score at points, which are nil where the truth is not known.
func (s Study) run(ctx context.Context, backend backends.Backend, e Entry, points any, options []scorekit.FitOption) (Result, error) {
	t, err := train(ctx, backend, s.Model, e, s.Data, options)
	if err != nil {
		return Result{}, err
	}
	r := Result{Name: e.Name, Steps: t.steps, StepTime: t.step, Compile: t.compile, Fitted: t.fitted}
	if r.Loss, r.LossError, err = scorekit.EvaluateLoss(ctx, backend, t.fitted, e.Objective, s.Data, s.Examples, lossSeed); err != nil {
		return Result{}, err
	}
	if points == nil {
		return r, nil
	}
	f, err := metric.FisherDivergence(ctx, backend, s.Truth, t.fitted, points, s.level()...)
	if err != nil {
		return Result{}, err
	}
	r.Fisher = &f
	return r, nil
}

// points draws what the scores are judged at; nil where the truth is not known. It asks the truth for its score there, so
// that it is not found to have none after hours of training.
func (s Study) points(ctx context.Context, backend backends.Backend) (any, error) {
	if s.Truth == nil {
		return nil, nil
	}
	x, err := scorekit.Draw(ctx, backend, s.Data, s.Examples, pointSeed)
	if err == nil && s.Sigma > 0 {
		err = s.noise(x)
	}
	if err == nil {
		_, err = scorekit.Evaluate(ctx, backend, s.Truth, x, s.level()...)
	}
	return x, err
}

// noise adds noise of the level to points.
func (s Study) noise(x *tensors.Tensor) error {
	rng := rand.New(rand.NewPCG(pointSeed, 0))
	var noised error
	err := x.MutableFlatData(func(flat any) {
		values, ok := flat.([]float32)
		if !ok {
			noised = fmt.Errorf("examples of type %T: must be float32", flat)
		}
		for i := range values {
			values[i] += float32(s.Sigma * rng.NormFloat64())
		}
	})
	if err == nil {
		err = noised
	}
	return err
}
