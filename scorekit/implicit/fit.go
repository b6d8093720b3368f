package implicit

import (
	"context"
	"fmt"
	"iter"

	"github.com/gomlx/gomlx/backends"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/given"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/random"
)

// Training is [ReverseKL] or [Adversarial].
type Training interface {
	scorekit.Validator
	// parts returns the generator, the law or nil, and the data.
	parts() (Generator, Law, scorekit.Data)
	// loss adds the steps of the networks that follow the generator and the loss of its own step, [batch].
	loss(vars *mlctx.Context, rng *random.Source, x *Node) *Node
}

// Fit trains a generator by [scorekit.Fit], with all of its options: progress, callbacks, checkpoints, resuming, the
// moving average of the weights. A step is one of the generator; the steps of the critic and of the learnt score, as many
// as their settings say, come before it in the same compiled call, on fresh points. Their learning rates are their own;
// WithOptimizer, WithClipNorm and the gradient norm that is reported are the generator's, but the weight decay of AdamW,
// which reaches all weights. Such steps are long, so that one is done a call (see [scorekit.WithUnroll]).
//
// The result is the trained [Model]: a score, that of the generator's law where it is learnt. [Draws] makes points with it.
// Where a moving average is taken (see [scorekit.WithEMA]) it is one of the learnt score, too.
//
// A run is resumed only with the settings of how that it was saved with; as for any objective, those that hold a set of
// examples, a function or a trained target are told by their type alone.
//
// It returns an error as scorekit.Fit does. A loss that is not finite, of whichever network, ends the training with a
// [scorekit.NonFiniteError]; the weights of the generator are then those of the step before.
func Fit(ctx context.Context, backend backends.Backend, how Training, options ...scorekit.FitOption) (*scorekit.Fitted, error) {
	job, err := newJob(how)
	if err != nil {
		return nil, fmt.Errorf("implicit: Fit: %w", err)
	}
	return scorekit.Fit(ctx, backend, job.model, job, job.data, withDefaults(options)...)
}

// FitSteps is [Fit] as an iterator: see [scorekit.FitSteps].
func FitSteps(ctx context.Context, backend backends.Backend, how Training, options ...scorekit.FitOption) iter.Seq2[*scorekit.FitStep, error] {
	job, err := newJob(how)
	if err != nil {
		return func(yield func(*scorekit.FitStep, error) bool) { yield(nil, fmt.Errorf("implicit: FitSteps: %w", err)) }
	}
	return scorekit.FitSteps(ctx, backend, job.model, job, job.data, withDefaults(options)...)
}

// withDefaults puts the options after those that differ from scorekit's own.
func withDefaults(options []scorekit.FitOption) []scorekit.FitOption {
	return append([]scorekit.FitOption{scorekit.WithUnroll(1)}, options...)
}

// job is a Training in the form that scorekit.Fit takes. The objective is not for use elsewhere: its loss trains networks.
type job struct {
	Training
	model Model
	data  scorekit.Data
}

func newJob(how Training) (job, error) {
	if given.Missing(how) {
		return job{}, fmt.Errorf("training nil: must be ReverseKL or Adversarial")
	}
	if err := how.Validate(); err != nil {
		return job{}, err
	}
	generator, law, data := how.parts()
	j := job{how, Model{Generator: generator}, data}
	if law != nil {
		j.model.Network = law.network()
	}
	return j, nil
}

// Loss makes a job an objective. The score that it is given is the model's own, which a Training asks for by itself.
func (j job) Loss(vars *mlctx.Context, rng *random.Source, _ scorekit.Score, x *Node) *Node {
	return j.loss(vars, rng, x)
}
