package scorekit

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
)

// FitOption changes a setting of [Fit] and [FitSteps].
type FitOption interface{ applyFit(*fitSettings) error }

// SampleOption changes a setting of [Sample] and [SampleSteps].
type SampleOption interface{ applySample(*sampleSettings) error }

// Option changes a setting that [Fit] and [Sample] have in common.
type Option interface {
	FitOption
	SampleOption
}

type fitOption func(*fitSettings) error

func (f fitOption) applyFit(s *fitSettings) error { return f(s) }

type sampleOption func(*sampleSettings) error

func (f sampleOption) applySample(s *sampleSettings) error { return f(s) }

type sharedOption func(*shared) error

func (f sharedOption) applyFit(s *fitSettings) error       { return f(&s.shared) }
func (f sharedOption) applySample(s *sampleSettings) error { return f(&s.shared) }

// shared holds the settings that both verbs have.
type shared struct {
	seed   int64
	dtype  dtypes.DType
	unroll int // 0: chosen by the verb
	report func(Report)
}

// WithSeed sets the seed of all random numbers (default 0). The same seed, backend and version give the same result.
func WithSeed(seed int64) Option {
	return sharedOption(func(s *shared) error { s.seed = seed; return nil })
}

// WithDType sets the float type of weights, data and noise: float32 (default) or float64.
func WithDType(dtype dtypes.DType) Option {
	return sharedOption(func(s *shared) error {
		if dtype != dtypes.Float32 && dtype != dtypes.Float64 {
			return fmt.Errorf("dtype %s: must be Float32 or Float64", dtype)
		}
		s.dtype = dtype
		return nil
	})
}

// WithUnroll sets how many steps one compiled call does (default: chosen from the backend and the number of steps).
// More steps a call spare some overhead but take longer to compile; noise is drawn for a call at once, so that
// another value gives another stream of random numbers.
func WithUnroll(steps int) Option {
	return sharedOption(func(s *shared) error {
		if steps < 1 || steps > 64 {
			return fmt.Errorf("unroll %d: must be from 1 to 64", steps)
		}
		s.unroll = steps
		return nil
	})
}

// WithProgress sets a function that is told how far the work has come, at most a few times a second and once at the
// end. [TerminalProgress] makes one for a terminal.
func WithProgress(report func(Report)) Option {
	return sharedOption(func(s *shared) error { s.report = report; return nil })
}

// fitSettings are the settings of Fit with their defaults.
type fitSettings struct {
	shared
	steps         int
	batch         int
	optimizer     Optimizer
	clipNorm      float64 // 0: off
	ema           float64 // 0: off
	callback      func(*FitStep) error
	checkpointDir string
	checkpointN   int
	resume        bool
	devices       int      // 0: one
	classDropout  *float64 // nil for a model that is not told classes
	metadata      map[string]string
}

// newFitSettings applies options to the defaults.
func newFitSettings(options []FitOption) (*fitSettings, error) {
	s := &fitSettings{
		shared: shared{dtype: dtypes.Float32},
		steps:  1000, batch: 128, optimizer: Adam{}, ema: 0.999,
	}
	for i, o := range options {
		if o == nil {
			return nil, fmt.Errorf("option %d nil: must be made by a function of the form WithX", i)
		}
		if err := o.applyFit(s); err != nil {
			return nil, err
		}
	}
	if v, ok := s.optimizer.(Validator); ok {
		if err := v.Validate(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// WithSteps sets the number of training steps (default 1,000).
func WithSteps(steps int) FitOption {
	return fitOption(func(s *fitSettings) error {
		if steps < 1 {
			return fmt.Errorf("steps %d: must be at least 1", steps)
		}
		s.steps = steps
		return nil
	})
}

// WithBatch sets the number of examples a step (default 128).
func WithBatch(examples int) FitOption {
	return fitOption(func(s *fitSettings) error {
		if examples < 1 {
			return fmt.Errorf("batch of %d: must be at least 1", examples)
		}
		s.batch = examples
		return nil
	})
}

// WithOptimizer sets the optimizer: [Adam] (default), [AdamW] or [SGD].
func WithOptimizer(o Optimizer) FitOption {
	return fitOption(func(s *fitSettings) error {
		if o == nil {
			return fmt.Errorf("optimizer nil: must be Adam, AdamW or SGD")
		}
		s.optimizer = o
		return nil
	})
}

// WithClipNorm scales the gradient g to norm at most limit: g·min(1, limit/‖g‖), ‖g‖ taken over all weights together
// (Pascanu et al. 2013). Off by default.
func WithClipNorm(limit float64) FitOption {
	return fitOption(func(s *fitSettings) error {
		if !(limit > 0) || math.IsInf(limit, 0) {
			return fmt.Errorf("clip norm %v: must be positive and finite", limit)
		}
		s.clipNorm = limit
		return nil
	})
}

// WithEMA sets the decay of the exponential moving average of the weights, kept as a copy of its own beside the
// trained weights and used by the result of [Fit]: w̄ ← δw̄ + (1−δ)w with δ = min(decay, t/(t+9)) at step t = 0, 1, …,
// so that early weights are forgotten. Default 0.999; 0 turns it off.
func WithEMA(decay float64) FitOption {
	return fitOption(func(s *fitSettings) error {
		if !(decay >= 0 && decay < 1) {
			return fmt.Errorf("EMA decay %v: must be at least 0 and below 1", decay)
		}
		s.ema = decay
		return nil
	})
}

// WithCallback sets a function called after every block of steps. An error that it returns stops the training and is
// returned by [Fit]; the checkpoint, if any, is written first.
func WithCallback(f func(*FitStep) error) FitOption {
	return fitOption(func(s *fitSettings) error { s.callback = f; return nil })
}

// WithCheckpoints saves the state of training in dir every so many steps, at the end, and when training is
// cancelled or stopped by an error. The two newest checkpoints are kept. A folder that already holds checkpoints is
// refused unless [WithResume] is given too; one that another run is writing to is refused in any case.
func WithCheckpoints(dir string, every int) FitOption {
	return fitOption(func(s *fitSettings) error {
		if dir == "" {
			return fmt.Errorf("checkpoint folder \"\": must be named")
		}
		if every < 1 {
			return fmt.Errorf("checkpoint every %d steps: must be at least 1", every)
		}
		s.checkpointDir, s.checkpointN = dir, every
		return nil
	})
}

// WithResume goes on from the newest good checkpoint in the folder of [WithCheckpoints], if there is one. The model,
// the data's shape, the objective, the dtype, the batch, the seed, the optimizer, the EMA decay, the clip norm and the
// class dropout must be those it was saved with. With the same number of steps and the same unrolling the weights are in
// the end those of an uninterrupted run, bit for bit on one backend. The number of steps may differ; the rate of a cosine
// then goes on as that of a run with the new number.
func WithResume() FitOption {
	return fitOption(func(s *fitSettings) error { s.resume = true; return nil })
}

// WithMetadata stores a text under a key in every checkpoint, such as how the data were standardised; it is found
// again in [Fitted.Metadata].
func WithMetadata(key, value string) FitOption {
	return fitOption(func(s *fitSettings) error {
		if key == "" {
			return fmt.Errorf("metadata key \"\": must not be empty")
		}
		if s.metadata == nil {
			s.metadata = map[string]string{}
		}
		s.metadata[key] = value
		return nil
	})
}
