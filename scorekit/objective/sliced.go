package objective

import (
	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/rows"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/autodiff"
	"github.com/scorekit/lab/scorekit/random"
)

// Sliced is sliced score matching: the scores are compared along random directions only,
//
//	loss(x) = (1/m) Σⱼ [ vⱼᵀ (∂s/∂x) vⱼ + ½ (vⱼᵀs(x))² ]
//
// with m projections v drawn anew for each example (Song, Garg, Shi and Ermon 2019, "Sliced score matching", §3). All
// kinds of projection have E[vvᵀ] = I, so that the mean over them is the loss of [Implicit], for every score; in one
// dimension ±1 projections give it exactly. It takes m passes sharing the one that made the score, whatever the
// dimension. The variance comes from both terms; [SlicedVR] has that of the first alone.
//
// The forms with 2vᵀ(∂s/∂x)v + (vᵀs)² are twice this. A form without the Jacobian, E[2vᵀs + (vᵀs)²], is sometimes
// printed ("Lecture 02: Score Matching", eq. 10); it is wrong: its mean over v is ‖s‖², which s = 0 minimises whatever
// the data.
//
// Rows must not influence one another. The score is given no noise level. x is [batch, dims...].
type Sliced struct {
	Projections int            // m, at least 1
	Kind        autodiff.Probe // distribution of the projections
}

var _ scorekit.Objective = Sliced{}

// Validate returns an error unless there is a projection and its kind is known.
func (o Sliced) Validate() error {
	return checkDirections("sliced objective", "projections", o.Projections, o.Kind)
}

// Loss adds the loss of each example, [batch].
func (o Sliced) Loss(vars *mlctx.Context, rng *random.Source, score scorekit.Score, x *Node) *Node {
	const who = "sliced objective"
	checkPoints(who, x)
	dims := x.Shape().Dimensions
	x = differentiable(x)
	s := ask(who, score, vars, x, nil)
	all := o.Kind.Draw(rng, o.Projections, dims...)
	slopes := autodiff.Bilinear(s, x, all, all)
	terms := make([]*Node, o.Projections)
	for j := range terms {
		v := graph.Reshape(graph.Slice(all, graph.AxisElem(j)), dims...)
		slope := graph.Reshape(graph.Slice(slopes, graph.AxisElem(j)), dims[0])
		along := rows.Sum(graph.Mul(v, s))
		terms[j] = graph.Add(slope, graph.MulScalar(graph.Square(along), 0.5))
	}
	return ofFinite(x, graph.ReduceMean(graph.Stack(terms, 0), 0))
}

// SlicedVR is [Sliced] with reduced variance: E[(vᵀs)²] = ‖s‖² is put in instead of estimated,
//
//	loss(x) = ½ ‖s(x)‖² + (1/m) Σⱼ vⱼᵀ (∂s/∂x) vⱼ,  E[vvᵀ] = I
//
// (Song, Garg, Shi and Ermon 2019, §3). It needs E[vvᵀ] = I, which every kind of projection here has. It is the loss of
// [ImplicitHutchinson] by the name that it has in that paper: with as many probes and the same draws it is the same
// number. The form 2vᵀ(∂s/∂x)v + ‖s‖² is twice this.
type SlicedVR struct {
	Projections int            // m, at least 1
	Kind        autodiff.Probe // distribution of the projections
}

var _ scorekit.Objective = SlicedVR{}

// Validate returns an error unless there is a projection and its kind is known.
func (o SlicedVR) Validate() error {
	return checkDirections("sliced VR objective", "projections", o.Projections, o.Kind)
}

// Loss adds the loss of each example, [batch].
func (o SlicedVR) Loss(vars *mlctx.Context, rng *random.Source, score scorekit.Score, x *Node) *Node {
	return ImplicitHutchinson{Probes: o.Projections, Kind: o.Kind}.named("sliced VR objective", vars, rng, score, x)
}
