package likelihood

import (
	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/autodiff"
	"github.com/scorekit/lab/scorekit/random"
	"github.com/scorekit/lab/scorekit/sde"
)

// Node is a GoMLX graph node.
type Node = graph.Node

// The solver's state is one row a point: the d numbers of the point, then the integral of the divergence, once, or once for
// each probe. The process at a time is four numbers on the host, in float64: Mean, Std, f and ½g².

// process returns the four numbers of a time.
func process(s sde.SDE, t float64) []float64 {
	l, g := s.Marginal(t), s.Diffusion(t)
	return []float64{l.Mean, l.Std, s.Drift(t), g * g / 2}
}

// stage adds y = y₀ + Σ cⱼ kⱼ and its rate of change, (F(x), ∇·F(x)), to the graph; all are [n, width]. probes is
// [probes, n, dims...], nil for the exact divergence.
func stage(vars *mlctx.Context, score scorekit.Score, kind autodiff.Probe, dims []int, at, c, probes, y0 *Node, k []*Node) (y, rate *Node) {
	y = y0
	for j, rate := range k {
		y = graph.Add(y, graph.Mul(number(c, j), rate))
	}
	n, d := y.Shape().Dimensions[0], y.Shape().Dimensions[1]-1
	if probes != nil {
		d = y.Shape().Dimensions[1] - probes.Shape().Dimensions[0]
	}
	points := graph.Slice(y, graph.AxisRange(), graph.AxisRangeFromStart(d))
	x := graph.Identity(graph.Reshape(points, append([]int{n}, dims...)...))
	mean, std, f, half := number(at, 0), number(at, 1), number(at, 2), number(at, 3)
	s := sde.ScoreAt(vars, score, x, sde.NodeLevel{Mean: mean, Std: std})
	var divergence *Node // [n, 1] or [n, probes]
	if probes == nil {
		divergence = graph.Reshape(autodiff.Divergence(s, x), n, 1)
	} else {
		given := random.Listed(x.Graph(), probes)
		divergence = graph.Transpose(autodiff.HutchinsonProbes(given, s, x, probes.Shape().Dimensions[0], kind), 0, 1)
	}
	flow := graph.Sub(graph.Mul(f, x), graph.Mul(half, s))
	// The divergence of f·x is known: a probe is not asked for it.
	spread := graph.Sub(graph.MulScalar(f, float64(d)), graph.Mul(half, divergence))
	return y, graph.Concatenate([]*Node{graph.Reshape(flow, n, d), spread}, 1)
}

// size adds the size of e = Σ cⱼ kⱼ in units of the tolerances at, [ATol, RTol], to the graph: the largest over all points
// of the root mean square over a point's d numbers, and of each of its integrals. |v| is the larger of that in y and z. It is
// +Inf if any number is not finite.
func size(d int, at, c, y, z *Node, k []*Node) *Node {
	e := graph.Mul(number(c, 0), k[0])
	for j := 1; j < len(k); j++ {
		e = graph.Add(e, graph.Mul(number(c, j), k[j]))
	}
	allowed := graph.Add(number(at, 0), graph.Mul(number(at, 1), graph.Max(graph.Abs(y), graph.Abs(z))))
	squares := graph.Square(graph.Div(e, allowed))
	point := graph.ReduceMean(graph.Slice(squares, graph.AxisRange(), graph.AxisRangeFromStart(d)), 1)
	rest := graph.Slice(squares, graph.AxisRange(), graph.AxisRangeToEnd(d))
	all := graph.Concatenate([]*Node{graph.InsertAxes(point, -1), rest}, 1)
	known := graph.IsFinite(all)
	worst := graph.BroadcastToDims(graph.Infinity(e.Graph(), e.DType(), 1), all.Shape().Dimensions...)
	return graph.Sqrt(graph.ReduceAllMax(graph.Where(known, all, worst)))
}

// number is element i of a list.
func number(list *Node, i int) *Node {
	return graph.Reshape(graph.Slice(list, graph.AxisElem(i)))
}
