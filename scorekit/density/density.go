// Package density holds distributions whose log-density and score are known exactly, as GoMLX graph functions.
//
// A score network approximates ∇ₓ log p of data whose p nobody knows. To see whether an objective, a sampler or a
// metric is right, use data whose p is known: every type here is at the same time
//
//   - a [scorekit.Model]: Score gives the exact ∇ₓ log p(x), and with a noise level σ for each point the exact score of
//     p convolved with N(0, σ²I), which is what denoising score matching learns;
//   - a [scorekit.Data]: Batch draws exact samples inside the graph, so that training on it never waits for the host;
//   - a density: LogDensity and LogDensityNoised are normalised, Mean and Cov are exact.
//
// Points are [batch, d]; log-densities are natural logarithms, [batch]. Constants take the float dtype of the points:
// float32 keeps about 6 digits and float64 about 14, also for points 10⁶ standard deviations away and for modes far
// narrower than the distance between them. Beyond about 10¹⁸ standard deviations the squared distance overflows
// float32. Covariances that are not diagonal are applied by matrix products, which a GPU may carry out with fewer
// digits than float32 has; ask for float64 where that matters.
//
// Constructors check their arguments and return an error; the values they return are immutable, small and may be
// used from several goroutines.
//
// Files: gaussian.go ([Gaussian]), covariance.go (its principal axes), mixture.go ([Mixture]), graph.go (checks and
// constants shared by both).
package density
