package objective

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/rows"
	"github.com/scorekit/lab/scorekit"
)

// Node is a GoMLX graph node.
type Node = graph.Node

// checkPoints panics with an error unless x is a batch of points.
func checkPoints(who string, x *Node) {
	if x.Rank() < 2 || x.Shape().Size() == 0 {
		panic(fmt.Errorf("%s: points of shape %v: must be [batch, dims...], with at least one point of at least one number", who, x.Shape().Dimensions))
	}
}

// pointSize returns how many numbers a point has.
func pointSize(x *Node) int { return x.Shape().Size() / x.Shape().Dimensions[0] }

// ask adds a score at x and panics with an error unless it has the shape of x: a narrower one would be spread over x
// without a word.
func ask(who string, score scorekit.Score, vars *mlctx.Context, x, sigma *Node) *Node {
	s := score(vars, x, sigma)
	if !s.Shape().Equal(x.Shape()) {
		panic(fmt.Errorf("%s: score of shape %s for points of shape %s: must be equal", who, s.Shape(), x.Shape()))
	}
	return s
}

// ofFinite is the loss of each example, and NaN for one that holds NaN or Inf: a network that levels off makes finite
// numbers of infinite points, and would be trained on them.
func ofFinite(x, loss *Node) *Node {
	return graph.Add(loss, graph.StopGradient(rows.Sum(graph.Sub(x, x)))) // 0, and NaN for NaN and Inf
}

// spoilt is the loss of each example, [batch], with NaN where any number of the example is marked, [batch, dims...].
func spoilt(marked, loss *Node) *Node {
	marks := rows.Sum(graph.ConvertDType(marked, loss.DType()))
	nan := graph.BroadcastToDims(graph.Scalar(loss.Graph(), loss.DType(), math.NaN()), loss.Shape().Dimensions...)
	return graph.Where(graph.GreaterThan(marks, graph.ZerosLike(marks)), nan, loss)
}

// differentiable is x as a node of its own. Data are often made by StopGradient, and the derivative for such a node is
// 0, without an error: a trace would be lost, and an energy would have no score.
func differentiable(x *Node) *Node { return graph.Identity(x) }

// halfSquare is ½‖r‖² of each row, [batch].
func halfSquare(r *Node) *Node { return graph.MulScalar(rows.Sum(graph.Square(r)), 0.5) }
