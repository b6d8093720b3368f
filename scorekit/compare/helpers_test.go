package compare_test

import (
	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
)

// slope is the score −c·x with c its one weight. A vanishing learning rate keeps it where it starts.
type slope float64

func (s slope) Score(vars *mlctx.Context, x, _ *scorekit.Node) *scorekit.Node {
	c := vars.VariableWithValue("c", float32(s)).ValueGraph(x.Graph())
	return graph.Neg(graph.Mul(c, x))
}
