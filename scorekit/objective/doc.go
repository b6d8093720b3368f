// Package objective holds the losses of score matching: each is a struct of settings with one method that adds the
// loss of every example to a graph, so that any of them can be minimised over any score, and tried on an exact one.
//
// All losses carry the factor ½ of J = ½E‖s − ∇log p‖², whatever the text they come from does; each type's comment
// says by which factor another form differs. Losses are per example, [batch]; squared norms are sums over all
// dimensions of a point.
//
// Choose by what is known and by the dimension d of a point:
//
//	Explicit             ½‖s − ∇log p‖²                 ∇log p is known; the yardstick for the others
//	Implicit             ½‖s‖² + tr ∂s/∂x               data alone, d small: d reverse passes, no noise of its own
//	ImplicitHutchinson   ½‖s‖² + vᵀ(∂s/∂x)v             data alone, any d: one pass for each v
//	Sliced, SlicedVR     ½(vᵀs)² or ½‖s‖² + vᵀ(∂s/∂x)v  the same by slices; SlicedVR is ImplicitHutchinson
//	Denoising            ½‖s(x + σz) + z/σ‖²            the score of noised data: no second derivatives, any d
//	MultiNoise           Denoising over a range of σ    what a sampler that starts from noise needs
//
// All but the last two have the same minimiser, the score of the data, and their expectations differ by one number for
// all scores; the last two learn the score of the data with noise added.
//
// Files: explicit.go (Explicit), implicit.go (Implicit, ImplicitHutchinson), sliced.go (Sliced, SlicedVR), denoising.go
// (one noise level), multinoise.go (many).
package objective
