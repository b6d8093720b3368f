package net

import (
	"fmt"
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
// an image has the score of its flattened self.
func TestShapesAndCounts(t *testing.T) {
	const d, h0, h1 = 12, 5, 7
	mlp := d*h0 + h0 + h0*h1 + h1 + h1*d + d
	noise := 32*h0 + h0 + h0*h0 + h0*h1 + mlp // the embedding, and its way into each layer
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		vars, got := fresh(t, b, 1, func(vars *mlctx.Context, g *graph.Graph) []*Node {
			rows := graph.Sin(graph.IotaFull(g, testvalues.Shape(2, d)))
			sigma := graph.Const(g, []float64{0.5, 2})
			var out []*Node
			for _, x := range []*Node{rows, graph.Reshape(rows, 2, 4, 3, 1)} {
				for name, m := range map[string]scorekit.Model{"mlp": MLP{Hidden: []int{h0, h1}}, "noise": NoiseMLP{Hidden: []int{h0, h1}}} {
					s := m.Score(vars.In(name), x, sigma)
					if !s.Shape().Equal(x.Shape()) {
						t.Errorf("%s: a score of shape %s for points of shape %s", name, s.Shape(), x.Shape())
					}
					if name == "noise" {
						out = append(out, s)
					}
				}
			}
			return out
		})
		if !slices.Equal(got[0], got[1]) {
			t.Errorf("scores of rows %v, of images %v", got[0], got[1])
		}
		for name, want := range map[string]int{"mlp": mlp, "noise": noise} {
			n := 0
			for v := range vars.IterVariables() {
				if strings.HasPrefix(v.Scope(), "/"+name) {
					n += v.Shape().Size()
				}
			}
			if n != want {
				t.Errorf("%s: %d weights, want %d", name, n, want)
			}
		}
	})
}

// Weights start with mean 0 and standard deviation 1/√in: over N of them the mean is known to 1/√(in N), the standard
// deviation to 1/√(2N) of itself; 5 of these are allowed. Biases start at 0, and no two layers start alike: their correlation is within 5/√N.
func TestInitialWeights(t *testing.T) {
	const width = 100
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		vars, _ := fresh(t, b, 2, func(vars *mlctx.Context, g *graph.Graph) []*Node {
			x := graph.Zeros(g, testvalues.Shape(1, width))
			hidden := []int{width, width}
			return []*Node{MLP{Hidden: hidden}.Score(vars.In("mlp"), x, nil),
				NoiseMLP{Hidden: hidden}.Score(vars.In("noise"), x, graph.Const(g, []float64{1}))}
		})
		var square [][]float64
		matrices := 0
		for v := range vars.IterVariables() {
			if !v.Trainable {
				continue
			}
			w, dims := weights{t, vars}.flat(v.Scope(), v.Name())
			if v.Name() == "biases" {
				if len(dims) != 1 || slices.ContainsFunc(w, func(b float64) bool { return b != 0 }) {
					t.Errorf("%s: biases %v", v.Scope(), w)
				}
				continue
			}
			matrices++
			n, in := float64(len(w)), float64(dims[0])
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
		if matrices != 3+6 {
			t.Errorf("%d matrices, want 3 of the MLP and 6 of the noise MLP", matrices)
		}
		for i, a := range square {
			for _, b := range square[:i] {
				product := 0.0
				for k := range a {
					product += a[k] * b[k] * width / float64(len(a))
				}
				if !(math.Abs(product) <= 5/math.Sqrt(float64(len(a)))) {
					t.Errorf("two layers have the correlation %v", product)
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
	points := [][]float64{{0.3, -1.1, 0.8}, {2, 0, -0.4}}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for _, test := range []struct {
			model scorekit.Model
			sigma []float64
		}{
			{MLP{Hidden: []int{6}, Activation: Softplus}, nil},
			{MLP{}, nil},
			{NoiseMLP{Hidden: []int{6, 3}, Activation: GELU, DataStd: 1.5}, []float64{0.3, 2}},
		} {
			f := trained(t, test.model)
			path := filepath.Join(t.TempDir(), "model.safetensors")
			if err := f.Save(path); err != nil {
				t.Fatal(err)
			}
			loaded, err := scorekit.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(loaded.Model(), test.model) {
				t.Errorf("loaded %#v, want %#v", loaded.Model(), test.model)
			}
			var scores [2][][]float64
			for i, m := range []*scorekit.Fitted{f, loaded} {
				s, err := scorekit.Evaluate(b, m, points, test.sigma...)
				if err != nil {
					t.Fatal(err)
				}
				if s.DType() != dtypes.Float32 {
					t.Errorf("scores of dtype %s", s.DType())
				}
				if scores[i], err = scorekit.Rows(s); err != nil {
					t.Fatal(err)
				}
			}
			if !slices.EqualFunc(scores[0], scores[1], slices.Equal[[]float64]) {
				t.Errorf("%T: scores %v before, %v after", test.model, scores[0], scores[1])
			}
		}
	})
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
	} {
		if fmt.Sprint(test.err) != test.want {
			t.Errorf("error %v, want %s", test.err, test.want)
		}
	}
	for _, v := range []scorekit.Validator{MLP{}, NoiseMLP{}, MLP{Hidden: []int{1}, Activation: Sine}, NoiseMLP{DataStd: 2}} {
		if err := v.Validate(); err != nil {
			t.Errorf("%#v: %v", v, err)
		}
	}
	f := trained(t, NoiseMLP{Hidden: []int{4}})
	_, err := scorekit.Evaluate(testbackend.Go(t), f, [][]float64{{1, 2, 3}})
	if want := "scorekit: Evaluate: noise MLP: no noise level was given: use an objective and a sampler that have one, or MLP"; fmt.Sprint(err) != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
