package scorekit_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/data"
	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/net"
	"github.com/scorekit/lab/scorekit/objective"
)

// fitting is a short training, and what of it may differ from others.
type fitting struct {
	model     scorekit.Model
	objective scorekit.Objective
	data      scorekit.Data
	options   []scorekit.FitOption
}

func (f fitting) with(options ...scorekit.FitOption) fitting {
	f.options = slices.Concat(f.options, options)
	return f
}

// run trains, and returns all weights one after the other, and the losses of all steps.
func (f fitting) run(t *testing.T, b backends.Backend) []float64 {
	t.Helper()
	fitted, err := f.fit(b)
	if err != nil {
		t.Fatal(err)
	}
	return numbersOf(t, fitted)
}

func (f fitting) fit(b backends.Backend) (*scorekit.Fitted, error) {
	return scorekit.Fit(context.Background(), b, f.model, f.objective, f.data, append([]scorekit.FitOption{scorekit.WithBatch(4)}, f.options...)...)
}

// counting is a backend that counts the graphs that are built.
type counting struct {
	backends.Backend
	graphs int
}

func (c *counting) Builder(name string) backends.Builder {
	c.graphs++
	return c.Backend.Builder(name)
}

func numbersOf(t *testing.T, fitted *scorekit.Fitted) (all []float64) {
	t.Helper()
	for v := range fitted.Vars().IterVariables() {
		value, err := v.Value()
		if err != nil {
			t.Fatal(err)
		}
		switch value.DType() {
		case dtypes.Float32:
			for _, x := range tensors.MustCopyFlatData[float32](value) {
				all = append(all, float64(x))
			}
		case dtypes.Float64:
			all = append(all, tensors.MustCopyFlatData[float64](value)...)
		case dtypes.Int32: // a count
			all = append(all, float64(tensors.ToScalar[int32](value)))
		default:
			t.Fatalf("weights of dtype %s", value.DType())
		}
	}
	for _, s := range fitted.History() {
		all = append(all, s.Loss, s.GradientNorm)
	}
	return all
}

func labelled(t *testing.T, points any, labels ...int) scorekit.Data {
	t.Helper()
	d, err := scorekit.LabelledExamples(points, labels)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Trainings that take over what an earlier one has compiled end at the very weights that they end at without, whatever the earlier
// one had for a seed, rates, a number of steps or examples.
func TestFitTakesOverSteps(t *testing.T) {
	points, others := [][]float64{{1, 2}, {-1, 0.5}, {0.3, 0.1}, {2, -2}, {1, 1}}, [][]float64{{4, 1}, {-3, 2}, {0, 0.2}, {1, -1}, {-1, 1}}
	steps := func(n int) scorekit.FitOption { return scorekit.WithSteps(n) }
	image := func(rows [][]float64) *tensors.Tensor {
		return tensors.FromFlatDataAndDimensions(slices.Concat(rows...), len(rows), 2, 1, 1)
	}
	mlp := net.MLP{Hidden: []int{4}}
	noised, falling := objective.MultiNoise{Min: 0.1, Max: 1}, objective.MultiNoise{Levels: objective.Annealed{Start: 1, Factor: 0.5, Min: 0.1}}
	cases := map[string]struct{ before, run fitting }{
		"seed": {
			fitting{mlp, objective.Implicit{}, data.Ring{}, []scorekit.FitOption{scorekit.WithSeed(1), steps(3)}},
			fitting{mlp, objective.Implicit{}, data.Ring{}, []scorekit.FitOption{scorekit.WithSeed(2), steps(3)}},
		},
		"rates and steps": {
			fitting{mlp, objective.Denoising{Sigma: 1}, data.Ring{}, []scorekit.FitOption{steps(4), scorekit.WithUnroll(2), scorekit.WithEMA(0.9)}},
			fitting{mlp, objective.Denoising{Sigma: 1}, data.Ring{}, []scorekit.FitOption{steps(6), scorekit.WithUnroll(2), scorekit.WithEMA(0.5),
				scorekit.WithOptimizer(scorekit.Adam{Rate: scorekit.Rate{Peak: 0.1, WarmUp: 2}})}},
		},
		"examples": {
			fitting{net.NoiseMLP{Hidden: []int{4}, Features: net.Fourier{Count: 3, Scale: 0.2}}, noised, examples(t, points), []scorekit.FitOption{steps(2)}},
			fitting{net.NoiseMLP{Hidden: []int{4}, Features: net.Fourier{Count: 3, Scale: 0.2}}, noised, examples(t, others), []scorekit.FitOption{steps(2), scorekit.WithSeed(3)}},
		},
		"classes": {
			fitting{net.ResidualConv{Channels: 2, Blocks: 1, Classes: 2}, noised, labelled(t, image(points), 0, 1, 0, 1, 1), []scorekit.FitOption{steps(2)}},
			fitting{net.ResidualConv{Channels: 2, Blocks: 1, Classes: 2}, noised, labelled(t, image(others), 1, 1, 0, 0, 1), []scorekit.FitOption{steps(2)}},
		},
		"falling level": {
			fitting{net.EnergyMLP{Hidden: []int{4}}, falling, data.Ring{}, []scorekit.FitOption{steps(3), scorekit.WithDType(dtypes.Float64)}},
			fitting{net.EnergyMLP{Hidden: []int{4}}, falling, data.Ring{}, []scorekit.FitOption{steps(3), scorekit.WithDType(dtypes.Float64), scorekit.WithSeed(9)}},
		},
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for name, c := range cases {
			b := &counting{Backend: b}
			scorekit.ForgetSteps()
			want := c.run.run(t, b)
			alone := b.graphs
			scorekit.ForgetSteps()
			if before := c.before.run(t, b); slices.Equal(before, want) {
				t.Errorf("%s: the two runs do not differ", name)
			}
			b.graphs = 0
			if got := c.run.run(t, b); !slices.Equal(got, want) {
				t.Errorf("%s: after another run %v, alone %v", name, got, want)
			}
			if b.graphs != 1 || alone < 2 {
				t.Errorf("%s: %d graphs were built after another run, want that of the first weights; %d alone", name, b.graphs, alone)
			}
		}
	})
}

// A training that differs in what its graph is made of has steps of its own.
func TestFitMakesOtherSteps(t *testing.T) {
	base := fitting{net.MLP{Hidden: []int{4}}, objective.Denoising{Sigma: 1}, data.Ring{}, []scorekit.FitOption{scorekit.WithSteps(1)}}
	model, loss, ring, two, three := base, base, base, base, base
	model.model = net.MLP{Hidden: []int{5}}
	loss.objective = objective.Denoising{Sigma: 2}
	ring.data = data.Ring{Modes: 3}
	two.data = labelled(t, [][]float64{{1, 2}, {3, 4}}, 0, 1)
	three.data = labelled(t, [][]float64{{1, 2}, {3, 4}, {5, 6}}, 0, 1, 1)
	decay := func(d float64) fitting { return base.with(scorekit.WithOptimizer(scorekit.AdamW{Decay: d})) }
	pairs := map[string][2]fitting{
		"model": {base, model}, "objective": {base, loss}, "data": {base, ring}, "examples": {two, three},
		"batch": {base, base.with(scorekit.WithBatch(5))}, "precision": {base, base.with(scorekit.WithDType(dtypes.Float64))},
		"clip norm": {base, base.with(scorekit.WithClipNorm(1))}, "no average": {base, base.with(scorekit.WithEMA(0))},
		"optimizer": {base, base.with(scorekit.WithOptimizer(scorekit.SGD{}))}, "decay": {decay(0.1), decay(0.5)},
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for name, pair := range pairs {
			b := &counting{Backend: b}
			scorekit.ForgetSteps()
			pair[0].run(t, b)
			b.graphs = 0
			if pair[1].run(t, b); b.graphs != 2 {
				t.Errorf("%s: %d graphs were built, want the steps and the first weights", name, b.graphs)
			}
		}
	})
}

// What a step of a run tells after its end is of that run, when the next has taken over what it compiled.
func TestStepsOfAnEarlierRun(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		run := func(seed int64) (last *scorekit.FitStep) {
			t.Helper()
			for step, err := range scorekit.FitSteps(context.Background(), b, net.MLP{Hidden: []int{4}}, objective.Implicit{}, data.Ring{},
				scorekit.WithSteps(4), scorekit.WithUnroll(2), scorekit.WithSeed(seed)) {
				if err != nil {
					t.Fatal(err)
				}
				last = step
			}
			return last
		}
		weights := func(s *scorekit.FitStep) []float64 {
			t.Helper()
			fitted, err := s.Fitted()
			if err != nil {
				t.Fatal(err)
			}
			return numbersOf(t, fitted)
		}
		first := run(1)
		want := weights(first)
		second := run(2)
		if got := weights(first); !slices.Equal(got, want) {
			t.Errorf("after another run %v, before it %v", got, want)
		}
		if slices.Equal(weights(second), want) {
			t.Error("the second run has the weights of the first")
		}
	})
}

// A run that fails leaves no steps behind: the next begins with the weights of its own seed.
func TestFitAfterAFailure(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		good := fitting{net.MLP{Hidden: []int{4}}, objective.Denoising{Sigma: 1}, labelled(t, [][]float64{{1, 2}, {3, 4}}, 0, 1), []scorekit.FitOption{scorekit.WithSteps(2)}}
		bad := good
		bad.data = labelled(t, [][]float64{{1e38, 2}, {3, -1e38}}, 0, 1)
		scorekit.ForgetSteps()
		want := good.run(t, b)
		_, err := bad.fit(b)
		if failed := (*scorekit.NonFiniteError)(nil); !errors.As(err, &failed) {
			t.Fatalf("error %v, want one of a step that is not finite", err)
		}
		if got := good.run(t, b); !slices.Equal(got, want) {
			t.Errorf("after a failure %v, before it %v", got, want)
		}
	})
}

// Trainings at once do not share what one of them has compiled.
func TestFitsAtOnce(t *testing.T) {
	f := fitting{net.MLP{Hidden: []int{4}}, objective.Denoising{Sigma: 1}, data.Ring{}, []scorekit.FitOption{scorekit.WithSteps(30), scorekit.WithUnroll(1)}}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		want := [2][]float64{f.run(t, b), f.with(scorekit.WithSeed(1)).run(t, b)}
		var got [6]*scorekit.Fitted
		var errs [6]error
		var group sync.WaitGroup
		for i := range got {
			group.Go(func() { got[i], errs[i] = f.with(scorekit.WithSeed(int64(i % 2))).fit(b) })
		}
		group.Wait()
		if err := errors.Join(errs[:]...); err != nil {
			t.Fatal(err)
		}
		for i := range got {
			if !slices.Equal(numbersOf(t, got[i]), want[i%2]) {
				t.Errorf("run %d: weights are not those of a run alone", i)
			}
		}
	})
}
