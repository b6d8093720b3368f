package scorekit

import (
	"fmt"
	"math"
)

// DivergedError says that a chain left the region of finite, sensible numbers.
type DivergedError struct {
	Step     int     // the step at which it happened, counted from 1
	Largest  float64 // the largest |x| after that step; +Inf when a value was Inf or NaN
	Before   float64 // the largest |x| before it
	Limit    float64 // the largest |x| allowed
	StepSize float64 // the number in the column "step" of the schedule's row of that step, not the setting; 0 if it has none
}

// Suggested returns a step size to try in place of StepSize, or 0 if that is 0.
//
// Near a linear score of slope −L a step of size h multiplies x by 1 − hL. Beyond h = 2/L that is less than −1, and |x|
// grows by g = hL − 1 a step: from the growth at the step that failed, the largest stable step is 2/L = 2h/(1 + g). A
// tenth of it is suggested: it makes the variance of the unadjusted Langevin chain at rest, v/(1 − hL/2), 1/0.9 times
// the right one in the steepest direction. Growth that is unknown, because x was not finite, or beyond 100 is not that of
// a linear score near the target and tells nothing of the slope there; then it is a tenth of h.
//
// For underdamped dynamics the bound is 2h√g/(1 + g), so that the suggestion is shorter than it need be.
//
// StepSize need not be the number that the sampler was set up with, which may mean another one (the α of a Langevin sampler,
// 2ε) or change along the schedule (an annealed one's): scale the setting by Suggested()/StepSize.
func (e *DivergedError) Suggested() float64 {
	stable := e.StepSize
	if g := e.Largest / e.Before; g > 1 && g <= 100 {
		stable *= 2 / (1 + g)
	}
	return stable / 10
}

// Error names the step, the largest |x| at it and before it, and by how much to shorten the setting of the step. Chains that
// were not finite before the step that is named began so: because of their starting points, or because the sampler made them
// NaN where their score or log p is no number; chains that did not grow in it are large by nature and need [WithLimit].
func (e *DivergedError) Error() string {
	advice := "a look at the score there may help"
	switch {
	case math.IsInf(e.Before, 1) || math.IsNaN(e.Before):
		advice = "the chains began so: look at the starting points, and at the score and any log p or energy there"
	case e.Largest <= e.Before:
		advice = "the chains do not grow: let them be that large by WithLimit"
	case e.StepSize > 0 && !math.IsInf(e.StepSize, 0):
		advice = fmt.Sprintf("shorten the step to 1/%.0f of its setting, or look at the score", e.StepSize/e.Suggested())
	}
	return fmt.Sprintf("diverged at step %d: the largest |x| is %.4g, after %.4g at the step before: must stay below %.4g (%s)",
		e.Step, e.Largest, e.Before, e.Limit, advice)
}
