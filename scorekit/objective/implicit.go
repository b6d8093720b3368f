package objective

import (
	"fmt"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/autodiff"
	"github.com/scorekit/lab/scorekit/random"
)

// Implicit is implicit score matching with the exact trace of the Jacobian,
//
//	loss(x) = ½ ‖s(x)‖² + tr ∂s/∂x
//
// (Hyvärinen 2005, eq. 4). Integration by parts turns the cross term of ½E_p‖s − ∇log p‖² into the trace, so that the
// unknown ∇log p is left only in a number that no score changes:
//
//	½ E_p‖s − ∇log p‖² = E_p[loss] + ½ E_p‖∇log p‖²
//
// This needs p·s to vanish at the ends of the space. Where p stops with a jump (an exponential, Pareto or uniform
// density) it does not, and the minimiser is another function: see [NonNegative]. The minimum, −½E_p‖∇log p‖², is
// negative. On a finite set of points a flexible score can make the trace at them as negative as it likes: the loss then
// falls without end.
//
// For the score s = −∇E of a [scorekit.Energy] it is
//
//	½ ‖∇E‖² − ΔE = Σᵢ [ ½ (∂E/∂xᵢ)² − ∂²E/∂xᵢ² ]
//
// E[‖s‖² + 2∇·s] ("Lecture 02: Score Matching", eq. 9) is twice this. The sum over all coordinates is part of it; the
// derivation in "Score Matching", §3, drops it in some lines. The first line of the integration by parts in "Stein score
// and energy-based models" has (∂E/∂xᵢ − ∂²E/∂xᵢ²)², which is wrong: the second derivative is not squared and enters with a
// minus sign for an energy.
//
// The trace takes one pass for each of the d numbers of a point, all sharing the pass that made the score (see
// [autodiff.Divergence]); outside networks of dense layers the graph, and compiling it, grows with d too. Points of more
// numbers than MaxDim are refused: for large d take
// [ImplicitHutchinson] or [Sliced]. The memory of a training step grows with batch·d (see [autodiff.Divergence]). Rows
// must not influence one another (see [autodiff.RowCoupling]). The score is given no noise level. x is [batch, dims...].
type Implicit struct {
	MaxDim int // the largest d that is accepted; 0 means 256
}

var _ scorekit.Objective = Implicit{}

// maxExact is the number of passes up to which exact slopes are taken without being asked: where they are reverse ones, XLA
// needs about half a minute to compile that many.
const maxExact = 256

// Validate returns an error if MaxDim is negative.
func (o Implicit) Validate() error {
	if o.MaxDim < 0 {
		return fmt.Errorf("implicit objective: max dim %d: must be positive, or 0 for %d", o.MaxDim, maxExact)
	}
	return nil
}

// Loss adds the loss of each example, [batch]. It panics with an error, as graph functions do, if a point has more
// numbers than MaxDim.
func (o Implicit) Loss(vars *mlctx.Context, _ *random.Source, score scorekit.Score, x *Node) *Node {
	const who = "implicit objective"
	checkPoints(who, x)
	limit := o.MaxDim
	if limit == 0 {
		limit = maxExact
	}
	if d := pointSize(x); d > limit {
		panic(fmt.Errorf("%s: points of %d numbers: the exact trace takes %d passes, more than the limit of %d: use ImplicitHutchinson or Sliced, or raise MaxDim",
			who, d, d, limit))
	}
	x = differentiable(x)
	s := ask(who, score, vars, x, nil)
	return ofFinite(x, graph.Add(halfSquare(s), autodiff.Divergence(s, x)))
}

// ImplicitHutchinson is [Implicit] with Hutchinson's estimate of the trace (Hutchinson 1990),
//
//	loss(x) = ½ ‖s(x)‖² + (1/k) Σⱼ vⱼᵀ (∂s/∂x) vⱼ,  E[vvᵀ] = I
//
// with k probes drawn anew for each example. Its mean over the probes is the loss of [Implicit], for every score, so
// that both have the same minimiser. It takes k passes sharing the one that made the score, whatever the dimension. Its
// variance depends on the symmetric part of ∂s/∂x and on the kind of probe (see [autodiff.Probe]), and falls as 1/k;
// see [ImplicitHutchinson.LossAndVariance].
//
// Rows must not influence one another. The score is given no noise level. x is [batch, dims...].
type ImplicitHutchinson struct {
	Probes int            // k, at least 1
	Kind   autodiff.Probe // distribution of the probes
}

var _ scorekit.Objective = ImplicitHutchinson{}

// Validate returns an error unless there is a probe and its kind is known.
func (h ImplicitHutchinson) Validate() error {
	return checkDirections("implicit Hutchinson objective", "probes", h.Probes, h.Kind)
}

// Loss adds the loss of each example, [batch].
func (h ImplicitHutchinson) Loss(vars *mlctx.Context, rng *random.Source, score scorekit.Score, x *Node) *Node {
	return h.named("implicit Hutchinson objective", vars, rng, score, x)
}

// named is Loss for an objective of that name.
func (h ImplicitHutchinson) named(who string, vars *mlctx.Context, rng *random.Source, score scorekit.Score, x *Node) *Node {
	checkPoints(who, x)
	x = differentiable(x)
	s := ask(who, score, vars, x, nil)
	trace := autodiff.Hutchinson(rng, s, x, h.Probes, h.Kind)
	return ofFinite(x, graph.Add(halfSquare(s), trace))
}

// LossAndVariance adds the loss of each example and an unbiased estimate of its variance over the probes, both
// [batch]: with tⱼ = vⱼᵀ(∂s/∂x)vⱼ and their mean t̄,
//
//	variance(x) = 1/(k(k−1)) Σⱼ (tⱼ − t̄)²
//
// It is what the probes alone add to the spread of the loss at x; the mean over a batch of n examples has the variance
// mean(variance)/n from them. It panics with an error, as graph functions do, with fewer than 2 probes.
func (h ImplicitHutchinson) LossAndVariance(vars *mlctx.Context, rng *random.Source, score scorekit.Score, x *Node) (loss, variance *Node) {
	const who = "implicit Hutchinson objective"
	if h.Probes < 2 {
		panic(fmt.Errorf("%s: LossAndVariance: probes %d: must be at least 2", who, h.Probes))
	}
	checkPoints(who, x)
	x = differentiable(x)
	s := ask(who, score, vars, x, nil)
	each := autodiff.HutchinsonProbes(rng, s, x, h.Probes, h.Kind)
	mean := graph.ReduceMean(each, 0)
	squares := graph.ReduceSum(graph.Square(graph.Sub(each, graph.InsertAxes(mean, 0))), 0)
	k := float64(h.Probes)
	return ofFinite(x, graph.Add(halfSquare(s), mean)), ofFinite(x, graph.DivScalar(squares, k*(k-1)))
}

// checkDirections returns an error unless there is at least one random direction, of a known kind.
func checkDirections(who, what string, n int, kind autodiff.Probe) error {
	if n < 1 {
		return fmt.Errorf("%s: %s %d: must be at least 1", who, what, n)
	}
	if kind != autodiff.Rademacher && kind != autodiff.Gaussian && kind != autodiff.Sphere {
		return fmt.Errorf("%s: kind %d: must be Rademacher, Gaussian or Sphere", who, int(kind))
	}
	return nil
}
