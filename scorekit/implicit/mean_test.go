package implicit

import (
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit/random"
)

// ∇_θH has two parts, for log q depends on θ through the points and by itself. The mean of the second, E[∇_θ log q(x)] at
// points that are held fixed, is 0, and the first, less its sign, is A⁻ᵀ for x = Aε + b. Both are checked entry by entry
// over 20,000 draws, each to 5 standard errors; each draw has an A and a b of its own, so that its own gradients are seen.
func TestGradientOfLogDensityAveragesToZero(t *testing.T) {
	const n = 20_000
	a, b := [][]float64{{1.2, 0.5}, {-0.4, 0.8}}, []float64{0.3, -1}

	inverseTransposed := inverseTransposed2(a)
	testbackend.Each(t, func(t *testing.T, be backends.Backend) {
		state, err := random.Seed(5)
		if err != nil {
			t.Fatal(err)
		}
		q := lawOf(t, a, b)
		out := run(t, be, func(_ *mlctx.Context, g *graph.Graph) []*Node {
			rng := random.New(graph.Const(g, state), dtypes.Float64, 1)
			noise := rng.Normal(n, 2)
			each := func(values any, dims ...int) *Node {
				return graph.Identity(graph.BroadcastToDims(graph.Const(g, values), append([]int{n}, dims...)...))
			}
			A, shift := each([][][]float64{a}, 2, 2), each([][]float64{b}, 2)
			x := graph.Add(rowSumLast(graph.Mul(A, graph.InsertAxes(noise, 1))), shift)
			own := graph.Gradient(graph.ReduceAllSum(logDensityOf(graph.StopGradient(x), A, shift)), A, shift)
			path := graph.Gradient(graph.ReduceAllSum(EntropyTerm(x, q.Score(nil, x, nil))), A, shift)
			return append(own, path...)
		})
		for i := range 4 {
			testvalues.MeanWithin(t, "∂/∂A of log q", every(out[0], i, 4), 0)
			testvalues.MeanWithin(t, "∂/∂A of the entropy", every(out[2], i, 4), inverseTransposed[i])
		}
		for i := range 2 {
			testvalues.MeanWithin(t, "∂/∂b of log q", every(out[1], i, 2), 0)
			testvalues.MeanWithin(t, "∂/∂b of the entropy", every(out[3], i, 2), 0)
		}
	})
}

func rowSumLast(x *Node) *Node { return graph.ReduceSum(x, -1) }

// logDensityOf is log N(x; b, AAᵀ) but for a constant, with an A of each row: −½|A⁻¹(x−b)|² − log |det A|.
func logDensityOf(x, a, b *Node) *Node {
	entry := func(i, j int) *Node {
		n := a.Shape().Dimensions[0]
		return graph.Reshape(graph.Slice(a, graph.AxisRange(), graph.AxisElem(i), graph.AxisElem(j)), n)
	}
	r := graph.Sub(x, b)
	at := func(i int) *Node {
		return graph.Reshape(graph.Slice(r, graph.AxisRange(), graph.AxisElem(i)), r.Shape().Dimensions[0])
	}
	det := graph.Sub(graph.Mul(entry(0, 0), entry(1, 1)), graph.Mul(entry(0, 1), entry(1, 0)))
	u := graph.Div(graph.Sub(graph.Mul(entry(1, 1), at(0)), graph.Mul(entry(0, 1), at(1))), det)
	v := graph.Div(graph.Sub(graph.Mul(entry(0, 0), at(1)), graph.Mul(entry(1, 0), at(0))), det)
	squares := graph.Add(graph.Square(u), graph.Square(v))
	return graph.Sub(graph.MulScalar(squares, -0.5), graph.Log(graph.Abs(det)))
}

// every returns each width-th value, from the i-th on.
func every(values []float64, i, width int) []float64 {
	var out []float64
	for ; i < len(values); i += width {
		out = append(out, values[i])
	}
	return out
}
