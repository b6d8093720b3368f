// Package data holds data sets to learn a distribution from, and what is done with data before and after.
//
// Sets. The toy sets have few, visible settings, so that a method's failure can be seen and measured:
//
//   - [Ring], [Grid], [Clusters]: Gaussians around a circle, on a grid, in many dimensions (are all modes found, in the
//     right shares?);
//   - [Correlated]: one Gaussian, narrow in some directions and wide in others (are unequal scales followed?);
//   - [TwoMoons], [Circles], [SwissRoll], [Spirals], [Pinwheel], [SCurve]: noisy curves, and a bent band in space (is a
//     thin, bent support followed?);
//   - [Checkerboard]: uniform on the dark squares (are sharp edges and many separate parts kept?).
//
// Each is a struct whose zero value is the usual set; [Toys] lists them by name. Sample draws a [Set] on the host; Batch
// draws fresh examples inside a training graph, which makes every toy set a [scorekit.Data]. Density, where there is one,
// is the exact distribution as one of package density, with its score at any noise level; Checkerboard has its
// LogDensity. [Digits], [MNIST] and [Wine] are real data, built into the program. A person's own files are opened by
// [Open].
//
// A [Set] is split, shuffled and made training data of: rows by Examples, images by ImageExamples. [Flips] mirrors
// images in the training graph.
//
// Transforms. [Standardizer], [Whitener], [MinMax] and [Logit] change the columns to what is easier to learn, and back;
// [Dequantizer] makes continuous data of levels, such as pixels. A [Pipeline] is all that was done, in order: it makes
// the training data, is saved with the model, brings samples back to the units of the data, and log-densities, too.
//
//	p, err := data.Pipeline{
//		Dequantize: data.Dequantizer{Levels: set.Levels},
//		Transforms: data.Chain{data.MinMax{Low: -1, High: 1, Joint: true}},
//	}.FitSet(ctx, set)
//
// Files: set.go (Set), flip.go; digits.go, mnist.go, wine.go and README.md (where the embedded files come from); toy.go
// (Toy, Toys), one file for each toy set, named for it, and curve.go (densities of noisy curves); transform.go
// (Transform, Chain), standardize.go, whiten.go, minmax.go, logit.go, with moments.go and products.go for what is taken
// from rows in one pass; levels.go, dequantize.go, pipeline.go; open.go (Open) and openoptions.go, file.go (File) with
// labels.go, columns.go, passes.go and shuffle.go, and one file for each format: csv.go, npy.go, npz.go and array.go,
// idx.go, parquet.go, images.go and picture.go.
package data
