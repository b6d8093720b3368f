package scorekit

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"
	"github.com/gomlx/gomlx/pkg/ml/train/optimizers"
)

// Optimizer is [Adam], [AdamW] or [SGD].
type Optimizer interface {
	// rate returns the learning rate of step t = 0, 1, … of n.
	rate(t, n int) float64
	// gomlx returns the GoMLX optimizer that does the update; its learning rate is set from outside at each step.
	gomlx() updater
	// kind returns what gomlx is made from.
	kind() string
	// describe returns what must stay the same when a run is resumed.
	describe() string
}

// updater is what GoMLX's optimizers offer for gradients that are computed already.
type updater interface {
	UpdateGraphWithGradients(vars *mlctx.Context, gradients []*Node, dtype dtypes.DType)
}

// Rate is a learning rate with an optional linear warm-up and an optional cosine decay. At step t = 0, 1, … of n,
//
//	r(t) = Peak · min(1, (t+1)/WarmUp)                          without decay,
//	r(t) = Peak · [f + (1−f)·½(1+cos(π(t−WarmUp)/(n−WarmUp)))]  after the warm-up when Cosine is set, f = Final
//
// (Loshchilov and Hutter 2017, without restarts).
type Rate struct {
	Peak   float64 // at most 1e15; 0 means 1e-3
	WarmUp int     // steps, 0 means none
	Cosine bool
	Final  float64 // share of Peak that is left at the end of the cosine, from 0 to 1
}

// maxRate is far beyond every rate that trains anything, and small enough that no step overflows: a gradient whose norm
// is finite in float32 has a norm below 2·10¹⁹, which moves a weight by less than 2·10³⁴.
const maxRate = 1e15

func (r Rate) peak() float64 {
	if r.Peak == 0 {
		return 1e-3
	}
	return r.Peak
}

func (r Rate) rate(t, n int) float64 {
	if t < r.WarmUp {
		return r.peak() * float64(t+1) / float64(r.WarmUp)
	}
	if !r.Cosine || n <= r.WarmUp {
		return r.peak()
	}
	phase := math.Pi * float64(t-r.WarmUp) / float64(n-r.WarmUp)
	return r.peak() * (r.Final + (1-r.Final)*0.5*(1+math.Cos(phase)))
}

// describe writes the settings out with the defaults filled in.
func (r Rate) describe() string {
	r.Peak = r.peak()
	return fmt.Sprintf("%+v", r)
}

// Validate returns an error naming the setting that is out of range.
func (r Rate) Validate() error {
	switch {
	case !(r.Peak >= 0 && r.Peak <= maxRate):
		return fmt.Errorf("learning rate %v: must be positive and at most %v", r.Peak, maxRate)
	case r.WarmUp < 0:
		return fmt.Errorf("warm-up of %d steps: must not be negative", r.WarmUp)
	case !(r.Final >= 0 && r.Final <= 1):
		return fmt.Errorf("final share %v of the learning rate: must be from 0 to 1", r.Final)
	}
	return nil
}

// Adam is the optimizer of Kingma and Ba (2015) with β₁ = 0.9, β₂ = 0.999 and ε = 10⁻⁸, as GoMLX implements it.
type Adam struct{ Rate }

func (a Adam) gomlx() updater   { return optimizers.Adam().Epsilon(1e-8).Done().(updater) }
func (a Adam) kind() string     { return "adam" }
func (a Adam) describe() string { return "adam " + a.Rate.describe() }

// AdamW is Adam with decoupled weight decay, w ← w − r·λ·w beside Adam's own step (Loshchilov and Hutter 2019).
type AdamW struct {
	Rate
	Decay float64 // λ, at most 1/Peak; 0 means 0.01
}

func (a AdamW) decay() float64 {
	if a.Decay == 0 {
		return 0.01
	}
	return a.Decay
}

func (a AdamW) gomlx() updater {
	return optimizers.Adam().Epsilon(1e-8).WeightDecay(a.decay()).Done().(updater)
}
func (a AdamW) kind() string { return fmt.Sprintf("adamw decay %v", a.decay()) }
func (a AdamW) describe() string {
	return fmt.Sprintf("adamw %s decay %v", a.Rate.describe(), a.decay())
}

// Validate returns an error naming the setting that is out of range.
func (a AdamW) Validate() error {
	if !(a.Decay >= 0) || math.IsInf(a.Decay, 0) {
		return fmt.Errorf("weight decay %v: must be positive and finite", a.Decay)
	}
	if err := a.Rate.Validate(); err != nil {
		return err
	}
	if r := a.peak(); r*a.decay() > 1 { // a step would turn weights over instead of shrinking them
		return fmt.Errorf("weight decay %v at learning rate %v: the product must be at most 1", a.decay(), r)
	}
	return nil
}

// SGD is plain stochastic gradient descent, w ← w − r·g.
type SGD struct{ Rate }

func (s SGD) gomlx() updater {
	return optimizers.StochasticGradientDescent().WithDecay(false).Done().(updater)
}
func (s SGD) kind() string     { return "sgd" }
func (s SGD) describe() string { return "sgd " + s.Rate.describe() }
