package net

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"
)

// frequencies is the number of frequencies of a noise level's features; each gives a sine and a cosine.
const frequencies = 16

// levelFeatures returns φ(σ) of [NoiseMLP]: [batch] → [batch, 2·frequencies].
func levelFeatures(sigma *Node) *Node {
	all := make([]float64, frequencies)
	for k := range all {
		all[k] = 0.25 * math.Pow(32, float64(k)/(frequencies-1))
	}
	f := graph.ConstAsDType(sigma.Graph(), sigma.DType(), [][]float64{all})
	angles := graph.Mul(graph.InsertAxes(graph.Log(sigma), -1), f)
	return graph.Concatenate([]*Node{graph.Sin(angles), graph.Cos(angles)}, -1)
}

// shared returns the one level, [1], where sigma, [batch], repeats it for all points, as samplers do: what is made of it
// is then made once, and added to every row. It returns sigma itself where levels may differ.
func shared(sigma *Node) *Node {
	if sigma.Type() == graph.NodeTypeBroadcastInDim && sigma.Inputs()[0].Shape().Size() == 1 {
		return graph.Reshape(sigma.Inputs()[0], 1)
	}
	return sigma
}

// embed adds the embedding of a noise level, e = a(W φ(σ) + b), [batch, width].
func embed(vars *mlctx.Context, a Activation, sigma *Node, width int) *Node {
	return a.apply(dense(vars.In("embedding"), levelFeatures(sigma), width))
}

// needLevel panics with an error when there is no noise level; instead names a network that needs none.
func needLevel(who string, sigma *Node, instead string) {
	if sigma == nil {
		panic(fmt.Errorf("%s: no noise level was given: use an objective and a sampler that have one, or %s", who, instead))
	}
}
