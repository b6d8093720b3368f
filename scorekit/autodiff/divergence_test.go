package autodiff

import (
	"testing"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
)

// The short cuts of Diagonal, one row for a whole batch at the start of a pass and one column at its end, change nothing:
// the slopes and the gradient of their weighted sum for every weight are those of vector-Jacobian products with whole
// batches of axes. The fields end in a matrix product, in its negative as an energy's score does, in a reshape, in two
// paths, and in none of them. Which graph is built does not depend on the backend: pure Go runs it.
func TestDiagonalIsThatOfWholeBatches(t *testing.T) {
	const rows, d, width = 4, 6, 5
	wave := func(in testvalues.Inputs, k float64, dims ...int) *Node {
		return graph.Sin(graph.MulScalar(graph.AddScalar(graph.IotaFull(in.Graph, testvalues.Shape(dims...)), k), 1.3+k))
	}
	fields := map[string]func(x *Node, w []*Node) *Node{
		"network": func(x *Node, w []*Node) *Node {
			return graph.Add(graph.Dot(graph.Tanh(graph.Dot(x, w[0])), w[1]), graph.InsertAxes(w[2], 0))
		},
		"energy": func(x *Node, w []*Node) *Node {
			e := graph.Dot(graph.Tanh(graph.Dot(graph.Tanh(graph.Dot(x, w[0])), graph.Transpose(w[0], 0, 1))), w[2])
			return graph.Neg(graph.Gradient(graph.ReduceAllSum(e), x)[0])
		},
		"two paths": func(x *Node, w []*Node) *Node {
			return graph.Add(graph.Dot(graph.Tanh(graph.Dot(x, w[0])), w[1]), graph.Mul(graph.Square(x), graph.InsertAxes(w[2], 0)))
		},
		"formula": func(x *Node, w []*Node) *Node {
			return graph.Mul(graph.Sin(graph.Mul(x, graph.InsertAxes(w[2], 0))), graph.InsertAxes(graph.ReduceSum(graph.Square(x), 1), -1))
		},
	}
	for name, field := range fields {
		got := testvalues.RunIn(t, testbackend.Go(t), dtypes.Float64, func(in testvalues.Inputs) []*Node {
			var out []*Node
			for _, dims := range [][]int{{rows, d}, {rows, 2, 3}} {
				for _, short := range []bool{true, false} {
					w := []*Node{wave(in, 0.1, d, width), wave(in, 0.2, width, d), wave(in, 0.3, d)}
					x := wave(in, 0.4, dims...)
					s := graph.Reshape(field(graph.Reshape(x, rows, d), w), dims...)
					var divergence, diagonal *Node
					if short {
						divergence, diagonal = Divergence(s, x), Diagonal(s, x)
					} else {
						diagonal = graph.ZerosLike(x)
						for i := range d {
							axis := graph.OneHot(graph.Scalar(in.Graph, dtypes.Int32, i), d, dtypes.Float64)
							axis = graph.BroadcastToDims(graph.Reshape(axis, append([]int{1}, dims[1:]...)...), dims...)
							diagonal = graph.Add(diagonal, graph.Mul(VJP(s, x, axis), axis))
						}
						divergence = perRow(diagonal)
					}
					sum := graph.ReduceAllSum(graph.Mul(diagonal, wave(in, 0.5, dims...)))
					out = append(append(out, divergence, diagonal), graph.Gradient(sum, w...)...)
				}
			}
			return out
		})
		for i := 0; i < len(got); i += 10 {
			for k, what := range []string{"divergence", "diagonal", "gradient for w0", "gradient for w1", "gradient for w2"} {
				testvalues.Near(t, name+": "+what, got[i+k], got[i+5+k], 1e-12)
			}
		}
	}
}

// By hand: Σₙⱼ cⱼ (xW)ₙⱼ has the gradient Σₙ xₙᵢ cⱼ for Wᵢⱼ and Σⱼ Wᵢⱼcⱼ for every xₙᵢ. Its gradient for xW is one row, c.
func TestGradientOfOneRow(t *testing.T) {
	got := testvalues.RunIn(t, testbackend.Go(t), dtypes.Float64, func(in testvalues.Inputs) []*Node {
		x, w := in.Of([][]float64{{1, 2}, {3, 5}, {-1, 4}}), in.Of([][]float64{{1, 2, 3}, {4, 5, 6}})
		sum := graph.ReduceAllSum(graph.Mul(graph.ReduceSum(graph.Dot(x, w), 0), in.Of([]float64{1, 10, 100})))
		return graph.Gradient(sum, w, x)
	})
	testvalues.Near(t, "gradient for W", got[0], []float64{3, 30, 300, 11, 110, 1100}, 1e-15)
	testvalues.Near(t, "gradient for x", got[1], []float64{321, 654, 321, 654, 321, 654}, 1e-15)
}
