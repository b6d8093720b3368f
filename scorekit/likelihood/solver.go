package likelihood

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/numbers"
	"github.com/scorekit/lab/internal/rungekutta"
)

const (
	safety             = 0.9
	shrinks, grows     = 0.2, 5.0
	smallestStep       = 1e-10   // of the whole path
	mostSteps          = 100_000 // of a chunk, rejected ones included
	firstStep          = 0.01    // share of the state that the first step may move it by
	stagesOfAStep  int = 6       // new ones
)

// solver carries states along the ODE on the device.
type solver struct {
	settings    Settings
	dtype       dtypes.DType
	field       *mlctx.Exec // at, c, y₀, k₁ … k₆ [, probes] → y, rate
	norm        *graph.Exec // tolerances, c, y, z, k₁ … k₇ → size
	evaluations int
	steps       int
	rejected    int
}

// solve takes y from the first time to the last, and frees it.
func (s *solver) solve(ctx context.Context, y *tensors.Tensor, probes *tensors.Tensor) (*tensors.Tensor, error) {
	t, last := s.settings.times()
	path := last - t
	start, rate, err := s.stage(t, nil, y, nil, probes)
	if err != nil {
		return nil, err
	}
	if err := free(y); err != nil {
		return nil, err
	}
	y = start
	h, err := s.first(y, rate, path)
	if err != nil {
		return nil, err
	}
	tried := 0
	for t < last {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("stopped at time %.4g of %.4g: %w", t, last, context.Cause(ctx))
		}
		h = min(h, last-t)
		next, k, err := s.step(t, h, y, rate, probes)
		if err != nil {
			return nil, err
		}
		e, err := s.size(scaled(rungekutta.Error[:], h), y, next, k)
		if err != nil {
			return nil, err
		}
		kept, dropped := k[len(k)-1], slices.Clone(k[1:len(k)-1])
		if e <= 1 {
			s.steps++
			dropped = append(dropped, y, rate)
			y, rate = next, kept
			if t += h; last-t < smallestStep*path {
				t = last
			}
		} else {
			s.rejected++
			dropped = append(dropped, next, kept)
		}
		if err := free(dropped...); err != nil {
			return nil, err
		}
		h *= min(grows, max(shrinks, safety*math.Pow(e, -0.2)))
		if tried++; t < last && (h < smallestStep*path || tried == mostSteps) {
			return nil, fmt.Errorf("at time %.6g: after %d steps the next is %.2g: near a point's path the score is not finite or not smooth, or the tolerances, RTol %v and ATol %v, are too small for %s",
				t, tried, h, s.settings.RTol, s.settings.ATol, s.dtype)
		}
	}
	return y, free(rate)
}

// step does the stages of a step of length h and returns its end and all rates.
func (s *solver) step(t, h float64, y, rate, probes *tensors.Tensor) (next *tensors.Tensor, k []*tensors.Tensor, err error) {
	k = []*tensors.Tensor{rate}
	for i := 1; i < len(rungekutta.Nodes); i++ {
		if next != nil { // only the last stage's state is of use
			if err := free(next); err != nil {
				return nil, nil, err
			}
		}
		var now *tensors.Tensor
		if next, now, err = s.stage(t+rungekutta.Nodes[i]*h, scaled(rungekutta.Stages[i], h), y, k, probes); err != nil {
			return nil, nil, err
		}
		k = append(k, now)
	}
	return next, k, nil
}

// stage evaluates the field at time t and y₀ + Σ cⱼ kⱼ, and returns that state and its rate.
func (s *solver) stage(t float64, c []float64, y *tensors.Tensor, k []*tensors.Tensor, probes *tensors.Tensor) (state, rate *tensors.Tensor, err error) {
	s.evaluations++
	factors := make([]float64, stagesOfAStep)
	copy(factors, c)
	args := []any{s.list(process(s.settings.SDE, t)), s.list(factors), y}
	for j := range stagesOfAStep {
		if j < len(k) {
			args = append(args, k[j])
		} else {
			args = append(args, y) // times 0
		}
	}
	if probes != nil {
		args = append(args, probes)
	}
	return s.field.Exec2(args...)
}

// first returns the length of the first step: one that moves the state by a hundredth of its size (Hairer, Nørsett and
// Wanner 1993, section II.4, their first guess).
func (s *solver) first(y, rate *tensors.Tensor, path float64) (float64, error) {
	sizes := make([]float64, 2)
	for i, v := range []*tensors.Tensor{y, rate} {
		all := make([]*tensors.Tensor, len(rungekutta.Nodes))
		for j := range all {
			all[j] = v
		}
		var err error
		if sizes[i], err = s.size([]float64{1, 0, 0, 0, 0, 0, 0}, y, y, all); err != nil {
			return 0, err
		}
	}
	if math.IsInf(sizes[1], 0) {
		return 0, fmt.Errorf("at time %.6g: the score is not finite at a point", s.from())
	}
	h := firstStep * sizes[0] / sizes[1]
	if !(h > 1e-6*path) {
		h = 1e-6 * path
	}
	return min(h, path/10), nil
}

func (s *solver) from() float64 { from, _ := s.settings.times(); return from }

// size is the size of Σ cⱼ kⱼ in units of the tolerances.
func (s *solver) size(c []float64, y, z *tensors.Tensor, k []*tensors.Tensor) (float64, error) {
	args := []any{s.list([]float64{s.settings.ATol, s.settings.RTol}), s.list(c), y, z}
	for _, rate := range k {
		args = append(args, rate)
	}
	out, err := s.norm.Exec1(args...)
	if err != nil {
		return 0, err
	}
	e, err := scalar(out)
	return e, errors.Join(err, free(out))
}

// list puts numbers into the solver's dtype.
func (s *solver) list(values []float64) *tensors.Tensor {
	return numbers.Tensor(values, s.dtype, len(values))
}

// free gives back the device's memory of tensors, for which the garbage collector sees no need.
func free(all ...*tensors.Tensor) error {
	var problems []error
	for _, t := range all {
		problems = append(problems, t.FinalizeAll())
	}
	return errors.Join(problems...)
}

func scaled(c []float64, h float64) []float64 {
	out := make([]float64, len(c))
	for i, v := range c {
		out[i] = h * v
	}
	return out
}
