package density_test

import (
	"math"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit/density"
)

// family is one density, with what the tests must know of it.
type family struct {
	name string
	p    density.Density

	isUnnormalised bool      // neither its constant nor exact draws
	isOneSided     bool      // on xᵢ ≥ cᵢ only, with a jump of p at the boundary
	c              []float64 // where p has a kink or a boundary; 0 by default
	reach          float64   // beyond it p has no mass that counts; 40 by default
}

// families holds every type at least once, in one to four dimensions.
func families(t *testing.T) []family {
	t.Helper()
	studentT, ring := must[density.StudentT](t), must[density.Ring](t)
	laplace, exponential := must[density.Laplace](t), must[density.Exponential](t)
	banana, rosenbrock := must[density.Banana](t), must[density.Rosenbrock](t)
	doubleWell, vonMises := must[density.DoubleWell](t), must[density.VonMisesRing](t)
	funnel, gaussian, mixture := must[density.Funnel](t), must[density.Gaussian](t), must[density.Mixture](t)
	tilted := gaussian(density.NewGaussian([]float64{0.5, 1}, [][]float64{{2, -0.9}, {-0.9, 0.8}}))
	scale := [][]float64{{1.2, 0.5}, {0.5, 0.7}}
	skewed := laplace(density.NewLaplace([]float64{0.5, -1}, []float64{0.6, 1.4}))
	return []family{
		{name: "Gaussian", p: tilted},
		{name: "Mixture", p: mixture(density.NewMixture([]float64{1, 3}, tilted, gaussian(density.Isotropic([]float64{-2, 0}, 0.6))))},
		{name: "StudentT", p: studentT(density.NewStudentT(5.3, []float64{1, -0.5}, scale)), reach: 1e4},
		{name: "StudentT ν=0.7", p: studentT(density.NewStudentT(0.7, []float64{2}, [][]float64{{0.49}})), c: []float64{2}, reach: 1e25},
		{name: "StudentT ν=10⁶", p: studentT(density.NewStudentT(1e6, []float64{1, 0, -1}, [][]float64{{2, 0.3, 0}, {0.3, 1, 0.2}, {0, 0.2, 0.5}}))},
		{name: "Laplace", p: skewed, c: []float64{0.5, -1}},
		{name: "Logistic", p: must[density.Logistic](t)(density.NewLogistic([]float64{0.3, -0.4}, []float64{0.5, 1.2}))},
		{name: "Exponential", p: exponential(density.NewExponential([]float64{0.7, 2.5})), isOneSided: true},
		{name: "Pareto", p: must[density.Pareto](t)(density.NewPareto([]float64{0.8, 0.5}, []float64{6, 7.5})), isOneSided: true, c: []float64{0.8, 0.5}, reach: 1e3},
		{name: "Banana", p: banana(density.NewBanana(3, 0.3, 1.7))},
		{name: "Banana d=2", p: banana(density.NewBanana(2, -0.4, 2))},
		{name: "Rosenbrock", p: rosenbrock(density.NewRosenbrock(2, 0.7, 0.5, 1))},
		{name: "Rosenbrock d=3", p: rosenbrock(density.NewRosenbrock(3, 0.7, 5, 2)), isUnnormalised: true},
		{name: "Ring d=1", p: ring(density.NewRing(1, 1, 0.6))},
		{name: "Ring", p: ring(density.NewRing(2, 2, 0.4))},
		{name: "Ring d=4", p: ring(density.NewRing(4, 0.5, 0.7))},
		{name: "VonMisesRing", p: vonMises(density.NewVonMisesRing(1.5, 0.3, 1.8, 0.6))},
		{name: "VonMisesRing κ=0", p: vonMises(density.NewVonMisesRing(1, 0.15, 0, 2))},
		{name: "DoubleWell", p: doubleWell(density.NewDoubleWell(2, 1.5, 0))},
		{name: "DoubleWell d=1", p: doubleWell(density.NewDoubleWell(1, 0.05, 3))},
		{name: "DoubleWell coupled", p: doubleWell(density.NewDoubleWell(3, 1, -0.7)), isUnnormalised: true},
		{name: "Funnel", p: funnel(density.NewFunnel(2, 0.9)), reach: 200},
		{name: "Funnel d=4", p: funnel(density.NewFunnel(4, 0.5))},
		{name: "Product", p: must[density.Product](t)(density.NewProduct(skewed, ring(density.NewRing(1, 1, 0.5)), tilted))},
	}
}

// points returns n points inside the support that lie near no special place.
func (f family) points(n int) [][]float64 {
	rows := grid(f.p.Dim(), n)
	if f.isOneSided {
		for _, row := range rows {
			for j := range row {
				row[j] = 0.9 + math.Abs(row[j])
			}
		}
	}
	return rows
}

// The score that is written out is the gradient of the log-density and of −Energy, which differ by a constant.
func TestScoreIsGradient(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		list := families(t)
		var points [][][]float64
		for _, f := range list {
			points = append(points, f.points(5))
		}
		got := runAt(t, b, dtypes.Float64, points, func(at []*density.Node) []*density.Node {
			var out []*density.Node
			for i, f := range list {
				x := at[i]
				energy := f.p.Energy(x)
				logp := graph.Neg(energy)
				if !f.isUnnormalised {
					logp = f.p.LogDensity(x)
				}
				out = append(out, f.p.Score(nil, x, nil), graph.Gradient(graph.ReduceAllSum(energy), x)[0],
					graph.Gradient(graph.ReduceAllSum(logp), x)[0], graph.Add(energy, logp))
			}
			return out
		})
		for i, f := range list {
			score, ofEnergy, ofLog, constant := got[4*i], got[4*i+1], got[4*i+2], got[4*i+3]
			for j := range ofEnergy {
				ofEnergy[j] = -ofEnergy[j]
			}
			testvalues.Near(t, f.name+" −gradient of the energy", ofEnergy, score, 1e-12)
			testvalues.Near(t, f.name+" gradient of the log-density", ofLog, score, 1e-12)
			for _, c := range constant {
				testvalues.NearOne(t, f.name+" energy + log-density", []float64{c}, constant[:1], 1e-12)
			}
		}
	})
}
