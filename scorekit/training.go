package scorekit

import (
	"context"
	"fmt"
	"math"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/purego"
	"github.com/scorekit/lab/scorekit/random"
)

// Scopes of a training context. Only what is in the first three is saved in checkpoints.
const (
	modelScope = "model" // weights
	emaScope   = "ema"   // their moving average
	stateScope = "state" // random state
	dataScope  = "data"  // examples on the device
	guardScope = "guard" // the flag that freezes the weights after a non-finite step

	randomName = "random" // of the random state
)

// training is one run of Fit.
type training struct {
	*fitSettings
	backend   backends.Backend
	model     Model
	objective Objective
	data      Data
	vars      *mlctx.Context // weights and all else that the steps change
	stepper   *stepper
	store     *store  // nil without checkpoints
	labels    int     // classes of a model that is told those of its examples, 0 for any other
	feeder    *feeder // reads ahead what a stream is fed, while a run is under way; nil for other data
	step      int     // steps done
	pending   []block
	history   []StepStats
	saved     int   // the step of the last checkpoint written, or tried to be, or read
	failed    error // set when a step was not finite
}

// block is the outcome of one call, left on the device until somebody reads it.
type block struct {
	first int // its first step
	stats *tensors.Tensor
}

// StepStats is what is known of one training step.
type StepStats struct {
	Step         int     // counted from 1
	Loss         float64 // mean over the batch
	GradientNorm float64 // over all weights together, before clipping
}

// newTraining checks everything that can be checked before work begins.
func newTraining(ctx context.Context, backend backends.Backend, model Model, objective Objective, data Data, options []FitOption) (*training, error) {
	settings, err := newFitSettings(options)
	if err != nil {
		return nil, err
	}
	if err := given(argument{"ctx", ctx}, argument{"backend", backend}, argument{"model", model}, argument{"objective", objective}, argument{"data", data}); err != nil {
		return nil, err
	}
	if _, ok := model.(*Fitted); ok {
		return nil, fmt.Errorf("model *scorekit.Fitted: training begins from fresh weights: give its Model()")
	}
	if _, ok := model.(wrapped); ok {
		return nil, fmt.Errorf("model %T: it changes the score of a trained model: give its Model", model)
	}
	if err := validate(model, objective, data); err != nil {
		return nil, err
	}
	if v, ok := objective.(PointsValidator); ok {
		if in, ok := data.(interface{ held() *tensors.Tensor }); ok {
			if err := v.ValidatePoints(in.held()); err != nil {
				return nil, err
			}
		}
	}
	labels, err := labelsFor(model, data)
	if err != nil {
		return nil, err
	}
	switch p := defaultClassDropout; {
	case labels > 0 && settings.classDropout == nil:
		settings.classDropout = &p
	case labels == 0 && settings.classDropout != nil:
		return nil, fmt.Errorf("class dropout %v for a model %T without classes: must not be given", *settings.classDropout, model)
	}
	if err := checkDevices(backend, settings.devices, settings.batch); err != nil {
		return nil, err
	}
	if settings.resume && settings.checkpointDir == "" {
		return nil, fmt.Errorf("WithResume without WithCheckpoints: there is no folder to resume from")
	}
	if settings.unroll == 0 {
		settings.unroll = defaultUnroll(backend, data.Shape(), settings.steps, settings.checkpointN)
	}
	t := &training{fitSettings: settings, backend: backend, model: model, objective: objective, data: data, labels: labels}
	if _, err := t.header(); err != nil { // a model that cannot be described would be lost after the training
		return nil, err
	}
	ready := false
	defer func() { // also when a model panics
		if !ready {
			t.close()
		}
	}()
	if err := t.prepare(); err != nil {
		return nil, err
	}
	ready = true
	return t, nil
}

// close gives back what the run holds besides its weights.
func (t *training) close() {
	if t.stepper != nil {
		t.vars = t.stepper.release()
	}
	if t.store != nil {
		t.store.close()
	}
}

// defaultUnroll weighs what XLA needs to compile each unrolled step, a second or more and some 25 MB, against what it saves: each
// call waits for its end, and allocates what it needs. With 4 steps a call instead of 1, training the small networks of bench/ was
// 10 to 35 % faster, with 8 instead of 4 at most 3 %. Networks for images, [height, width, channels], take longest to compile.
// every is the distance of checkpoints, 0 for none.
func defaultUnroll(backend backends.Backend, shape []int, steps, every int) int {
	if purego.Is(backend) || steps < 400 || len(shape) == 3 && steps < 1500 {
		return 1
	}
	return blockLength(5, steps, every)
}

// prepare makes the context, fresh or from a checkpoint, and the steps, or takes both from an earlier run.
func (t *training) prepare() error {
	t.vars = mlctx.New().Checked(false)
	if err := t.vars.SetRNGStateFromSeed(t.seed); err != nil {
		return err
	}
	seed, err := random.Seed(t.seed)
	if err != nil {
		return err
	}
	if t.checkpointDir != "" {
		if t.store, err = openStore(t.checkpointDir); err != nil {
			return err
		}
		if err := t.restore(); err != nil {
			return err
		}
	}
	steps := stepGraph{
		model: t.model, objective: t.objective, data: t.data, optimizer: t.optimizer, dtype: t.dtype, batch: t.batch,
		labels: t.labels, dropout: t.classDropout, clipNorm: t.clipNorm, average: t.ema > 0,
	}
	recipe, keep := steps.recipe(t.backend)
	keep = keep && t.step == 0 && t.devices <= 1
	if keep {
		if kept, ok := keptSteps.Take(recipe); ok {
			t.stepper, t.vars = kept, kept.vars
			return kept.restart(t.seed, seed, t.data)
		}
	}
	t.vars.In(stateScope).VariableWithValue(randomName, seed).SetTrainable(false)
	t.vars.In(guardScope).VariableWithValue("ok", true).SetTrainable(false)
	t.stepper, err = newStepper(t.backend, t.vars, steps, t.devices)
	if err != nil {
		return err
	}
	t.stepper.recipe, t.stepper.keep = recipe, keep
	return nil
}

// end returns the last step of the block that starts after step: blocks end at multiples of the unrolling, at
// checkpoints and at the last step, wherever a run was interrupted, so that a resumed run draws the same numbers.
func (t *training) end(step int) int {
	end := min(step-step%t.unroll+t.unroll, t.steps)
	if t.store != nil {
		end = min(end, step-step%t.checkpointN+t.checkpointN)
	}
	return end
}

// readAhead begins to read what a stream is to give from here to the end of the run, if the data are one.
func (t *training) readAhead(ctx context.Context) (stop func()) {
	s, ok := streamOf(t.data)
	if !ok {
		return func() {}
	}
	t.feeder = startFeeder(ctx, order{
		source: s.source, shape: s.shape, dtype: t.dtype, seed: t.seed, batch: t.batch, classes: t.labels,
		first: t.step, end: t.end, last: t.steps,
	})
	return t.feeder.close
}

// advance runs one block of steps.
func (t *training) advance(ctx context.Context) error {
	end := t.end(t.step)
	flat := make([]float64, 0, 2*(end-t.step))
	for s := t.step; s < end; s++ {
		flat = append(flat, t.optimizer.rate(s, t.steps), math.Min(t.ema, float64(s)/float64(s+9)))
	}
	numbers, err := convert(tensors.FromFlatDataAndDimensions(flat, end-t.step, 2), t.dtype)
	if err != nil {
		return err
	}
	var fed []*tensors.Tensor
	if t.feeder != nil {
		if fed, err = t.feeder.next(ctx); err != nil {
			return err
		}
	}
	args, err := t.stepper.spread.arguments(t.backend, numbers, fed)
	if err != nil {
		return err
	}
	var stats *tensors.Tensor
	err = catch(func() (err error) {
		stats, err = t.stepper.run(args)
		return err
	})
	if err != nil {
		return err
	}
	t.pending = append(t.pending, block{t.step, stats})
	t.step = end
	return nil
}

// read fetches the statistics of the blocks run since the last read and finds the first step that was not finite.
func (t *training) read() error {
	for _, b := range t.pending {
		flat, err := floats(b.stats)
		if err != nil {
			return err
		}
		if err := b.stats.FinalizeAll(); err != nil {
			return err
		}
		for i := 0; i+1 < len(flat) && t.failed == nil; i += 2 {
			s := StepStats{Step: b.first + i/2 + 1, Loss: flat[i], GradientNorm: flat[i+1]}
			if !finite(s.Loss) || !finite(s.GradientNorm) {
				t.failed = &NonFiniteError{s}
				t.step = s.Step - 1
				break
			}
			t.history = append(t.history, s)
		}
	}
	t.pending = t.pending[:0]
	return t.failed
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// NonFiniteError says that the loss or its gradient was NaN or Inf at a step. The weights are those after the step
// before it.
type NonFiniteError struct{ StepStats }

// Error names the step, the loss and the gradient norm.
func (e *NonFiniteError) Error() string {
	kept := "no step was good"
	if e.Step > 1 {
		kept = fmt.Sprintf("the weights of step %d are kept", e.Step-1)
	}
	return fmt.Sprintf("step %d: loss %v with gradient norm %v: both must be finite; %s (look for examples that are not finite, or that the objective has no loss for; else a smaller learning rate, WithClipNorm, or standardised data may help)",
		e.Step, e.Loss, e.GradientNorm, kept)
}
