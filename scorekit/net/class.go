package net

import (
	"fmt"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/shapes"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit/random"
)

// conditions is the embedding of a noise level and, unless classes is nil, a class, [batch, width]:
//
//	e = a(W₂ a(W₁φ(σ) + b₁) + b₂ + c_class)
//
// with a SiLU and φ of [NoiseMLP]. There are count vectors c, N(0, 1) at the start. Any number that is not one of theirs,
// such as scorekit.NoClass, has c = 0: the score of all classes together is that of the network that is not told any.
func conditions(vars *mlctx.Context, sigma, classes *Node, count, width int) *Node {
	e := dense(vars.In("out"), embed(vars, SiLU, sigma, width), width)
	if classes != nil {
		table := vars.WithInitializer(random.NormalInitializer(vars, 1)).VariableWithShape("classes", shapes.Make(e.DType(), count, width))
		all := graph.Iota(e.Graph(), shapes.Make(dtypes.Int32, 1, count), 1)
		chosen := graph.ConvertDType(graph.Equal(graph.InsertAxes(classes, -1), all), e.DType())
		e = graph.Add(e, graph.Dot(chosen, table.ValueGraph(e.Graph())))
	}
	return SiLU.apply(e)
}

// needClasses panics with an error unless the network has classes and those given are int32 [batch].
func needClasses(who string, count int, classes, x *Node) {
	if count == 0 {
		panic(fmt.Errorf("%s: classes 0: must be at least 1 for a score given a class", who))
	}
	if want := shapes.Make(dtypes.Int32, x.Shape().Dimensions[0]); classes == nil || !classes.Shape().Equal(want) {
		panic(fmt.Errorf("%s: given classes: must be of shape %s, one for each point", who, want))
	}
}

func checkClasses(count int) error {
	if count < 0 {
		return fmt.Errorf("classes %d: must not be negative", count)
	}
	return nil
}
