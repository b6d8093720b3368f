package net

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
	"github.com/scorekit/lab/scorekit/autodiff"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/objective"
	"github.com/scorekit/lab/scorekit/random"
)

// Every objective trains energies through s = −∇E. With the same noise in each step, a few steps downhill lower
// each loss, and every single weight moves.
func TestEnergiesWithEveryObjective(t *testing.T) {
	const steps = 4
	standard, err := density.Isotropic([]float64{0.5, -0.3}, 1)
	if err != nil {
		t.Fatal(err)
	}
	objectives := map[string]scorekit.Objective{
		"Explicit":           objective.Explicit{Target: standard},
		"Implicit":           objective.Implicit{},
		"ImplicitHutchinson": objective.ImplicitHutchinson{Probes: 2, Kind: autodiff.Gaussian},
		"Sliced":             objective.Sliced{Projections: 2},
		"SlicedVR":           objective.SlicedVR{Projections: 1, Kind: autodiff.Sphere},
		"Denoising":          objective.Denoising{Sigma: 0.8, Weighted: true},
		"MultiNoise":         objective.MultiNoise{Min: 0.3, Max: 3},
	}
	type job struct {
		model     scorekit.Model
		objective scorekit.Objective
	}
	jobs := map[string]job{}
	for o, objective := range objectives {
		jobs["Quadratic "+o] = job{Quadratic{}, objective}
		jobs["EnergyMLP "+o] = job{EnergyMLP{Hidden: []int{4, 3}}, objective}
		if o == "Implicit" || o == "SlicedVR" || o == "Denoising" { // one of each kind, for the time that XLA takes
			jobs["MixtureEnergy "+o] = job{MixtureEnergy{Components: 3}, objective}
			jobs["ConvEnergy "+o] = job{ConvEnergy{Channels: []int{3, 2}}, objective}
		}
		if o == "Denoising" || o == "MultiNoise" { // the others give no noise level
			jobs["NoiseEnergyMLP "+o] = job{NoiseEnergyMLP{Hidden: []int{4, 3}, Activation: Tanh, DataStd: 1}, objective}
		}
	}
	order := names(jobs)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		seed, err := random.Seed(5)
		if err != nil {
			t.Fatal(err)
		}
		vars := mlctx.New().Checked(false)
		if err := vars.SetRNGStateFromSeed(3); err != nil {
			t.Fatal(err)
		}
		exec, err := mlctx.NewExec(b, vars, func(vars *mlctx.Context, state *Node) (losses []*Node) {
			rng := random.New(state, dtypes.Float64, 1)
			rows := graph.StopGradient(graph.MulScalar(rng.Normal(32, 2), 1.5))
			images := graph.StopGradient(rng.Normal(32, 2, 2, 1))
			for _, name := range order {
				j, x := jobs[name], rows
				if _, ok := j.model.(ConvEnergy); ok {
					x = images
				}
				loss := graph.ReduceAllMean(j.objective.Loss(vars.In(name), rng, j.model.Score, x))
				losses = append(losses, loss)
				for v := range vars.In(name).IterVariablesInScope() {
					if !v.Trainable {
						continue
					}
					w := v.ValueGraph(loss.Graph())
					v.SetValueGraph(graph.Sub(w, graph.MulScalar(graph.Gradient(loss, w)[0], 0.02)))
				}
			}
			return losses
		})
		if err != nil {
			t.Fatal(err)
		}
		defer exec.Finalize()
		history, before := make([][]float64, len(order)), map[string][]float64{}
		for step := range steps {
			results, err := exec.Exec(seed)
			if err != nil {
				t.Fatal(err)
			}
			for i, loss := range results {
				history[i] = append(history[i], testvalues.Flat(t, loss)...)
			}
			if step < steps-2 {
				continue
			}
			for v := range vars.IterVariables() {
				if !v.Trainable {
					continue
				}
				value, err := v.Value()
				if err != nil {
					t.Fatal(err)
				}
				now := testvalues.Flat(t, value)
				for i, old := range before[v.ScopeAndName()] {
					if now[i] == old {
						t.Errorf("weight %d of %s did not move", i, v.ScopeAndName())
					}
				}
				before[v.ScopeAndName()] = now
			}
		}
		if want := 7*2 + 7*5 + 2*9 + 3*3 + 3*5; len(before) != want { // W and b; 2 layers and w; those, the embedding and its ways in; π, μ and τ; 2 convolutions and w
			t.Errorf("%d matrices and vectors, want %d", len(before), want)
		}
		for i, name := range order {
			for step, loss := range history[i] {
				if math.IsNaN(loss) || math.IsInf(loss, 0) || (step > 0 && !(loss < history[i][step-1])) {
					t.Errorf("%s: losses %v: must be finite and fall", name, history[i])
					break
				}
			}
		}
	})
}

// The gradient of the implicit loss with the exact trace, a third derivative of an energy, agrees with central
// differences of the loss along a random direction in the space of all weights. The step is 10⁻⁵ of weights of size 1, the
// difference known to about 10⁻¹⁰ of a third derivative and 10⁻¹⁶/10⁻⁵ of rounding: 1e-7 of the larger of 1 and the slope
// is allowed.
func TestGradientsOfTheImplicitLoss(t *testing.T) {
	const h = 1e-5
	fitted := map[string]*scorekit.Fitted{}
	for name, m := range models {
		fitted[name] = trained(t, m, scorekit.WithDType(dtypes.Float64))
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		order, vars := tried(t, b), together(t, fitted)
		seed, err := random.Seed(9)
		if err != nil {
			t.Fatal(err)
		}
		// Each call moves all weights by how·v and returns, for each model, the loss there and its slope along v.
		exec, err := mlctx.NewExec(b, vars, func(vars *mlctx.Context, state, how *Node) (out []*Node) {
			rng := random.New(state, dtypes.Float64, 1)
			sigma := graph.Exp(rng.Normal(3))
			for _, name := range order {
				own, x := vars.In(name), rng.Normal(slices.Concat([]int{3}, shapeOf(models[name]))...)
				var at, along []*Node
				for v := range own.IterVariablesInScope() {
					old := v.ValueGraph(how.Graph())
					direction := rng.Normal(old.Shape().Dimensions...)
					moved := graph.Add(old, graph.Mul(how, direction))
					v.SetValueGraph(moved)
					at, along = append(at, moved), append(along, direction)
				}
				score := func(vars *mlctx.Context, x, _ *Node) *Node { return models[name].Score(vars, x, sigma) }
				loss := graph.ReduceAllMean(objective.Implicit{}.Loss(own, nil, score, x))
				slope := graph.ZerosLike(loss)
				for i, g := range graph.Gradient(loss, at...) {
					slope = graph.Add(slope, graph.ReduceAllSum(graph.Mul(g, along[i])))
				}
				out = append(out, loss, slope)
			}
			return out
		})
		if err != nil {
			t.Fatal(err)
		}
		defer exec.Finalize()
		var calls [3][][]float64
		for i, how := range []float64{0, h, -2 * h} {
			results, err := exec.Exec(seed, how)
			if err != nil {
				t.Fatal(err)
			}
			calls[i] = testvalues.FlatAll(t, results)
		}
		for i, name := range order {
			slope, want := calls[0][2*i+1][0], (calls[1][2*i][0]-calls[2][2*i][0])/(2*h)
			testvalues.NearOne(t, name+": slope of the loss", []float64{slope}, []float64{want}, 1e-7)
			if slope == 0 {
				t.Errorf("%s: the loss has no slope", name)
			}
		}
	})
}
