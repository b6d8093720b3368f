// Package data holds data sets to learn a distribution from.
//
// The toy sets live in the plane and have few, visible settings, so that a method's failure can be seen and measured:
//
//   - [Ring]: Gaussians around a circle (are all modes found, in the right shares?);
//   - [TwoMoons], [SwissRoll]: noisy curves (is a thin, bent support followed?);
//   - [Checkerboard]: uniform on the dark squares (are sharp edges and many separate parts kept?).
//
// Each is a struct whose zero value is the usual set. Sample draws a [Set] on the host; Batch draws fresh examples
// inside a training graph, which makes every toy set a [scorekit.Data]. Density, where there is one, is the exact
// distribution as a [density.Mixture], with its score at any noise level; Checkerboard has its LogDensity.
//
// [Digits] is a small set of real images, built into the program. A [Set]'s X is what [scorekit.Examples] makes
// training data of. [Standardizer] brings columns to mean 0 and standard deviation 1 and back.
//
// Files: set.go (Set), standardize.go (Standardizer), digits.go; ring.go, moons.go, swissroll.go, checkerboard.go
// with toy.go and curve.go for what they share; README.md (where the embedded files come from).
package data
