package implicit

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/random"
)

// Stein estimates the score of a law at n points of it from these points alone, with nothing to train: the Stein gradient
// estimator of Li and Turner (2018, "Gradient estimators for implicit models"). With the kernel
// kᵢⱼ = exp(−‖xᵢ−xⱼ‖²/2h²) and the ridge η,
//
//	S = −(K + ηI)⁻¹ B,   Bᵢ = Σⱼ ∂kᵢⱼ/∂xⱼ = Σⱼ kᵢⱼ (xᵢ−xⱼ)/h²
//
// the ridge regression of Stein's identity, E[k(x, x′) s(x′) + ∂k(x, x′)/∂x′] = 0, at the points. The ridge pulls the
// scores towards 0. Without a Bandwidth, 2h² is the mean of ‖xᵢ−xⱼ‖² over the pairs i ≠ j; the paper takes the median,
// which would need a sort that GoMLX has not got.
//
// Work and memory grow with n². The linear system is solved inside the graph by 32 steps of conjugate gradients, without a
// call to the host; for 1,000 points at the default ridge they leave an error of a thousandth. It suits few dimensions and
// laws of one scale; modes that are narrow against their distance want a Bandwidth of their size.
type Stein struct {
	Bandwidth float64 // h, in the units of the points; 0: from the points
	Ridge     float64 // η; 0 means 0.1
}

var _ Law = Stein{}

const conjugateSteps = 32

// Validate returns an error for a bandwidth or a ridge that is negative or not finite.
func (s Stein) Validate() error {
	for _, v := range []struct {
		name  string
		value float64
	}{{"bandwidth", s.Bandwidth}, {"ridge", s.Ridge}} {
		if !(v.value >= 0) || math.IsInf(v.value, 0) {
			return fmt.Errorf("Stein estimate of the score: %s %v: must be finite and not negative", v.name, v.value)
		}
	}
	return nil
}

// Scores adds the estimates at x, [n, d] → [n, d]. No gradient goes through them. It panics with an error, as graph
// functions do, for fewer than 2 points.
func (s Stein) Scores(x *Node) *Node {
	if x.Rank() != 2 || x.Shape().Dimensions[0] < 2 {
		panic(fmt.Errorf("Stein estimate of the score: points of shape %v: must be [n, d], at least 2 of them", x.Shape().Dimensions))
	}
	x = graph.StopGradient(x)
	n, dtype := x.Shape().Dimensions[0], x.DType()
	x = graph.Sub(x, graph.ReduceAndKeep(x, graph.ReduceMean, 0)) // far from 0 the squares below would cancel
	norms := graph.ReduceAndKeep(graph.Square(x), graph.ReduceSum, 1)
	squares := graph.Sub(graph.Add(norms, graph.Transpose(norms, 0, 1)), graph.MulScalar(graph.Dot(x, graph.Transpose(x, 0, 1)), 2))
	squares = graph.MaxScalar(squares, 0)
	twice := graph.Scalar(x.Graph(), dtype, 2*s.Bandwidth*s.Bandwidth)
	if s.Bandwidth == 0 {
		twice = graph.DivScalar(graph.ReduceAllSum(squares), float64(n)*float64(n-1))
	}
	k := graph.Exp(graph.Neg(graph.Div(squares, twice)))
	b := graph.Sub(graph.Mul(x, graph.ReduceAndKeep(k, graph.ReduceSum, 1)), graph.Dot(k, x))
	b = graph.Div(graph.MulScalar(b, 2), twice)
	ridge := s.Ridge
	if ridge == 0 {
		ridge = 0.1
	}
	return graph.StopGradient(graph.Neg(solve(k, ridge, b)))
}

// solve returns (K + ηI)⁻¹b for a symmetric K that is not negative, each column of b on its own, by conjugate gradients
// (Hestenes and Stiefel 1952).
func solve(k *Node, ridge float64, b *Node) *Node {
	y, r, p := graph.ZerosLike(b), b, b
	dot := func(u, v *Node) *Node { return graph.ReduceAndKeep(graph.Mul(u, v), graph.ReduceSum, 0) }
	rr := dot(r, r)
	tiny := graph.Scalar(b.Graph(), b.DType(), 1e-30) // a column that is solved already stays as it is
	for range conjugateSteps {
		kp := graph.Add(graph.Dot(k, p), graph.MulScalar(p, ridge))
		step := graph.Div(rr, graph.Add(dot(p, kp), tiny))
		y, r = graph.Add(y, graph.Mul(p, step)), graph.Sub(r, graph.Mul(kp, step))
		next := dot(r, r)
		p = graph.Add(r, graph.Mul(p, graph.Div(next, graph.Add(rr, tiny))))
		rr = next
	}
	return y
}

func (Stein) network() scorekit.Model                                     { return nil }
func (Stein) follow(*inner, *mlctx.Context, *random.Source, func() *Node) {}
func (s Stein) at(_ *mlctx.Context, x *Node) *Node                        { return s.Scores(x) }
