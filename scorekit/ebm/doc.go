// Package ebm works with energies: densities that are known but for a constant,
//
//	p(x) = e^{−E(x)} / Z,   Z = ∫ e^{−E(x)} dx,   s(x) = ∇ₓ log p(x) = −∇ₓE(x)
//
// Energies are trained by any objective of package objective, through their score or, by objective.Contrastive, through E
// itself, and sampled from by any sampler; a [scorekit.Energy] and the energy networks of package net are models like
// others. What their score cannot tell, because Z drops out of it, is how probable a point is. That is found here:
//
//	LogPartition        log Z on a line or in the plane, by quadrature
//	AnnealedImportance  log Z in any dimension, by annealed importance sampling, with its standard error
//	LogDensity          log p(x) = −E(x) − log Z
//	Limit               contrastive divergence beside score matching, as its step goes to 0
//
// # Logarithms
//
// e^{−E} overflows float64 at E < −709 and is 0 at E > 746, and an energy is free to be there: it may have any constant
// added to it. Z is then +∞ or 0, and log(e^{−E}/Z) NaN, for a density that is as good as any other. So everything here
// is in logarithms, and only differences from the largest are exponentiated:
//
//	log Σᵢ wᵢ e^{aᵢ} = m + log Σᵢ wᵢ e^{aᵢ − m},   m = max aᵢ
//
// The Example does both.
//
// # Learning an energy
//
// Which objective for which energy is a matter of what is to be right. Score matching (objective.Implicit, Sliced,
// Denoising) compares slopes where there are data, and knows nothing of elsewhere: how deep the energy is between and
// beyond the data, and how the masses of modes compare that no data connect, is left open. Contrastive divergence
// with chains that begin at the data (Hinton 2002) looks as far as its chains go. Persistent chains (Tieleman 2008; Du
// and Mordatch 2019) find what is deep anywhere, at the price of a gradient that is biased while they lag behind.
// The first becomes score matching as the step goes to 0 (Hyvärinen 2007): see [Limit], which shows it in
// numbers. The derivation in "Stein score and energy-based models" stops at (∂E/∂xᵢ − ∂²E/∂xᵢ²)² in its first line of the
// integration by parts; it must be ½(∂E/∂xᵢ)² − ∂²E/∂xᵢ², which is what Limit compares with.
//
// Nothing makes e^{−E} of a network integrable: outside the data its energy is whatever its layers make of it. A term
// that grows, such as ½‖x‖²/v with v a few times the variance of the data, does, and leaves the network to learn the rest:
//
//	mlp := net.EnergyMLP{Hidden: []int{64, 64}}
//	energy := scorekit.Energy(func(vars *mlctx.Context, x, sigma *Node) *Node {
//		return graph.Add(mlp.Energy(vars, x, sigma), graph.MulScalar(graph.ReduceSum(graph.Square(x), 1), 0.5/v))
//	})
//
// # Files
//
// quadrature.go ([LogPartition]), annealed.go ([AnnealedImportance]), logdensity.go ([LogDensity]), limit.go ([Limit]),
// energy.go (the energy of a model, on the device), logsumexp.go (sums of numbers known by their logarithms).
//
// # Sources
//
//   - G. E. Hinton, Training products of experts by minimizing contrastive divergence, Neural Computation 14 (2002).
//   - A. Hyvärinen, Connections between score matching, contrastive divergence, and pseudolikelihood for continuous-valued
//     variables, IEEE Transactions on Neural Networks 18 (2007).
//   - T. Tieleman, Training restricted Boltzmann machines using approximations to the likelihood gradient, ICML (2008).
//   - Y. Du and I. Mordatch, Implicit generation and modeling with energy-based models, NeurIPS (2019).
//   - R. M. Neal, Annealed importance sampling, Statistics and Computing 11 (2001).
package ebm
