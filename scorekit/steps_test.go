package scorekit_test

import (
	"context"
	"errors"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/random"
	"github.com/scorekit/lab/scorekit/sampler"
)

// What a step hands out stays usable after the loop was left, whether early or at its end.
func TestStepsAfterTheLoop(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, be backends.Backend) {
		for _, until := range []int{2, 4} {
			var fit *scorekit.FitStep
			for s, err := range scorekit.FitSteps(background, be, scorekit.Score(linear), regression{2}, examples(t, [][]float64{{1}}), scorekit.WithSteps(4), scorekit.WithBatch(2)) {
				if err != nil {
					t.Fatal(err)
				}
				if fit = s; s.Step == until {
					break
				}
			}
			stats, err := fit.Stats()
			if err != nil || len(stats) != until {
				t.Errorf("%d statistics of %d steps, error %v", len(stats), until, err)
			}
			f, err := fit.Fitted()
			if err != nil || f.Steps() != until || len(f.History()) != until {
				t.Errorf("model %v after %d steps, error %v", f, until, err)
			}
			var sample *scorekit.SampleStep
			for s, err := range scorekit.SampleSteps(background, be, gaussian(t, 1, 0), counter{4}, 1, scorekit.WithStart([][]float64{{0}}), scorekit.WithUnroll(1)) {
				if err != nil {
					t.Fatal(err)
				}
				if sample = s; s.Step == until {
					break
				}
			}
			x, err := sample.X()
			if err != nil {
				t.Fatal(err)
			}
			mean, _, _ := meanAndVariance(t, x)
			within(t, "x", mean, float64(until*(until+1)/2), 0)
		}
	})
}

// late is a sampler that fails after the run has begun: its step cannot be built a second time.
type late struct{ counter }

func (l late) Step(vars *mlctx.Context, rng *random.Source, score scorekit.Score, s scorekit.State, row []*Node) (scorekit.State, scorekit.Info) {
	next, info := l.counter.Step(vars, rng, score, s, row)
	if calls := vars.GetVariable("calls"); calls == nil {
		vars.VariableWithValue("calls", 1.0).SetTrainable(false)
	} else {
		panic("a second graph")
	}
	return next, info
}

// widening is a sampler whose state grows.
type widening struct{ counter }

func (w widening) Step(vars *mlctx.Context, rng *random.Source, score scorekit.Score, s scorekit.State, row []*Node) (scorekit.State, scorekit.Info) {
	next, info := w.counter.Step(vars, rng, score, s, row)
	next.Aux = []*Node{graph.InsertAxes(next.Aux[0], 0)}
	return next, info
}

func TestFailingSampler(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, be backends.Backend) {
		g := gaussian(t, 1, 0)
		d, err := scorekit.Sample(background, be, g, late{counter{3}}, 1)
		wantError(t, err, "scorekit: Sample: ", "a second graph")
		if d != nil {
			t.Error("a result beside the error")
		}
		_, err = scorekit.Sample(background, be, g, widening{counter{3}}, 1)
		wantError(t, err, "scorekit: Sample: ", "widening changed the shape of its state in a step")
	})
}

// One goroutine trains while others sample from what it hands out; each model must stay as it was when it was taken.
func TestSamplingWhileTraining(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, be backends.Backend) {
		var wait sync.WaitGroup
		for s, err := range scorekit.FitSteps(background, be, scorekit.Score(linear), regression{2}, examples(t, [][]float64{{1}, {3}}), scorekit.WithSteps(12), scorekit.WithBatch(2), scorekit.WithUnroll(2)) {
			if err != nil {
				t.Fatal(err)
			}
			f, err := s.Fitted()
			if err != nil {
				t.Fatal(err)
			}
			before, _ := weights(t, f)
			wait.Go(func() {
				if _, err := scorekit.Sample(background, be, f, sampler.Langevin{StepSize: 0.01, Steps: 3}, 2); err != nil {
					t.Error(err)
				}
				if after, _ := weights(t, f); after != before || f.Steps() != s.Step {
					t.Errorf("weight %v of step %d became %v", before, f.Steps(), after)
				}
			})
		}
		wait.Wait()
	})
}

// Runs of two dtypes use one Data at the same time, and the tensor it was made from is the caller's to change.
func TestExamplesAreShared(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, be backends.Backend) {
		points := [][]float64{{1, 3}, {-2, 0.1}}
		tensor, err := scorekit.Draw(t.Context(), be, examples(t, points), 2, 0)
		if err != nil {
			t.Fatal(err)
		}
		data := examples(t, tensor)
		tensor.MustFinalizeAll()
		data.Shape()[0] = 99
		run := func(dtype dtypes.DType) float64 {
			f, err := scorekit.Fit(background, be, scorekit.Score(linear), regression{2}, data, scorekit.WithSteps(6), scorekit.WithBatch(4), scorekit.WithUnroll(3), scorekit.WithDType(dtype))
			if err != nil {
				t.Error(err)
				return math.NaN()
			}
			a, _ := weights(t, f)
			return a
		}
		want := map[dtypes.DType]float64{dtypes.Float32: run(dtypes.Float32), dtypes.Float64: run(dtypes.Float64)}
		var wait sync.WaitGroup
		for i := range 6 {
			wait.Go(func() {
				dtype := []dtypes.DType{dtypes.Float32, dtypes.Float64}[i%2]
				if got := run(dtype); got != want[dtype] {
					t.Errorf("%s: %v alone, %v beside others", dtype, want[dtype], got)
				}
			})
		}
		wait.Wait()
	})
}

func TestStoppedBeforeTheFirstStep(t *testing.T) {
	be := testbackend.Go(t)
	ctx, cancel := context.WithDeadline(background, time.Now().Add(-time.Second))
	defer cancel()
	f, err := scorekit.Fit(ctx, be, scorekit.Score(linear), regression{2}, examples(t, [][]float64{{1}}), scorekit.WithCheckpoints(t.TempDir(), 1))
	wantError(t, err, "scorekit: Fit: stopped after step 0 of 1000: ")
	if f != nil || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("model %v, error %v", f, err)
	}
	d, err := scorekit.Sample(ctx, be, gaussian(t, 1, 0), counter{3}, 1, scorekit.WithStart([][]float64{{5}}))
	wantError(t, err, "scorekit: Sample: stopped after step 0 of 3: ")
	if d == nil || !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("draws %v, error %v", d, err)
	}
	if mean, _, _ := meanAndVariance(t, d.X); mean != 5 || d.Largest != 5 {
		t.Errorf("the result is not the start: %v", d)
	}
}
