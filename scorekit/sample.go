package scorekit

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"
)

// sampleSettings are the settings of Sample.
type sampleSettings struct {
	shared
	start   any     // starting points; nil: drawn
	spread  float64 // standard deviation of drawn ones; 0: the sampler's own
	shape   []int   // of one point
	predict bool
	burnIn  int
	thin    int
	keep    int
	limit   float64
	vars    *mlctx.Context
}

// WithStart sets the starting points of the chains: a tensor [chains, dims...], or rows as for [Examples].
func WithStart(points any) SampleOption {
	return sampleOption(func(s *sampleSettings) error {
		if points == nil {
			return fmt.Errorf("start nil: must be points")
		}
		s.start = points
		return nil
	})
}

// WithStartNormal starts the chains at draws from N(0, std²I), in place of the sampler's own choice. It excludes
// [WithStart].
func WithStartNormal(std float64) SampleOption {
	return sampleOption(func(s *sampleSettings) error {
		if !(std > 0) || math.IsInf(std, 0) {
			return fmt.Errorf("starting standard deviation %v: must be positive and finite", std)
		}
		s.spread = std
		return nil
	})
}

// WithShape sets the dimensions of one point, for a model that does not know them.
func WithShape(dims ...int) SampleOption {
	return sampleOption(func(s *sampleSettings) error {
		if len(dims) == 0 {
			return fmt.Errorf("shape []: must have at least one dimension")
		}
		for _, d := range dims {
			if d < 1 {
				return fmt.Errorf("shape %v: every dimension must be at least 1", dims)
			}
		}
		s.shape = dims
		return nil
	})
}

// WithBurnIn leaves the first steps out of the draws kept by [WithThinning] and out of the means of [Draws.Info]
// (default 0).
func WithBurnIn(steps int) SampleOption {
	return sampleOption(func(s *sampleSettings) error {
		if steps < 0 {
			return fmt.Errorf("burn-in of %d steps: must not be negative", steps)
		}
		s.burnIn = steps
		return nil
	})
}

// WithThinning keeps the chains after every so many steps past the burn-in, as [Draws.Kept]; there must be that many
// steps. Without it only the end of the chains is returned.
func WithThinning(every int) SampleOption {
	return sampleOption(func(s *sampleSettings) error {
		if every < 1 {
			return fmt.Errorf("thinning %d: must be at least 1", every)
		}
		s.thin = every
		return nil
	})
}

// WithTrajectory keeps the chains at the start, after every so many steps and at the end, as [Draws.Trajectory].
func WithTrajectory(every int) SampleOption {
	return sampleOption(func(s *sampleSettings) error {
		if every < 1 {
			return fmt.Errorf("trajectory every %d steps: must be at least 1", every)
		}
		s.keep = every
		return nil
	})
}

// WithPredictions adds to what is kept the noiseless points that the sampler takes the chains to stand for, as
// [Snapshot.Predicted] and [Draws.Predicted]. The sampler must be a [Predictor] or a
// [StatePredictor].
func WithPredictions() SampleOption {
	return sampleOption(func(s *sampleSettings) error { s.predict = true; return nil })
}

// WithLimit sets the largest |x| that a chain may reach before the run is stopped as diverged (default 10¹²).
func WithLimit(largest float64) SampleOption {
	return sampleOption(func(s *sampleSettings) error {
		if !(largest > 0) || largest > math.MaxFloat32 {
			return fmt.Errorf("limit %v: must be positive and at most %v", largest, math.MaxFloat32)
		}
		s.limit = largest
		return nil
	})
}

// WithVars gives the context with the weights of a user's own model. A [Fitted] model brings its own.
func WithVars(vars *mlctx.Context) SampleOption {
	return sampleOption(func(s *sampleSettings) error { s.vars = vars; return nil })
}

// Snapshot is the chains at one step.
type Snapshot struct {
	Step int             // steps done, 0 for the start
	Row  []float64       // the schedule's numbers of the last step done; nil for the start
	X    *tensors.Tensor // [chains, dims...]

	// Predicted is the noiseless points that X stands for, with [WithPredictions]: [chains, dims...]; nil for the start.
	Predicted *tensors.Tensor
}

// Draws is the result of [Sample].
type Draws struct {
	X          *tensors.Tensor    // the chains at the end: [chains, dims...]
	Predicted  *tensors.Tensor    // the noiseless points that X stands for, with WithPredictions
	Kept       []Snapshot         // after the burn-in, every so many steps, with WithThinning
	Trajectory []Snapshot         // from start to end, every so many steps, with WithTrajectory
	Columns    []string           // what the numbers of a Row are
	Info       map[string]float64 // the sampler's diagnostics, averaged over the steps past the burn-in (and before a divergence)
	Largest    float64            // the largest |x| at the end
}

// Sample runs n chains of sampler on the score of model and returns where they end.
//
// The chains start at draws from N(0, I), at the sampler's own choice if it is a [Starter], or as [WithStart] or
// [WithStartNormal] say. Several steps run in one compiled call; the random numbers are drawn on the device. ctx
// stops it between two calls.
//
// It returns an error for impossible settings (named, with what is allowed), for a model whose weights are missing or
// whose output does not have the shape of its input, a [*DivergedError] when a chain runs away, and an error that
// wraps ctx's cause when it was stopped. In the last two cases the result is not nil and holds the last good state.
func Sample(ctx context.Context, backend backends.Backend, model Model, sampler Sampler, n int, options ...SampleOption) (*Draws, error) {
	c, err := startChains(ctx, backend, model, sampler, n, options)
	if err != nil {
		return nil, err
	}
	defer c.finalize()
	d := &Draws{Columns: c.schedule.Columns}
	snap := func(list *[]Snapshot, step int) error {
		x, err := c.state[atX].LocalClone()
		if err != nil {
			return fmt.Errorf("%s: %w", sampleName, err)
		}
		var row []float64
		if step > 0 {
			row = c.schedule.Rows[step-1]
		}
		s := Snapshot{Step: step, Row: row, X: x}
		if c.predict {
			if s.Predicted, err = c.predicted(step); err != nil {
				return fmt.Errorf("%s: %w", sampleName, err)
			}
		}
		*list = append(*list, s)
		return nil
	}
	if c.keep > 0 {
		if err := snap(&d.Trajectory, 0); err != nil {
			return nil, err
		}
	}
	var inner error
	err = c.run(ctx, func(s *SampleStep) bool {
		if c.keep > 0 && (s.Step%c.keep == 0 || s.Step == s.Total) {
			inner = snap(&d.Trajectory, s.Step)
		}
		if past := s.Step - c.burnIn; c.thin > 0 && past > 0 && past%c.thin == 0 && inner == nil {
			inner = snap(&d.Kept, s.Step)
		}
		return inner == nil
	})
	if inner != nil {
		return nil, inner
	}
	if c.state == nil { // a step failed: there is nothing to return
		return nil, err
	}
	// Between a divergence and its discovery the chains stood still.
	after := func(s Snapshot) bool { return s.Step > c.step }
	d.Trajectory, d.Kept = slices.DeleteFunc(d.Trajectory, after), slices.DeleteFunc(d.Kept, after)
	if finishErr := c.finish(d); err == nil {
		err = finishErr
	}
	return d, err
}

// finish reads the end of the chains and the diagnostics.
func (c *chains) finish(d *Draws) error {
	var err error
	if d.X, err = c.state[atX].LocalClone(); err != nil {
		return fmt.Errorf("%s: %w", sampleName, err)
	}
	watch, err := floats(c.state[atWatch])
	if err != nil {
		return fmt.Errorf("%s: %w", sampleName, err)
	}
	d.Largest = watch[2]
	if d.Info, err = c.info(); err != nil {
		return fmt.Errorf("%s: %w", sampleName, err)
	}
	if c.predict {
		if d.Predicted, err = c.predicted(c.step); err != nil {
			return fmt.Errorf("%s: %w", sampleName, err)
		}
	}
	return nil
}
