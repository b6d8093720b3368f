// Package objective holds the losses of score matching: each is a struct of settings with one method that adds the
// loss of every example to a graph, so that any of them can be minimised over any score, and tried on an exact one.
//
// All losses carry the factor ½ of J = ½E‖s − ∇log p‖², whatever the text they come from does; each type's comment
// says by which factor another form differs. Losses are per example, [batch]; squared norms are sums over all
// dimensions of a point. An example with a NaN or Inf in it has the loss NaN, at which training stops.
//
// Choose by what is known and by the dimension d of a point:
//
//	Explicit             ½‖s − ∇log p‖²                 ∇log p is known; the yardstick for the others
//	ExplicitKDE          ½‖s − ∇log q_h‖²               data alone, few and of small d: the score of their kernel density
//	Implicit             ½‖s‖² + tr ∂s/∂x               data alone, d up to 256: d passes, no noise of its own
//	ImplicitHutchinson   ½‖s‖² + vᵀ(∂s/∂x)v             data alone, any d: one pass for each v
//	Sliced, SlicedVR     ½(vᵀs)² or ½‖s‖² + vᵀ(∂s/∂x)v  the same by slices; SlicedVR is ImplicitHutchinson
//	NonNegative          ½‖w⊙s‖² + 2w·s + Σw²∂s/∂x      data that begin with a jump at an end, w the distance from it
//	Denoising            ½‖s(x + σz) + z/σ‖²            the score of noised data: no second derivatives, any d
//	MultiNoise           Denoising over a range of σ    what a sampler that starts from noise needs
//	Contrastive          E(x) − E(x⁻), x⁻ from chains   an energy by its likelihood: also what lies between and beyond the data
//
// Explicit, Implicit, ImplicitHutchinson and the sliced losses have the same minimiser, the score of the data, and their
// expectations differ by one number for all scores; NonNegative has it too, by another weight. ExplicitKDE, Denoising and
// MultiNoise learn the score of the data with noise added. Contrastive is no J and has no ½: its gradient is that of the
// negative log-likelihood, and with one short step from the data that of Implicit times the step.
//
// Files: explicit.go (Explicit), explicitkde.go (ExplicitKDE), implicit.go (Implicit, ImplicitHutchinson), sliced.go
// (Sliced, SlicedVR), nonnegative.go (NonNegative), denoising.go (one noise level), multinoise.go (many), levels.go (which
// they are), contrastive.go (Contrastive), contrastivechains.go (its chains and their buffer), points.go (what all share:
// checks and sums over a point).
package objective
