package objective_test

import (
	"fmt"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/autodiff"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/objective"
	"github.com/scorekit/lab/scorekit/random"
)

// By hand: std 2, σ ½, 3 dimensions give ½·3·(4 − 4/17), σ² = ¼ of it when weighted; points without spread leave
// nothing to learn, and the exact score knows the noise.
func TestFloor(t *testing.T) {
	for _, test := range []struct {
		d    objective.Denoising
		dim  int
		std  float64
		want float64
	}{
		{objective.Denoising{Sigma: 0.5}, 3, 2, 1.5 * (4 - 4.0/17)},
		{objective.Denoising{Sigma: 0.5, Weighted: true}, 3, 2, 1.5 * (4 - 4.0/17) / 4},
		{objective.Denoising{Sigma: 2}, 1, 1, 0.5 * (0.25 - 0.2)},
		{objective.Denoising{Sigma: 0.5}, 3, 0, 0},
	} {
		got, err := test.d.Floor(test.dim, test.std)
		if err != nil {
			t.Fatal(err)
		}
		testvalues.NearNumber(t, "floor", got, test.want, 1e-14)
	}
}

// With the weighting EDM and the data's own standard deviation the floor is ½ dim at every level.
func TestFloorOfEDM(t *testing.T) {
	for _, sigma := range []float64{0.01, 0.7, 30} {
		got, err := objective.MultiNoise{Min: 0.01, Max: 50, Weighting: objective.EDM, DataStd: 0.6}.Floor(sigma, 3, 0.6)
		if err != nil {
			t.Fatal(err)
		}
		testvalues.NearNumber(t, "floor", got, 1.5, 1e-12)
	}
}

// drawn runs a graph that draws random numbers, in float64.
func drawn(t *testing.T, b backends.Backend, seed int64, build func(rng *random.Source) []*objective.Node) [][]float64 {
	t.Helper()
	state, err := random.Seed(seed)
	if err != nil {
		t.Fatal(err)
	}
	return testvalues.Run(t, b, func(g *graph.Graph) []*objective.Node {
		return build(random.New(graph.ConstTensor(g, state), dtypes.Float64, 1))
	})
}

// The mean loss of the exact noised score over 40,000 draws of N(μ, std²I) and of the noise is the floor, within 5
// standard errors: about 0.5 % of it.
func TestFloorByMonteCarlo(t *testing.T) {
	const n, std = 40_000, 0.7
	mean := []float64{1, -2}
	p, err := density.Isotropic(mean, std)
	if err != nil {
		t.Fatal(err)
	}
	all := []objective.Denoising{{Sigma: 0.4}, {Sigma: 1.5}, {Sigma: 0.4, Weighted: true}}
	one := objective.Ladder{Sigmas: []float64{0.4}}
	many := []objective.MultiNoise{{Levels: one}, {Levels: one, Weighting: objective.Plain}, {Levels: one, Weighting: objective.EDM, DataStd: 0.9}}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := drawn(t, b, 3, func(rng *random.Source) []*objective.Node {
			x := p.Batch(nil, rng, n)
			var out []*objective.Node
			for _, d := range all {
				out = append(out, d.Loss(nil, rng, p.Score, x))
			}
			for _, m := range many {
				out = append(out, m.Loss(nil, rng, p.Score, x))
			}
			return out
		})
		for i, d := range all {
			floor, err := d.Floor(len(mean), std)
			if err != nil {
				t.Fatal(err)
			}
			testvalues.MeanWithin(t, "mean loss of the exact score", got[i], floor)
		}
		for i, m := range many {
			floor, err := m.Floor(0.4, len(mean), std)
			if err != nil {
				t.Fatal(err)
			}
			testvalues.MeanWithin(t, "mean loss of the exact score, many levels", got[len(all)+i], floor)
		}
	})
}

// Training sees the minimum where the exact score is: the derivative of the loss of a·s at a = 1 averages to zero
// within 5 standard errors, and to something else at a = 0.8, for every objective.
func TestExactScoreIsTheMinimum(t *testing.T) {
	const n = 40_000
	var components []density.Gaussian
	for _, m := range [][]float64{{-2, 0}, {2, 1}} {
		g, err := density.Isotropic(m, 0.5)
		if err != nil {
			t.Fatal(err)
		}
		components = append(components, g)
	}
	p, err := density.NewMixture(nil, components...)
	if err != nil {
		t.Fatal(err)
	}
	all := []scorekit.Objective{
		objective.Explicit{Target: p},
		objective.Implicit{},
		objective.ImplicitHutchinson{Probes: 2, Kind: autodiff.Gaussian},
		objective.Sliced{Projections: 1},
		objective.Sliced{Projections: 2, Kind: autodiff.Sphere},
		objective.SlicedVR{Projections: 1, Kind: autodiff.Sphere},
		objective.Denoising{Sigma: 0.6},
		objective.MultiNoise{Min: 0.2, Max: 3},
		objective.MultiNoise{Min: 0.2, Max: 3, Weighting: objective.Plain},
		objective.MultiNoise{Levels: objective.LogNormal{Mean: -0.3, Std: 0.8}, Weighting: objective.EDM, DataStd: 2},
		objective.MultiNoise{Levels: objective.Ladder{Sigmas: []float64{2, 1, 0.5}}},
		objective.MultiNoise{Levels: objective.Annealed{Start: 1, Factor: 0.5, Min: 0.5}},
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := drawn(t, b, 4, func(rng *random.Source) []*objective.Node {
			var out []*objective.Node
			x := p.Batch(nil, rng, n)
			for _, o := range all {
				for _, at := range []float64{1, 0.8} {
					a := graph.MulScalar(graph.OnesLike(graph.ReduceSum(x, 1)), at) // [n]: a scale for each example
					scaled := func(vars *mlctx.Context, x, sigma *objective.Node) *objective.Node {
						return graph.Mul(graph.InsertAxes(a, -1), p.Score(vars, x, sigma))
					}
					out = append(out, graph.Gradient(graph.ReduceAllSum(o.Loss(nil, rng, scaled, x)), a)[0])
				}
			}
			return out
		})
		for i, o := range all {
			name := fmt.Sprintf("%T%+v: derivative at the exact score", o, o)
			testvalues.MeanWithin(t, name, got[2*i], 0)
			if m := testvalues.Mean(got[2*i+1]); !(m < -0.05) {
				t.Errorf("%s: %v at 0.8 of it, must be negative", name, m)
			}
		}
	})
}
