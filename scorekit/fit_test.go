package scorekit_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/shapes"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/safetensors"
	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/objective"
	"github.com/scorekit/lab/scorekit/random"
)

// Denoising score matching of a linear score on N(m, v) has the exact answer a = −1/(v+σ²), b = m/(v+σ²). The
// averaged weights of a decaying rate end within their own sampling noise, which the tolerance of 2 % covers ten times
// over: over the last 1,000 steps of 512 points the relative standard error of the moments is 0.2 %.
func TestFitFindsTheScoreOfAGaussian(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		f, err := scorekit.Fit(background, b, scorekit.Score(linear), objective.Denoising{Sigma: 0.5}, gaussian(t, 1.5, 2, -1),
			scorekit.WithSteps(1500), scorekit.WithBatch(512), scorekit.WithSeed(3),
			scorekit.WithOptimizer(scorekit.Adam{Rate: scorekit.Rate{Peak: 0.02, Cosine: true}}))
		if err != nil {
			t.Fatal(err)
		}
		v := 1.5*1.5 + 0.25
		a, bias := weights(t, f)
		within(t, "a", a, -1/v, 0.02/v)
		within(t, "b₀", bias[0], 2/v, 0.04/v)
		within(t, "b₁", bias[1], -1/v, 0.04/v)
		if h := f.History(); len(h) != 1500 || h[0].Step != 1 || h[1499].Step != 1500 {
			t.Errorf("history of %d steps", len(h))
		}
	})
}

// One gradient step from zero weights on the objective ½‖s − c‖² is exact: with x = (1, 3), c = 2 and s = 0,
// ∂/∂a = Σ_j (s−c)x_j = −8 and ∂/∂b = (−2, −2), of norm √72.
func TestOneStepOfEveryOptimizer(t *testing.T) {
	data := examples(t, [][]float64{{1, 3}})
	norm := math.Sqrt(72)
	cases := []struct {
		name    string
		options []scorekit.FitOption
		a, b    float64
	}{
		{"sgd", []scorekit.FitOption{scorekit.WithOptimizer(scorekit.SGD{Rate: scorekit.Rate{Peak: 0.1}})}, 0.8, 0.2},
		{"clipped to norm 1", []scorekit.FitOption{scorekit.WithOptimizer(scorekit.SGD{Rate: scorekit.Rate{Peak: 0.1}}), scorekit.WithClipNorm(1)}, 0.8 / norm, 0.2 / norm},
		{"not clipped below the limit", []scorekit.FitOption{scorekit.WithOptimizer(scorekit.SGD{Rate: scorekit.Rate{Peak: 0.1}}), scorekit.WithClipNorm(100)}, 0.8, 0.2},
		{"warm-up", []scorekit.FitOption{scorekit.WithOptimizer(scorekit.SGD{Rate: scorekit.Rate{Peak: 0.1, WarmUp: 4}})}, 0.2, 0.05},
		{"adam", []scorekit.FitOption{scorekit.WithOptimizer(scorekit.Adam{Rate: scorekit.Rate{Peak: 0.1}})}, 0.1, 0.1},
		{"adamw", []scorekit.FitOption{scorekit.WithOptimizer(scorekit.AdamW{Rate: scorekit.Rate{Peak: 0.1}, Decay: 0.5})}, 0.1, 0.1},
	}
	testbackend.Each(t, func(t *testing.T, be backends.Backend) {
		for _, c := range cases {
			options := append([]scorekit.FitOption{scorekit.WithSteps(1), scorekit.WithBatch(4), scorekit.WithDType(dtypes.Float64)}, c.options...)
			f, err := scorekit.Fit(background, be, scorekit.Score(linear), regression{2}, data, options...)
			if err != nil {
				t.Fatal(c.name, err)
			}
			a, b := weights(t, f)
			within(t, c.name+": a", a, c.a, 1e-7)
			within(t, c.name+": b", b[0], c.b, 1e-7)
			h := f.History()[0]
			within(t, c.name+": loss", h.Loss, 4, 1e-12)
			within(t, c.name+": gradient norm", h.GradientNorm, norm, 1e-12)
		}
	})
}

func TestAdamWDecaysWeights(t *testing.T) {
	be := testbackend.Go(t)
	data := examples(t, [][]float64{{1, 3}})
	run := func(o scorekit.Optimizer) float64 {
		f, err := scorekit.Fit(background, be, scorekit.Score(linear), regression{2}, data, scorekit.WithSteps(2), scorekit.WithBatch(1),
			scorekit.WithEMA(0), scorekit.WithDType(dtypes.Float64), scorekit.WithOptimizer(o))
		if err != nil {
			t.Fatal(err)
		}
		a, _ := weights(t, f)
		return a
	}
	rate := scorekit.Rate{Peak: 0.1}
	// The second step takes rate·decay·a off, where a = 0.1 after the first.
	within(t, "decay", run(scorekit.Adam{Rate: rate})-run(scorekit.AdamW{Rate: rate, Decay: 0.5}), 0.1*0.5*0.1, 1e-7)
}

func TestRateSchedule(t *testing.T) {
	be := testbackend.Go(t)
	// With a constant gradient SGD's weights are the sum of the rates.
	f, err := scorekit.Fit(background, be, scorekit.Score(linear), drift, examples(t, [][]float64{{0}}), scorekit.WithSteps(6), scorekit.WithBatch(1),
		scorekit.WithEMA(0), scorekit.WithDType(dtypes.Float64),
		scorekit.WithOptimizer(scorekit.SGD{Rate: scorekit.Rate{Peak: 1, WarmUp: 2, Cosine: true, Final: 0.2}}))
	if err != nil {
		t.Fatal(err)
	}
	want := 0.5 + 1 // the warm-up
	for k := range 4 {
		want += 0.2 + 0.8*0.5*(1+math.Cos(math.Pi*float64(k)/4))
	}
	_, b := weights(t, f)
	within(t, "sum of rates", b[0], want, 1e-12)
}

// drift is the objective −Σs(x): its gradient is the same at all weights.
var drift = objectiveFunc(func(vars *mlctx.Context, _ *random.Source, score scorekit.Score, x *Node) *Node {
	return graph.Neg(graph.ReduceSum(score(vars, x, nil), 1))
})

type objectiveFunc func(vars *mlctx.Context, rng *random.Source, score scorekit.Score, x *Node) *Node

func (f objectiveFunc) Loss(vars *mlctx.Context, rng *random.Source, score scorekit.Score, x *Node) *Node {
	return f(vars, rng, score, x)
}

// The moving average is recomputed on the host from the weights after each step of a run without it.
func TestEMA(t *testing.T) {
	be := testbackend.Go(t)
	data := examples(t, [][]float64{{1, 3}, {-2, 0.5}})
	options := []scorekit.FitOption{scorekit.WithSteps(12), scorekit.WithBatch(3), scorekit.WithDType(dtypes.Float64)}
	want := 0.0
	step := 0
	for s, err := range scorekit.FitSteps(background, be, scorekit.Score(linear), regression{2}, data, append(options, scorekit.WithEMA(0))...) {
		if err != nil {
			t.Fatal(err)
		}
		f, err := s.Fitted()
		if err != nil {
			t.Fatal(err)
		}
		a, _ := weights(t, f)
		decay := math.Min(0.5, float64(step)/float64(step+9))
		want = decay*want + (1-decay)*a
		step++
	}
	f, err := scorekit.Fit(background, be, scorekit.Score(linear), regression{2}, data, append(options, scorekit.WithEMA(0.5))...)
	if err != nil {
		t.Fatal(err)
	}
	got, _ := weights(t, f)
	within(t, "average", got, want, 1e-14)
	if step != 12 {
		t.Errorf("%d steps", step)
	}
}

func TestSameSeedSameWeights(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, be backends.Backend) {
		run := func(seed int64) float64 {
			f, err := scorekit.Fit(background, be, scorekit.Score(linear), objective.Denoising{Sigma: 0.5}, gaussian(t, 1, 0),
				scorekit.WithSteps(10), scorekit.WithBatch(16), scorekit.WithSeed(seed), scorekit.WithUnroll(4))
			if err != nil {
				t.Fatal(err)
			}
			a, _ := weights(t, f)
			return a
		}
		if a, b := run(1), run(1); a != b {
			t.Errorf("seed 1 gave %v and %v", a, b)
		}
		if a, b := run(1), run(2); a == b {
			t.Errorf("seeds 1 and 2 both gave %v", a)
		}
	})
}

// A rate of 10 on ½‖s − 2‖² with x = 1 multiplies the distance to the optimum by 1 − 10·2 = −19 at each step, so that
// the squared loss leaves float32 after some steps; which, and what is kept, is compared with a run that ends there.
func TestNonFiniteLossKeepsTheLastGoodWeights(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, be backends.Backend) {
		dir := t.TempDir()
		data := examples(t, [][]float64{{1}})
		sgd := scorekit.WithOptimizer(scorekit.SGD{Rate: scorekit.Rate{Peak: 10}})
		f, err := scorekit.Fit(background, be, linearModel{}, regression{2}, data, sgd, scorekit.WithSteps(100), scorekit.WithBatch(1),
			scorekit.WithEMA(0), scorekit.WithUnroll(4), scorekit.WithCheckpoints(dir, 50))
		var bad *scorekit.NonFiniteError
		if !errors.As(err, &bad) {
			t.Fatalf("error %v, want a NonFiniteError", err)
		}
		wantError(t, err, "scorekit: Fit: step ", "loss ", "the weights of step ")
		if bad.Step < 10 || bad.Step > 30 {
			t.Errorf("stopped at step %d", bad.Step)
		}
		good, err := scorekit.Fit(background, be, linearModel{}, regression{2}, data, sgd, scorekit.WithSteps(bad.Step-1), scorekit.WithBatch(1),
			scorekit.WithEMA(0), scorekit.WithUnroll(4))
		if err != nil {
			t.Fatal(err)
		}
		want, _ := weights(t, good)
		got, _ := weights(t, f)
		loaded, err := scorekit.Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		stored, _ := weights(t, loaded)
		// Blocks of another length are other programs to XLA, which may round differently: 20 products of a relative
		// error of 1e-7 each.
		if math.Abs(got-want) > 2e-6*math.Abs(want) || stored != got || f.Steps() != bad.Step-1 || loaded.Steps() != bad.Step-1 {
			t.Errorf("weights %v after step %d, stored %v after %d, want %v after %d", got, f.Steps(), stored, loaded.Steps(), want, bad.Step-1)
		}
	})
}

// At the largest rate that is allowed, with a gradient so large that the next larger power of ten would make its norm
// infinite, one step leaves finite weights: an ordinary loss and gradient cannot hide weights that are not.
func TestWeightsStayFinite(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, be backends.Backend) {
		steep := objectiveFunc(func(vars *mlctx.Context, rng *random.Source, score scorekit.Score, x *Node) *Node {
			return graph.MulScalar(drift(vars, rng, score, x), 1e19)
		})
		for _, o := range []scorekit.Optimizer{scorekit.SGD{Rate: scorekit.Rate{Peak: 1e15}}, scorekit.Adam{Rate: scorekit.Rate{Peak: 1e15}}, scorekit.AdamW{Rate: scorekit.Rate{Peak: 1e15}, Decay: 1e-15}} {
			f, err := scorekit.Fit(background, be, scorekit.Score(linear), steep, examples(t, [][]float64{{1}}), scorekit.WithSteps(1), scorekit.WithOptimizer(o), scorekit.WithEMA(0))
			if err != nil {
				t.Fatal(err)
			}
			a, b := weights(t, f)
			if math.IsInf(a, 0) || math.IsNaN(a) || math.IsInf(b[0], 0) || math.IsNaN(b[0]) {
				t.Errorf("%T: weights %v and %v", o, a, b)
			}
		}
	})
}

func TestNonFiniteAtTheFirstStep(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, be backends.Backend) {
		for name, loss := range map[string]func(sum *Node) *Node{
			"loss": func(sum *Node) *Node { return graph.Log(graph.AddScalar(sum, -1)) },
			// √(s²) at s = 0: the loss is 0, its derivative 0/0.
			"gradient alone": func(sum *Node) *Node { return graph.Sqrt(graph.Mul(sum, sum)) },
		} {
			o := objectiveFunc(func(vars *mlctx.Context, _ *random.Source, score scorekit.Score, x *Node) *Node {
				return loss(graph.ReduceSum(score(vars, x, nil), 1))
			})
			dir := t.TempDir()
			f, err := scorekit.Fit(background, be, scorekit.Score(linear), o, examples(t, [][]float64{{1}}), scorekit.WithSteps(3), scorekit.WithCheckpoints(dir, 1))
			var bad *scorekit.NonFiniteError
			if !errors.As(err, &bad) || bad.Step != 1 || f != nil {
				t.Errorf("%s: model %v, error %v", name, f, err)
			}
			wantError(t, err, "scorekit: Fit: step 1: ", "both must be finite; no step was good")
			if files, _ := filepath.Glob(filepath.Join(dir, "*")); len(files) != 0 {
				t.Errorf("%s: %v were written", name, files)
			}
		}
	})
}

// Fixed features are drawn once, not trained, and belong to the model all the same.
func TestFrozenWeights(t *testing.T) {
	be := testbackend.Go(t)
	model := scorekit.Score(func(vars *mlctx.Context, x, _ *Node) *Node {
		drawn := vars.WithInitializer(func(g *graph.Graph, s shapes.Shape) *Node { return graph.AddScalar(graph.Zeros(g, s), 0.75) })
		f := drawn.VariableWithShape("features", shapes.Make(x.DType(), 1, 1)).SetTrainable(false).ValueGraph(x.Graph())
		return linear(vars, graph.Mul(x, f), nil)
	})
	alone := scorekit.Score(func(vars *mlctx.Context, x, _ *Node) *Node {
		return graph.Mul(x, vars.VariableWithShape("features", shapes.Make(x.DType(), 1, 1)).SetTrainable(false).ValueGraph(x.Graph()))
	})
	_, err := scorekit.Evaluate(background, be, alone, [][]float64{{1}})
	wantError(t, err, "scorekit: Evaluate: ", "has weights that were not given, /features first")
	for _, ema := range []float64{0, 0.9} {
		dir := t.TempDir()
		f, err := scorekit.Fit(background, be, model, regression{2}, examples(t, [][]float64{{1}}), scorekit.WithSteps(3), scorekit.WithEMA(ema), scorekit.WithCheckpoints(dir, 3))
		if err != nil {
			t.Fatal(err)
		}
		saved := filepath.Join(t.TempDir(), "model")
		if err := f.Save(saved); err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprint(values(t, be, f))
		for _, path := range []string{dir, saved} {
			g, err := scorekit.LoadInto(path, model)
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(values(t, be, g)); got != want {
				t.Errorf("fitted %s, loaded %s", want, got)
			}
			for v := range g.Vars().IterVariables() {
				if v.Trainable != (v.Name() != "features") {
					t.Errorf("%s: trainable %v", v.ScopeAndName(), v.Trainable)
				}
			}
		}
	}
}

// Adam moves weights by its memory even when the gradient is zero, and a NaN would stay in that memory: neither may
// happen after a step that is not finite. The sum of both weights goes up by 0.2 a step from 0, so that √(0.7 − Σs) is
// NaN, with its gradient, at step 5, in the middle of a block of 8.
func TestAdamStandsStillAfterANonFiniteStep(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, be backends.Backend) {
		cliff := objectiveFunc(func(vars *mlctx.Context, rng *random.Source, score scorekit.Score, x *Node) *Node {
			s := graph.ReduceSum(score(vars, x, nil), 1)
			return graph.Sub(graph.MulScalar(graph.Sqrt(graph.AddScalar(graph.Neg(s), 0.7)), 1e-3), s)
		})
		for _, ema := range []float64{0, 0.9} {
			dir := t.TempDir()
			run := func(steps int, options ...scorekit.FitOption) (*scorekit.Fitted, error) {
				return scorekit.Fit(background, be, linearModel{}, cliff, examples(t, [][]float64{{1}}), append(options, scorekit.WithSteps(steps), scorekit.WithUnroll(8), scorekit.WithEMA(ema),
					scorekit.WithDType(dtypes.Float64), scorekit.WithOptimizer(scorekit.Adam{Rate: scorekit.Rate{Peak: 0.1}}))...)
			}
			f, err := run(20, scorekit.WithCheckpoints(dir, 8))
			var bad *scorekit.NonFiniteError
			if !errors.As(err, &bad) || bad.Step != 5 || f.Steps() != 4 {
				t.Fatalf("error %v, want a NonFiniteError of step 5", err)
			}
			good, err := run(4)
			if err != nil {
				t.Fatal(err)
			}
			want, wantB := weights(t, good)
			a, b := weights(t, f)
			within(t, "a", a, want, 1e-12)
			within(t, "b", b[0], wantB[0], 1e-12)

			file, err := os.Open(filepath.Join(dir, "step-000000004.safetensors"))
			if err != nil {
				t.Fatal(err)
			}
			list, _, err := safetensors.Read(file)
			if err = errors.Join(err, file.Close()); err != nil {
				t.Fatal(err)
			}
			for _, v := range list {
				v.Value.MustConstFlatData(func(flat any) {
					if text := fmt.Sprint(flat); strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
						t.Errorf("%s: %s in the checkpoint", v.Name, text)
					}
				})
			}
		}
	})
}

// values are the scores of a model at three points of one dimension.
func values(t *testing.T, be backends.Backend, m scorekit.Model) [][]float64 {
	t.Helper()
	s, err := scorekit.Evaluate(background, be, m, [][]float64{{0}, {1}, {-2}})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := scorekit.Rows(s)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// Training would not go on from the weights of a fitted model: that must not pass in silence.
func TestFitOfAFittedModelIsRefused(t *testing.T) {
	be := testbackend.Go(t)
	data := examples(t, [][]float64{{1}})
	f, err := scorekit.Fit(background, be, scorekit.Score(linear), regression{2}, data, scorekit.WithSteps(1))
	if err != nil {
		t.Fatal(err)
	}
	_, err = scorekit.Fit(background, be, f, regression{2}, data, scorekit.WithSteps(1))
	wantError(t, err, "scorekit: Fit: model *scorekit.Fitted: training begins from fresh weights: give its Model()")
}

func TestCancelAndCallback(t *testing.T) {
	be := testbackend.Go(t)
	data := examples(t, [][]float64{{1}})
	reason := errors.New("enough")
	ctx, cancel := context.WithCancelCause(background)
	f, err := scorekit.Fit(ctx, be, scorekit.Score(linear), regression{2}, data, scorekit.WithSteps(100), scorekit.WithBatch(1),
		scorekit.WithCallback(func(s *scorekit.FitStep) error {
			if s.Step == 7 {
				cancel(reason)
			}
			return nil
		}))
	if !errors.Is(err, reason) {
		t.Errorf("error %v, want the cause of the cancellation", err)
	}
	wantError(t, err, "stopped after step 7 of 100")
	if f == nil || f.Steps() != 7 {
		t.Errorf("no result, or not of step 7")
	}
	_, err = scorekit.Fit(background, be, scorekit.Score(linear), regression{2}, data, scorekit.WithSteps(100), scorekit.WithBatch(1),
		scorekit.WithCallback(func(s *scorekit.FitStep) error { return reason }))
	if !errors.Is(err, reason) {
		t.Errorf("error %v, want the callback's", err)
	}
}

func TestProgressReports(t *testing.T) {
	be := testbackend.Go(t)
	var reports []scorekit.Report
	_, err := scorekit.Fit(background, be, scorekit.Score(linear), regression{2}, examples(t, [][]float64{{1}}), scorekit.WithSteps(50), scorekit.WithBatch(1),
		scorekit.WithProgress(func(r scorekit.Report) { reports = append(reports, r) }))
	if err != nil {
		t.Fatal(err)
	}
	first, last := reports[0], reports[len(reports)-1]
	if first.Step != 0 || !math.IsNaN(first.Loss) || first.Done {
		t.Errorf("first report %+v", first)
	}
	if last.Step != 50 || last.Total != 50 || !last.Done || last.Verb != "training" || math.IsNaN(last.Loss) {
		t.Errorf("last report %+v", last)
	}
}

// A user's own energy is a model without an adapter: the quadratic energy ½k(x−m)² has the score −k(x−m).
func TestEnergyAsModel(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, be backends.Backend) {
		energy := scorekit.Energy(func(_ *mlctx.Context, x, _ *Node) *Node {
			return graph.ReduceSum(graph.MulScalar(graph.Square(graph.SubScalar(x, 1)), 1.5), 1)
		})
		s, err := scorekit.Evaluate(background, be, energy, [][]float64{{1, 2}, {0, -1}})
		if err != nil {
			t.Fatal(err)
		}
		rows, err := scorekit.Rows(s)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range [][]float64{{0, -3}, {3, 6}} {
			for j := range want {
				within(t, "score", rows[i][j], want[j], 1e-12)
			}
		}
		// Points that come from a random draw are no constants to the energy.
		drawn, err := graph.ExecOnce(be, func(x *Node) *Node { return energy.Score(nil, graph.StopGradient(x), nil) }, [][]float64{{1, 2}})
		if err != nil {
			t.Fatal(err)
		}
		if got := drawn.Value().([][]float64)[0][1]; got != -3 {
			t.Errorf("score of a drawn point %v, want -3", got)
		}
	})
}

// The loss of the exact score of N(0, v) noised by σ is the floor ½d(1/σ² − 1/(v+σ²)), and a fitted score's is above it
// by its Fisher divergence, here that of s = 0: ½d/(v+σ²).
func TestEvaluateLoss(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, be backends.Backend) {
		o := objective.Denoising{Sigma: 0.5}
		g := gaussian(t, 1, 0, 0, 0)
		floor, err := o.Floor(3, 1)
		if err != nil {
			t.Fatal(err)
		}
		zero := scorekit.Score(func(_ *mlctx.Context, x, _ *Node) *Node { return graph.ZerosLike(x) })
		for _, c := range []struct {
			name  string
			model scorekit.Model
			want  float64
		}{{"exact", g, floor}, {"zero", zero, floor + 0.5*3/1.25}} {
			mean, se, err := scorekit.EvaluateLoss(background, be, c.model, o, g, 20_000, 5)
			if err != nil {
				t.Fatal(err)
			}
			if se <= 0 || se > 0.05 {
				t.Errorf("%s: standard error %v", c.name, se)
			}
			within(t, c.name, mean, c.want, 4*se)
		}
		_, _, err = scorekit.EvaluateLoss(background, be, g, objective.Denoising{}, g, 10, 0)
		wantError(t, err, "scorekit: EvaluateLoss: ", "sigma 0")
		_, _, err = scorekit.EvaluateLoss(background, be, g, o, g, 1, 0)
		wantError(t, err, "1 examples: must be at least 2")
		for want, bad := range map[string]objectiveFunc{
			"a loss of shape [10 3]: must be [batch], here [10]": func(vars *mlctx.Context, _ *random.Source, s scorekit.Score, x *Node) *Node { return s(vars, x, nil) },
			"a loss of shape []: must be [batch], here [10]": func(_ *mlctx.Context, _ *random.Source, _ scorekit.Score, x *Node) *Node {
				return graph.ReduceAllSum(x)
			},
			"returned no loss": func(*mlctx.Context, *random.Source, scorekit.Score, *Node) *Node { return nil },
		} {
			_, _, err := scorekit.EvaluateLoss(background, be, g, bad, g, 10, 0)
			wantError(t, err, "scorekit: EvaluateLoss: ", want)
		}
		_, _, err = scorekit.EvaluateLoss(background, be, g, o, gaussian(t, 1, 0), 10, 0)
		wantError(t, err, "data of shape [1] for a model of points of shape [3]")
		_, _, err = scorekit.EvaluateLoss(background, be, scorekit.Score(linear), o, g, 10, 0)
		wantError(t, err, "has weights that were not given")
	})
}

// 8,000 draws: four standard errors are allowed.
func TestDraw(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, be backends.Backend) {
		x, err := scorekit.Draw(t.Context(), be, gaussian(t, 2, 3, 3), 4000, 9)
		if err != nil {
			t.Fatal(err)
		}
		mean, variance, n := meanAndVariance(t, x)
		within(t, "mean", mean, 3, 4*2/math.Sqrt(n))
		within(t, "variance", variance, 4, 4*4*math.Sqrt(2/n))
		again, err := scorekit.Draw(t.Context(), be, gaussian(t, 2, 3, 3), 4000, 9)
		if err != nil {
			t.Fatal(err)
		}
		equalTensors(t, "the same seed", x, again)
		one, err := scorekit.Draw(t.Context(), be, examples(t, [][]float64{{5, 6}}), 2, 0)
		if err != nil {
			t.Fatal(err)
		}
		if rows, _ := scorekit.Rows(one); rows[1][0] != 5 || rows[1][1] != 6 {
			t.Errorf("drew %v from one example", rows)
		}
		_, err = scorekit.Draw(t.Context(), be, gaussian(t, 2, 3), 0, 0)
		wantError(t, err, "scorekit: Draw: 0 examples: must be at least 1")
	})
}
