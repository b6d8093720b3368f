package density_test

import (
	"fmt"
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
	"github.com/scorekit/lab/scorekit/autodiff"
	"github.com/scorekit/lab/scorekit/density"
)

// reference is one case of testdata/scores.json, computed with 60 digits from the closed form and rounded to float64.
type reference struct {
	ID          string
	Kind        string
	Nu          float64
	Mean        []float64
	Std         float64
	Scales      []float64
	Covariance  [][]float64
	Weights     []float64
	Means       [][]float64
	Covariances [][][]float64
	A, B, C, V  float64
	Temperature float64
	Radius      float64
	Kappa       float64
	Theta0      float64
	LogC        []float64 `json:"log_c"`

	X               [][]float64
	LogPDF          []float64
	LogUnnormalised []float64 `json:"log_unnormalised"`
	Energy          []float64
	LogByC          [][]float64 `json:"log_by_c"`
	Score           [][]float64
	Divergence      []float64
}

func (c reference) density(t *testing.T) density.Density {
	t.Helper()
	d := len(c.X[0])
	switch c.Kind {
	case "isotropic":
		return must[density.Gaussian](t)(density.Isotropic(c.Mean, c.Std))
	case "full", "scaled":
		return must[density.Gaussian](t)(density.NewGaussian(c.Mean, c.Covariance))
	case "mixture":
		var components []density.Gaussian
		for k, mean := range c.Means {
			components = append(components, must[density.Gaussian](t)(density.NewGaussian(mean, c.Covariances[k])))
		}
		return must[density.Mixture](t)(density.NewMixture(c.Weights, components...))
	case "student_t":
		return must[density.StudentT](t)(density.NewStudentT(c.Nu, c.Mean, c.Covariance))
	case "laplace":
		return must[density.Laplace](t)(density.NewLaplace(c.Mean, c.Scales))
	case "rosenbrock":
		return must[density.Rosenbrock](t)(density.NewRosenbrock(d, c.A, c.B, c.Temperature))
	case "banana":
		return must[density.Banana](t)(density.NewBanana(d, c.B, c.V))
	case "ring":
		return must[density.Ring](t)(density.NewRing(d, c.Radius, c.Std))
	case "von_mises_ring":
		return must[density.VonMisesRing](t)(density.NewVonMisesRing(c.Radius, c.Std, c.Kappa, c.Theta0))
	case "double_well":
		return must[density.DoubleWell](t)(density.NewDoubleWell(d, c.A, c.C))
	}
	t.Fatalf("%s: no density of kind %q", c.ID, c.Kind)
	return nil
}

// value returns the listed log-density, up to a constant, and what the density gives for it.
func (c reference) value(p density.Density, x *density.Node) (got *density.Node, want []float64) {
	switch {
	case c.LogPDF != nil:
		return p.LogDensity(x), c.LogPDF
	case c.Kind == "von_mises_ring": // listed with κ cos, which is κ at its largest
		return graph.AddScalar(graph.Neg(p.Energy(x)), c.Kappa), c.LogUnnormalised
	case c.LogUnnormalised != nil:
		return graph.Neg(p.Energy(x)), c.LogUnnormalised
	case c.Energy != nil:
		return p.Energy(x), c.Energy
	}
	return p.LogDensity(x), c.LogByC[slices.Index(c.LogC, 0)]
}

// The log-density or energy and the score equal the recorded ones, to 1e-12 in float64 and to 1e-4 in float32, where the
// points themselves are rounded. In float64 so do the divergence of the score (by gradient passes through the score)
// and the gradient of −Energy, and the density times c, its energy less log c, has the same score.
//
// Half-way between two modes of std 0.01, 3 away, the responsibilities come from the difference of two logarithms of
// about 45,000, each known to some units of its rounding: 4·45,000·2⁻⁵³ = 2e-11, and 1e-2 in float32, is what the
// case allows.
func TestReference(t *testing.T) {
	var cases []reference
	testvalues.Read(t, "scores.json", &cases)
	points, listed := make([][][]float64, len(cases)), make([][]float64, len(cases))
	for i, c := range cases {
		points[i] = c.X
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		narrow := runAt(t, b, dtypes.Float32, points, func(at []*density.Node) []*density.Node {
			var out []*density.Node
			for i, c := range cases {
				p := c.density(t)
				var value *density.Node
				value, listed[i] = c.value(p, at[i])
				out = append(out, value, p.Score(nil, at[i], nil))
			}
			return out
		})
		var first []int // of each case's outputs
		wide := runAt(t, b, dtypes.Float64, points, func(at []*density.Node) []*density.Node {
			var out []*density.Node
			first = nil
			for i, c := range cases {
				first = append(first, len(out))
				p, x := c.density(t), at[i]
				value, _ := c.value(p, x)
				score := p.Score(nil, x, nil)
				gradient := graph.Neg(graph.Gradient(graph.ReduceAllSum(p.Energy(x)), x)[0])
				out = append(out, value, score, gradient, autodiff.Divergence(score, x))
				for _, logC := range c.LogC {
					scaled := scorekit.Energy(func(_ *mlctx.Context, x, _ *density.Node) *density.Node {
						return graph.AddScalar(p.Energy(x), -logC)
					})
					out = append(out, graph.Neg(scaled(nil, x, nil)), scaled.Score(nil, x, nil))
				}
			}
			return out
		})
		for i, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				rtol, rtol32 := 1e-12, 1e-4
				if c.ID == "gmm_two_narrow_underflow_d1" {
					rtol, rtol32 = 4*45_000*math.Exp2(-53), 4*45_000*math.Exp2(-24)
				}
				g, score := wide[first[i]:], slices.Concat(c.Score...)
				testvalues.Near(t, "log-density", g[0], listed[i], rtol)
				testvalues.Near(t, "score", g[1], score, rtol)
				testvalues.Near(t, "gradient", g[2], score, rtol)
				if c.Divergence != nil {
					testvalues.Near(t, "divergence", g[3], c.Divergence, rtol)
				}
				for j, logC := range c.LogC {
					testvalues.Near(t, fmt.Sprint("log-density, log c = ", logC), g[4+2*j], c.LogByC[j], rtol)
					testvalues.Near(t, fmt.Sprint("score, log c = ", logC), g[5+2*j], score, rtol)
				}
				testvalues.Near(t, "float32 log-density", narrow[2*i], listed[i], rtol32)
				testvalues.Near(t, "float32 score", narrow[2*i+1], score, rtol32)
			})
		}
	})
}
