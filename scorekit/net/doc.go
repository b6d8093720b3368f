// Package net holds networks and other models with weights, as plain structs of settings: scores, and energies whose
// score is s = −∇E. Each is registered with scorekit, so that a checkpoint carries its description and
// [scorekit.Load] rebuilds it.
//
// Choose by what is to be learnt. Those whose names begin with Noise, and Preconditioned, need a noise level σ, which
// objective.Denoising, objective.MultiNoise and the samplers that run over many levels give; the others ignore it.
//
//	Linear            s = Ax + b                      the closed-form optimum: a check of data, objective, settings
//	Quadratic         E = ½xᵀPx − bᵀx                 the same, with the symmetry that a score has
//	MixtureEnergy     E, one noise level              a normalised density, read off as weights, means and deviations
//	MLP               s, one noise level              the first to try; any objective
//	ResidualMLP       s, one noise level              deeper than three or four layers
//	EnergyMLP         E, one noise level              where E itself, or a symmetric ∂s/∂x, is wanted; more work a step
//	ConvEnergy        E, one noise level              images of any size, by what neighbouring pixels say
//	NoiseMLP          s, many noise levels            sampling from noise
//	NoiseResidualMLP  s, many noise levels            the same, deeper
//	NoiseEnergyMLP    E, many noise levels            the same, as an energy
//	UNet              s, many noise levels, classes   images; what is far apart in them too
//	ResidualConv      s, many noise levels, classes   small images, textures
//	Preconditioned    s, many noise levels            a network of your own, given inputs and targets of size one
//	Fourier           input of any of the MLPs        scores that change fast along few coordinates
//
// Every objective trains an energy as it trains a score. The networks for one noise level want data of size one,
// standardised if need be; those for many are told the size, as DataStd, and a mixture as Spread.
//
// UNet and ResidualConv can be told a class (scorekit.Conditional). Two cores train the usual UNet on 28×28 images in
// some half an hour on XLA; on pure Go it would take more than a day.
//
// Weights start as N(0, 1/fan-in), biases at zero, and so do Linear and Quadratic; a mixture's means start spread out, and the
// last convolution of a UNet or ResidualConv and of each of their blocks starts at zero.
// Points are [batch, dims...], flattened on the way in, except for images, [batch, height, width, channels], which ConvEnergy,
// UNet and ResidualConv take at any size.
// All matrices are rank 2, for which the gradient rule of scorekit/autodiff is a matrix product; all activations, and
// convolutions by that package's rule, can be differentiated as often as a second-order loss needs, which with an
// energy is three times.
//
// Files: linear.go, quadratic.go, mixtureenergy.go, mlp.go, energymlp.go, convenergy.go, residual.go (one noise level);
// noisemlp.go, noiseenergymlp.go, preconditioned.go (many); unet.go, residualconv.go (images at many); fourier.go (features of
// the point), level.go (of the noise level), class.go (of level and class); layer.go, image.go, imageblock.go, groupnorm.go,
// resample.go, attention.go (what they are made of); doubled.go (a convolution on the way up, for networks of your own).
package net
