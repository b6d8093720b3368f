package autodiff

import (
	"github.com/gomlx/gomlx/pkg/core/graph"
)

// StableMax adds the maximum over the axes (all of them if none is given) to the graph, to be subtracted before
// an exponential. The axes keep size 1, so that it broadcasts against x. No gradient passes through it, because what it
// stabilises does not depend on it; an infinite maximum is given as 0, so that x − StableMax(x) is never Inf − Inf.
func StableMax(x *Node, axes ...int) *Node {
	m := graph.StopGradient(graph.ReduceAndKeep(graph.StopGradient(x), graph.ReduceMax, axes...))
	return graph.StopGradient(graph.Where(graph.IsFinite(m), m, graph.ZerosLike(m)))
}

// LogSumExp adds log Σ eˣ over the axes (all of them if none is given) to the graph; the axes are removed, as
// ReduceSum removes them. It is finite for whatever finite x, however far from 0. An x of −Inf counts as probability
// zero and gets no gradient; if all are −Inf the result is −Inf and its gradient zero. An x of +Inf gives +Inf, whose
// gradient does not exist (NaN).
func LogSumExp(x *Node, axes ...int) *Node {
	m := StableMax(x, axes...)
	sum := graph.ReduceAndKeep(graph.Exp(graph.Sub(x, m)), graph.ReduceSum, axes...)
	// Of an empty sum the logarithm's gradient would be 1/0: it is taken of 1 and put aside.
	empty := graph.Equal(sum, graph.ZerosLike(sum))
	log := graph.Add(graph.Log(graph.Where(empty, graph.OnesLike(sum), sum)), m)
	log = graph.Where(empty, graph.Infinity(x.Graph(), x.DType(), -1), log)
	return graph.Reshape(log, graph.ReduceSum(graph.StopGradient(x), axes...).Shape().Dimensions...)
}
