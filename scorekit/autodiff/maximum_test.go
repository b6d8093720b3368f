package autodiff

import (
	"math"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/internal/testbackend"
)

// TestMaximumOfComputed takes the maximum of −(x − μ)²/1.3, which XLA computes twice, once for the maximum and once for
// its gradient, with different rounding. The slopes of a row's maximum add up to one; with GoMLX's rule, half of the
// rows get none on XLA in float64.
func TestMaximumOfComputed(t *testing.T) {
	const rows, columns = 1000, 8
	x := make([][]float64, rows)
	mu := make([]float64, columns)
	for i := range x {
		for j := range columns {
			x[i] = append(x[i], 2*math.Sin(float64(17*i*i+5*j+i*j)))
			mu[j] = math.Cos(float64(3 * j))
		}
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		exec, err := graph.NewExec(b, func(x, mu *Node) *Node {
			y := graph.Neg(graph.DivScalar(graph.Square(graph.Sub(x, graph.InsertAxes(mu, 0))), 1.3))
			return graph.ReduceSum(graph.Gradient(graph.ReduceAllSum(graph.ReduceMax(y, 1)), y)[0], 1)
		})
		if err != nil {
			t.Fatal(err)
		}
		out, err := exec.Exec(x, mu)
		if err != nil {
			t.Fatal(err)
		}
		for i, sum := range tensors.MustCopyFlatData[float64](out[0]) {
			if sum != 1 {
				t.Errorf("slopes of row %d add up to %g, want 1", i, sum)
			}
		}
	})
}
