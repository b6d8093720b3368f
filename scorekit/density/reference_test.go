package density_test

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
	"github.com/scorekit/lab/scorekit/autodiff"
	"github.com/scorekit/lab/scorekit/density"
)

// reference is one case of testdata/scores.json, computed with 60 digits from the closed form and rounded to float64.
type reference struct {
	ID          string
	Kind        string
	Mean        []float64
	Std         float64
	Covariance  [][]float64
	Weights     []float64
	Means       [][]float64
	Covariances [][][]float64
	X           [][]float64
	LogPDF      []float64
	Score       [][]float64
	Divergence  []float64
}

type exact interface {
	LogDensity(x *density.Node) *density.Node
	Score(vars *mlctx.Context, x, sigma *density.Node) *density.Node
}

func (c reference) density(t *testing.T) exact {
	t.Helper()
	switch c.Kind {
	case "isotropic":
		return must[density.Gaussian](t)(density.Isotropic(c.Mean, c.Std))
	case "full":
		return must[density.Gaussian](t)(density.NewGaussian(c.Mean, c.Covariance))
	}
	var components []density.Gaussian
	for k, mean := range c.Means {
		components = append(components, must[density.Gaussian](t)(density.NewGaussian(mean, c.Covariances[k])))
	}
	return must[density.Mixture](t)(density.NewMixture(c.Weights, components...))
}

// The log-density, score and divergence of the score (by gradient passes through the score) equal the recorded ones,
// and the gradient of the log-density equals the score: to 1e-12 in float64, to 1e-4 in float32, where the points
// themselves are rounded.
//
// Half-way between two modes of std 0.01, 3 away, the responsibilities come from the difference of two logarithms of
// about 45,000, each known to some units of its rounding: 4·45,000·2⁻⁵³ = 2e-11, and 1e-2 in float32, is what the
// case allows.
func TestReference(t *testing.T) {
	var cases []reference
	testvalues.Read(t, "scores.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for _, dtype := range []dtypes.DType{dtypes.Float64, dtypes.Float32} {
			got := testvalues.RunIn(t, b, dtype, func(in testvalues.Inputs) []*density.Node {
				var out []*density.Node
				for _, c := range cases {
					p, x := c.density(t), in.Of(c.X)
					logp, score := p.LogDensity(x), p.Score(nil, x, nil)
					out = append(out, logp, score, graph.Gradient(graph.ReduceAllSum(logp), x)[0], autodiff.Divergence(score, x))
				}
				return out
			})
			for i, c := range cases {
				rtol, rounding := 1e-12, math.Exp2(-53)
				if dtype == dtypes.Float32 {
					rtol, rounding = 1e-4, math.Exp2(-24)
				}
				if c.ID == "gmm_two_narrow_underflow_d1" {
					rtol = max(rtol, 4*45_000*rounding)
				}
				name, g := c.ID+" "+dtype.String(), got[4*i:]
				testvalues.Near(t, name+" log-density", g[0], c.LogPDF, rtol)
				testvalues.Near(t, name+" score", g[1], slices.Concat(c.Score...), rtol)
				testvalues.Near(t, name+" gradient", g[2], slices.Concat(c.Score...), rtol)
				testvalues.Near(t, name+" divergence", g[3], c.Divergence, rtol)
			}
		}
	})
}
