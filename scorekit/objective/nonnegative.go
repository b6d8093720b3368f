package objective

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/rows"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/autodiff"
	"github.com/scorekit/lab/scorekit/random"
)

// NonNegative is implicit score matching for data whose coordinates all begin at a left end o, the origin, as those of
// an exponential or a Pareto density do: every coordinate is weighed by its distance from there,
//
//	loss(x) = Σᵢ [ ½ wᵢ² sᵢ² + 2 wᵢ sᵢ + wᵢ² ∂sᵢ/∂xᵢ ],  wᵢ = xᵢ − o
//
// (Hyvärinen 2007, "Some extensions of score matching", §3, for o = 0). The weight is what it takes to integrate by
// parts where p stops with a jump:
//
//	½ E Σᵢ wᵢ² (sᵢ − ∂ᵢ log p)² = E[loss] + ½ E Σᵢ wᵢ² (∂ᵢ log p)²
//
// since −∫ wᵢ² sᵢ ∂ᵢp = ∫ p ∂ᵢ(wᵢ² sᵢ) = ∫ p (2wᵢsᵢ + wᵢ² ∂ᵢsᵢ), with nothing left at the end o, where wᵢ is 0, if wᵢ² sᵢ p
// vanishes far out. There [Implicit] would leave p(o) s(o), which depends on s, and have another minimiser: for the
// score −μ of an exponential density it is 0, whatever the data. Here it is the score of the data. Near o it is learnt
// with little weight.
//
// The origin must be the true left end: for a Pareto density on [x_m, ∞) it is x_m. With the origin 0 the boundary
// term there is x_m² p(x_m) s(x_m), and the minimiser is wrong again. A log transform is another way, with [Implicit]:
// y = ln(x − o) has no left end, and its score t gives s(x) = (t(y) − 1)/(x − o).
//
// An example with a coordinate below the origin has the loss NaN, on purpose: it has no place in these data, and Fit
// stops at such a step with a [scorekit.NonFiniteError].
//
// With Probes = 0 the slopes are exact and take one pass for each of the d numbers of a point, as in
// [Implicit]; with k probes their sum is the mean of vⱼᵀ(∂s/∂x)(w²⊙vⱼ), E[vvᵀ] = I, in k passes. Points of more than 256
// numbers need probes. Rows must not influence one another. The score is given no noise level. x is [batch, dims...].
type NonNegative struct {
	Origin float64        // o, in the units of the data; 0 is Hyvärinen's half-line
	Probes int            // k; 0 means exact
	Kind   autodiff.Probe // distribution of the probes
}

var _ scorekit.Objective = NonNegative{}

// Validate returns an error unless the origin is finite, the number of probes not negative and their kind known.
func (o NonNegative) Validate() error {
	if math.IsNaN(o.Origin) || math.IsInf(o.Origin, 0) {
		return fmt.Errorf("non-negative objective: origin %v: must be finite", o.Origin)
	}
	if o.Probes < 0 {
		return fmt.Errorf("non-negative objective: probes %d: must be positive, or 0 for exact slopes", o.Probes)
	}
	return checkDirections("non-negative objective", "probes", max(1, o.Probes), o.Kind)
}

// Loss adds the loss of each example, [batch].
func (o NonNegative) Loss(vars *mlctx.Context, rng *random.Source, score scorekit.Score, x *Node) *Node {
	const who = "non-negative objective"
	checkPoints(who, x)
	if d := pointSize(x); o.Probes == 0 && d > maxExact {
		panic(fmt.Errorf("%s: points of %d numbers: exact slopes take %d passes, more than the limit of %d: set Probes", who, d, d, maxExact))
	}
	x = differentiable(x)
	s := ask(who, score, vars, x, nil)
	w := graph.StopGradient(graph.AddScalar(x, -o.Origin))
	squared := graph.Square(w)
	var slopes *Node
	if o.Probes == 0 {
		slopes = rows.Sum(graph.Mul(squared, autodiff.Diagonal(s, x)))
	} else {
		slopes = o.estimate(rng, s, x, squared)
	}
	loss := graph.Add(halfSquare(graph.Mul(w, s)), rows.Sum(graph.MulScalar(graph.Mul(w, s), 2)))
	loss = graph.Add(loss, slopes)
	return ofFinite(x, spoilt(graph.LessThan(w, graph.ZerosLike(w)), loss))
}

// estimate is the probes' estimate of Σᵢ wᵢ² ∂sᵢ/∂xᵢ from w².
func (o NonNegative) estimate(rng *random.Source, s, x, squared *Node) *Node {
	v := o.Kind.Draw(rng, o.Probes, x.Shape().Dimensions...)
	return graph.ReduceMean(autodiff.Bilinear(s, x, v, graph.Mul(graph.InsertAxes(squared, 0), v)), 0)
}
