package net

import (
	"context"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
)

// fresh builds networks with new weights, each in a scope of its own, and returns the weights and the outputs.
func fresh(t *testing.T, b backends.Backend, seed int64, build func(vars *mlctx.Context, g *graph.Graph) []*Node) (*mlctx.Context, [][]float64) {
	t.Helper()
	vars := mlctx.New().Checked(false)
	if err := vars.SetRNGStateFromSeed(seed); err != nil {
		t.Fatal(err)
	}
	exec, err := mlctx.NewExec(b, vars, func(vars *mlctx.Context, g *graph.Graph) []*Node { return build(vars, g) })
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	results, err := exec.Exec()
	if err != nil {
		t.Fatal(err)
	}
	return vars, testvalues.FlatAll(t, results)
}

// The output has the shape of the points, rows of numbers or images, the number of weights is that of the layers, and
// an image has the score of its flattened self, and the energy.
func TestShapesAndCounts(t *testing.T) {
	const d, h0, h1, waves = 12, 5, 7, 3
	energy := d*h0 + h0 + h0*h1 + h1 + h1
	mlp := energy - h1 + h1*d + d
	level := 32*h0 + h0 + h0*h0 + h0*h1 // the embedding, and its way into each layer
	residual := d*h0 + h0 + 3*2*(h0*h0+h0) + h0*d + d
	all := map[string]struct {
		model   scorekit.Model
		weights int
	}{
		"linear":         {Linear{}, d*d + d},
		"quadratic":      {Quadratic{}, d*d + d},
		"mlp":            {MLP{Hidden: []int{h0, h1}}, mlp},
		"waves":          {MLP{Hidden: []int{h0, h1}, Features: Fourier{Count: waves, Scale: 1}}, mlp + (2*waves-d)*h0},
		"energy":         {EnergyMLP{Hidden: []int{h0, h1}}, energy},
		"mixture":        {MixtureEnergy{Components: h0}, h0 + 2*h0*d},
		"residual":       {ResidualMLP{Width: h0}, residual},
		"noise":          {NoiseMLP{Hidden: []int{h0, h1}}, mlp + level},
		"noise energy":   {NoiseEnergyMLP{Hidden: []int{h0, h1}, DataStd: 1}, energy + level},
		"noise residual": {NoiseResidualMLP{Width: h0, DataStd: 1}, residual + 32*h0 + h0 + 3*h0*h0},
		"preconditioned": {Preconditioned{Net: MLP{Hidden: []int{h0, h1}}, DataStd: 1}, mlp},
	}
	order := names(all)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		vars, got := fresh(t, b, 1, func(vars *mlctx.Context, g *graph.Graph) (out []*Node) {
			rows := graph.Sin(graph.IotaFull(g, testvalues.Shape(2, d)))
			sigma := graph.Const(g, []float64{0.5, 2})
			for _, name := range order {
				m := all[name].model
				for _, x := range []*Node{rows, graph.Reshape(rows, 2, 4, 3, 1)} {
					s := m.Score(vars.In(name), x, sigma)
					if !s.Shape().Equal(x.Shape()) {
						t.Errorf("%s: a score of shape %s for points of shape %s", name, s.Shape(), x.Shape())
					}
					out = append(out, s)
					if e, ok := m.(energies); ok {
						out[len(out)-1] = graph.Concatenate([]*Node{graph.Reshape(s, -1), e.Energy(vars.In(name), x, sigma)}, 0)
					}
				}
			}
			return out
		})
		for i, name := range order {
			if !slices.Equal(got[2*i], got[2*i+1]) {
				t.Errorf("%s: scores of rows %v, of images %v", name, got[2*i], got[2*i+1])
			}
			n := 0
			for v := range vars.In(name).IterVariablesInScope() {
				n += v.Shape().Size()
			}
			if n != all[name].weights {
				t.Errorf("%s: %d weights, want %d", name, n, all[name].weights)
			}
		}
	})
}

// Weights start with mean 0 and standard deviation 1/√in, those that end one of n residual blocks 1/√(n·in): over N of them the mean is known to 1/√(in N), the standard
// deviation to 1/√(2N) of itself; 5 of these are allowed. Biases start at 0, and no two layers start alike: their correlation is within 5/√N.
func TestInitialWeights(t *testing.T) {
	const width = 100
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		vars, _ := fresh(t, b, 2, func(vars *mlctx.Context, g *graph.Graph) []*Node {
			x := graph.Zeros(g, testvalues.Shape(1, width))
			hidden := []int{width, width}
			return []*Node{MLP{Hidden: hidden}.Score(vars.In("mlp"), x, nil),
				NoiseMLP{Hidden: hidden}.Score(vars.In("noise"), x, graph.Const(g, []float64{1})),
				ResidualMLP{Width: width, Blocks: 4}.Score(vars.In("residual"), x, nil),
				ConvEnergy{Channels: []int{20, 40}}.Energy(vars.In("conv"), graph.Reshape(x, 1, 10, 10, 1), nil)}
		})
		var square [][]float64
		matrices := 0
		for v := range vars.IterVariables() {
			if !v.Trainable {
				continue
			}
			w, dims := weights{t, vars, ""}.flat(v.Scope(), v.Name())
			if v.Name() == "biases" {
				if len(dims) != 1 || slices.ContainsFunc(w, func(b float64) bool { return b != 0 }) {
					t.Errorf("%s: biases %v", v.Scope(), w)
				}
				continue
			}
			matrices++
			n, in := float64(len(w)), float64(len(w)/dims[len(dims)-1])
			if strings.Contains(v.Scope(), "block") && strings.HasSuffix(v.Scope(), "/out") {
				in *= 4
			}
			var mean, squares float64
			for _, x := range w {
				mean += x / n
				squares += x * x / n
			}
			if !(math.Abs(mean) <= 5/math.Sqrt(in*n)) {
				t.Errorf("%s: mean %v", v.Scope(), mean)
			}
			if std := math.Sqrt(squares * in); !(math.Abs(std-1) <= 5/math.Sqrt(2*n)) {
				t.Errorf("%s: standard deviation %v/√in", v.Scope(), std)
			}
			if dims[0] == width {
				square = append(square, w)
			}
		}
		if matrices != 3+6+10+3 {
			t.Errorf("%d matrices, want 3 of the MLP, 6 of the noise MLP, 10 of the residual MLP and 3 of the convolutions", matrices)
		}
		for i, a := range square {
			for _, b := range square[:i] {
				product, squaresA, squaresB := 0.0, 0.0, 0.0
				for k := range a {
					squaresA += a[k] * a[k]
					squaresB += b[k] * b[k]
					product += a[k] * b[k]
				}
				if correlation := product / math.Sqrt(squaresA*squaresB); !(math.Abs(correlation) <= 5/math.Sqrt(float64(len(a)))) {
					t.Errorf("two layers have the correlation %v", correlation)
				}
			}
		}
	})
}

// The same seed gives the same weights, another one others.
func TestSeed(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		draw := func(seed int64) []float64 {
			_, got := fresh(t, b, seed, func(vars *mlctx.Context, g *graph.Graph) []*Node {
				return []*Node{MLP{Hidden: []int{4}}.Score(vars, graph.Ones(g, testvalues.Shape(1, 3)), nil)}
			})
			return got[0]
		}
		first := draw(1)
		if again := draw(1); !slices.Equal(first, again) {
			t.Errorf("seed 1 gave %v, then %v", first, again)
		}
		if other := draw(2); slices.Equal(first, other) {
			t.Errorf("seeds 1 and 2 gave %v", first)
		}
	})
}

// A trained network is rebuilt from its file alone, with its settings and with the same scores to the last bit.
func TestSaveAndLoad(t *testing.T) {
	b := testbackend.Go(t)
	usual := map[string]scorekit.Model{"MLP 0": MLP{}, "Energy 0": EnergyMLP{}, "Conv 0": ConvEnergy{}, "Residual 0": ResidualMLP{}, "NoiseResidual": NoiseResidualMLP{},
		"deep": Preconditioned{Net: Linear{}, DataStd: 0.1}}
	maps.Copy(usual, models)
	for name, model := range usual {
		f := trained(t, model)
		path := filepath.Join(t.TempDir(), "model.safetensors")
		if err := f.Save(path); err != nil {
			t.Fatal(err)
		}
		loaded, err := scorekit.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(loaded.Model(), model) {
			t.Errorf("loaded %#v, want %#v", loaded.Model(), model)
		}
		if now, want := scoresOf(t, b, loaded, 0.3, 2), scoresOf(t, b, f, 0.3, 2); !slices.Equal(now, want) {
			t.Errorf("%s: scores %v before, %v after", name, want, now)
		}
	}
}

// scoresOf returns a float32 model's scores at two points.
func scoresOf(t *testing.T, b backends.Backend, f *scorekit.Fitted, sigma ...float64) []float64 {
	t.Helper()
	s, err := scorekit.Evaluate(context.Background(), b, f, pointsFor(f.Model(), [][]float64{{0.3, -1.1, 0.8}, {2, 0, -0.4}}), sigma...)
	if err != nil {
		t.Fatal(err)
	}
	if s.DType() != dtypes.Float32 {
		t.Errorf("scores of dtype %s", s.DType())
	}
	rows, err := scorekit.Rows(s)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(rows...)
}

func TestErrors(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, test := range []struct {
		err  error
		want string
	}{
		{MLP{Hidden: []int{3, 0}}.Validate(), "MLP: hidden widths [3 0]: each must be at least 1"},
		{MLP{Activation: "relu"}.Validate(), `MLP: activation "relu": must be silu, tanh, softplus, gelu or sine`},
		{NoiseMLP{Hidden: []int{-1}}.Validate(), "noise MLP: hidden widths [-1]: each must be at least 1"},
		{NoiseMLP{Activation: "x"}.Validate(), `noise MLP: activation "x": must be silu, tanh, softplus, gelu or sine`},
		{NoiseMLP{DataStd: -1}.Validate(), "noise MLP: data standard deviation -1: must be finite and not negative"},
		{NoiseMLP{DataStd: nan}.Validate(), "noise MLP: data standard deviation NaN: must be finite and not negative"},
		{NoiseMLP{DataStd: inf}.Validate(), "noise MLP: data standard deviation +Inf: must be finite and not negative"},
		{EnergyMLP{Hidden: []int{0}}.Validate(), "energy MLP: hidden widths [0]: each must be at least 1"},
		{EnergyMLP{Activation: "x"}.Validate(), `energy MLP: activation "x": must be silu, tanh, softplus, gelu or sine`},
		{MixtureEnergy{}.Validate(), "mixture energy: components 0: must be at least 1"},
		{MixtureEnergy{Components: 2, Spread: -1}.Validate(), "mixture energy: spread -1: must be positive and finite, or 0 for 1"},
		{MixtureEnergy{Components: 2, Spread: nan}.Validate(), "mixture energy: spread NaN: must be positive and finite, or 0 for 1"},
		{MixtureEnergy{Components: 2, Spread: inf}.Validate(), "mixture energy: spread +Inf: must be positive and finite, or 0 for 1"},
		{ConvEnergy{Channels: []int{3, 0}}.Validate(), "conv energy: channels [3 0]: each must be at least 1"},
		{ConvEnergy{Kernel: 4}.Validate(), "conv energy: kernel 4: must be odd and positive, or 0 for 3"},
		{ConvEnergy{Kernel: -1}.Validate(), "conv energy: kernel -1: must be odd and positive, or 0 for 3"},
		{ConvEnergy{Activation: "x"}.Validate(), `conv energy: activation "x": must be silu, tanh, softplus, gelu or sine`},
		{NoiseEnergyMLP{Hidden: []int{0}}.Validate(), "noise energy MLP: hidden widths [0]: each must be at least 1"},
		{NoiseEnergyMLP{Activation: "x"}.Validate(), `noise energy MLP: activation "x": must be silu, tanh, softplus, gelu or sine`},
		{NoiseEnergyMLP{DataStd: -1}.Validate(), "noise energy MLP: data standard deviation -1: must be finite and not negative"},
		{ResidualMLP{Width: -1}.Validate(), "residual MLP: width -1: must be at least 1, or 0 for the usual one"},
		{ResidualMLP{Blocks: -2}.Validate(), "residual MLP: blocks -2: must be at least 1, or 0 for the usual number"},
		{ResidualMLP{Activation: "x"}.Validate(), `residual MLP: activation "x": must be silu, tanh, softplus, gelu or sine`},
		{NoiseResidualMLP{Width: -1}.Validate(), "noise residual MLP: width -1: must be at least 1, or 0 for the usual one"},
		{NoiseResidualMLP{Activation: "x"}.Validate(), `noise residual MLP: activation "x": must be silu, tanh, softplus, gelu or sine`},
		{NoiseResidualMLP{DataStd: nan}.Validate(), "noise residual MLP: data standard deviation NaN: must be finite and not negative"},
		{MLP{Features: Fourier{Count: -1, Scale: 1}}.Validate(), "MLP: Fourier features: count -1: must be at least 1"},
		{MLP{Features: Fourier{Scale: 1}}.Validate(), "MLP: Fourier features: count 0: must be at least 1"},
		{NoiseMLP{Features: Fourier{Count: 8}}.Validate(), "noise MLP: Fourier features: scale 0: must be positive and finite"},
		{EnergyMLP{Features: Fourier{Count: 8, Scale: nan}}.Validate(), "energy MLP: Fourier features: scale NaN: must be positive and finite"},
		{NoiseEnergyMLP{Features: Fourier{Count: 8, Scale: -1}}.Validate(), "noise energy MLP: Fourier features: scale -1: must be positive and finite"},
		{ResidualMLP{Features: Fourier{Count: 8, Scale: inf}}.Validate(), "residual MLP: Fourier features: scale +Inf: must be positive and finite"},
		{NoiseResidualMLP{Features: Fourier{Seed: 1}}.Validate(), "noise residual MLP: Fourier features: count 0: must be at least 1"},
		{Preconditioned{Net: MLP{}}.Validate(), "preconditioned score: data standard deviation 0: must be positive and finite"},
		{Preconditioned{Net: MLP{}, DataStd: inf}.Validate(), "preconditioned score: data standard deviation +Inf: must be positive and finite"},
		{Preconditioned{DataStd: 1}.Validate(), "preconditioned score: net nil: must be a model"},
		{Preconditioned{Net: MLP{Hidden: []int{0}}, DataStd: 1}.Validate(), "preconditioned score: net: MLP: hidden widths [0]: each must be at least 1"},
		{Preconditioned{Net: NoiseMLP{}, DataStd: 1}.Validate(), "preconditioned score: net net.NoiseMLP: divides by the noise level itself: set its DataStd and use it as it is"},
		{Preconditioned{Net: Preconditioned{}, DataStd: 1}.Validate(), "preconditioned score: net net.Preconditioned: is preconditioned already: use it as it is"},
		{Preconditioned{Net: &scorekit.Fitted{}, DataStd: 1}.Validate(), "preconditioned score: net *scorekit.Fitted: its weights would not be found: give its Model()"},
	} {
		if fmt.Sprint(test.err) != test.want {
			t.Errorf("error %v, want %s", test.err, test.want)
		}
	}
	for _, m := range models {
		if v, ok := m.(scorekit.Validator); ok && v.Validate() != nil {
			t.Errorf("%#v: %v", v, v.Validate())
		}
	}
	for who, m := range map[string]scorekit.Model{
		"noise MLP":            NoiseMLP{Hidden: []int{4}},
		"noise energy MLP":     NoiseEnergyMLP{Hidden: []int{4}},
		"noise residual MLP":   NoiseResidualMLP{Width: 4},
		"preconditioned score": Preconditioned{Net: MLP{Hidden: []int{4}}, DataStd: 1},
	} {
		_, err := scorekit.Evaluate(context.Background(), testbackend.Go(t), trained(t, m), [][]float64{{1, 2, 3}})
		if want := "scorekit: Evaluate: " + who + ": no noise level was given: use an objective and a sampler that have one, or "; err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %s…", err, want)
		}
	}
}
