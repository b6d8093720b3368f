package net

import (
	"math"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/objective"
)

// Score, energy and implicit loss ½‖s‖² + ∇·s of every model, on trained weights, equal those of loops over plain
// numbers; of an energy that loss is ½‖∇E‖² − ΔE. Scores and energies that are written out agree to 1e-12. What comes from differences of them has their error:
//
//   - a slope with the step 10⁻⁵, about 10⁻¹⁰ of a third derivative and 10⁻¹⁶/10⁻⁵ of rounding: 1e-6 is allowed;
//   - a curvature with the step 10⁻⁴, about 10⁻⁹ of a fourth derivative and 10⁻¹⁶/10⁻⁸ of rounding: 1e-6 is allowed.
func TestForward(t *testing.T) {
	points := [][]float64{{0.3, -1.1, 0.8}, {2, 0, -0.4}, {-0.6, 0.9, 1.5}}
	levels := []float64{0.2, 1, 3.5}
	all, fitted := map[string]scorekit.Model{}, map[string]*scorekit.Fitted{}
	for name, m := range models {
		all[name] = m
		fitted[name] = trained(t, m, scorekit.WithDType(dtypes.Float64))
	}
	for _, a := range activations { // MLP and NoiseMLP with every activation, on weights trained once
		for name, m := range map[string]scorekit.Model{"MLP": MLP{Hidden: []int{5, 4}, Activation: a}, "NoiseMLP": NoiseMLP{Hidden: []int{5, 4}, Activation: a, DataStd: 0.7}} {
			all[name+" "+string(a)], fitted[name+" "+string(a)] = m, fitted[name]
		}
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		order, vars := tried(t, b), together(t, fitted)
		if b == testbackend.Go(t) {
			order = names(all)
		}
		got := run(t, b, vars, func(vars *mlctx.Context, g *graph.Graph) (out []*Node) {
			sigma := graph.Const(g, levels)
			for _, name := range order {
				own, m := vars.In(name), all[name]
				x := graph.ConstTensor(g, pointsFor(m, points))
				s := m.Score(own, x, sigma)
				score := func(vars *mlctx.Context, x, _ *Node) *Node { return m.Score(vars, x, sigma) }
				energy := graph.ZerosLike(sigma)
				if e, ok := m.(energies); ok {
					energy = e.Energy(own, x, sigma)
				}
				out = append(out, s, energy, objective.Implicit{}.Loss(own, nil, score, x))
			}
			return out
		})
		near := func(name, what string, row int, got, want, tolerance float64) {
			t.Helper()
			if !(math.Abs(got-want) <= tolerance*(1+math.Abs(want))) {
				t.Errorf("%s: %s at point %d is %v, want %v", name, what, row, got, want)
			}
		}
		for k, name := range order {
			m := all[name]
			w := weights{t, vars, "/" + name}
			scores, energy, losses := got[3*k], got[3*k+1], got[3*k+2]
			for row, x := range rowsFor(m, points) {
				sigma := levels[row]
				at := func(x []float64) float64 { e, _ := w.energy(m, x, sigma); return e }
				want, squares, divergence := w.score(m, x, sigma), 0.0, 0.0
				_, hasEnergy := m.(energies)
				if hasEnergy {
					near(name, "energy", row, energy[row], at(x), 1e-12)
				}
				for i := range x {
					s := scores[len(x)*row+i]
					squares += s * s
					if want != nil {
						near(name, "score", row, s, want[i], 1e-12)
						divergence += slope(func(x []float64) float64 { return w.score(m, x, sigma)[i] }, x, i, 1e-5)
					} else {
						near(name, "score", row, s, -slope(at, x, i, 1e-5), 1e-6)
						divergence -= curvature(at, x, i, 1e-4)
					}
				}
				near(name, "implicit loss", row, losses[row], squares/2+divergence, 1e-6)
			}
		}
	})
}
