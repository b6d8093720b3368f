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
		"3 values of std for 2 coordinates":                       diagonal([]float64{0, 0}, []float64{1, 1, 1}),
		"covariance with 1 rows":                                  full([]float64{0, 0}, [][]float64{{1}}),
		"covariance row 1 has 1 entries":                          full([]float64{0, 0}, [][]float64{{1, 0}, {1}}),
		"covariance[0][1] = NaN":                                  full([]float64{0, 0}, [][]float64{{1, nan}, {nan, 1}}),
		"covariance[1][1] = -1: the diagonal must be positive":    full([]float64{0, 0}, [][]float64{{1, 0}, {0, -1}}),
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

// Every other type names the argument, its value and what is allowed.
func TestImpossibleArgumentsOfFamilies(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	zero2, one2 := []float64{0, 0}, []float64{1, 1}
	of := func(_ density.Density, err error) error { return err }
	studentT := func(nu float64, mean []float64, scale ...[]float64) error {
		return of(density.NewStudentT(nu, mean, scale))
	}
	for want, err := range map[string]error{
		"StudentT: degrees of freedom 0: must be positive and its square finite": studentT(0, []float64{0}, []float64{1}),
		"StudentT: degrees of freedom +Inf":                                      studentT(inf, []float64{0}, []float64{1}),
		"StudentT: mean[0] = NaN: must be finite":                                studentT(3, []float64{nan}, []float64{1}),
		"StudentT: empty mean":                                                   studentT(3, nil),
		"StudentT: scale[1][1] = 0: the diagonal must be positive":               studentT(3, zero2, []float64{1, 0}, []float64{0, 0}),
		"StudentT: scale with 1 rows for a mean of 2":                            studentT(3, zero2, []float64{1, 0}),
		"Laplace: scale[1] = -1: must be positive":                               of(density.NewLaplace(zero2, []float64{1, -1})),
		"Laplace: 1 values of scale for 2 coordinates: must be as many":          of(density.NewLaplace(zero2, []float64{1})),
		"Laplace: mean[1] = +Inf: must be finite":                                of(density.NewLaplace([]float64{0, inf}, one2)),
		"Logistic: scale[0] = 0: must be positive":                               of(density.NewLogistic(zero2, []float64{0, 1})),
		"Logistic: empty mean":                                                   of(density.NewLogistic(nil, nil)),
		"Exponential: rate[0] = -2: must be positive":                            of(density.NewExponential([]float64{-2})),
		"Exponential: empty rate":                                                of(density.NewExponential(nil)),
		"Pareto: least[0] = 0: must be positive":                                 of(density.NewPareto([]float64{0}, []float64{1})),
		"Pareto: alpha[1] = NaN: must be positive":                               of(density.NewPareto(one2, []float64{1, nan})),
		"Pareto: 1 values of alpha for 2 coordinates":                            of(density.NewPareto(one2, []float64{1})),
		"Rosenbrock: 1 dimensions: must be at least 2":                           of(density.NewRosenbrock(1, 1, 100, 1)),
		"Rosenbrock: b -1: must be positive":                                     of(density.NewRosenbrock(2, 1, -1, 1)),
		"Rosenbrock: temperature 0: must be positive":                            of(density.NewRosenbrock(2, 1, 1, 0)),
		"Rosenbrock: a NaN: must be finite":                                      of(density.NewRosenbrock(2, nan, 1, 1)),
		"Banana: 1 dimensions":                                                   of(density.NewBanana(1, 0.1, 100)),
		"Banana: v 0: must be positive":                                          of(density.NewBanana(2, 0.1, 0)),
		"Banana: b +Inf: must be finite":                                         of(density.NewBanana(2, inf, 1)),
		"Ring: 0 dimensions: must be at least 1":                                 of(density.NewRing(0, 1, 1)),
		"Ring: radius 0: must be positive":                                       of(density.NewRing(2, 0, 1)),
		"Ring: width -1: must be positive":                                       of(density.NewRing(2, 1, -1)),
		"VonMisesRing: radius NaN: must be positive":                             of(density.NewVonMisesRing(nan, 1, 1, 0)),
		"VonMisesRing: width 0: must be positive":                                of(density.NewVonMisesRing(1, 0, 1, 0)),
		"VonMisesRing: kappa -1: must be 0 or positive":                          of(density.NewVonMisesRing(1, 1, -1, 0)),
		"VonMisesRing: theta0 NaN: must be finite":                               of(density.NewVonMisesRing(1, 1, 1, nan)),
		"DoubleWell: 0 dimensions":                                               of(density.NewDoubleWell(0, 1, 0)),
		"DoubleWell: a 0: must be positive":                                      of(density.NewDoubleWell(1, 0, 0)),
		"DoubleWell: c NaN: must be finite":                                      of(density.NewDoubleWell(2, 1, nan)),
		"Funnel: 1 dimensions: must be at least 2":                               of(density.NewFunnel(1, 3)),
		"Funnel: std -3: must be positive":                                       of(density.NewFunnel(2, -3)),
		"Product: no factors: must have at least one":                            of(density.NewProduct()),
		"Product: factor 0 is nil":                                               of(density.NewProduct(nil)),
		"Product: factor 0: density: Ring: zero value":                           of(density.NewProduct(density.Ring{})),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), "density: ") || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want one that says %q", err, want)
		}
	}
}

// The zero value of every type is refused, wherever it is used; asking it for its moments does no harm.
func TestZeroValues(t *testing.T) {
	b := testbackend.Go(t)
	for name, p := range map[string]density.Density{
		"Gaussian": density.Gaussian{}, "Mixture": density.Mixture{}, "Product": density.Product{}, "StudentT": density.StudentT{},
		"Laplace": density.Laplace{}, "Logistic": density.Logistic{}, "Exponential": density.Exponential{}, "Pareto": density.Pareto{},
		"Rosenbrock": density.Rosenbrock{}, "Banana": density.Banana{}, "Ring": density.Ring{}, "VonMisesRing": density.VonMisesRing{},
		"DoubleWell": density.DoubleWell{}, "Funnel": density.Funnel{},
	} {
		want := "density: " + name + ": zero value: must be made by a constructor"
		if err := p.Validate(); err == nil || err.Error() != want {
			t.Errorf("got error %v, want %q", err, want)
		}
		if m, ok := p.(interface {
			Mean() []float64
			Cov() [][]float64
		}); ok && len(m.Mean())+len(m.Cov()) != 0 {
			t.Errorf("%s: zero value has the mean %v and the covariance %v", name, m.Mean(), m.Cov())
		}
		for _, build := range []func(x *density.Node) *density.Node{
			p.Energy, p.LogDensity,
			func(x *density.Node) *density.Node { return p.Score(nil, x, nil) },
			func(x *density.Node) *density.Node { return p.Batch(nil, random.Listed(x.Graph()), 1) },
		} {
			if _, err := graph.ExecOnce(b, build, [][]float64{{1, 2}}); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got error %v, want one that says %q", err, want)
			}
		}
	}
}

// What is not known is refused with an error that says what is.
func TestUnknown(t *testing.T) {
	b := testbackend.Go(t)
	for _, f := range families(t) {
		name := strings.Fields(f.name)[0]
		points := f.points(3)
		wants := map[string]func(x *density.Node) *density.Node{
			"points of shape (Float64)[1 3 ": func(x *density.Node) *density.Node { return f.p.Score(nil, graph.InsertAxes(x, 0), nil) },
			"points of shape (Int32)":        func(x *density.Node) *density.Node { return f.p.Energy(graph.ConvertDType(x, dtypes.Int32)) },
			"batch of 0: must be at least 1": func(x *density.Node) *density.Node { return f.p.Batch(nil, random.Listed(x.Graph()), 0) },
		}
		switch {
		case name != "Gaussian" && name != "Mixture" && name != "Product":
			wants["noise levels given: only Gaussian, Mixture and products"] = func(x *density.Node) *density.Node {
				return f.p.Score(nil, x, graph.ReduceSum(x, 1))
			}
		case name == "Product": // of one that does not take a noise level
			wants["Laplace: noise levels given"] = func(x *density.Node) *density.Node { return f.p.Score(nil, x, graph.ReduceSum(x, 1)) }
		}
		if f.isUnnormalised {
			wants["the normalising constant"] = f.p.LogDensity
			wants["there are no exact draws"] = func(x *density.Node) *density.Node { return f.p.Batch(nil, random.Listed(x.Graph()), 1) }
		}
		for want, build := range wants {
			_, err := graph.ExecOnce(b, build, points)
			if err == nil || !strings.Contains(err.Error(), "density: ") || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got error %v, want one that says %q", f.name, err, want)
			}
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
