package density_test

import (
	"math"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/density"
)

// torchebmCase is one case of testdata/torchebm.json: an energy and its gradient as torchebm 0.8.9 computes them, with
// its default parameters.
type torchebmCase struct {
	ID       string
	EnergyOf string `json:"energy_of"`
	X        [][]float64
	Energy   []float64
	Gradient [][]float64
}

// energies returns torchebm's energies: those that are densities of this package, and test functions of optimisation
// as a user would write them, whose score is then found by differentiation.
func energies(t *testing.T) map[string]scorekit.Energy {
	ofPoints := func(e func(x *density.Node) *density.Node) scorekit.Energy {
		return func(_ *mlctx.Context, x, _ *density.Node) *density.Node { return e(x) }
	}
	sum := func(x *density.Node) *density.Node { return graph.ReduceSum(x, 1) }
	cosine := func(x *density.Node) *density.Node { return graph.Cos(graph.MulScalar(x, 2*math.Pi)) }
	inPlane := func(e func(x, y *density.Node) *density.Node) scorekit.Energy {
		return ofPoints(func(x *density.Node) *density.Node {
			column := func(i int) *density.Node { return graph.Slice(x, graph.AxisRange(), graph.AxisElem(i)) }
			return sum(e(column(0), column(1)))
		})
	}
	normal := must[density.Gaussian](t)(density.Isotropic([]float64{0, 0}, 1))
	return map[string]scorekit.Energy{
		"doublewell": ofPoints(must[density.DoubleWell](t)(density.NewDoubleWell(2, 2, 0)).Energy),
		"rosenbrock": ofPoints(must[density.Rosenbrock](t)(density.NewRosenbrock(2, 1, 100, 1)).Energy),
		"harmonic": ofPoints(func(x *density.Node) *density.Node { // without the normalising constant
			return graph.AddScalar(normal.Energy(x), -math.Log(2*math.Pi))
		}),
		"ackley": ofPoints(func(x *density.Node) *density.Node {
			norm := graph.Sqrt(graph.ReduceMean(graph.Square(x), 1))
			bumps := graph.Exp(graph.ReduceMean(cosine(x), 1))
			return graph.AddScalar(graph.Sub(graph.MulScalar(graph.Exp(graph.MulScalar(norm, -0.2)), -20), bumps), 20+math.E)
		}),
		"rastrigin": ofPoints(func(x *density.Node) *density.Node {
			return sum(graph.AddScalar(graph.Sub(graph.Square(x), graph.MulScalar(cosine(x), 10)), 10))
		}),
		"himmelblau": inPlane(func(x, y *density.Node) *density.Node {
			a := graph.AddScalar(graph.Add(graph.Square(x), y), -11)
			b := graph.AddScalar(graph.Add(x, graph.Square(y)), -7)
			return graph.Add(graph.Square(a), graph.Square(b))
		}),
		"booth": inPlane(func(x, y *density.Node) *density.Node {
			a := graph.AddScalar(graph.Add(x, graph.MulScalar(y, 2)), -7)
			b := graph.AddScalar(graph.Add(graph.MulScalar(x, 2), y), -5)
			return graph.Add(graph.Square(a), graph.Square(b))
		}),
		"styblinski_tang": ofPoints(func(x *density.Node) *density.Node {
			quartic := graph.Sub(graph.Square(graph.Square(x)), graph.MulScalar(graph.Square(x), 16))
			return graph.MulScalar(sum(graph.Add(quartic, graph.MulScalar(x, 5))), 0.5)
		}),
	}
}

// Energies and scores equal torchebm's energies and negative gradients to 1e-12: those of densities in closed form, and
// those that scorekit.Energy finds by differentiation.
func TestTorchEBM(t *testing.T) {
	var cases []torchebmCase
	testvalues.Read(t, "torchebm.json", &cases)
	closed := map[string]scorekit.Model{
		"doublewell": must[density.DoubleWell](t)(density.NewDoubleWell(2, 2, 0)),
		"rosenbrock": must[density.Rosenbrock](t)(density.NewRosenbrock(2, 1, 100, 1)),
		"harmonic":   must[density.Gaussian](t)(density.Isotropic([]float64{0, 0}, 1)),
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.RunIn(t, b, dtypes.Float64, func(in testvalues.Inputs) []*density.Node {
			var out []*density.Node
			for _, c := range cases {
				energy, x := energies(t)[c.EnergyOf], in.Of(c.X)
				score := energy.Score(nil, x, nil)
				exact := score
				if p := closed[c.EnergyOf]; p != nil {
					exact = p.Score(nil, x, nil)
				}
				out = append(out, energy(nil, x, nil), score, exact)
			}
			return out
		})
		for i, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				var score []float64
				for _, v := range slices.Concat(c.Gradient...) {
					score = append(score, -v)
				}
				testvalues.Near(t, "energy", got[3*i], c.Energy, 1e-12)
				testvalues.Near(t, "score", got[3*i+1], score, 1e-12)
				testvalues.Near(t, "closed form", got[3*i+2], score, 1e-12)
			})
		}
	})
}
