package likelihood

import (
	"math"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
)

// The size of an error is that of the worst point, and of the worst of its root mean square over a point's numbers and its
// integrals; one that is not finite is infinite, wherever it is.
func TestSize(t *testing.T) {
	y := [][]float64{{1, -2, 0.5, 0}, {0, 3, 0, 4}, {0, 0, 0, 0}}
	z := [][]float64{{2, 0, 0, 0}, {0, 0, 0, -8}, {0, 0, 0, 0}}
	k := [][]float64{{1, 2, 3, 0.1}, {0.5, 1, 0, 9}, {0, 0, 0, 0}}
	const atol, rtol, c0, c1 = 0.1, 0.01, 2, -0.5 // the second k is twice the first: e = (c₀ + 2c₁) k
	worst := 0.0
	for i := range y {
		square := 0.0
		for j := range y[i] {
			e := (c0 + 2*c1) * k[i][j] / (atol + rtol*max(math.Abs(y[i][j]), math.Abs(z[i][j])))
			if j < 2 {
				square += e * e / 2
			} else {
				worst = max(worst, math.Abs(e))
			}
		}
		worst = max(worst, math.Sqrt(square))
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.Run(t, b, func(g *graph.Graph) []*graph.Node {
			of := func(v any) *Node { return graph.Const(g, v) }
			at, c := of([]float64{atol, rtol}), of([]float64{c0, c1})
			sizeOf := func(k *Node) *Node { return size(2, at, c, of(y), of(z), []*Node{k, graph.MulScalar(k, 2)}) }
			var out []*Node
			out = append(out, sizeOf(of(k)))
			for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
				for j := range 4 {
					broken := [][]float64{{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}}
					broken[2][j] = bad
					out = append(out, sizeOf(of(broken)))
				}
			}
			// Only the numbers of the first point are far off: they set the size.
			return append(out, sizeOf(of([][]float64{{5, 1, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}})))
		})
		testvalues.NearOne(t, "size", got[0], []float64{worst}, 1e-12)
		for _, v := range got[1:13] {
			if !math.IsInf(v[0], 1) {
				t.Errorf("size %v of an error that is not finite", v[0])
			}
		}
		testvalues.NearOne(t, "size of one point's", got[13], []float64{math.Sqrt((5*5/(0.12*0.12) + 1/(0.12*0.12)) / 2)}, 1e-12)
	})
}
