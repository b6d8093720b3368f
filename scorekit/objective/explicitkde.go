package objective

import (
	"fmt"
	"slices"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/kde"
	"github.com/scorekit/lab/scorekit/random"
)

// ExplicitKDE is explicit score matching against a kernel density estimate q of the data,
//
//	loss(x) = ½ ‖s(x) − ∇log q(x)‖²,  x ~ q,   q(x) = 1/(M hᵈ) Σₘ K((x − xₘ)/h)
//
// It stands in for ½E_p‖s − ∇log p‖² (Hyvärinen 2005, eq. 2) where only points of p are known, smoothed by a kernel
// (Parzen 1962; Silverman 1986), and ∇log q is the softmax-weighted sum of package kde. "Explicit Score Matching"
// prints 1/h in q and 1/h² in ∇q, as they are for d = 1, and drops the ½ in the second line of its loss: without it
// the loss is twice this. The points are drawn from q where the loss is computed: of the batch x that it is given, only
// the number of rows and their shape count.
//
// With the Gaussian kernel and σ = h it is [Denoising] less one number for all scores (Vincent 2011, sec. 4 and appendix),
//
//	E[Denoising] = E[ExplicitKDE] + C,  C = ½ [d/σ² − E_q‖∇log q‖²]
//
// as −z/σ = ∇log K_h(x − x_J) has the mean ∇log q(x) given x = x_J + σz. ExplicitKDE has the smaller variance and
// costs M kernels for each point.
//
// # Some of the centres
//
// With Centres = m > 0, m of the M centres are drawn for each batch, each as often as its weight says; the points are
// drawn from q_S, the estimate on this set S alone, and the target is ∇log q_S. The minimiser and the expected
// gradient are those of all centres, without bias. For a point comes from a centre x_J, J uniform in S, so that
//
//	∇log q_S(x) = E[∇log K_h(x − x_J) | x, S]    it is the mean over S by the chances of J given x
//	E[∇log q_S(x) | x] = E[∇log K_h(x − x_J) | x] = ∇log q(x)
//
// by the tower property, and because over the draws of S x_J has the law of a centre and x that of q. So with t = ∇log q_S(x)
//
//	½E‖s − t‖² = ½E‖s − ∇log q‖² + ½E‖t − ∇log q‖²
//
// and the last term, which no score changes, falls from the C of [Denoising] for m = 1, where t is the score of one
// kernel, to 0 for all M. (Centres of different weights are drawn with replacement, and then it is 0 only for Centres
// = 0 or m ≥ M, which take them all.) Centres drawn without regard to the points would not do: the mean of a ratio of
// sums is not the ratio of their means, an error of order 1/m, and a point whose own centre is missing is told to go to
// another.
//
// With the kernels that end, kde.Biweight and kde.Triweight, ∇log q grows without bound towards the edge of the last
// kernel, so that the loss has a mean but no variance: its standard error, as EvaluateLoss gives it, tells nothing. The
// gradients have one.
//
// The score is given no noise level.
type ExplicitKDE struct {
	Target  kde.Estimate // the estimate of the data
	Centres int          // how many centres to draw for each batch; 0 for all
}

var _ scorekit.Objective = ExplicitKDE{}

// Validate returns an error if Target is not made by package kde or Centres is negative.
func (e ExplicitKDE) Validate() error {
	if err := e.Target.Validate(); err != nil {
		return fmt.Errorf("explicit KDE objective: target: %w", err)
	}
	if e.Centres < 0 {
		return fmt.Errorf("explicit KDE objective: centres %d: must be at least 1, or 0 for all", e.Centres)
	}
	return nil
}

// Loss adds the loss of as many points as x has rows, [batch]. It panics with an error, as graph functions do, if x has
// not the shape of the estimate's points.
func (e ExplicitKDE) Loss(vars *mlctx.Context, rng *random.Source, score scorekit.Score, x *Node) *Node {
	const who = "explicit KDE objective"
	checkPoints(who, x)
	if shape := e.Target.Shape(); !slices.Equal(x.Shape().Dimensions[1:], shape) {
		panic(fmt.Errorf("%s: points of shape %v for an estimate of points of shape %v: must be [batch, dims...] with the same dims", who, x.Shape().Dimensions, shape))
	}
	var q interface {
		scorekit.Model
		scorekit.Data
	} = e.Target
	if e.Centres > 0 && e.Centres < e.Target.Len() {
		q = e.Target.Subset(vars, rng, e.Centres)
	}
	points := differentiable(q.Batch(vars, rng, x.Shape().Dimensions[0]))
	target := graph.StopGradient(q.Score(vars, points, nil))
	return ofFinite(x, halfSquare(graph.Sub(ask(who, score, vars, points, nil), target)))
}
