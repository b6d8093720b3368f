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

// Four steps down Σ cᵢwᵢ² in one graph are Adam's, written out for each weight on the host. From the step on whose loss
// is NaN no weight moves, not even by steps that are good again, and the loss of the whole is NaN.
func TestInnerSteps(t *testing.T) {
	const rate = 0.05
	start, c := []float64{1, -2, 0.5}, []float64{1, 0.1, 3}
	byHand := func(steps int) []float64 {
		w := append([]float64(nil), start...)
		for i := range w {
			m, v := 0.0, 0.0
			for n := 1; n <= steps; n++ {
				gradient := 2 * c[i] * w[i]
				m, v = 0.5*m+0.5*gradient, 0.99*v+0.01*gradient*gradient
				mHat, vHat := m/(1-math.Pow(0.5, float64(n))), v/(1-math.Pow(0.99, float64(n)))
				w[i] -= rate * mHat / (math.Sqrt(vHat) + 1e-8)
			}
		}
		return w
	}
	testbackend.Each(t, func(t *testing.T, be backends.Backend) {
		steps := func(factors ...float64) func(vars *mlctx.Context, g *graph.Graph) []*Node {
			return func(vars *mlctx.Context, g *graph.Graph) []*Node {
				in := newInner(vars, g)
				w := vars.In("followed").VariableWithValue("w", start)
				other := vars.In("other").VariableWithValue("w", start)
				for _, factor := range factors {
					squares := graph.Mul(graph.Const(g, c), graph.Square(graph.Add(w.ValueGraph(g), graph.ZerosLike(other.ValueGraph(g)))))
					in.descend(vars.In("followed"), graph.MulScalar(graph.ReduceAllSum(squares), factor), rate)
				}
				loss := in.finish(graph.Const(g, []float64{7, 8}))
				next := newInner(vars, g) // the step after this one
				return []*Node{w.ValueGraph(g), other.ValueGraph(g), loss, next.finish(graph.Const(g, []float64{9}))}
			}
		}
		good := run(t, be, steps(1, 1, 1, 1))
		testvalues.Near(t, "weights", good[0], byHand(4), 1e-12)
		testvalues.Near(t, "weights of another scope", good[1], start, 0)
		testvalues.Near(t, "loss", append(good[2], good[3]...), []float64{7, 8, 9}, 0)
		bad := run(t, be, steps(1, 1, math.NaN(), 1))
		testvalues.Near(t, "weights after a bad step", bad[0], byHand(2), 1e-12)
		for _, loss := range append(bad[2], bad[3]...) {
			if !math.IsNaN(loss) {
				t.Errorf("loss after a bad step %v, then %v: must be NaN", bad[2], bad[3])
			}
		}
	})
}
