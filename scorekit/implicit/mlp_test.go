package implicit

import (
	"math"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
)

// The output is put together on the host from the weights; these start with the spread that they should, known from
// 20,000 of them to 0.5 %.
func TestMLPGenerator(t *testing.T) {
	const width, outputs, spread = 400, 50, 3
	noise := normals(2, 3, 5, 0)
	m := MLP{Inputs: 3, Outputs: outputs, Hidden: []int{width}, Spread: spread}
	testbackend.Each(t, func(t *testing.T, be backends.Backend) {
		out := run(t, be, func(vars *mlctx.Context, g *graph.Graph) []*Node {
			x := m.Generate(vars, graph.Const(g, noise))
			w := func(scope, name string) *Node { return vars.In(scope).GetVariable(name).ValueGraph(g) }
			return []*Node{x, w("layer_0", "weights"), w("layer_0", "biases"), w("out", "weights"), w("out", "biases")}
		})
		var want []float64
		for _, e := range noise {
			h := make([]float64, width)
			for j := range h {
				u := out[2][j]
				for i := range e {
					u += e[i] * out[1][i*width+j]
				}
				h[j] = u / (1 + math.Exp(-u))
			}
			for k := range outputs {
				x := out[4][k]
				for j := range h {
					x += h[j] * out[3][j*outputs+k]
				}
				want = append(want, x)
			}
		}
		testvalues.Near(t, "x", out[0], want, 1e-12)
		squares := 0.0
		for _, w := range out[3] {
			squares += w * w / float64(len(out[3]))
		}
		testvalues.NearNumber(t, "spread of the last weights", math.Sqrt(squares*width), spread, 0.025)
	})
}
