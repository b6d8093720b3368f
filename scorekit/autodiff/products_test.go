package autodiff_test

import (
	"math"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/scorekit/autodiff"
	"github.com/scorekit/lab/scorekit/random"
)

// matrix is an arbitrary matrix without symmetry.
func matrix(i, j int) float64 { return math.Sin(float64(3*i+1)) * math.Cos(float64(2*j*j+i)) }

// TestProducts compares Divergence, VJP, JVP and HVP with closed forms on rows of shape 2×2:
// s = Ax + sin x has the Jacobian A + diag(cos x), log p = ½xᵀAx + Σx³/6 the Hessian (A + Aᵀ)/2 + diag(x).
// 10⁻¹² is a few thousand roundings of numbers of size 1.
func TestProducts(t *testing.T) {
	const d = 4
	points := [][]float64{{0.3, -0.8, 1.1, 0.2}, {-0.6, 0.5, 0.9, -1.2}, {1.4, 0.1, -0.7, 0.8}}
	vectors := [][]float64{{1.2, 0.4, -0.5, 0.9}, {0.3, -1.1, 0.6, 0.7}, {-0.2, 0.8, 1.3, -0.4}}
	a := make([][]float64, d)
	for i := range a {
		for j := range d {
			a[i] = append(a[i], matrix(i, j))
		}
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		exec, err := graph.NewExec(b, func(points, vectors *graph.Node) []*graph.Node {
			x, v := graph.Reshape(points, -1, 2, 2), graph.Reshape(vectors, -1, 2, 2)
			flat := graph.Reshape(x, -1, d)
			ax := graph.Dot(flat, graph.Transpose(graph.Const(x.Graph(), a), 0, 1))
			s := graph.Add(graph.Reshape(ax, -1, 2, 2), graph.Sin(x))
			logp := graph.ReduceSum(graph.Add(graph.MulScalar(graph.Mul(flat, ax), 0.5), graph.DivScalar(graph.Mul(flat, graph.Square(flat)), 6.0)), 1)
			return []*graph.Node{
				autodiff.Divergence(s, x), autodiff.VJP(s, x, v), autodiff.JVP(s, x, v), autodiff.HVP(logp, x, v),
				autodiff.RowCoupling(s, x),
				autodiff.RowCoupling(graph.Sub(s, graph.ReduceAndKeep(s, graph.ReduceMean, 0)), x),
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		got, err := exec.Exec(points, vectors)
		if err != nil {
			t.Fatal(err)
		}
		values := make([][]float64, len(got))
		for i := range got {
			values[i] = tensors.MustCopyFlatData[float64](got[i])
		}
		for row, x := range points {
			v := vectors[row]
			var trace float64
			for i := range d {
				trace += a[i][i] + math.Cos(x[i])
				vjp, jvp, hvp := v[i]*math.Cos(x[i]), v[i]*math.Cos(x[i]), v[i]*x[i]
				for j := range d {
					vjp += v[j] * a[j][i]
					jvp += a[i][j] * v[j]
					hvp += (a[i][j] + a[j][i]) / 2 * v[j]
				}
				for k, want := range []float64{vjp, jvp, hvp} {
					if got := values[k+1][row*d+i]; !(math.Abs(got-want) <= 1e-12) {
						t.Errorf("%s: row %d, %d: %.15g, want %.15g", []string{"VJP", "JVP", "HVP"}[k], row, i, got, want)
					}
				}
			}
			if got := values[0][row]; !(math.Abs(got-trace) <= 1e-12) {
				t.Errorf("Divergence: row %d: %.15g, want %.15g", row, got, trace)
			}
		}
		if values[4][0] != 0 {
			t.Errorf("RowCoupling of independent rows: %g, want 0", values[4][0])
		}
		if !(values[5][0] > 0.1) {
			t.Errorf("RowCoupling of centred rows: %g, want above 0.1", values[5][0])
		}
	})
}

// TestArguments checks the errors for impossible arguments.
func TestArguments(t *testing.T) {
	b := testbackend.Go(t)
	node := func(g *graph.Graph, dims ...int) *graph.Node {
		return graph.BroadcastToDims(graph.Const(g, 1.0), dims...)
	}
	for _, c := range []struct {
		want string
		f    func(x *graph.Node)
	}{
		{"Divergence: field of shape (Float64)[2 4] for points of shape (Float64)[2 3]: must be equal",
			func(x *graph.Node) { autodiff.Divergence(node(x.Graph(), 2, 4), x) }},
		{"Divergence: points of shape (Float64)[2]: must be [batch, dims...]",
			func(x *graph.Node) { y := node(x.Graph(), 2); autodiff.Divergence(y, y) }},
		{"VJP: vector of shape (Float64)[2] for points", func(x *graph.Node) { autodiff.VJP(x, x, node(x.Graph(), 2)) }},
		{"JVP: vector of shape", func(x *graph.Node) { autodiff.JVP(x, x, node(x.Graph(), 3, 2)) }},
		{"HVP: log density of shape (Float64)[2 3]", func(x *graph.Node) { autodiff.HVP(x, x, x) }},
		{"VJP: the points come from StopGradient, as random draws do: make the field of graph.Identity of them",
			func(x *graph.Node) { y := graph.StopGradient(x); autodiff.VJP(graph.Neg(y), y, x) }},
		{"RowCoupling: field of shape", func(x *graph.Node) { autodiff.RowCoupling(node(x.Graph(), 2), x) }},
		{"Bilinear: vectors of shapes (Float64)[2 2] and", func(x *graph.Node) { autodiff.Bilinear(x, x, node(x.Graph(), 2, 2), node(x.Graph(), 2, 2)) }},
		{"Hutchinson: probes 0: must be at least 1",
			func(x *graph.Node) { autodiff.Hutchinson(random.Listed(x.Graph(), x), x, x, 0, autodiff.Rademacher) }},
		{"Hutchinson: probe kind 9: must be Rademacher, Gaussian or Sphere",
			func(x *graph.Node) { autodiff.Hutchinson(random.Listed(x.Graph(), x), x, x, 1, autodiff.Probe(9)) }},
	} {
		err := build(b, func(x, _ *graph.Node) *graph.Node { c.f(node(x.Graph(), 2, 3)); return nil })
		if err == nil || !strings.HasPrefix(err.Error(), "autodiff: "+c.want) {
			t.Errorf("error %v: must start with %q", err, "autodiff: "+c.want)
		}
	}
}
