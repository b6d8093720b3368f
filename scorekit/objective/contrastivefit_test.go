package objective_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/safetensors"
	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/net"
	"github.com/scorekit/lab/scorekit/objective"
)

// Persistent chains teach ½xᵀPx − bᵀx the precision P = Σ⁻¹ of data from N(μ, Σ), and b = Pμ. The maximum of the
// likelihood over N examples has Var Pᵢⱼ = (PᵢᵢPⱼⱼ + Pᵢⱼ²)/N; the moving average with decay δ weighs as (1+δ)/(1−δ)
// batches, and chains whose draws are correlated from step to step add as much again and more: the variance of
// negatives is at most 2 times that of independent ones here, where 5 steps with ε = 0.3 leave a correlation of
// (1 − ε/v)⁵ < 0.34 for the largest variance v = 1.5. So 3 times the variance in all; of that standard error, 6 are allowed.
func TestContrastiveLearnsAGaussian(t *testing.T) {
	const batch, decay = 256, 0.99
	const n = batch * (1 + decay) / (1 - decay)
	mean, cov := correlated(2)
	p, err := density.NewGaussian(mean, cov)
	if err != nil {
		t.Fatal(err)
	}
	var P mat.Dense
	if err := P.Inverse(mat.NewDense(2, 2, []float64{cov[0][0], cov[0][1], cov[1][0], cov[1][1]})); err != nil {
		t.Fatal(err)
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		model := net.Quadratic{}
		o := objective.Contrastive{Energy: model.Energy, StepSize: 0.3, Steps: 5, Metropolis: true, Buffer: 2 * batch, Restart: 0.01}
		f, err := scorekit.Fit(context.Background(), b, model, o, p, scorekit.WithSteps(700), scorekit.WithBatch(batch), scorekit.WithUnroll(1),
			scorekit.WithEMA(decay), scorekit.WithSeed(5), scorekit.WithOptimizer(scorekit.SGD{Rate: scorekit.Rate{Peak: 0.2}}))
		if err != nil {
			t.Fatal(err)
		}
		got, bias, err := model.Coefficients(f)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 2 {
			want, varB := 0.0, P.At(i, i)
			for j := range 2 {
				se := math.Sqrt(3 * (P.At(i, i)*P.At(j, j) + P.At(i, j)*P.At(i, j)) / n)
				if off := math.Abs(got[i][j] - P.At(i, j)); !(off <= 6*se) {
					t.Errorf("P[%d][%d] = %v, want %v: off by %.1f standard errors", i, j, got[i][j], P.At(i, j), off/se)
				}
				want += P.At(i, j) * mean[j]
				varB += 2 * P.At(i, i) * P.At(j, j) * mean[j] * mean[j] * 2
			}
			if off, se := math.Abs(bias[i]-want), math.Sqrt(3*varB/n); !(off <= 6*se) {
				t.Errorf("b[%d] = %v, want %v: off by %.1f standard errors", i, bias[i], want, off/se)
			}
		}
		if f.NumParameters() != 6 {
			t.Errorf("the model has %d numbers: W and b are 6, and the chains are none of it", f.NumParameters())
		}
	})
}

// kept reads a variable from the newest checkpoint of a folder.
func kept(t *testing.T, dir, name string) *tensors.Tensor {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no checkpoint in %s: %v", dir, err)
	}
	file, err := os.Open(files[len(files)-1])
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	list, _, err := safetensors.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range list {
		if v.Name == name {
			return v.Value
		}
	}
	t.Fatalf("the checkpoint holds no %s", name)
	return nil
}

// A run that was stopped and gone on with has the weights of one that was not, bit for bit: its chains go on, too. One
// with another buffer is refused.
func TestContrastiveResumes(t *testing.T) {
	p, err := density.Isotropic([]float64{1, -1}, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		model := net.EnergyMLP{Hidden: []int{8}}
		o := objective.Contrastive{Energy: model.Energy, StepSize: 0.05, Buffer: 40, Restart: 0.1, Spread: 1}
		train := func(dir string, steps int, options ...scorekit.FitOption) (*scorekit.Fitted, error) {
			options = append(options, scorekit.WithSteps(steps), scorekit.WithBatch(16), scorekit.WithUnroll(2), scorekit.WithCheckpoints(dir, 6))
			return scorekit.Fit(context.Background(), b, model, o, p, options...)
		}
		whole, dir := t.TempDir(), t.TempDir()
		want, err := train(whole, 12)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := train(dir, 6); err != nil {
			t.Fatal(err)
		}
		got, err := train(dir, 12, scorekit.WithResume())
		if err != nil {
			t.Fatal(err)
		}
		for v := range want.Vars().IterVariables() {
			if w := got.Vars().GetVariableByScopeAndName(v.Scope(), v.Name()); w == nil || !w.MustValue().Equal(v.MustValue()) {
				t.Errorf("%s differs after a stop", v.ScopeAndName())
			}
		}
		if points := kept(t, whole, "/contrastive/points"); !points.Equal(kept(t, dir, "/contrastive/points")) {
			t.Error("the chains differ after a stop")
		}
		o.Buffer = 50
		refused := "a buffer of shape [50 2] is wanted, and one of shape [40 2] was kept: Buffer must be that of the run that is gone on with"
		if _, err := train(dir, 14, scorekit.WithResume()); err == nil || !strings.Contains(err.Error(), refused) {
			t.Errorf("error %v, want %s", err, refused)
		}
	})
}

// An energy that is NaN or infinite, or whose gradient is, stops the training at that step; the weights and the chains
// that are kept are finite. w is trained so that there is something to spoil.
func TestContrastiveStops(t *testing.T) {
	p, err := density.Isotropic([]float64{0}, 1)
	if err != nil {
		t.Fatal(err)
	}
	weighted := func(vars *mlctx.Context, x *objective.Node) *objective.Node {
		w := vars.VariableWithValue("w", 1.0).ValueGraph(x.Graph())
		return graph.Mul(graph.ReduceSum(graph.Square(x), 1), w)
	}
	// Beyond 4, where no data are among the first, only some chains come.
	beyond := func(value float64) scorekit.Energy {
		return func(vars *mlctx.Context, x, _ *objective.Node) *objective.Node {
			e := weighted(vars, x)
			far := graph.GreaterThan(graph.ReduceSum(graph.Abs(x), 1), graph.Scalar(x.Graph(), x.DType(), 4))
			return graph.Where(far, graph.AddScalar(graph.ZerosLike(e), value), e)
		}
	}
	steep := scorekit.Energy(func(vars *mlctx.Context, x, _ *objective.Node) *objective.Node {
		return graph.Sqrt(graph.MaxScalar(graph.AddScalar(weighted(vars, x), -1), 0)) // an infinite slope at |x| = 1
	})
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for name, c := range map[string]objective.Contrastive{
			"NaN":           {Energy: beyond(math.NaN()), StepSize: 0.4, Noise: 1.5},
			"+Inf":          {Energy: beyond(math.Inf(1)), StepSize: 0.4, Noise: 1.5},
			"-Inf":          {Energy: beyond(math.Inf(-1)), StepSize: 0.4, Noise: 1.5},
			"-Inf, MALA":    {Energy: beyond(math.Inf(-1)), StepSize: 3, Metropolis: true},
			"steep":         {Energy: steep, StepSize: 0.1},
			"far too long":  {Energy: beyond(0), StepSize: 1e308, Spread: 1},
			"NaN, bounded":  {Energy: beyond(math.NaN()), StepSize: 3, Limit: 5, MaxGradient: 1, Penalty: 0.1},
			"NaN at starts": {Energy: beyond(math.NaN()), StepSize: 0.01, Spread: 4},
		} {
			if b != testbackend.Go(t) && name != "NaN" && name != "-Inf, MALA" { // to save time: each is compiled for a second
				continue
			}
			t.Run(name, func(t *testing.T) {
				c.Steps, c.Buffer = 3, 64
				dir := t.TempDir()
				f, err := scorekit.Fit(context.Background(), b, c.Energy, c, p, scorekit.WithSteps(400), scorekit.WithBatch(32), scorekit.WithUnroll(1),
					scorekit.WithDType(dtypes.Float64), scorekit.WithCheckpoints(dir, 100), scorekit.WithOptimizer(scorekit.SGD{Rate: scorekit.Rate{Peak: 1e-4}}))
				var stopped *scorekit.NonFiniteError
				if !errors.As(err, &stopped) {
					t.Fatalf("error %v, want that of a step that is not finite", err)
				}
				if f == nil { // it was the first step, of which nothing is kept
					return
				}
				finite := func(what string, v *tensors.Tensor) {
					for _, x := range tensors.MustCopyFlatData[float64](v) {
						if math.IsNaN(x) || math.IsInf(x, 0) {
							t.Errorf("%s: %v", what, x)
						}
					}
				}
				for v := range f.Vars().IterVariables() {
					finite(v.Name(), v.MustValue())
				}
				finite("chains", kept(t, dir, "/contrastive/points"))
			})
		}
	})
}
