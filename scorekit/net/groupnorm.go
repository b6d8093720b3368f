package net

import (
	"fmt"

	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/shapes"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"
)

// groupEpsilon is added to the variance of a group.
const groupEpsilon = 1e-5

// groupNorm normalises each image by itself (Wu and He 2018): with the mean μ and variance v over all pixels of the
// channels of one group, which are neighbours,
//
//	y = (x − μ)/√(v + ε) · γ + β
//
// with γ = 1, β = 0 for each channel at the start, ε = 10⁻⁵. With an embedding e, [batch, width], it is
// (…)·(1 + a) + b in the end, [a b] = W e + w (Perez et al. 2018): so a noise level or a class acts on the features.
func groupNorm(vars *mlctx.Context, x, e *Node, groups int) *Node {
	batch, channels := x.Shape().Dimensions[0], channelsOf(x)
	rows := func(v *Node) *Node { return graph.BroadcastToDims(graph.InsertAxes(v, 0), batch, channels) }
	scales := vars.WithInitializer(one).VariableWithShape("scales", shapes.Make(x.DType(), channels))
	scale, shift := rows(scales.ValueGraph(x.Graph())), rows(zeros(vars, "biases", x, channels))
	if e != nil {
		ab := dense(vars.In("level"), e, 2*channels)
		a := graph.OnePlus(graph.Slice(ab, graph.AxisRange(), graph.AxisRange(0, channels)))
		b := graph.Slice(ab, graph.AxisRange(), graph.AxisRange(channels, 2*channels))
		scale, shift = graph.Mul(scale, a), graph.Add(graph.Mul(shift, a), b)
	}
	centred := graph.Sub(x, everywhere(overGroups(pixelMean(x), groups), x))
	variance := overGroups(pixelMean(graph.Square(centred)), groups)
	scale = graph.Mul(scale, graph.Rsqrt(graph.AddScalar(variance, groupEpsilon)))
	return graph.Add(graph.Mul(centred, everywhere(scale, x)), everywhere(shift, x))
}

// overGroups replaces numbers of channels, [batch, channels], by their means over the groups.
func overGroups(v *Node, groups int) *Node {
	batch, channels := v.Shape().Dimensions[0], v.Shape().Dimensions[1]
	v = graph.ReduceAndKeep(graph.Reshape(v, batch, groups, channels/groups), graph.ReduceMean, 2)
	return graph.Reshape(graph.BroadcastToDims(v, batch, groups, channels/groups), batch, channels)
}

// groupsOf is how many groups so many channels have: what was set, or the most that divide both 8 and them.
func groupsOf(set, channels int) int {
	if set > 0 {
		return set
	}
	groups := 8
	for channels%groups != 0 {
		groups /= 2
	}
	return groups
}

func checkGroups(groups int, channels ...int) error {
	if groups < 0 {
		return fmt.Errorf("groups %d: must be at least 1, or 0 for up to 8", groups)
	}
	for _, c := range channels {
		if groups > 0 && c%groups != 0 {
			return fmt.Errorf("groups %d of %d channels: must divide them", groups, c)
		}
	}
	return nil
}

func one(g *graph.Graph, shape shapes.Shape) *Node { return graph.Ones(g, shape) }
