package sampler_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/sampler"
)

// The clean point of N(0, 1) noised by σ is x/(1 + σ²). Inside the box from −1 to ½ the score is the density's own,
// −x/(1 + σ²); beyond it, the one that leads to the wall. Rows of numbers and images alike, every row with its own σ.
func TestBounded(t *testing.T) {
	x := [][]float64{{0.3, -0.9, 4, -7}, {0.3, -0.9, 4, -7}}
	sigma := []float64{0.5, 2}
	var want []float64
	for i, row := range x {
		v := sigma[i] * sigma[i]
		for _, x := range row {
			want = append(want, (min(max(x/(1+v), -1), 0.5)-x)/v)
		}
	}
	if !(math.Abs(want[0]+0.3/1.25) < 1e-15) || !(math.Abs(want[2]+3.5/0.25) < 1e-15) {
		t.Fatalf("by hand: %v", want)
	}
	standard := scorekit.Score(func(_ *mlctx.Context, x, sigma *sampler.Node) *sampler.Node {
		dims := slices.Repeat([]int{1}, x.Rank())
		dims[0] = -1
		return graph.Neg(graph.Div(x, graph.AddScalar(graph.Square(graph.Reshape(sigma, dims...)), 1)))
	})
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := run(t, b, func(g *graph.Graph) []*sampler.Node {
			bounded := sampler.Bounded{Model: standard, Min: -1, Max: 0.5}
			rows, level := graph.Const(g, x), graph.Const(g, sigma)
			return []*sampler.Node{bounded.Score(nil, rows, level), bounded.Score(nil, graph.Reshape(rows, 2, 2, 2, 1), level)}
		})
		near(t, "rows", got[0], want, 1e-14)
		near(t, "images", got[1], want, 1e-14)
	})
}

// Chains that end with the step that denoises end in the box, to rounding, although the density reaches out of it.
func TestBoundedChains(t *testing.T) {
	p, err := density.Isotropic([]float64{0, 2}, 1)
	if err != nil {
		t.Fatal(err)
	}
	s := sampler.AnnealedLangevin{Max: 3, Min: 0.1, Levels: 5, StepsPerLevel: 10, StepSize: 0.002, Denoise: true}
	d, err := scorekit.Sample(context.Background(), testbackend.Go(t), sampler.Bounded{Model: p, Min: -0.5, Max: 1}, s, 500, scorekit.WithDType(dtypes.Float64))
	if err != nil {
		t.Fatal(err)
	}
	walls := 0
	for _, v := range flat(t, d.X) {
		if !(v >= -0.5-1e-12 && v <= 1+1e-12) {
			t.Errorf("a chain ends at %v", v)
		}
		if v > 1-1e-12 || v < -0.5+1e-12 {
			walls++
		}
	}
	if walls == 0 || walls == 1000 {
		t.Errorf("%d of 1000 coordinates at a wall", walls)
	}
}

// What a model tells about itself is told for it.
func TestBoundedForwards(t *testing.T) {
	p, err := density.Isotropic([]float64{0, 0, 0}, 1)
	if err != nil {
		t.Fatal(err)
	}
	known := sampler.Bounded{Model: p, Min: 0, Max: 1}
	unknown := sampler.Bounded{Model: ignoring(graph.Neg), Min: 0, Max: 1}
	if !slices.Equal(known.Shape(), []int{3}) || unknown.Shape() != nil {
		t.Errorf("shapes %v and %v, want [3] and none", known.Shape(), unknown.Shape())
	}
	if known.Vars() != nil || known.DType() != dtypes.Float32 {
		t.Errorf("weights %v and dtype %s of a density", known.Vars(), known.DType())
	}
	nan, inf := math.NaN(), math.Inf(1)
	_, noLevel := scorekit.Evaluate(testbackend.Go(t), known, [][]float64{{1, 2, 3}})
	for _, test := range []struct {
		err  error
		want string
	}{
		{sampler.Bounded{Max: 1}.Validate(), "bounded score: model nil: must be given"},
		{sampler.Bounded{Model: p}.Validate(), "bounded score: box from 0 to 0: must be finite and rise"},
		{sampler.Bounded{Model: p, Min: 1, Max: -1}.Validate(), "bounded score: box from 1 to -1: must be finite and rise"},
		{sampler.Bounded{Model: p, Min: 1, Max: nan}.Validate(), "bounded score: box from 1 to NaN: must be finite and rise"},
		{sampler.Bounded{Model: p, Max: inf}.Validate(), "bounded score: box from 0 to +Inf: must be finite and rise"},
		{sampler.Bounded{Model: density.Gaussian{}, Max: 1}.Validate(), fmt.Sprint(density.Gaussian{}.Validate())},
		{noLevel, "scorekit: Evaluate: bounded score: no noise level was given: the clean point cannot be told without one"},
		{known.Validate(), "<nil>"},
	} {
		if fmt.Sprint(test.err) != test.want {
			t.Errorf("error %v, want %s", test.err, test.want)
		}
	}
}
