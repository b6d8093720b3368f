package scorekit

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/gomlx/gomlx/backends"
)

// FitStep is a training run after a block of steps. Its methods tell of the run as it is when they are called; call
// them from the loop or callback that was given the step, or after the run.
type FitStep struct {
	Step  int // steps done
	Total int // steps in all
	run   *training
}

// Stats reads back the loss and gradient norm of every step done so far in this run, oldest first. Reading costs a
// wait for the device: call it now and then, not after every step. The error wraps a [*NonFiniteError] when a step was
// not finite.
func (s *FitStep) Stats() ([]StepStats, error) {
	if s.run == nil {
		return nil, errNoRun("Stats")
	}
	if err := s.run.read(); err != nil {
		return slices.Clone(s.run.history), fmt.Errorf("scorekit: Stats: %w", err)
	}
	return slices.Clone(s.run.history), nil
}

// Fitted returns a copy of the model with the weights as they are now (their moving average, unless it is off). The
// copy is on its own: it may be used in another goroutine while training goes on. Like Stats it waits for the device
// and returns an error that wraps a [*NonFiniteError] when a step was not finite.
func (s *FitStep) Fitted() (*Fitted, error) {
	if s.run == nil {
		return nil, errNoRun("Fitted")
	}
	err := s.run.read()
	if err == nil {
		var f *Fitted
		if f, err = s.run.fitted(); err == nil {
			return f, nil
		}
	}
	return nil, fmt.Errorf("scorekit: Fitted: %w", err)
}

func errNoRun(method string) error {
	return fmt.Errorf("scorekit: %s: step without a run: must come from an iterator or a callback", method)
}

// FitSteps is [Fit] as an iterator: it trains a block of steps (see [WithUnroll]) each time round the loop and yields
// the state of the run. An error, a cancelled ctx included, is yielded as the last pair. Checkpoints are written as
// in Fit; leaving the loop early writes one too.
//
//	for step, err := range scorekit.FitSteps(ctx, backend, model, objective, data) {
//		if err != nil {
//			return err
//		}
//		…
//	}
func FitSteps(ctx context.Context, backend backends.Backend, model Model, objective Objective, data Data, options ...FitOption) iter.Seq2[*FitStep, error] {
	return func(yield func(*FitStep, error) bool) {
		t, err := startTraining(ctx, backend, model, objective, data, options)
		if err != nil {
			yield(nil, err)
			return
		}
		defer t.close()
		if err := t.run(ctx, func(s *FitStep) bool { return yield(s, nil) }); err != nil {
			yield(nil, err)
		}
	}
}

const fitName = "scorekit: Fit"

func startTraining(ctx context.Context, backend backends.Backend, model Model, objective Objective, data Data, options []FitOption) (t *training, err error) {
	err = guard(fitName, func() error {
		t, err = newTraining(ctx, backend, model, objective, data, options)
		return err
	})
	return t, err
}

// run trains to the end, until each returns false, or until something stops it. The checkpoint is written in
// every case in which the weights are good.
func (t *training) run(ctx context.Context, each func(*FitStep) bool) error {
	pace := newPacer("training", t.report, t.step, t.steps)
	stop := t.readAhead(ctx)
	defer stop()
	err := t.loop(ctx, pace, each)
	if readErr := t.read(); err == nil {
		err = readErr
	}
	pace.tell(t.step, t.recentLoss(), true)
	if err = errors.Join(err, t.save()); err != nil {
		return fmt.Errorf("%s: %w", fitName, err)
	}
	return nil
}

func (t *training) loop(ctx context.Context, pace *pacer, each func(*FitStep) bool) error {
	for t.step < t.steps {
		err := context.Cause(ctx)
		if err == nil {
			err = t.advance(ctx)
		}
		if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
			return fmt.Errorf("stopped after step %d of %d: %w", t.step, t.steps, err)
		}
		if err != nil {
			return err
		}
		tell, save := pace.due(t.step), t.store != nil && t.step%t.checkpointN == 0
		if tell || save { // a step that is not finite must not get into a checkpoint
			if err := t.read(); err != nil {
				return err
			}
		}
		if tell {
			pace.tell(t.step, t.recentLoss(), false)
		}
		if save {
			if err := t.save(); err != nil {
				return err
			}
		}
		state := &FitStep{Step: t.step, Total: t.steps, run: t}
		if t.callback != nil {
			if err := t.callback(state); err != nil {
				return fmt.Errorf("callback after step %d: %w", t.step, err)
			}
		}
		if !each(state) {
			return nil
		}
	}
	return nil
}

// recentLoss is the mean loss of the last steps read, NaN before the first.
func (t *training) recentLoss() float64 {
	n := min(len(t.history), 50)
	if n == 0 {
		return math.NaN()
	}
	sum := 0.0
	for _, s := range t.history[len(t.history)-n:] {
		sum += s.Loss
	}
	return sum / float64(n)
}
