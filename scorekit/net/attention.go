package net

import (
	"math"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit/autodiff"
)

// attention adds to each pixel what it takes from all of them (Vaswani et al. 2017, eq. 1, with one head; Ho et al. 2020): with the
// pixels n of the normalised image as rows,
//
//	x ← x + softmax(qkᵀ/√channels) v W_o,  q = n W_q,  k = n W_k,  v = n W_v
//
// W_o starts at 0. The work grows as the square of the number of pixels.
func attention(vars *mlctx.Context, x *Node, groups int) *Node {
	d := x.Shape().Dimensions
	batch, pixels, c := d[0], d[1]*d[2], d[3]
	normal := graph.Reshape(groupNorm(vars.In("norm"), x, nil, groups), batch*pixels, c)
	part := func(name string) *Node {
		return graph.Reshape(linear(vars.In(name), normal, c), batch, pixels, c)
	}
	fits := graph.MulScalar(graph.Einsum("bqc,bkc->bqk", part("query"), part("key")), 1/math.Sqrt(float64(c)))
	shares := graph.Exp(graph.Sub(fits, autodiff.StableMax(fits, 2)))
	shares = graph.Div(shares, graph.ReduceAndKeep(shares, graph.ReduceSum, 2))
	taken := graph.Reshape(graph.Einsum("bqk,bkc->bqc", shares, part("value")), batch*pixels, c)
	return graph.Add(x, graph.Reshape(graph.Dot(taken, zeros(vars.In("out"), "weights", x, c, c)), d...))
}
