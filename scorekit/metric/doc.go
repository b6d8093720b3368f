// Package metric measures how far two distributions, or two scores, are apart, and how well chains have mixed.
//
// # Which one?
//
// n and m are numbers of points, d their dimension. Where a metric has a standard error, it comes with it.
//
//	question                                        metric                    needs                     cost
//	is this score that of the density?              FisherDivergence          both scores, draws of p   n
//	which of two scores is nearer the data's?       ImplicitFisher.Estimate   draws, ∇·s                n·d, or n·Probes
//	does implicit score matching hold here?         ByParts, Support          p or its support          n
//	are these points draws from this score?         KernelStein               points, score             n²·d
//	the same, at a few places                       FiniteSetStein            points, score             n·places·d
//	are two sets from one distribution?             MMD, Energy               points                    (n+m)²·d
//	could anything tell the sets apart?             ClassifierTest            points                    n·m·d
//	how far is one set from the other?              Wasserstein               points                    n log n for d = 1, n³
//	the same, for many points or dimensions         Sliced, Sliced.Max        points                    n·log n·Projections
//	the same, of means and covariances only         Gaussian.W2               moments                   d³
//	do samples look like the class asked for?       Recognition               labelled points           steps·d
//	are all modes there, and as heavy?              Modes                     points, centres           n·modes·d
//	do chains agree, and what are they worth?       RHat, EffectiveSampleSize draws of chains           n
//
// A distance is a number to compare with others of its kind: on finite sets none but the unbiased U of [Statistic] is
// about 0 where there is no difference. Whether a difference is there is what the methods named Test answer, with a p-value
// that is below 0.05 in at most one case of twenty where there is none: exactly so for MMD, Energy and ClassifierTest, for
// many points for KernelStein. They need independent draws: thin chains first.
//
// What sees a distribution through its score (FisherDivergence, KernelStein) hardly sees how much mass modes far apart
// have, since a score does not tell; MMD, Energy, Wasserstein and Modes do. An RBF kernel sees differences on the scale of
// its bandwidth; the median distance is the one taken. Energy has no bandwidth to choose.
//
// # Time and memory
//
// What takes pairs of points visits them in blocks, on all processors of the host in float64, and stores none: memory
// grows with the number of points. Sums are taken in an order that does not depend on the number of processors. Tests
// add time in proportion to their permutations or draws, and a byte for each of them and each point. A function that takes
// ctx is stopped by it.
//
// Scores are computed on the device, in blocks of at most 4,096 points, too.
//
// # Files
//
//	fisher.go                        Fisher divergence of two scores
//	fisherimplicit.go slopes.go      its implicit form, by exact or Hutchinson divergence
//	byparts.go support.go            explicit = implicit + constant + boundary term, and the warning; on a line, by quadrature
//	boundary.go                      the boundary term from points
//	gaussian.go                      normal distributions in closed form: W2, Fisher divergence
//	stein.go finitestein.go          kernel Stein discrepancy and its test; the same at a finite set of places
//	mmd.go energy.go bandwidth.go    MMD and energy distance and their tests; the median distance
//	statistic.go                     U, V, the standard error and the p-value
//	twosample.go pairs.go            what MMD and Energy share; sums over all pairs of points
//	wasserstein.go quantiles.go      Wasserstein distance of finite sets; on a line
//	units.go                         points in units in which no distance is beyond float64
//	sliced.go maxsliced.go           sliced and max-sliced Wasserstein distance
//	classifier.go                    classifier two-sample test
//	recognition.go                   a small classifier of real examples judges samples of classes
//	modes.go                         mode coverage
//	rhat.go ess.go chains.go         do chains agree, how many independent draws are they worth; what both start from
//	points.go parallel.go            points as rows; work on all processors
package metric
