package scorekit_test

import (
	"context"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
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
		scores := func(model scorekit.Model, sigma ...float64) []float32 {
			t.Helper()
			s, err := scorekit.Evaluate(context.Background(), b, model, [][]float32{{1, 2}, {3, 4}}, sigma...)
			if err != nil {
				t.Fatal(err)
			}
			return tensors.MustCopyFlatData[float32](s)
		}
		these := scores(one)
		before = built
		if again := scores(one); !slices.Equal(again, these) || built != before {
			t.Errorf("scores again: %v with %d graphs built, the first time %v", again, built-before, these)
		}
		if slices.Equal(scores(other), these) {
			t.Error("other weights give the same scores")
		}
	})
}

// What Evaluate keeps changes no score: not that of a model changed in place, of another noise level, of more points or of another
// precision.
func TestEvaluationsLikeEarlierOnes(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		scores := func(model scorekit.Model, points any, sigma ...float64) *tensors.Tensor {
			t.Helper()
			s, err := scorekit.Evaluate(context.Background(), b, model, points, sigma...)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		first := func(s *tensors.Tensor) float32 { return tensors.MustCopyFlatData[float32](s)[0] }
		model := &centred{Centre: []float64{1, 0}}
		for range 2 {
			model.Centre[0] = 1
			if got := first(scores(model, [][]float32{{3, 4}})); got != -2 {
				t.Errorf("score %v, want -2", got)
			}
			model.Centre[0] = 5
			if got := first(scores(model, [][]float32{{3, 4}})); got != 2 {
				t.Errorf("score %v after the centre moved, want 2", got)
			}
			if got := first(scores(model, [][]float32{{3, 4}}, 2)); got != 0.5 {
				t.Errorf("score %v at level 2, want 0.5", got)
			}
			if got := first(scores(model, [][]float32{{3, 4}, {1, 1}})); got != 2 {
				t.Errorf("score %v of two points, want 2", got)
			}
			for sigma, want := range map[float64]float32{1: -3, 2: -0.75} { // these two are kept
				gauss, err := density.Isotropic([]float64{0, 0}, sigma)
				if err != nil {
					t.Fatal(err)
				}
				if got := first(scores(gauss, [][]float32{{3, 4}})); got != want {
					t.Errorf("score %v of N(0, %v²I), want %v", got, sigma, want)
				}
				noised := float32(-3 / (sigma*sigma + 4))
				if got := first(scores(gauss, [][]float32{{3, 4}}, 2)); math.Abs(float64(got-noised)) > 1e-6 {
					t.Errorf("score %v of N(0, %v²I) at level 2, want %v", got, sigma, noised)
				}
			}
			if s := scores(model, [][]float64{{3, 4}}); s.DType() != dtypes.Float64 || tensors.MustCopyFlatData[float64](s)[1] != -4 {
				t.Errorf("in float64 %s", s)
			}
		}
	})
}

// centred is the score of N(Centre, σ²I), σ = 1 without a level. It is no model that is kept: its type is not of this module.
type centred struct{ Centre []float64 }

func (c *centred) Score(_ *mlctx.Context, x, sigma *scorekit.Node) *scorekit.Node {
	s := graph.Sub(graph.ConstAsDType(x.Graph(), x.DType(), [][]float64{c.Centre}), x)
	if sigma != nil {
		s = graph.Div(s, graph.InsertAxes(graph.Square(sigma), -1))
	}
	return s
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
