package sampler

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/random"
)

// Node is a GoMLX graph node.
type Node = graph.Node

// constantRows is a schedule of the same row for every step, which all of them share: a step that differs is given a row of its own.
func constantRows(steps int, columns []string, row ...float64) scorekit.Schedule {
	return scorekit.Schedule{Columns: columns, Rows: slices.Repeat([][]float64{row}, steps)}
}

// move is x + drift·s + noise·z.
func move(rng *random.Source, x, s, drift, noise *Node) *Node {
	z := rng.Normal(x.Shape().Dimensions...)
	return graph.Add(graph.Add(x, graph.Mul(drift, s)), graph.Mul(noise, z))
}

// levels gives one noise level to every chain, [chains].
func levels(sigma, x *Node) *Node { return graph.BroadcastToDims(sigma, x.Shape().Dimensions[0]) }

// fixedLevel is what a score at one noise level is given for the points x: nil for level 0.
func fixedLevel(sigma float64, x *Node) *Node {
	if sigma == 0 {
		return nil
	}
	return levels(graph.Scalar(x.Graph(), x.DType(), sigma), x)
}

// scoreAt is the score at one noise level.
func scoreAt(vars *mlctx.Context, score scorekit.Score, x *Node, sigma float64) *Node {
	defer explainMissingLevel(sigma)
	return score(vars, x, fixedLevel(sigma, x))
}

// explainMissingLevel, deferred, names the setting Sigma where a model fails over the noise level nil that level 0 gives it.
func explainMissingLevel(sigma float64) {
	if sigma != 0 {
		return
	}
	r := recover()
	if r == nil {
		return
	}
	if text := fmt.Sprint(r); strings.Contains(text, "nil") {
		panic(fmt.Errorf("the model was given no noise level; if it needs one, set Sigma: %s", text))
	}
	panic(r)
}

// noiseless is Tweedie's formula at one noise level, x + σ²s(x, σ), the mean of the noiseless point given the noised x.
// For level 0 it is x.
func noiseless(vars *mlctx.Context, score scorekit.Score, x *Node, sigma float64) *Node {
	if sigma == 0 {
		return x
	}
	return graph.Add(x, graph.MulScalar(scoreAt(vars, score, x, sigma), sigma*sigma))
}
