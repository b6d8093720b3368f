// Package kde estimates a density from points by putting a kernel on each of them:
//
//	q(x) = 1/(M hᵈ) Σₘ K((x − xₘ)/h)
//
// Here it is the score that is wanted of it, ∇log q(x) = Σₘ rₘ(x) ∇log K((x − xₘ)/h), rₘ the share of the kernel m in the
// sum: it is known in closed form, so that an estimate is a target that scores can be learned from where only points are
// known (objective.ExplicitKDE), the best denoiser of a set of points, and a yardstick for both. An [Estimate] is at once
//
//   - a [scorekit.Model]: Score, for the Gaussian kernel also of q convolved with noise of a level for each point;
//   - a [scorekit.Data]: Batch draws from q inside the graph, exactly, for every kernel;
//   - a density: LogDensity is normalised.
//
// Inside a graph all of them take chunks of centres, at most 64: the table of pairs of the N points and a chunk's centres
// has 2²⁰ numbers, and from N·M = 2²⁶ on N·M/64 of them (times d where differences are taken in more than 64 coordinates).
// Beyond that use [Estimate.LogDensityAt] and [Estimate.ScoreAt], which take points held in memory: they put blocks of
// points against blocks of centres, in tables of one size however many there are, with progress and cancellation; what they compile
// is kept for the next call. In training, [Estimate.Subset] takes some of the centres. The cost is M kernels for each point, and the error falls slowly
// with M as d grows, like M^{−4/(d+4)} at best (Silverman 1986, sec. 4.3): beyond a handful of dimensions an estimate
// describes its points rather than the density they come from.
//
// # Kernel and bandwidth
//
// The kernel hardly matters for the density, but its score differs: [Gaussian] pulls in proportion to the distance,
// [Logistic] and [Sech2] at most with a constant, [Biweight] and [Triweight] not at all from beyond one bandwidth, where
// the score is given as 0. The bandwidth matters: give a number, a rule, or [LeaveOneOut]. Rules of one name differ
// between libraries; [Bandwidth] lists which is whose.
//
// # Precision
//
// Sums of kernels are taken through their logarithms, less the largest; those of points held in memory that are near some centre
// directly, without the centres that are too far away to change a digit. Where at points held in memory few of the centres of a Gaussian
// estimate in 8 dimensions or more count, on CPUs, these are found by matrix products in float32 and added up in float64. All the
// others together are at most 2⁻³⁰ of the sum, 2⁻⁶⁰ for points in float64, with the rounding of the products allowed for: that is what a
// log-density may be too small by, and a score is off by no more than that, in units of 1/h, times the largest distance of two centres
// in units of h. Constants take the dtype of the points. Points
// more than 10¹⁸ bandwidths away in float32 (10¹⁵³ in float64) are taken for that far: log-densities stay finite and
// scores point back. For the Gaussian kernel distances come from matrix products, where d makes that faster and no digit
// that matters is lost, and else from differences.
//
// # Files
//
// estimate.go ([Estimate], [New]), kernel.go ([Kernel]), bandwidth.go (the rules), leaveoneout.go (the likelihood and its
// maximum), graph.go (LogDensity and Score), sums.go (sums over centres in chunks), draws.go (Batch, [Subset]), at.go
// (points held in memory), near.go (those of them near some centre), few.go and groups.go (those at which few centres count),
// kept.go (what is kept between calls).
//
// # Sources
//
//   - E. Parzen, On estimation of a probability density function and mode, Annals of Mathematical Statistics 33 (1962).
//   - B. W. Silverman, Density estimation for statistics and data analysis, Chapman and Hall (1986).
//   - P. Vincent, A connection between score matching and denoising autoencoders, Neural Computation 23 (2011).
package kde
