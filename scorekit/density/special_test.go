package density_test

import (
	"math"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit/autodiff"
	"github.com/scorekit/lab/scorekit/density"
)

// In float32, for every type: at points up to 10⁶ from the origin in any direction, at the origin and on the kinks,
// the score is finite and the energy is not NaN; near by, the divergence of the score is finite too. An energy at a
// point that is NaN is NaN: what went wrong before is not hidden.
func TestFiniteInFloat32(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		list := families(t)
		var points [][][]float64 // for each family near ones, all, and one that is NaN
		for _, f := range list {
			row := func(v float64, signs int) []float64 {
				r := make([]float64, f.p.Dim())
				for i := range r {
					r[i] = v
					if signs>>i&1 == 1 {
						r[i] = -v
					}
				}
				return r
			}
			near := [][]float64{row(0, 0), row(1, 0), row(-1, 0), row(0.01, 1)}
			if f.c != nil {
				near = append(near, f.c)
			}
			all := append(near, row(1e-30, 2))
			for signs := range 4 {
				all = append(all, row(1e6, signs), row(300, signs))
			}
			points = append(points, near, all, [][]float64{row(math.NaN(), 0)})
		}
		got := runAt(t, b, dtypes.Float32, points, func(x []*density.Node) []*density.Node {
			var out []*density.Node
			for i, f := range list {
				near, all, missing := x[3*i], x[3*i+1], x[3*i+2]
				out = append(out, f.p.Score(nil, all, nil), f.p.Energy(all),
					autodiff.Divergence(f.p.Score(nil, near, nil), near), f.p.Energy(missing))
			}
			return out
		})
		for i, f := range list {
			for _, v := range append(got[4*i], got[4*i+2]...) {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Errorf("%s: score or divergence %v", f.name, v)
				}
			}
			for _, v := range got[4*i+1] {
				if math.IsNaN(v) || (math.IsInf(v, 0) && !f.isOneSided) {
					t.Errorf("%s: energy %v", f.name, v)
				}
			}
			if v := got[4*i+3][0]; !math.IsNaN(v) {
				t.Errorf("%s: energy %v at a point that is NaN", f.name, v)
			}
		}
	})
}

// Where p has no derivative the score is what the documentation says, and far out and close in it is what it should be
// although squares of such numbers leave the range of float32.
func TestSpecialPoints(t *testing.T) {
	laplace := must[density.Laplace](t)(density.NewLaplace([]float64{1, 2}, []float64{0.5, 2}))
	exponential := must[density.Exponential](t)(density.NewExponential([]float64{2, 3}))
	pareto := must[density.Pareto](t)(density.NewPareto([]float64{1, 2}, []float64{2, 3}))
	ring := must[density.Ring](t)(density.NewRing(2, 2, 0.5))
	vonMises := must[density.VonMisesRing](t)(density.NewVonMisesRing(2, 0.5, 1.5, 0))
	cauchy := must[density.StudentT](t)(density.NewStudentT(1, []float64{0, 0}, [][]float64{{1, 0}, {0, 1}}))
	funnel := must[density.Funnel](t)(density.NewFunnel(3, 3))
	inf := math.Inf(1)
	cases := []struct {
		name   string
		p      density.Density
		x      []float64
		score  []float64
		energy float64 // NaN: not compared
	}{
		{"Laplace on a kink", laplace, []float64{1, 0}, []float64{0, 0.5}, 1 + 2*math.Ln2},
		{"Exponential on the boundary", exponential, []float64{0, 1}, []float64{-2, -3}, 3 - math.Log(6)},
		{"Exponential outside", exponential, []float64{-1e-30, 1}, []float64{0, -3}, inf},
		{"Pareto on the boundary", pareto, []float64{1, 4}, []float64{-3, -1}, 5*math.Ln2 - math.Log(6)},
		{"Pareto outside", pareto, []float64{0, 4}, []float64{0, -1}, inf},
		{"Ring at the centre", ring, []float64{0, 0}, []float64{0, 0}, 8},
		{"Ring near the centre", ring, []float64{3e-30, 4e-30}, []float64{4.8, 6.4}, 8},
		{"Ring far out", ring, []float64{3e30, -4e30}, []float64{-1.2e31, 1.6e31}, math.NaN()},
		{"VonMisesRing at the centre", vonMises, []float64{0, 0}, []float64{0, 0}, math.NaN()},
		{"VonMisesRing opposite", vonMises, []float64{-2, 0}, []float64{0, 0}, 3},
		{"Cauchy far out", cauchy, []float64{3e30, -4e30}, []float64{-3.6e-31, 4.8e-31}, 3*math.Log(5e30) + math.Log(2*math.Pi)},
		{"Funnel, v far below", funnel, []float64{-1e6, 0, 0}, []float64{1e6/9 - 1, 0, 0}, math.NaN()},
		{"Funnel, v far above", funnel, []float64{1e6, 5, -1e6}, []float64{-1e6/9 - 1, 0, 0}, math.NaN()},
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		var points [][][]float64
		for _, c := range cases {
			points = append(points, [][]float64{c.x})
		}
		got := runAt(t, b, dtypes.Float32, points, func(x []*density.Node) []*density.Node {
			var out []*density.Node
			for i, c := range cases {
				out = append(out, c.p.Score(nil, x[i], nil), c.p.Energy(x[i]))
			}
			return out
		})
		for i, c := range cases {
			testvalues.Near(t, c.name+": score", got[2*i], c.score, 1e-5)
			if energy := got[2*i+1][0]; !math.IsNaN(c.energy) && energy != c.energy {
				testvalues.NearNumber(t, c.name+": energy", energy, c.energy, 1e-6)
			}
		}
	})
}

// A score does not know how its density is scaled: mixtures with weights w and 1000 w are the same, and a mixture times a
// constant, as an unnormalised sum, has the same score.
func TestScaleLeavesScore(t *testing.T) {
	g := must[density.Gaussian](t)
	a, c := g(density.Isotropic([]float64{-1, 0}, 0.7)), g(density.Isotropic([]float64{1, 1}, 1.2))
	unit := must[density.Mixture](t)(density.NewMixture([]float64{0.3, 0.7}, a, c))
	thousand := must[density.Mixture](t)(density.NewMixture([]float64{300, 700}, a, c))
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.RunIn(t, b, dtypes.Float64, func(in testvalues.Inputs) []*density.Node {
			x := in.Of(grid(2, 4))
			sum := graph.Add(graph.MulScalar(graph.Exp(a.LogDensity(x)), 300), graph.MulScalar(graph.Exp(c.LogDensity(x)), 700))
			unnormalised := graph.Gradient(graph.ReduceAllSum(graph.Log(sum)), x)[0]
			return []*density.Node{unit.Score(nil, x, nil), thousand.Score(nil, x, nil), unnormalised}
		})
		testvalues.Near(t, "weights times 1000", got[1], got[0], 1e-14)
		testvalues.Near(t, "sum times 1000", got[2], got[0], 1e-12)
	})
}
