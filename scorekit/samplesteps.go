package scorekit

import (
	"context"
	"fmt"
	"iter"
	"math"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/tensors"
)

// SampleStep is a sampling run after a block of steps. Its method tells of the run as it is when it is called; call it
// from the loop that was given the step, or after the run.
type SampleStep struct {
	Step  int       // steps done
	Total int       // steps in all
	Row   []float64 // the schedule's numbers of the last step done, in the order of its columns
	run   *chains
}

// X returns a copy of the chains as they are now: [chains, dims...]. It waits for the device. It returns an error after a
// call of the sampler failed.
func (s *SampleStep) X() (*tensors.Tensor, error) {
	return ask(s, "X", func(c *chains) (*tensors.Tensor, error) { return c.state[atX].LocalClone() })
}

// Predicted returns the noiseless points that the chains stand for now, as the sampler takes it: [chains, dims...]. It
// waits for the device. It returns an error for a sampler that is no [Predictor] or [StatePredictor], and after a call of the
// sampler failed.
func (s *SampleStep) Predicted() (*tensors.Tensor, error) {
	return ask(s, "Predicted", func(c *chains) (*tensors.Tensor, error) { return c.predicted(c.step) })
}

// Info returns the sampler's diagnostics, averaged over the steps so far that are past the burn-in; before its end they
// are those of the last step. It waits for the device. It returns an error after a call of the sampler failed.
func (s *SampleStep) Info() (map[string]float64, error) {
	return ask(s, "Info", (*chains).info)
}

// ask returns what f reads from the run.
func ask[T any](s *SampleStep, what string, f func(c *chains) (T, error)) (T, error) {
	var none T
	if s.run == nil {
		return none, errNoRun(what)
	}
	if s.run.state == nil {
		return none, fmt.Errorf("scorekit: %s: the chains were lost when a step failed", what)
	}
	v, err := f(s.run)
	if err != nil {
		return none, fmt.Errorf("scorekit: %s: %w", what, err)
	}
	return v, nil
}

// SampleSteps is [Sample] as an iterator: it runs a block of steps (see [WithUnroll]) each time round the loop and
// yields the state of the chains; with WithUnroll(1) that is each step. An error, a cancelled ctx included, is yielded as
// the last pair.
func SampleSteps(ctx context.Context, backend backends.Backend, model Model, sampler Sampler, n int, options ...SampleOption) iter.Seq2[*SampleStep, error] {
	return func(yield func(*SampleStep, error) bool) {
		c, err := startChains(ctx, backend, model, sampler, n, options)
		if err != nil {
			yield(nil, err)
			return
		}
		defer c.finalize()
		if err := c.run(ctx, func(s *SampleStep) bool { return yield(s, nil) }); err != nil {
			yield(nil, err)
		}
	}
}

const sampleName = "scorekit: Sample"

func startChains(ctx context.Context, backend backends.Backend, model Model, sampler Sampler, n int, options []SampleOption) (c *chains, err error) {
	err = guard(sampleName, func() error {
		c, err = newChains(ctx, backend, model, sampler, n, options)
		return err
	})
	return c, err
}

// run samples to the end, until each returns false, or until something stops it.
func (c *chains) run(ctx context.Context, each func(*SampleStep) bool) error {
	pace := newPacer("sampling", c.report, 0, len(c.schedule.Rows))
	err := c.loop(ctx, pace, each)
	// A divergence that nobody has looked for yet matters more than that the run was stopped.
	if readErr := c.read(); readErr != nil {
		err = readErr
	}
	pace.tell(c.step, math.NaN(), true)
	if err != nil {
		return fmt.Errorf("%s: %w", sampleName, err)
	}
	return nil
}

func (c *chains) loop(ctx context.Context, pace *pacer, each func(*SampleStep) bool) error {
	total := len(c.schedule.Rows)
	for c.step < total {
		if ctx.Err() != nil {
			return fmt.Errorf("stopped after step %d of %d: %w", c.step, total, context.Cause(ctx))
		}
		if err := c.advance(); err != nil {
			return err
		}
		if err := c.arrive(); err != nil {
			return err
		}
		total = len(c.schedule.Rows)
		if pace.due(c.step) {
			if err := c.read(); err != nil {
				return err
			}
			pace.tell(c.step, math.NaN(), false)
		}
		if !each(&SampleStep{Step: c.step, Total: total, Row: c.schedule.Rows[c.step-1], run: c}) {
			return nil
		}
	}
	return nil
}
