package objective_test

import (
	"math"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/objective"
	"github.com/scorekit/lab/scorekit/random"
)

// watcher is a score that keeps what it was given.
type watcher struct{ x, sigma *objective.Node }

func (w *watcher) Score(_ *mlctx.Context, x, sigma *objective.Node) *objective.Node {
	w.x, w.sigma = x, sigma
	return graph.MulScalar(x, -0.3)
}

type logUniform struct {
	ID           string
	Min, Max     float64
	U, Sigma     []float64
	Mean, Median float64
}

// The level σ = Min (Max/Min)^u that the score is told equals the listed one for listed u, and is the one that the
// noise had: from x = 0 the score sees σz. The plain loss is exactly 1/σ² of the weighted one.
func TestNoiseLevels(t *testing.T) {
	var cases []logUniform
	testvalues.Read(t, "loguniform.json", &cases)
	z := [][]float64{{1, -2}, {0.5, 0.25}, {-1, 3}, {2, 2}, {1, 1}, {-0.125, 1.5}}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.RunIn(t, b, dtypes.Float64, func(in testvalues.Inputs) []*objective.Node {
			var out []*objective.Node
			x := graph.ZerosLike(in.Of(z))
			for _, c := range cases {
				for _, weighting := range []objective.Weighting{objective.SigmaSquared, objective.Plain} {
					var w watcher
					m := objective.MultiNoise{Min: c.Min, Max: c.Max, Weighting: weighting}
					loss := m.Loss(nil, random.Listed(in.Graph, in.Of(c.U), in.Of(z)), w.Score, x)
					out = append(out, loss, w.sigma, w.x)
				}
			}
			var w watcher
			objective.Denoising{Sigma: 0.3}.Loss(nil, random.Listed(in.Graph, in.Of(z)), w.Score, x)
			return append(out, w.sigma, w.x)
		})
		for i, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				weighted, plain := got[6*i:6*i+3], got[6*i+3:6*i+6]
				testvalues.Near(t, c.ID+": levels", weighted[1], c.Sigma, 1e-12)
				if !slices.Equal(weighted[1], plain[1]) {
					t.Errorf("%s: levels %v, plain %v", c.ID, weighted[1], plain[1])
				}
				for k, sigma := range weighted[1] {
					testvalues.Near(t, c.ID+": noised point", weighted[2][2*k:2*k+2], []float64{sigma * z[k][0], sigma * z[k][1]}, 1e-15)
					testvalues.NearNumber(t, c.ID+": plain times σ²", plain[0][k]*sigma*sigma, weighted[0][k], 1e-14)
					loss := 0.0
					for _, v := range z[k] {
						loss += 0.5 * (v - 0.3*sigma*sigma*v) * (v - 0.3*sigma*sigma*v)
					}
					testvalues.NearNumber(t, c.ID+": loss", weighted[0][k], loss, 1e-12)
				}
			})
		}
		one := got[6*len(cases):]
		testvalues.Near(t, "denoising: levels", one[0], []float64{0.3, 0.3, 0.3, 0.3, 0.3, 0.3}, 0)
		testvalues.Near(t, "denoising: noised points", one[1], slices.Concat(times(0.3, z)...), 1e-15)
	})
}

// times multiplies by a number.
func times(a float64, rows [][]float64) [][]float64 {
	out := make([][]float64, len(rows))
	for i, r := range rows {
		for _, v := range r {
			out[i] = append(out[i], a*v)
		}
	}
	return out
}

// Over 40,000 draws ln σ has the mean and variance of U(ln Min, ln Max), σ the mean (Max−Min)/ln(Max/Min), half of the
// levels are below the geometric mean of the ends, and none is outside of them: each within 5 standard errors. Levels
// and noise are independent, and every example has its own.
func TestNoiseLevelsAreLogUniform(t *testing.T) {
	const n = 40_000
	var cases []logUniform
	testvalues.Read(t, "loguniform.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := drawn(t, b, 5, func(rng *random.Source) []*objective.Node {
			var out []*objective.Node
			for _, c := range cases {
				var w watcher
				x := graph.Zeros(rng.Graph(), testvalues.Shape(n, 1))
				objective.MultiNoise{Min: c.Min, Max: c.Max}.Loss(nil, rng, w.Score, x)
				out = append(out, w.sigma, w.x)
			}
			return out
		})
		for i, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				sigma, x := got[2*i], got[2*i+1]
				low, width := math.Log(c.Min), math.Log(c.Max/c.Min)
				logs, squares, below, products := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
				for k, s := range sigma {
					u := (math.Log(s) - low) / width
					logs[k], squares[k] = u, (u-0.5)*(u-0.5)
					if s < c.Median {
						below[k] = 1
					}
					products[k] = (u - 0.5) * x[k] / s
					if !(s >= c.Min*(1-1e-12) && s <= c.Max*(1+1e-12)) {
						t.Errorf("%s: level %v", c.ID, s)
					}
				}
				testvalues.MeanWithin(t, c.ID+": mean of σ", sigma, c.Mean)
				testvalues.MeanWithin(t, c.ID+": mean of ln σ, from 0 to 1", logs, 0.5)
				testvalues.MeanWithin(t, c.ID+": variance of ln σ, from 0 to 1", squares, 1.0/12)
				testvalues.MeanWithin(t, c.ID+": share below the median", below, 0.5)
				testvalues.MeanWithin(t, c.ID+": covariance of level and noise", products, 0)
				sorted := slices.Sorted(slices.Values(sigma))
				if distinct := len(slices.Compact(sorted)); distinct < n-10 {
					t.Errorf("%s: %d levels for %d examples", c.ID, distinct, n)
				}
			})
		}
	})
}

// A batch of images has the loss of the same numbers in rows.
func TestImages(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		all := []scorekit.Objective{objective.Denoising{Sigma: 0.7}, objective.Denoising{Sigma: 0.7, Weighted: true},
			objective.MultiNoise{Min: 0.1, Max: 2}, objective.MultiNoise{Min: 0.1, Max: 2, Weighting: objective.Plain}}
		got := testvalues.RunIn(t, b, dtypes.Float64, func(in testvalues.Inputs) []*objective.Node {
			x := graph.Sin(graph.IotaFull(in.Graph, testvalues.Shape(3, 4*5*2)))
			z := graph.Cos(graph.MulScalar(graph.IotaFull(in.Graph, testvalues.Shape(3, 4*5*2)), 3))
			u := in.Of([]float64{0.1, 0.9, 0.4})
			var out []*objective.Node
			for _, o := range all {
				for _, dims := range [][]int{{3, 40}, {3, 4, 5, 2}} {
					listed := []*objective.Node{z}
					if _, many := o.(objective.MultiNoise); many {
						listed = []*objective.Node{u, z}
					}
					score := testvalues.Ignoring(func(x *objective.Node) *objective.Node { return graph.Neg(graph.Tanh(x)) })
					loss := o.Loss(nil, random.Listed(in.Graph, listed...), score, graph.Reshape(x, dims...))
					if loss.Rank() != 1 {
						t.Errorf("%T: a loss of shape %s", o, loss.Shape())
					}
					out = append(out, loss)
				}
			}
			return out
		})
		for i, o := range all {
			testvalues.Near(t, "loss of images", got[2*i+1], got[2*i], 1e-14)
			if got[2*i][0] == got[2*i][1] {
				t.Errorf("%T: examples 0 and 1 have one loss", o)
			}
		}
	})
}
