package metric

import (
	"fmt"
	"math"
)

// ByParts holds the terms of the integration by parts that implicit score matching rests on. For the score s_q of a model
// and draws from p with the score s_p,
//
//	½E_p‖s_p − s_q‖² = E_p[½‖s_q‖² + ∇·s_q] + ½E_p‖s_p‖² + boundary
//	    explicit     =       implicit      +  constant  + boundary
//
// (Hyvärinen 2005, theorem 1). boundary = −∮ p s_q·n over the surface of the support, n its outward normal; on a line
// from lo to hi it is p(lo)s_q(lo) − p(hi)s_q(hi). Where p tends to 0 at its ends it is 0. Where p stops with a jump
// (Pareto, exponential, uniform, truncated densities) it is not and changes with q: the least implicit loss is then not
// at s_q = s_p.
//
// It comes in closed form from [Gaussian.ByParts], by quadrature on a line from [Support.ByParts] and from draws in any
// dimension from [ImplicitFisher.ByParts].
type ByParts struct {
	Explicit, Implicit, Constant float64
	Boundary                     BoundaryTerm
}

// BoundaryTerm is the boundary term of [ByParts].
type BoundaryTerm struct {
	Value         float64
	StandardError float64 // from the draws; 0 without draws
	negligible    float64 // what rounding can make of 0
}

// Check returns an error, fit for a warning, if the boundary term is not 0: if it is further from it than 5 standard
// errors, and than rounding explains. Nil from draws means that none is seen.
func (b BoundaryTerm) Check() error {
	if math.Abs(b.Value) <= 5*b.StandardError+b.negligible {
		return nil
	}
	value := fmt.Sprintf("%.4g", b.Value)
	if b.StandardError > 0 {
		value += fmt.Sprintf(" ± %.2g", b.StandardError)
	}
	return fmt.Errorf("metric: integration by parts: the boundary term is %s, not 0: the density does not vanish at an end of its support, and the implicit form of the Fisher divergence lacks this term", value)
}
