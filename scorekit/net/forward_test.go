package net

import (
	"context"
	"math"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/autodiff"
	"github.com/scorekit/lab/scorekit/objective"
)

// weights reads the weights of one layer as plain numbers.
type weights struct {
	t    *testing.T
	vars *mlctx.Context
}

func (w weights) flat(scope, name string) ([]float64, []int) {
	w.t.Helper()
	v := w.vars.GetVariableByScopeAndName(scope, name)
	if v == nil {
		w.t.Fatalf("no weights %s/%s", scope, name)
	}
	value, err := v.Value()
	if err != nil {
		w.t.Fatal(err)
	}
	return testvalues.Flat(w.t, value), value.Shape().Dimensions
}

// linear is x·W with W of a scope.
func (w weights) linear(scope string, x []float64) []float64 {
	w.t.Helper()
	m, dims := w.flat(scope, "weights")
	if dims[0] != len(x) {
		w.t.Fatalf("weights of %s have shape %v for %d inputs", scope, dims, len(x))
	}
	out := make([]float64, dims[1])
	for j := range out {
		for i, v := range x {
			out[j] += v * m[i*dims[1]+j]
		}
	}
	return out
}

// dense is x·W + b.
func (w weights) dense(scope string, x []float64) []float64 {
	w.t.Helper()
	out := w.linear(scope, x)
	biases, _ := w.flat(scope, "biases")
	for j := range out {
		out[j] += biases[j]
		if biases[j] == 0 {
			w.t.Fatalf("bias %d of %s is 0: it would not show", j, scope)
		}
	}
	return out
}

func activate(a Activation, x []float64) []float64 {
	out := make([]float64, len(x))
	for i, v := range x {
		out[i] = formula(a, v)
	}
	return out
}

// mlp is the network of MLP with two hidden layers, written out.
func (w weights) mlp(a Activation, x []float64) []float64 {
	h := activate(a, w.dense("/layer_0", x))
	h = activate(a, w.dense("/layer_1", h))
	return w.dense("/out", h)
}

// noiseMLP is the network of NoiseMLP with two hidden layers, written out.
func (w weights) noiseMLP(a Activation, dataStd float64, x []float64, sigma float64) []float64 {
	c, pull, scale := 1.0, 0.0, 1/sigma
	if v := sigma*sigma + dataStd*dataStd; dataStd > 0 {
		c, pull, scale = 1/math.Sqrt(v), 1/v, dataStd/(sigma*math.Sqrt(v))
	}
	var h, phi []float64
	for _, v := range x {
		h = append(h, c*v)
	}
	for _, wave := range []func(float64) float64{math.Sin, math.Cos} {
		for k := range 16 {
			phi = append(phi, wave(0.25*math.Pow(32, float64(k)/15)*math.Log(sigma)))
		}
	}
	e := activate(a, w.dense("/embedding", phi))
	for _, layer := range []string{"/layer_0", "/layer_1"} {
		level := w.linear(layer+"/level", e)
		h = w.dense(layer, h)
		for j := range h {
			h[j] = formula(a, h[j]+level[j])
		}
	}
	out := w.dense("/out", h)
	for j := range out {
		out[j] = scale*out[j] - pull*x[j]
	}
	return out
}

// divergence is Σ ∂sᵢ/∂xᵢ by central differences with the step 10⁻⁵, whose error is about 10⁻¹⁰ of a third derivative
// and 10⁻¹⁶/10⁻⁵ of rounding.
func divergence(s func(x []float64) []float64, x []float64) float64 {
	const h = 1e-5
	sum := 0.0
	for i := range x {
		up, down := append([]float64{}, x...), append([]float64{}, x...)
		up[i] += h
		down[i] -= h
		sum += (s(up)[i] - s(down)[i]) / (2 * h)
	}
	return sum
}

// trained fits model for two large steps on pure Go, which needs no time to compile, so that no bias is 0 any more.
func trained(t *testing.T, model scorekit.Model, options ...scorekit.FitOption) *scorekit.Fitted {
	t.Helper()
	data, err := scorekit.Examples([][]float64{{1, 0.5, -1}, {0.2, -0.7, 0.4}, {-1.2, 1, 0.3}})
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

// Score and divergence of both networks, with every activation on the same trained weights, equal those of loops over
// plain numbers: the score to 1e-12, the divergence to 1e-6 by finite differences. On XLA, whose compiler takes its
// time, this is done for the default activation; the others have their values and slopes from TestActivations.
func TestForward(t *testing.T) {
	x := [][]float64{{0.3, -1.1, 0.8}, {2, 0, -0.4}, {-0.6, 0.9, 1.5}}
	sigma := []float64{0.2, 1, 3.5}
	plain := trained(t, MLP{Hidden: []int{5, 4}}, scorekit.WithDType(dtypes.Float64)).Vars()
	noisy := trained(t, NoiseMLP{Hidden: []int{5, 4}, DataStd: 0.7}, scorekit.WithDType(dtypes.Float64)).Vars()
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		tried := activations
		if b != testbackend.Go(t) {
			tried = activations[:1]
		}
		for _, a := range tried {
			w := weights{t, plain}
			forward(t, b, plain, MLP{Hidden: []int{5, 4}, Activation: a}, x, sigma,
				func(_ int, x []float64) []float64 { return w.mlp(a, x) })
			w = weights{t, noisy}
			for _, std := range []float64{0.7, 0} {
				forward(t, b, noisy, NoiseMLP{Hidden: []int{5, 4}, Activation: a, DataStd: std}, x, sigma,
					func(row int, x []float64) []float64 { return w.noiseMLP(a, std, x, sigma[row]) })
			}
		}
	})
}

// forward compares score and divergence of model with those of want, at the points x.
func forward(t *testing.T, b backends.Backend, vars *mlctx.Context, model scorekit.Model, x [][]float64, sigma []float64, want func(row int, x []float64) []float64) {
	t.Helper()
	own, err := vars.Clone()
	if err != nil {
		t.Fatal(err)
	}
	exec, err := mlctx.NewExec(b, own.Checked(false), func(vars *mlctx.Context, x, sigma *Node) []*Node {
		s := model.Score(vars, x, sigma)
		return []*Node{s, autodiff.Divergence(s, x)}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	got, err := exec.Exec(x, sigma)
	if err != nil {
		t.Fatal(err)
	}
	scores, divergences := testvalues.Flat(t, got[0]), testvalues.Flat(t, got[1])
	for i := range x {
		for j, v := range want(i, x[i]) {
			if !(math.Abs(scores[3*i+j]-v) <= 1e-12*(1+math.Abs(v))) {
				t.Errorf("%#v: score %d of point %d is %v, want %v", model, j, i, scores[3*i+j], v)
			}
		}
		v := divergence(func(x []float64) []float64 { return want(i, x) }, x[i])
		if !(math.Abs(divergences[i]-v) <= 1e-6*(1+math.Abs(v))) {
			t.Errorf("%#v: divergence at point %d is %v, want %v", model, i, divergences[i], v)
		}
	}
}
