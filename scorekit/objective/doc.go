// Package objective holds the losses of score matching: each is a struct of settings with one method that adds the
// loss of every example to a graph, so that any of them can be minimised over any score, and tried on an exact one.
//
// All losses carry the factor ½ of J = ½E‖s − ∇log p‖², whatever the text they come from does; each type's comment
// says by which factor another form differs. Losses are per example, [batch]; squared norms are sums over all
// dimensions of a point.
//
// Files: denoising.go (one noise level), multinoise.go (many).
package objective
