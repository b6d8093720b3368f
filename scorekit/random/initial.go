package random

import (
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/shapes"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"
)

// NormalInitializer returns a GoMLX initializer that draws weights from N(0, std²), finite like every draw of this
// package. It advances the random state kept in vars.
func NormalInitializer(vars *mlctx.Context, std float64) mlctx.VariableInitializer {
	return func(g *graph.Graph, shape shapes.Shape) *Node {
		size := shape.Size()
		half := (size + 1) / 2
		u := openInterval(vars.RandomUniform(g, shapes.Make(shape.DType, 2, half)))
		row := func(i int) *Node { return graph.Reshape(graph.Slice(u, graph.AxisElem(i)), half) }
		return graph.MulScalar(boxMuller(row(0), row(1), size, shape.Dimensions), std)
	}
}
