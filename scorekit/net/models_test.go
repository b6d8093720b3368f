package net

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/shapes"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/objective"
)

// models is a small one of each kind, with settings that show when they are not used; a second word names a variant.
var models = map[string]scorekit.Model{
	"Linear":           Linear{},
	"Quadratic":        Quadratic{},
	"MLP":              MLP{Hidden: []int{5, 4}, Activation: Tanh},
	"MLP waves":        MLP{Hidden: []int{5, 4}, Features: Fourier{Count: 3, Scale: 0.2, Seed: 7}},
	"Energy":           EnergyMLP{Hidden: []int{5, 4}, Activation: Softplus},
	"Energy waves":     EnergyMLP{Hidden: []int{5, 4}, Features: Fourier{Count: 3, Scale: 0.2}},
	"Mixture":          MixtureEnergy{Components: 3, Spread: 0.7},
	"Mixture one":      MixtureEnergy{Components: 1},
	"Conv":             ConvEnergy{Channels: []int{3, 2}, Activation: Tanh},
	"Conv wide":        ConvEnergy{Channels: []int{2, 3}, Kernel: 5},
	"Residual":         ResidualMLP{Width: 5, Blocks: 2, Activation: GELU},
	"Residual waves":   ResidualMLP{Width: 5, Blocks: 2, Features: Fourier{Count: 3, Scale: 0.2}},
	"NoiseMLP":         NoiseMLP{Hidden: []int{5, 4}, DataStd: 0.7},
	"NoiseMLP plain":   NoiseMLP{Hidden: []int{5, 4}, Activation: Sine, Features: Fourier{Count: 3, Scale: 0.2}},
	"NoiseEnergy":      NoiseEnergyMLP{Hidden: []int{5, 4}, Activation: Tanh, DataStd: 0.7, Features: Fourier{Count: 3, Scale: 0.2}},
	"NoiseEnergy 0":    NoiseEnergyMLP{Hidden: []int{5, 4}},
	"NoiseResidual":    NoiseResidualMLP{Width: 5, Blocks: 2, DataStd: 0.7, Features: Fourier{Count: 3, Scale: 0.2}},
	"NoiseResidual 0":  NoiseResidualMLP{Width: 5, Blocks: 2, Activation: Softplus},
	"Preconditioned":   Preconditioned{Net: MLP{Hidden: []int{5, 4}}, DataStd: 0.7},
	"Preconditioned E": Preconditioned{Net: EnergyMLP{Hidden: []int{5, 4}}, DataStd: 1.3},
}

// shapeOf is the shape of a model's points: three numbers, or an image, for the wide kernel one that is smaller.
func shapeOf(m scorekit.Model) []int {
	switch c, ok := m.(ConvEnergy); {
	case ok && c.Kernel == 5:
		return []int{1, 2, 2}
	case ok:
		return []int{2, 2, 1}
	}
	return []int{3}
}

// rowsFor makes rows of three numbers as long as a model's points are, with further numbers made of these.
func rowsFor(m scorekit.Model, rows [][]float64) [][]float64 {
	long := make([][]float64, len(rows))
	for i, row := range rows {
		for k := range shapes.Make(dtypes.Float64, shapeOf(m)...).Size() {
			long[i] = append(long[i], row[k%3]*(1-0.3*float64(k/3)))
		}
	}
	return long
}

// pointsFor is rowsFor in the shape of the points.
func pointsFor(m scorekit.Model, rows [][]float64) *tensors.Tensor {
	return tensors.FromFlatDataAndDimensions(slices.Concat(rowsFor(m, rows)...), slices.Concat([]int{len(rows)}, shapeOf(m))...)
}

// names lists some models in a fixed order.
func names[M any](models map[string]M) []string {
	all := make([]string, 0, len(models))
	for name := range models {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// tried lists the models to try on a backend: all on pure Go, which compiles nothing, and one of each kind on XLA.
func tried(t *testing.T, b backends.Backend) []string {
	t.Helper()
	all := names(models)
	if b != testbackend.Go(t) {
		all = slices.DeleteFunc(all, func(name string) bool { return strings.Contains(name, " ") })
	}
	return all
}

// energies is a model with an energy.
type energies interface {
	scorekit.Model
	Energy(vars *mlctx.Context, x, sigma *Node) *Node
}

// trained fits model for two large steps on pure Go, which needs no time to compile, so that no bias is 0 any more.
func trained(t *testing.T, model scorekit.Model, options ...scorekit.FitOption) *scorekit.Fitted {
	t.Helper()
	return trainedOn(t, model, pointsFor(model, [][]float64{{1, 0.5, -1}, {0.2, -0.7, 0.4}, {-1.2, 1, 0.3}}), options...)
}

// trainedOn is trained with points of any shape, three of them, of the first and last classes of a model that has classes.
func trainedOn(t *testing.T, model scorekit.Model, points *tensors.Tensor, options ...scorekit.FitOption) *scorekit.Fitted {
	t.Helper()
	data, err := scorekit.Examples(points)
	if c, ok := model.(scorekit.Conditional); ok {
		data, err = scorekit.LabelledExamples(points, []int{0, 1, c.NumClasses() - 1})
	}
	if err != nil {
		t.Fatal(err)
	}
	options = append([]scorekit.FitOption{scorekit.WithSteps(2), scorekit.WithBatch(8), scorekit.WithEMA(0),
		scorekit.WithOptimizer(scorekit.Adam{Rate: scorekit.Rate{Peak: 0.1}})}, options...)
	f, err := scorekit.Fit(context.Background(), testbackend.Go(t), model, objective.MultiNoise{Min: 0.1, Max: 2}, data, options...)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// together copies the weights of several models into one context, each into the scope of its name, so that one graph
// can hold them all.
func together(t *testing.T, fitted map[string]*scorekit.Fitted) *mlctx.Context {
	t.Helper()
	vars := mlctx.New().Checked(false)
	for name, f := range fitted {
		for v := range f.Vars().IterVariables() {
			value, err := v.Value()
			if err != nil {
				t.Fatal(err)
			}
			own, err := value.LocalClone()
			if err != nil {
				t.Fatal(err)
			}
			scope := v.Scope()
			if scope == mlctx.RootScope {
				scope = ""
			}
			vars.InAbsPath("/"+name+scope).VariableWithValue(v.Name(), own)
		}
	}
	return vars
}

// run builds a graph over vars and returns its outputs as plain numbers.
func run(t *testing.T, b backends.Backend, vars *mlctx.Context, build func(vars *mlctx.Context, g *graph.Graph) []*Node) [][]float64 {
	t.Helper()
	exec, err := mlctx.NewExec(b, vars, build)
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	results, err := exec.Exec()
	if err != nil {
		t.Fatal(err)
	}
	return testvalues.FlatAll(t, results)
}
