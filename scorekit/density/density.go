// Package density holds distributions whose score is known exactly, as GoMLX graph functions.
//
// A score network approximates ∇ₓ log p of data whose p nobody knows. To see whether an objective, a sampler or a
// metric is right, use data whose p is known. Every type here is a [Density], which is at the same time
//
//   - a [scorekit.Model]: Score is the exact ∇ₓ log p(x), written out rather than differentiated;
//   - an energy, E(x) with p ∝ e^{−E}, and a log-density that is normalised;
//   - a [scorekit.Data]: Batch draws from it inside the graph, so that training on it never waits for the host.
//
// A score does not know how p is scaled: that of 1000·p is the same. So Score and Energy need no normalising constant,
// and the shapes used as tests of samplers are here even where theirs is unknown:
//
//	type            dims  what it is good for                          log p      draws       noised score
//	Gaussian        any   closed forms of everything                   yes        yes         yes
//	Mixture         any   several modes                                yes        yes         yes
//	Product         any   independent blocks of any of these           if all do  if all do   if all do
//	StudentT        any   heavy tails, any ν > 0                       yes        yes, table  no
//	Laplace         any   a kink: the score jumps                      yes        yes         no
//	Logistic        any   the score is bounded and smooth              yes        yes         no
//	Exponential     any   a boundary, where p is largest               yes        yes         no
//	Pareto          any   a boundary and a heavy tail                  yes        yes         no
//	Banana          ≥ 2   a curved valley                              yes        yes         no
//	Rosenbrock      ≥ 2   a narrow curved valley                       2 dims     2 dims      no
//	Funnel          ≥ 2   scales that differ by orders of magnitude    yes        yes         no
//	Ring            any   mass on a sphere, none inside                yes        yes, table  no
//	VonMisesRing    2     a ring with one side heavier                 yes        yes, table  no
//	DoubleWell      any   2^d modes, coupled or not                    uncoupled  uncoupled,  no
//	                                                                              table
//
// What is not known panics, as graph functions do, with an error that says so; [scorekit.Sample] draws from the score
// alone. "Noised score" is that of p convolved with N(0, σ²I), for a noise level σ of each point; it is what denoising
// score matching learns. "Table" means that a number with a one-dimensional density is drawn by a table of its
// quantiles, computed on the host and interpolated: draws are off by less than 10⁻⁸ of a standard deviation, which is
// below the rounding of float32, but for the one in two million that lands farthest out or in a gap, off by up to
// 2·10⁻⁷. All other draws are exact to rounding.
//
// Points are [batch, d]; log-densities are natural logarithms, [batch]. Constants take the float dtype of the points:
// float32 keeps about 6 digits and float64 about 14, also for points 10⁶ standard deviations away and for modes far
// narrower than the distance between them. Score is finite wherever the dtype can hold it, and where p has no
// derivative (a kink, the centre of a ring, outside the support) it is a finite number that the type's documentation
// gives. Beyond about 10¹⁸ standard deviations the squared distance overflows float32, and beyond about 10⁹ the
// fourth powers of Rosenbrock, Banana and DoubleWell do. Covariances that are not diagonal are applied by matrix
// products, which a GPU may carry out with fewer digits than float32 has; ask for float64 where that matters.
//
// Constructors check their arguments and return an error; the values they return are immutable, small and may be
// used from several goroutines. Mean and Cov are exact; they are nil where they do not exist.
//
// Files: density.go ([Density]), one for each type, named for it; covariance.go (principal axes), quantiles.go (draws
// by table), line.go (integrals of a one-dimensional density), arguments.go and graph.go (checks and pieces of graph
// that they share).
package density

import "github.com/scorekit/lab/scorekit"

// Density is a distribution of points in d dimensions. Every type of this package is one; a type of your own with
// these methods can be a factor of a [Product].
type Density interface {
	// Score adds ∇ log p(x) to the graph of x, [batch, d]. vars is not used.
	scorekit.Model
	// Batch adds draws to the graph, [n, d].
	scorekit.Data
	// Validate returns an error for a zero value.
	scorekit.Validator
	// Dim returns d.
	Dim() int
	// Energy adds E(x), [batch], to the graph of x, [batch, d]: p ∝ e^{−E}.
	Energy(x *Node) *Node
	// LogDensity adds log p(x), [batch], to the graph of x, [batch, d]. It panics where the normalising constant is
	// not known.
	LogDensity(x *Node) *Node
}
