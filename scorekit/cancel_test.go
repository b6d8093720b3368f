package scorekit_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/leaktest"
	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/compare"
	"github.com/scorekit/lab/scorekit/ebm"
	"github.com/scorekit/lab/scorekit/implicit"
	"github.com/scorekit/lab/scorekit/kde"
	"github.com/scorekit/lab/scorekit/likelihood"
	"github.com/scorekit/lab/scorekit/metric"
	"github.com/scorekit/lab/scorekit/net"
	"github.com/scorekit/lab/scorekit/objective"
	"github.com/scorekit/lab/scorekit/sampler"
	"github.com/scorekit/lab/scorekit/sde"
)

// effort says how much work a verb is given.
type effort int

const (
	little effort = iota // it is done in a moment
	much                 // it takes minutes
	bad                  // it fails
)

// work is a verb that takes long.
type work struct {
	name string
	do   func(ctx context.Context, e effort) error
}

// cloud is n points of the plane, the last of which is NaN when the work is to fail.
func cloud(e effort, n int) [][]float64 {
	if e != much {
		n = 40
	}
	rng := rand.New(rand.NewPCG(5, uint64(n)))
	points := make([][]float64, n)
	for i := range points {
		points[i] = []float64{rng.NormFloat64(), rng.NormFloat64()}
	}
	if e == bad {
		points[n-1][1] = math.NaN()
	}
	return points
}

func (e effort) of(few, many int) int {
	if e == much {
		return many
	}
	return few
}

// spoilt fails when the work is to.
func (e effort) spoilt(x *Node) *Node {
	if e == bad {
		panic(errors.New("a model that fails"))
	}
	return x
}

// again does the work over and over where there is to be much of it: on a fast machine once is done in a moment.
func again(e effort, do func() error) error {
	for {
		if err := do(); err != nil || e != much {
			return err
		}
	}
}

// normal is the score of N(0, I), and energy its energy.
func (e effort) normal() scorekit.Score {
	return func(_ *mlctx.Context, x, _ *Node) *Node { return graph.Neg(e.spoilt(x)) }
}

func (e effort) energy() scorekit.Energy {
	return func(_ *mlctx.Context, x, _ *Node) *Node {
		return graph.MulScalar(graph.ReduceSum(graph.Square(e.spoilt(x)), 1), 0.5)
	}
}

func (e effort) fitOptions() []scorekit.FitOption {
	options := []scorekit.FitOption{scorekit.WithSteps(e.of(4, 100_000_000)), scorekit.WithBatch(8), scorekit.WithUnroll(2)}
	if e == bad {
		options = append(options, scorekit.WithCallback(func(*scorekit.FitStep) error { return errors.New("a callback that fails") }))
	}
	return options
}

// trainings are the verbs that work step by step, or a block of examples at a time, on a backend.
func trainings(t *testing.T, be backends.Backend) []work {
	p := gaussian(t, 1, 0, 1)
	denoise := objective.Denoising{Sigma: 0.5}
	folders := t.TempDir()
	return []work{
		{"Fit with checkpoints", func(ctx context.Context, e effort) error {
			dir, err := os.MkdirTemp(folders, "")
			if err != nil {
				return err
			}
			_, err = scorekit.Fit(ctx, be, smallNet, denoise, p, append(e.fitOptions(), scorekit.WithCheckpoints(dir, 1000))...)
			if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
				t.Errorf("left in the folder of checkpoints: %q", left)
			}
			if f, loadErr := scorekit.Load(dir); loadErr != nil || f.Steps() == 0 {
				t.Errorf("no step of it can be used: %v", loadErr)
			}
			return err
		}},
		{"FitSteps of a stream", func(ctx context.Context, e effort) error {
			for _, err := range scorekit.FitSteps(ctx, be, smallNet, denoise, streamed(t, numbers{values: []float64{1, 2, 3}}), e.fitOptions()...) {
				if err != nil {
					return err
				}
			}
			return nil
		}},
		{"Sample", func(ctx context.Context, e effort) error {
			_, err := scorekit.Sample(ctx, be, e.normal(), sampler.Langevin{StepSize: 0.1, Steps: e.of(4, 1_000_000)}, 10, scorekit.WithShape(2))
			return err
		}},
		{"SampleSteps", func(ctx context.Context, e effort) error {
			for _, err := range scorekit.SampleSteps(ctx, be, e.normal(), sampler.Langevin{StepSize: 0.1, Steps: e.of(4, 1_000_000)}, 10, scorekit.WithShape(2)) {
				if err != nil {
					return err
				}
			}
			return nil
		}},
		{"Evaluate", func(ctx context.Context, e effort) error {
			points := cloud(e, 300_000)
			return again(e, func() error {
				_, err := scorekit.Evaluate(ctx, be, e.normal(), points)
				return err
			})
		}},
		{"EvaluateLoss", func(ctx context.Context, e effort) error {
			_, _, err := scorekit.EvaluateLoss(ctx, be, e.normal(), denoise, p, e.of(10, 1_000_000_000), 1)
			return err
		}},
		{"EvaluateLoss of a stream", func(ctx context.Context, e effort) error {
			n := 1_000_000_000 // when it fails there is more to read
			if e == little {
				n = 10
			}
			_, _, err := scorekit.EvaluateLoss(ctx, be, e.normal(), denoise, streamed(t, numbers{values: []float64{1, 2, 3}}), n, 1)
			return err
		}},
	}
}

// works are all the others that compute on a backend.
func works(t *testing.T, be backends.Backend) []work {
	p, line := gaussian(t, 1, 0, 1), gaussian(t, 1, 0)
	entries := []compare.Entry{{Name: "implicit", Objective: objective.Implicit{}}, {Name: "denoising", Objective: objective.Denoising{Sigma: 0.5}}}
	mixture, err := scorekit.Fit(background, be, net.MixtureEnergy{Components: 2}, objective.Denoising{Sigma: 0.5}, p, scorekit.WithSteps(1))
	if err != nil {
		t.Fatal(err)
	}
	estimate := func(e effort, n int) (kde.Estimate, error) { return kde.New(cloud(e, n), kde.Gaussian, kde.Fixed(0.2)) }
	return []work{
		{"implicit.Fit", func(ctx context.Context, e effort) error {
			_, err := implicit.Fit(ctx, be, implicit.Adversarial{Generator: implicit.Linear{Inputs: 2, Outputs: 2}, Data: p, Critic: net.EnergyMLP{Hidden: []int{4}},
				Law: implicit.Learned{Network: net.Linear{}, Objective: objective.Denoising{Sigma: 0.5}}, Entropy: 0.5}, e.fitOptions()...)
			return err
		}},
		{"compare.Objectives", func(ctx context.Context, e effort) error {
			_, err := compare.Objectives(ctx, be, compare.Study{Model: smallNet, Data: p, Examples: 16}, entries, e.fitOptions()...)
			return err
		}},
		{"compare.Cost", func(ctx context.Context, e effort) error {
			workload := func(d int) (scorekit.Model, scorekit.Data, error) {
				return smallNet, gaussian(t, 1, make([]float64, d)...), nil
			}
			_, err := compare.Cost(ctx, be, []int{2}, workload, entries, append(e.fitOptions(), scorekit.WithSteps(e.of(12, 100_000_000)))...)
			return err
		}},
		{"likelihood.LogDensity", func(ctx context.Context, e effort) error {
			_, err := likelihood.LogDensity(ctx, be, p, cloud(e, 300_000), likelihood.Settings{SDE: sde.VP{}})
			return err
		}},
		{"kde.LogDensityAt", func(ctx context.Context, e effort) error {
			q, err := estimate(e, 500)
			if err == nil {
				_, err = q.LogDensityAt(ctx, be, cloud(e, 300_000))
			}
			return err
		}},
		{"kde.ScoreAt", func(ctx context.Context, e effort) error {
			q, err := estimate(e, 500)
			if err == nil {
				_, err = q.ScoreAt(ctx, be, cloud(e, 300_000))
			}
			return err
		}},
		{"metric.KernelStein.Squared", func(ctx context.Context, e effort) error {
			_, err := metric.KernelStein{}.Squared(ctx, be, e.normal(), cloud(e, 60_000))
			return err
		}},
		{"metric.KernelStein.Test", func(ctx context.Context, e effort) error {
			_, err := metric.KernelStein{}.Test(ctx, be, e.normal(), cloud(e, 30_000))
			return err
		}},
		{"metric.FiniteSetStein", func(ctx context.Context, e effort) error {
			_, err := metric.FiniteSetStein{Locations: cloud(little, 40)}.Squared(ctx, be, e.normal(), cloud(e, 1_000_000))
			return err
		}},
		{"metric.FisherDivergence", func(ctx context.Context, e effort) error {
			return again(e, func() error {
				_, err := metric.FisherDivergence(ctx, be, p, e.normal(), cloud(e, 300_000))
				return err
			})
		}},
		{"metric.ImplicitFisher", func(ctx context.Context, e effort) error {
			return again(e, func() error {
				_, _, err := metric.ImplicitFisher{}.Estimate(ctx, be, e.normal(), cloud(e, 300_000))
				return err
			})
		}},
		{"metric.ImplicitFisher.ByParts", func(ctx context.Context, e effort) error {
			return again(e, func() error {
				_, err := metric.ImplicitFisher{}.ByParts(ctx, be, p, e.normal(), cloud(e, 300_000))
				return err
			})
		}},
		{"metric.Support.ByParts", func(ctx context.Context, e effort) error {
			return again(e, func() error {
				_, err := metric.Support{Low: 0, High: math.Inf(1)}.ByParts(ctx, be, line, e.normal())
				return err
			})
		}},
		{"metric.Support.Boundary", func(ctx context.Context, e effort) error {
			return again(e, func() error {
				_, err := metric.Support{Low: 0, High: math.Inf(1)}.Boundary(ctx, be, e.normal(), [][]float64{{0.5}, {1}, {1.5}})
				return err
			})
		}},
		{"metric.Recognition", func(ctx context.Context, e effort) error {
			labels := make([]int, len(cloud(e, 1000)))
			for i := range labels {
				labels[i] = i % 2
			}
			_, err := metric.Recognition{Hidden: 8, Steps: e.of(4, 10_000_000)}.Test(ctx, be, cloud(e, 1000), labels, cloud(e, 1000), labels)
			return err
		}},
		{"ebm.AnnealedImportance", func(ctx context.Context, e effort) error {
			_, err := ebm.AnnealedImportance(ctx, be, e.energy(), 10, ebm.Annealing{Mean: []float64{0, 0}, Std: 1.5, Levels: e.of(4, 1_000_000), StepSize: 0.1})
			return err
		}},
		{"ebm.LogDensity", func(ctx context.Context, e effort) error {
			return again(e, func() error {
				_, err := ebm.LogDensity(ctx, be, e.energy(), cloud(e, 300_000), 0)
				return err
			})
		}},
		{"ebm.Limit", func(ctx context.Context, e effort) error {
			return again(e, func() error {
				_, err := ebm.Limit(ctx, be, mixture, cloud(e, 1000), []float64{0.1, 0.01})
				return err
			})
		}},
		{"Draw of a stream", func(ctx context.Context, e effort) error {
			_, err := scorekit.Draw(ctx, be, streamed(t, numbers{values: []float64{1}, before: func(ctx context.Context, _ int) error {
				switch e {
				case bad:
					return errors.New("a source that fails")
				case much: // it waits for what does not come
					<-ctx.Done()
				}
				return ctx.Err()
			}}), 10, 1)
			return err
		}},
		{"ebm.LogPartition", func(ctx context.Context, e effort) error {
			if e != much {
				_, err := ebm.LogPartition(ctx, be, e.energy(), ebm.Box{Low: []float64{-8, -8}, High: []float64{8, 8}})
				return err
			}
			// A wide box and a tolerance that no number of cells reaches; it gives up after a while.
			for {
				_, err := ebm.LogPartition(ctx, be, e.energy(), ebm.Box{Low: []float64{-3000, -3000}, High: []float64{3000, 3000}, Tolerance: 1e-15})
				if ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
					return err
				}
			}
		}},
	}
}

// hostWorks are those that take no backend.
func hostWorks() []work {
	estimate := func(e effort, n int) (kde.Estimate, error) { return kde.New(cloud(e, n), kde.Gaussian, kde.Fixed(0.2)) }
	return []work{
		{"kde.LeaveOneOut", func(ctx context.Context, e effort) error {
			_, err := kde.New(cloud(e, 30_000), kde.Gaussian, kde.LeaveOneOut(ctx))
			return err
		}},
		{"kde.Estimate.LeaveOneOut", func(ctx context.Context, e effort) error {
			q, err := estimate(e, 200_000)
			if err == nil {
				_, err = q.LeaveOneOut(ctx)
			}
			return err
		}},
		{"metric.MMD.Squared", func(ctx context.Context, e effort) error {
			_, err := metric.MMD{}.Squared(ctx, cloud(e, 60_000), cloud(e, 50_000))
			return err
		}},
		{"metric.MMD.Test", func(ctx context.Context, e effort) error {
			_, err := metric.MMD{}.Test(ctx, cloud(e, 10_000), cloud(e, 9_000))
			return err
		}},
		{"metric.Energy.Distance", func(ctx context.Context, e effort) error {
			_, err := metric.Energy{}.Distance(ctx, cloud(e, 60_000), cloud(e, 50_000))
			return err
		}},
		{"metric.Energy.Test", func(ctx context.Context, e effort) error {
			_, err := metric.Energy{}.Test(ctx, cloud(e, 10_000), cloud(e, 9_000))
			return err
		}},
		{"metric.ClassifierTest", func(ctx context.Context, e effort) error {
			_, err := metric.ClassifierTest{}.Test(ctx, cloud(e, 90_000), cloud(e, 80_000))
			return err
		}},
		{"metric.Wasserstein", func(ctx context.Context, e effort) error {
			_, err := metric.Wasserstein{}.Distance(ctx, cloud(e, 4_000), cloud(e, 3_999))
			return err
		}},
		{"metric.Sliced.Distance", func(ctx context.Context, e effort) error {
			return again(e, func() error {
				_, err := metric.Sliced{}.Distance(ctx, cloud(e, 30_000), cloud(e, 20_000))
				return err
			})
		}},
		{"metric.Sliced.Max", func(ctx context.Context, e effort) error {
			return again(e, func() error {
				_, _, err := metric.Sliced{Projections: 2}.Max(ctx, cloud(e, 30_000), cloud(e, 20_000))
				return err
			})
		}},
		{"metric.GaussianOf", func(ctx context.Context, e effort) error {
			return again(e, func() error {
				_, err := metric.GaussianOf(ctx, cloud(e, 300_000))
				return err
			})
		}},
		{"metric.Gaussian.W2", func(ctx context.Context, e effort) error {
			return again(e, func() error {
				_, err := broadGaussian(e).W2(ctx, broadGaussian(e))
				return err
			})
		}},
		{"metric.Gaussian.ByParts", func(ctx context.Context, e effort) error {
			return again(e, func() error {
				_, err := broadGaussian(e).ByParts(ctx, broadGaussian(e))
				return err
			})
		}},
		{"metric.RHat", func(ctx context.Context, e effort) error {
			return again(e, func() error {
				_, err := metric.RHat(ctx, cloud(e, 100_000))
				return err
			})
		}},
		{"metric.EffectiveSampleSize", func(ctx context.Context, e effort) error {
			draws := make([][]float64, e.of(20, 1_000_000))
			for i := range draws { // a chain that only climbs
				draws[i] = []float64{float64(i)}
			}
			if e == bad {
				draws[3][0] = math.NaN()
			}
			_, err := metric.EffectiveSampleSize(ctx, draws)
			return err
		}},
	}
}

// broadGaussian is N(0, I) in many dimensions, whose covariance has a NaN when the work is to fail.
func broadGaussian(e effort) metric.Gaussian {
	d := e.of(2, 200)
	g := metric.Gaussian{Mean: make([]float64, d)}
	for i := range d {
		g.Cov = append(g.Cov, make([]float64, d))
		g.Cov[i][i] = 1
	}
	if e == bad {
		g.Cov[0][0] = math.NaN()
	}
	return g
}

// stopped cancels the work in its middle. The promise is to end within two seconds; a minute is waited for on a slow machine, and
// how long it took is logged.
func stopped(t *testing.T, w work) {
	t.Helper()
	reason := errors.New("enough")
	ctx, cancel := context.WithCancelCause(background)
	var when time.Time
	timer := time.AfterFunc(300*time.Millisecond, func() { when = time.Now(); cancel(reason) })
	defer timer.Stop()
	done := make(chan error, 1)
	go func() { done <- w.do(ctx, much) }()
	select {
	case err := <-done:
		if ctx.Err() == nil {
			t.Fatalf("it ended by itself (%v): there is nothing to stop", err)
		}
		if !errors.Is(err, reason) {
			t.Errorf("error %v, want one that wraps the cause", err)
		}
		t.Logf("%s ended %.2f s after it was told to", w.name, time.Since(when).Seconds())
	case <-time.After(time.Minute): // far more than it takes, on a machine with other work, too
		t.Fatal("still at work a minute after it was told to stop")
	}
}

// Every verb that takes long ends soon after its context, with the cause. However it ends, and also when it comes to its end
// or fails, it leaves no goroutine, no open file and no temporary file. On XLA the promise of soon holds from the end of what is
// being compiled on.
func TestVerbsStopAndLeaveNothing(t *testing.T) {
	check := func(t *testing.T, all []work) {
		for _, w := range all {
			t.Run(w.name, func(t *testing.T) {
				leaktest.Run(t, func() {
					if err := w.do(background, little); err != nil {
						t.Errorf("with little to do: %v", err)
					}
					if err := w.do(background, bad); err == nil {
						t.Error("with something bad: no error")
					}
					stopped(t, w)
				})
			})
		}
	}
	testbackend.Each(t, func(t *testing.T, be backends.Backend) { check(t, append(trainings(t, be), works(t, be)...)) })
	check(t, hostWorks())
}
