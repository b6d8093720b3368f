package scorekit_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/random"
	"github.com/scorekit/lab/scorekit/sampler"
)

// On N(m, v) the stationary variance of the Langevin chain is v/(1 − ε/(2v)). 4,000 chains of 2 coordinates after 200
// steps with ε = 0.4 and v = 1: the chains have forgotten their start (0.6²⁰⁰), so the mean has the standard error
// √(var/8000) and the variance var·√(2/8000); four of each are allowed.
func TestSampleReachesTheStationaryLaw(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, be backends.Backend) {
		d, err := scorekit.Sample(background, be, gaussian(t, 1, 3, 3), sampler.Langevin{StepSize: 0.4, Steps: 200}, 4000, scorekit.WithSeed(11))
		if err != nil {
			t.Fatal(err)
		}
		mean, variance, n := meanAndVariance(t, d.X)
		want := 1 / (1 - 0.2)
		within(t, "mean", mean, 3, 4*math.Sqrt(want/n))
		within(t, "variance", variance, want, 4*want*math.Sqrt(2/n))
	})
}

// counter is a sampler that adds the row's number to x, keeps the number of steps in its own state, and reports it.
type counter struct{ rows int }

func (c counter) Schedule() (scorekit.Schedule, error) {
	s := scorekit.Schedule{Columns: []string{"add"}}
	for i := range c.rows {
		s.Rows = append(s.Rows, []float64{float64(i + 1)})
	}
	return s, nil
}

func (c counter) Init(_ *mlctx.Context, _ *random.Source, _ scorekit.Score, x *Node) scorekit.State {
	return scorekit.State{X: x, Aux: []*Node{graph.ScalarZero(x.Graph(), x.DType())}}
}

func (c counter) Step(_ *mlctx.Context, _ *random.Source, _ scorekit.Score, s scorekit.State, row []*Node) (scorekit.State, scorekit.Info) {
	count := graph.AddScalar(s.Aux[0], 1)
	return scorekit.State{X: graph.Add(s.X, row[0]), Aux: []*Node{count}}, scorekit.Info{"count": count, "row": row[0]}
}

// The sums 1 + … + k tell which rows each state has seen.
func TestSampleBookkeeping(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, be backends.Backend) {
		for _, unroll := range []int{1, 4, 7} {
			d, err := scorekit.Sample(background, be, gaussian(t, 1, 0), counter{23}, 1, scorekit.WithStart([][]float64{{0}}), scorekit.WithUnroll(unroll),
				scorekit.WithTrajectory(5), scorekit.WithBurnIn(8), scorekit.WithThinning(3), scorekit.WithDType(dtypes.Float64))
			if err != nil {
				t.Fatal(err)
			}
			check := func(what string, list []scorekit.Snapshot, steps ...int) {
				t.Helper()
				if len(list) != len(steps) {
					t.Fatalf("unroll %d: %s has %d states, want those of %v", unroll, what, len(list), steps)
				}
				for i, s := range list {
					k := float64(steps[i])
					mean, _, _ := meanAndVariance(t, s.X)
					if s.Step != steps[i] || mean != k*(k+1)/2 || (k > 0 && s.Row[0] != k) {
						t.Errorf("unroll %d: %s %d is step %d with x = %v, row %v", unroll, what, i, s.Step, mean, s.Row)
					}
				}
			}
			check("trajectory", d.Trajectory, 0, 5, 10, 15, 20, 23)
			check("kept", d.Kept, 11, 14, 17, 20, 23)
			within(t, "mean count past the burn-in", d.Info["count"], 16, 1e-12)
			within(t, "mean row past the burn-in", d.Info["row"], 16, 1e-12)
			within(t, "largest", d.Largest, 276, 0)
			if fmt.Sprint(d.Columns) != "[add]" {
				t.Errorf("columns %v", d.Columns)
			}
		}
	})
}

func TestSampleStepsStopsWhereTheLoopBreaks(t *testing.T) {
	be := testbackend.Go(t)
	last := 0
	for s, err := range scorekit.SampleSteps(background, be, gaussian(t, 1, 0), counter{23}, 1, scorekit.WithStart([][]float64{{0}}), scorekit.WithUnroll(2)) {
		if err != nil {
			t.Fatal(err)
		}
		x, err := s.X()
		if err != nil {
			t.Fatal(err)
		}
		mean, _, _ := meanAndVariance(t, x)
		k := float64(s.Step)
		if mean != k*(k+1)/2 || s.Row[0] != k || s.Total != 23 {
			t.Errorf("step %d of %d: x = %v, row %v", s.Step, s.Total, mean, s.Row)
		}
		if last = s.Step; last == 6 {
			break
		}
	}
	if last != 6 {
		t.Errorf("the loop ended at step %d", last)
	}
}

// With score −x and step ε a chain at x₀ goes to (1−ε)x₀ plus noise: for ε = 12 the size grows elevenfold a step. The
// error names the first step beyond the limit; the result holds the state before it.
func TestDivergenceNamesTheStep(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, be backends.Backend) {
		d, err := scorekit.Sample(background, be, gaussian(t, 1, 0), sampler.Langevin{StepSize: 12, Steps: 400}, 5,
			scorekit.WithStart([][]float64{{1}, {1}, {1}, {1}, {-1000}}), scorekit.WithLimit(1e6))
		var diverged *scorekit.DivergedError
		if !errors.As(err, &diverged) {
			t.Fatalf("error %v, want a DivergedError", err)
		}
		// 1000·11³ = 1.3·10⁶ is the first beyond 10⁶; the noise, about 5·11² by then, changes none of that.
		if diverged.Step != 3 || diverged.Largest < 1.2e6 || diverged.Largest > 1.5e6 || diverged.Before < 1.1e5 || diverged.Before > 1.3e5 {
			t.Errorf("diverged %+v", diverged)
		}
		wantError(t, err, "scorekit: Sample: diverged at step 3: the largest |x| is 1.", "after 1.2", "shorten the step to 1/60 of its setting, or look at the score")
		if d == nil || d.Largest != diverged.Before {
			t.Errorf("the result is not the state before the divergence: %+v", d)
		}
		nan := scorekit.Score(func(_ *mlctx.Context, x, _ *Node) *Node {
			return graph.Sqrt(graph.AddScalar(graph.Neg(graph.Abs(x)), -1))
		})
		_, err = scorekit.Sample(background, be, nan, sampler.Langevin{StepSize: 0.1, Steps: 10}, 5, scorekit.WithShape(2))
		wantError(t, err, "diverged at step 1: the largest |x| is +Inf")
	})
}

// A divergence may be noticed long after it happened: what is returned ends before it. The counter's rows 1, 2, 3, … put
// the sum beyond 30 at step 8, so that the means over the good steps are those of 1 … 7.
func TestResultOfADivergedRun(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, be backends.Backend) {
		d, err := scorekit.Sample(background, be, gaussian(t, 1, 0), counter{23}, 1, scorekit.WithStart([][]float64{{0}}), scorekit.WithLimit(30),
			scorekit.WithTrajectory(2), scorekit.WithThinning(5), scorekit.WithUnroll(4))
		var diverged *scorekit.DivergedError
		if !errors.As(err, &diverged) || diverged.Step != 8 || diverged.Before != 28 || diverged.Largest != 36 {
			t.Fatalf("error %v", err)
		}
		steps := func(list []scorekit.Snapshot) (s []int) {
			for _, x := range list {
				s = append(s, x.Step)
			}
			return s
		}
		if got := fmt.Sprint(steps(d.Trajectory), steps(d.Kept)); got != "[0 2 4 6] [5]" {
			t.Errorf("trajectory and kept states of steps %s", got)
		}
		mean, _, _ := meanAndVariance(t, d.X)
		within(t, "x", mean, 28, 0)
		within(t, "largest", d.Largest, 28, 0)
		within(t, "mean count", d.Info["count"], 4, 1e-6)
		within(t, "mean row", d.Info["row"], 4, 1e-6)
	})
}

// The step size that a divergence suggests. Near a linear score of slope −L steps of h beyond 2/L grow |x| by g = hL − 1:
// from g the bound 2/L comes back, and a tenth of it is suggested. Where growth tells nothing it is a tenth of h.
func TestSuggestedStep(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		e    scorekit.DivergedError
		want float64
	}{
		{scorekit.DivergedError{Largest: 11, Before: 1, StepSize: 12}, 0.2},
		{scorekit.DivergedError{Largest: 300, Before: 100, StepSize: 0.4}, 0.02},
		{scorekit.DivergedError{Largest: inf, Before: 100, StepSize: 0.4}, 0.04},
		{scorekit.DivergedError{Largest: 1e9, Before: 100, StepSize: 0.4}, 0.04},
		{scorekit.DivergedError{Largest: 5, Before: 0, StepSize: 0.4}, 0.04},
		{scorekit.DivergedError{Largest: 11, Before: 1}, 0},
	} {
		within(t, fmt.Sprintf("suggestion for %+v", c.e), c.e.Suggested(), c.want, 1e-15)
	}
	be := testbackend.Go(t)
	without := scorekit.DivergedError{Step: 3, Largest: 11, Before: 1, Limit: 10}
	wantError(t, &without, "diverged at step 3: the largest |x| is 11, after 1 at the step before: must stay below 10 (a look at the score there may help)")
	// The numbers of the row need not be those of the setting: α = 6 is ε = 3, and the first step here is 5,000 times StepSize.
	// The growth, ε/v − 1 with v = 1 and 1 + 10², says that 2/3 and 2/49.5 of it would be stable.
	for want, s := range map[string]scorekit.Sampler{
		"(shorten the step to 1/15 of its setting, or look at the score)": sampler.Langevin{Alpha: 6, Steps: 400},
		"(shorten the step to 1/24":                                       sampler.AnnealedLangevin{Max: 10, Min: 0.1, StepSize: 1},
	} {
		_, err := scorekit.Sample(background, be, gaussian(t, 1, 0), s, 5)
		wantError(t, err, want)
	}
	atStart := scorekit.DivergedError{Step: 1, Largest: inf, Before: inf, Limit: 10, StepSize: 1}
	wantError(t, &atStart, "diverged at step 1:", "the chains began so: look at the starting points, and at the score and any log p or energy there")

	// From start to end: variances 1 and 0.01, so that 2/L = 0.02 whatever diverged; with the suggested step the chains come
	// to rest, with the variance 0.01/0.9 in the steep direction. 4 standard errors of 4,000 chains.
	p, err := density.Diagonal([]float64{0, 0}, []float64{1, 0.1})
	if err != nil {
		t.Fatal(err)
	}
	_, err = scorekit.Sample(background, be, p, sampler.Langevin{StepSize: 0.1, Steps: 400}, 5)
	var diverged *scorekit.DivergedError
	if !errors.As(err, &diverged) || diverged.StepSize != 0.1 {
		t.Fatalf("error %v, want a divergence with its step size", err)
	}
	within(t, "suggested", diverged.Suggested(), 0.002, 1e-5)
	wantError(t, err, "shorten the step to 1/50 of its setting,")
	const n = 4000
	d, err := scorekit.Sample(background, be, p, sampler.Langevin{StepSize: diverged.Suggested(), Steps: 60}, n)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := scorekit.Rows(d.X)
	if err != nil {
		t.Fatal(err)
	}
	variance, want := 0.0, 0.01/0.9
	for _, r := range rows {
		variance += r[1] * r[1] / n
	}
	within(t, "variance in the steep direction", variance, want, 4*want*math.Sqrt(2.0/n))
}

// foreseeing is a counter that predicts x plus ten times the row's number.
type foreseeing struct{ counter }

func (foreseeing) Predict(_ *mlctx.Context, _ scorekit.Score, x *Node, row []*Node) *Node {
	return graph.Add(x, graph.MulScalar(row[0], 10))
}

// Predictions come with what is kept, each with the row of the step before it; the loop can ask for them and for the
// diagnostics so far, which past the burn-in leave it out.
func TestPredictions(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, be backends.Backend) {
		start := scorekit.WithStart([][]float64{{0}})
		d, err := scorekit.Sample(background, be, gaussian(t, 1, 0), foreseeing{counter{7}}, 1, start,
			scorekit.WithTrajectory(3), scorekit.WithThinning(2), scorekit.WithBurnIn(2), scorekit.WithPredictions())
		if err != nil {
			t.Fatal(err)
		}
		predicted := func(s scorekit.Snapshot) float64 {
			mean, _, _ := meanAndVariance(t, s.Predicted)
			return mean
		}
		check := func(list []scorekit.Snapshot) {
			t.Helper()
			for _, s := range list {
				k := float64(s.Step)
				within(t, fmt.Sprintf("prediction after step %d", s.Step), predicted(s), k*(k+1)/2+10*k, 0)
			}
		}
		if d.Trajectory[0].Predicted != nil {
			t.Error("a prediction for the start")
		}
		check(d.Trajectory[1:])
		check(d.Kept)
		within(t, "prediction at the end", predicted(scorekit.Snapshot{Predicted: d.Predicted}), 28+70, 0)
		within(t, "mean row past the burn-in", d.Info["row"], 5, 1e-6)
		for s, err := range scorekit.SampleSteps(background, be, gaussian(t, 1, 0), foreseeing{counter{4}}, 1, start, scorekit.WithUnroll(1), scorekit.WithBurnIn(2)) {
			if err != nil {
				t.Fatal(err)
			}
			p, err := s.Predicted()
			if err != nil {
				t.Fatal(err)
			}
			check([]scorekit.Snapshot{{Step: s.Step, Predicted: p}})
			info, err := s.Info()
			if err != nil {
				t.Fatal(err)
			}
			within(t, fmt.Sprintf("row after step %d", s.Step), info["row"], []float64{1, 2, 3, 3.5}[s.Step-1], 1e-6)
		}
	})
	be := testbackend.Go(t)
	_, err := scorekit.Sample(background, be, gaussian(t, 1, 0), counter{2}, 1, scorekit.WithPredictions())
	wantError(t, err, "scorekit: Sample: WithPredictions: sampler scorekit_test.counter makes no predictions: must be a Predictor")
	for s, err := range scorekit.SampleSteps(background, be, gaussian(t, 1, 0), counter{1}, 1) {
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Predicted()
		wantError(t, err, "scorekit: Predicted: sampler scorekit_test.counter makes no predictions")
	}
	var none scorekit.SampleStep
	_, err = none.Info()
	wantError(t, err, "scorekit: Info:")
}

// Over 300,000 steps in float32 a plain sum of 0.1 would be off by more than 1 %.
func TestLongMeanOfADiagnostic(t *testing.T) {
	be := testbackend.Go(t)
	d, err := scorekit.Sample(background, be, gaussian(t, 1, 0), steady{300_000}, 1, scorekit.WithUnroll(64))
	if err != nil {
		t.Fatal(err)
	}
	within(t, "mean", d.Info["steady"], 0.1, 1e-7)
}

// steady is a sampler that stays where it is and reports 0.1.
type steady struct{ steps int }

func (s steady) Schedule() (scorekit.Schedule, error) {
	return scorekit.Schedule{Rows: make([][]float64, s.steps)}, nil
}

func (steady) Init(_ *mlctx.Context, _ *random.Source, _ scorekit.Score, x *Node) scorekit.State {
	return scorekit.State{X: x}
}

func (steady) Step(_ *mlctx.Context, _ *random.Source, _ scorekit.Score, s scorekit.State, _ []*Node) (scorekit.State, scorekit.Info) {
	return s, scorekit.Info{"steady": graph.Scalar(s.X.Graph(), s.X.DType(), 0.1)}
}

// starting is a counter that begins at 100.
type starting struct{ counter }

func (starting) Start(rng *random.Source, dims ...int) *Node {
	return graph.BroadcastToDims(graph.Scalar(rng.Graph(), rng.DType(), 100), dims...)
}

// A sampler's own start gives way to one that is asked for. Chains of images, and one chain alone, are as good as rows.
func TestStarts(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, be backends.Backend) {
		still := scorekit.Score(func(_ *mlctx.Context, x, _ *Node) *Node { return graph.ZerosLike(x) })
		image := tensors.FromValue([][][][]float64{{{{1}, {2}}, {{3}, {4}}, {{5}, {6}}}})
		for name, c := range map[string]struct {
			option scorekit.SampleOption
			want   func(mean float64) bool
		}{
			"the sampler's": {scorekit.WithSeed(1), func(mean float64) bool { return mean == 101 }},
			"points":        {scorekit.WithStart(image), func(mean float64) bool { return mean == 4.5 }},
			"normal":        {scorekit.WithStartNormal(1e-3), func(mean float64) bool { return mean != 1 && math.Abs(mean-1) < 0.01 }},
		} {
			d, err := scorekit.Sample(background, be, still, starting{counter{1}}, 1, scorekit.WithShape(3, 2, 1), c.option, scorekit.WithUnroll(64))
			if err != nil {
				t.Fatal(name, err)
			}
			if mean, _, _ := meanAndVariance(t, d.X); !c.want(mean) || fmt.Sprint(d.X.Shape().Dimensions) != "[1 3 2 1]" {
				t.Errorf("%s: mean %v of shape %s", name, mean, d.X.Shape())
			}
		}
	})
}

func TestSampleSeedsAndCancellation(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, be backends.Backend) {
		run := func(seed int64) *scorekit.Draws {
			d, err := scorekit.Sample(background, be, gaussian(t, 1, 0), sampler.Langevin{StepSize: 0.1, Steps: 5}, 3, scorekit.WithSeed(seed))
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		equalTensors(t, "the same seed", run(1).X, run(1).X)
		if run(1).X.Equal(run(2).X) {
			t.Error("two seeds, the same draws")
		}
	})
	be := testbackend.Go(t)
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	steps := 0
	for s, err := range scorekit.SampleSteps(ctx, be, gaussian(t, 1, 0), counter{9}, 1) {
		if err != nil {
			if !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
			wantError(t, err, "stopped after step 4 of 9")
			break
		}
		if steps = s.Step; steps == 4 {
			cancel()
		}
	}
	if steps != 4 {
		t.Errorf("%d steps", steps)
	}
}

// Many goroutines sample from one fitted model at once; each must get what it gets alone.
func TestConcurrentSampling(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, be backends.Backend) {
		f, err := fitSmall(t, background, be, 2)
		if err != nil {
			t.Fatal(err)
		}
		one := func() (*scorekit.Draws, error) {
			return scorekit.Sample(background, be, f, sampler.Langevin{StepSize: 0.01, Steps: 5}, 3, scorekit.WithSeed(4))
		}
		want, err := one()
		if err != nil {
			t.Fatal(err)
		}
		var wait sync.WaitGroup
		for range 6 {
			wait.Go(func() {
				got, err := one()
				if err != nil {
					t.Error(err)
					return
				}
				equalTensors(t, "draws", got.X, want.X)
			})
		}
		wait.Wait()
	})
}
