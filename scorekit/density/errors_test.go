package density_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/shapes"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/random"
)

func TestImpossibleArguments(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	gaussian, mixture := must[density.Gaussian](t), must[density.Mixture](t)
	plane := gaussian(density.Isotropic([]float64{0, 0}, 1))
	line := gaussian(density.Isotropic([]float64{0}, 1))
	both := mixture(density.NewMixture(nil, plane, plane))
	full := func(mean []float64, cov [][]float64) error { _, err := density.NewGaussian(mean, cov); return err }
	diagonal := func(mean, std []float64) error { _, err := density.Diagonal(mean, std); return err }
	isotropic := func(mean []float64, std float64) error { _, err := density.Isotropic(mean, std); return err }
	mix := func(w []float64, c ...density.Gaussian) error { _, err := density.NewMixture(w, c...); return err }
	noised := func(sigma float64) error { _, err := plane.Noised(sigma); return err }
	noisedMixture := func(sigma float64) error { _, err := both.Noised(sigma); return err }
	zeroNoised := func() error { _, err := density.Mixture{}.Noised(1); return err }
	for want, err := range map[string]error{
		"Gaussian: empty mean":          isotropic(nil, 1),
		"mean[1] = NaN":                 isotropic([]float64{0, nan}, 1),
		"mean[0] = +Inf":                full([]float64{inf}, [][]float64{{1}}),
		"std[0] = 0: must be positive":  isotropic([]float64{0, 0}, 0),
		"std[0] = -1: must be positive": isotropic([]float64{0}, -1),
		"std[0] = NaN":                  isotropic([]float64{0}, nan),
		"std[0] = +Inf":                 isotropic([]float64{0}, inf),
		"std[1] = 1e-200: must be positive and its square finite": diagonal([]float64{0, 0}, []float64{1, 1e-200}),
		"3 standard deviations for a mean of 2":                   diagonal([]float64{0, 0}, []float64{1, 1, 1}),
		"covariance with 1 rows":                                  full([]float64{0, 0}, [][]float64{{1}}),
		"covariance row 1 has 1 entries":                          full([]float64{0, 0}, [][]float64{{1, 0}, {1}}),
		"covariance[0][1] = NaN":                                  full([]float64{0, 0}, [][]float64{{1, nan}, {nan, 1}}),
		"covariance[1][1] = -1: a variance must be positive":      full([]float64{0, 0}, [][]float64{{1, 0}, {0, -1}}),
		"must be symmetric":                                       full([]float64{0, 0}, [][]float64{{1, 0.5}, {0.4, 1}}),
		"must be positive definite":                               full([]float64{0, 0}, [][]float64{{1, 2}, {2, 1}}),
		"eigenvalues from":                                        full([]float64{0, 0}, [][]float64{{1, 1}, {1, 1}}),
		"Mixture: no components":                                  mix(nil),
		"1 weights for 2 components":                              mix([]float64{1}, plane, plane),
		"weights[1] = -0.5: must be finite and not negative":      mix([]float64{1, -0.5}, plane, plane),
		"weights[0] = NaN":                                        mix([]float64{nan, 1}, plane, plane),
		"weights[1] = +Inf":                                       mix([]float64{1, inf}, plane, plane),
		"weights are all 0: must have a positive sum":             mix([]float64{0, 0}, plane, plane),
		"component 1 has dimension 1, component 0 has 2":          mix(nil, plane, line),
		"component 1: density: Gaussian: zero value":              mix(nil, plane, density.Gaussian{}),
		"Gaussian: Noised: sigma -1: must be finite":              noised(-1),
		"Gaussian: Noised: sigma NaN":                             noised(nan),
		"Mixture: Noised: sigma +Inf":                             noisedMixture(inf),
		"Mixture: zero value: must be made by a constructor":      zeroNoised(),
		"Gaussian: zero value: must be made by a constructor":     density.Gaussian{}.Validate(),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), "density: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one that says %q", err, want)
		}
	}
}

// Graph functions refuse what does not fit with an error that says what would.
func TestMisshapenPoints(t *testing.T) {
	plane := must[density.Gaussian](t)(density.Isotropic([]float64{0, 0}, 1))
	both := must[density.Mixture](t)(density.NewMixture(nil, plane, plane))
	b := testbackend.Go(t)
	points := func(g *graph.Graph, dtype dtypes.DType, dims ...int) *density.Node {
		return graph.Zeros(g, shapes.Make(dtype, dims...))
	}
	for want, build := range map[string]func(g *graph.Graph) *density.Node{
		"Gaussian: points of shape (Float32)[4 3]: must be floats [batch, 2]": func(g *graph.Graph) *density.Node {
			return plane.LogDensity(points(g, dtypes.Float32, 4, 3))
		},
		"Mixture: points of shape (Float32)[2]": func(g *graph.Graph) *density.Node {
			return both.Score(nil, points(g, dtypes.Float32, 2), nil)
		},
		"Mixture: points of shape (Int32)[4 2]": func(g *graph.Graph) *density.Node {
			return both.LogDensity(points(g, dtypes.Int32, 4, 2))
		},
		"Gaussian: noise levels of shape (Float32)[3] for points of shape (Float32)[4 2]": func(g *graph.Graph) *density.Node {
			return plane.Score(nil, points(g, dtypes.Float32, 4, 2), points(g, dtypes.Float32, 3))
		},
		"Mixture: noise levels of shape (Float64)[4]": func(g *graph.Graph) *density.Node {
			return both.LogDensityNoised(points(g, dtypes.Float32, 4, 2), points(g, dtypes.Float64, 4))
		},
		"Mixture: zero value": func(g *graph.Graph) *density.Node {
			return density.Mixture{}.LogDensity(points(g, dtypes.Float32, 4, 2))
		},
		"Gaussian: batch of 0: must be at least 1": func(g *graph.Graph) *density.Node {
			return plane.Batch(nil, random.Listed(g), 0)
		},
		"Mixture: batch of -1": func(g *graph.Graph) *density.Node {
			return both.Batch(nil, random.Listed(g), -1)
		},
	} {
		_, err := graph.ExecOnce(b, build)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one that says %q", err, want)
		}
	}
}

// Weights are divided by their sum, however large; a component of weight 0 is left out of the density and the draws.
func TestWeights(t *testing.T) {
	gaussian, mixture := must[density.Gaussian](t), must[density.Mixture](t)
	a, b, c := gaussian(density.Isotropic([]float64{-1}, 1)), gaussian(density.Isotropic([]float64{5}, 1)), gaussian(density.Isotropic([]float64{1}, 1))
	m := mixture(density.NewMixture([]float64{1.5e308, 0, 0.5e308}, a, b, c))
	testvalues.Near(t, "weights", m.Weights(), []float64{0.75, 0.25}, 1e-15)
	if got := m.Components(); len(got) != 2 || got[1].Mean()[0] != 1 {
		t.Errorf("components %v: want the first and the last", got)
	}
	testvalues.Near(t, "mean", m.Mean(), []float64{-0.5}, 1e-15)
	testvalues.Near(t, "covariance", m.Cov()[0], []float64{1.75}, 1e-15) // 1 + 0.75·0.25·2²

	// The component is the number of cumulative weights that the uniform draw has reached: 0.75 is the second's.
	got := testvalues.RunIn(t, testbackend.Go(t), dtypes.Float64, func(in testvalues.Inputs) []*density.Node {
		rng := random.Listed(in.Graph, in.Of([][]float64{{0.1}, {0.74}, {0.75}, {0.99}}), in.Of([][]float64{{0}, {1}, {0}, {-2}}))
		return []*density.Node{m.Batch(nil, rng, 4)}
	})
	testvalues.Near(t, "draws", got[0], []float64{-1, 0, 1, -1}, 1e-15)
}

// A value stays as it was made, whatever is done to what went in or came out.
func TestValuesDoNotChange(t *testing.T) {
	mean, cov, weights := []float64{1, 2}, [][]float64{{2, 1}, {1, 3}}, []float64{1, 1}
	g := must[density.Gaussian](t)(density.NewGaussian(mean, cov))
	m := must[density.Mixture](t)(density.NewMixture(weights, g, g))
	mean[0], cov[0][0], weights[0] = 9, 9, 9
	g.Mean()[0], g.Cov()[0][0], m.Weights()[0], m.Components()[0] = 9, 9, 9, density.Gaussian{}
	testvalues.Near(t, "mean", g.Mean(), []float64{1, 2}, 0)
	testvalues.Near(t, "covariance", slices.Concat(g.Cov()...), []float64{2, 1, 1, 3}, 1e-15)
	testvalues.Near(t, "weights", m.Weights(), []float64{0.5, 0.5}, 0)
	testvalues.Near(t, "mixture's mean", m.Mean(), []float64{1, 2}, 1e-15)
}
