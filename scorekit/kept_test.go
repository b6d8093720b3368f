package scorekit_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/data"
	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/net"
	"github.com/scorekit/lab/scorekit/objective"
	"github.com/scorekit/lab/scorekit/sampler"
)

// A run that finds the compiled steps of an earlier one draws what it would have drawn without: the same seed gives the same
// points however many runs came between, and a setting that was changed, even in place, is seen.
func TestRunsLikeEarlierOnes(t *testing.T) {
	gauss, err := density.Isotropic([]float64{0, 0}, 1)
	if err != nil {
		t.Fatal(err)
	}
	wide, err := gauss.Noised(2)
	if err != nil {
		t.Fatal(err)
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		draw := func(model scorekit.Model, s scorekit.Sampler, options ...scorekit.SampleOption) []float32 {
			t.Helper()
			draws, err := scorekit.Sample(context.Background(), b, model, s, 3, append([]scorekit.SampleOption{scorekit.WithSeed(5)}, options...)...)
			if err != nil {
				t.Fatal(err)
			}
			return tensors.MustCopyFlatData[float32](draws.X)
		}
		langevin := sampler.Langevin{StepSize: 0.1, Steps: 4}
		ladder := sampler.AnnealedLangevin{Sigmas: []float64{2, 1}, StepsPerLevel: 2, StepSize: 0.01}
		first := draw(gauss, langevin)
		others := map[string][]float32{
			"another model":       draw(wide, langevin),
			"another step":        draw(gauss, sampler.Langevin{StepSize: 0.2, Steps: 4}),
			"another start":       draw(gauss, langevin, scorekit.WithStartNormal(3)),
			"a point to start":    draw(gauss, langevin, scorekit.WithStart([][]float32{{1, 2}, {3, 4}, {5, 6}})),
			"another seed":        draw(gauss, langevin, scorekit.WithSeed(6)),
			"another seed, again": draw(gauss, langevin, scorekit.WithSeed(7)),
		}
		for what, points := range others {
			if slices.Equal(points, first) {
				t.Errorf("%s: the points of the first run", what)
			}
		}
		if again := draw(gauss, langevin); !slices.Equal(again, first) {
			t.Errorf("again: %v, the first time %v", again, first)
		}
		before := draw(gauss, ladder)
		ladder.Sigmas[0] = 3
		if after := draw(gauss, ladder); slices.Equal(after, before) {
			t.Error("a level changed in place is not seen")
		}
		ladder.Sigmas[0] = 2
		if again := draw(gauss, ladder); !slices.Equal(again, before) {
			t.Errorf("the levels as before: %v, the first time %v", again, before)
		}
	})
}

// The steps of a trained model are kept even where its network is a function, which no text can tell from another: the second
// run builds no graph, and another training of the same function has steps of its own.
func TestRunsOfATrainedFunction(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		built := 0
		network := scorekit.Score(func(vars *mlctx.Context, x, sigma *scorekit.Node) *scorekit.Node {
			built++
			return net.MLP{Hidden: []int{4}}.Score(vars, x, sigma)
		})
		fit := func(seed int64) *scorekit.Fitted {
			t.Helper()
			fitted, err := scorekit.Fit(context.Background(), b, network, objective.Denoising{Sigma: 1}, data.Ring{}, scorekit.WithSteps(1), scorekit.WithSeed(seed))
			if err != nil {
				t.Fatal(err)
			}
			return fitted
		}
		draw := func(model scorekit.Model) []float32 {
			t.Helper()
			draws, err := scorekit.Sample(context.Background(), b, model, sampler.Langevin{StepSize: 0.1, Steps: 4}, 3, scorekit.WithSeed(5))
			if err != nil {
				t.Fatal(err)
			}
			return tensors.MustCopyFlatData[float32](draws.X)
		}
		one, other := fit(1), fit(2)
		first := draw(one)
		before := built
		if again := draw(one); !slices.Equal(again, first) || built != before {
			t.Errorf("again: %v with %d graphs built, the first time %v", again, built-before, first)
		}
		if slices.Equal(draw(other), first) {
			t.Error("other weights give the same points")
		}
	})
}

// Many goroutines that sample in the same way get the points that one gets: no two runs share what one has compiled.
func TestRunsAtOnce(t *testing.T) {
	gauss, err := density.Isotropic([]float64{0, 0}, 1)
	if err != nil {
		t.Fatal(err)
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		points := make([][]float32, 8)
		var group sync.WaitGroup
		for i := range points {
			group.Go(func() {
				draws, err := scorekit.Sample(context.Background(), b, gauss, sampler.Langevin{StepSize: 0.1, Steps: 200}, 5, scorekit.WithSeed(int64(i%2)))
				if err != nil {
					t.Error(err)
					return
				}
				points[i] = tensors.MustCopyFlatData[float32](draws.X)
			})
		}
		group.Wait()
		for i := range points {
			if !slices.Equal(points[i], points[i%2]) {
				t.Errorf("run %d: %v, want %v", i, points[i], points[i%2])
			}
		}
		if slices.Equal(points[0], points[1]) {
			t.Error("two seeds give the same points")
		}
	})
}
