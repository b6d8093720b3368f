package metric

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
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
	"github.com/scorekit/lab/scorekit/net"
	"github.com/scorekit/lab/scorekit/objective"
)

// law is a one-dimensional distribution of testdata/byparts.json.
type law struct {
	Family              string
	Mean, Sigma         float64
	Loc, Scale, B, Nu   float64
	Weights, Means      []float64
	Sigmas              []float64
	Alpha, Rate, Lo, Hi float64
}

// flat has the score 0: on an interval it is the uniform distribution.
type flat struct{}

func (flat) Score(_ *mlctx.Context, x, _ *scorekit.Node) *scorekit.Node { return graph.ZerosLike(x) }

func (flat) LogDensity(x *scorekit.Node) *scorekit.Node {
	return graph.ReduceSum(graph.ZerosLike(x), 1)
}

func (l law) density() (p LogDensity, support Support, err error) {
	support = Support{math.Inf(-1), math.Inf(1)}
	switch l.Family {
	case "gaussian":
		p, err = density.Isotropic([]float64{l.Mean}, l.Sigma)
	case "truncated gaussian":
		p, err = density.Isotropic([]float64{l.Mean}, l.Sigma)
		support.Low = l.Lo
	case "mixture":
		var parts []density.Gaussian
		for i := range l.Weights {
			part, err := density.Isotropic([]float64{l.Means[i]}, l.Sigmas[i])
			if err != nil {
				return nil, support, err
			}
			parts = append(parts, part)
		}
		p, err = density.NewMixture(l.Weights, parts...)
	case "logistic":
		p, err = density.NewLogistic([]float64{l.Loc}, []float64{l.Scale})
	case "student_t":
		p, err = density.NewStudentT(l.Nu, []float64{l.Loc}, [][]float64{{l.Scale * l.Scale}})
	case "laplace":
		p, err = density.NewLaplace([]float64{l.Loc}, []float64{l.B})
	case "pareto":
		p, err = density.NewPareto([]float64{l.Lo}, []float64{l.Alpha})
		support.Low = l.Lo
	case "exponential":
		p, err = density.NewExponential([]float64{l.Rate})
		support.Low = l.Lo
	case "uniform":
		p, support = flat{}, Support{l.Lo, l.Hi}
	}
	return p, support, err
}

// All four terms in closed form or by another quadrature, for densities that vanish at their ends and those that do not:
// the check warns of just these.
func TestByPartsReference(t *testing.T) {
	var cases []struct {
		ID                                     string
		P, Q                                   law
		Explicit, Implicit, Constant, Boundary float64
		RTol                                   float64
	}
	testvalues.Read(t, "byparts.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		lines := []string{"", "density and judged score                  explicit   implicit   constant   boundary   warned of"}
		for _, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				p, support, err := c.P.density()
				if err != nil {
					t.Fatal(err)
				}
				q, _, err := c.Q.density()
				if err != nil {
					t.Fatal(err)
				}
				got, err := support.ByParts(t.Context(), b, p, q)
				if err != nil {
					t.Fatal(err)
				}
				testvalues.NearOne(t, "explicit", []float64{got.Explicit}, []float64{c.Explicit}, c.RTol)
				testvalues.NearNumber(t, "implicit", got.Implicit, c.Implicit, c.RTol)
				testvalues.NearNumber(t, "constant", got.Constant, c.Constant, c.RTol)
				testvalues.NearNumber(t, "boundary term", got.Boundary.Value, c.Boundary, c.RTol)
				warned := got.Boundary.Check() != nil
				if warned != (c.Boundary != 0) {
					t.Errorf("boundary term %v: warned: %v", got.Boundary.Value, warned)
				}
				lines = append(lines, fmt.Sprintf("%-40s %10.4f %10.4f %10.4f %10.4f   %v", c.ID, got.Explicit, got.Implicit, got.Constant, got.Boundary.Value, warned))
			})
		}
		t.Log(strings.Join(lines, "\n"))
	})
}

// A mode far from 0, an upper end, and both ends: N(0, 1) on (−∞, 1] and on [−1, 2], whose densities at the ends are
// φ/Φ of the part. Against a normal score −(x−m)/s² the boundary term is p(lo)s(lo) − p(hi)s(hi).
func TestByPartsElsewhere(t *testing.T) {
	phi := func(x float64) float64 { return math.Exp(-x*x/2) / math.Sqrt(2*math.Pi) }
	cdf := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	p, err := density.Isotropic([]float64{0}, 1)
	if err != nil {
		t.Fatal(err)
	}
	q, err := density.Isotropic([]float64{0.5}, 2)
	if err != nil {
		t.Fatal(err)
	}
	score := func(x float64) float64 { return -(x - 0.5) / 4 }
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		half, err := Support{math.Inf(-1), 1}.ByParts(t.Context(), b, p, q)
		if err != nil {
			t.Fatal(err)
		}
		testvalues.NearNumber(t, "upper end", half.Boundary.Value, -phi(1)/cdf(1)*score(1), 1e-9)
		// Far from 0 the points of the quadrature gather about the mean: the scores −(x−1000) and −(x−1000.5)/4.
		away, err := density.Isotropic([]float64{1000}, 1)
		if err != nil {
			t.Fatal(err)
		}
		further, err := density.Isotropic([]float64{1000.5}, 2)
		if err != nil {
			t.Fatal(err)
		}
		far, err := Support{math.Inf(-1), math.Inf(1)}.ByParts(t.Context(), b, away, further)
		if err != nil {
			t.Fatal(err)
		}
		testvalues.NearNumber(t, "explicit, far from 0", far.Explicit, (0.75*0.75+0.125*0.125)/2, 1e-9)
		both, err := Support{-1, 2}.ByParts(t.Context(), b, p, q)
		if err != nil {
			t.Fatal(err)
		}
		testvalues.NearNumber(t, "both ends", both.Boundary.Value, (phi(-1)*score(-1)-phi(2)*score(2))/(cdf(2)-cdf(-1)), 1e-9)
	})
}

// From draws, in closed form for exponential densities of rates 2 and 3 in two dimensions against rates 1 and 5: the
// boundary term is −Σ λᵢμᵢ = −17 at every point. For two normal distributions in the plane none is seen, and the other
// terms are those of the closed form.
func TestByPartsOfDraws(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	points := make([][]float64, 500)
	for i := range points {
		points[i] = []float64{rng.ExpFloat64() / 2, rng.ExpFloat64() / 3}
	}
	p, err := density.NewExponential([]float64{2, 3})
	if err != nil {
		t.Fatal(err)
	}
	q, err := density.NewExponential([]float64{1, 5})
	if err != nil {
		t.Fatal(err)
	}
	b := testbackend.Go(t)
	got, err := ImplicitFisher{}.ByParts(t.Context(), b, p, q, points)
	if err != nil {
		t.Fatal(err)
	}
	testvalues.NearNumber(t, "boundary term", got.Boundary.Value, -17, 1e-9)
	if err := got.Boundary.Check(); err == nil || !strings.Contains(err.Error(), "the boundary term is -17") {
		t.Errorf("warning %v", err)
	}

	one := Gaussian{[]float64{0, 0}, [][]float64{{1, 0}, {0, 1}}}
	other := Gaussian{[]float64{0.5, 0}, [][]float64{{2, 0.3}, {0.3, 1}}}
	want, err := one.ByParts(t.Context(), other)
	if err != nil {
		t.Fatal(err)
	}
	a, err := density.NewGaussian(one.Mean, one.Cov)
	if err != nil {
		t.Fatal(err)
	}
	c, err := density.NewGaussian(other.Mean, other.Cov)
	if err != nil {
		t.Fatal(err)
	}
	draws := normal(1, 4000, 2)
	if got, err = (ImplicitFisher{}).ByParts(t.Context(), b, a, c, draws); err != nil {
		t.Fatal(err)
	}
	if err := got.Boundary.Check(); err != nil {
		t.Error(err)
	}
	f, err := FisherDivergence(t.Context(), b, a, c, draws)
	if err != nil {
		t.Fatal(err)
	}
	testvalues.NearNumber(t, "explicit", got.Explicit, f.Divergence, 1e-9)
	testvalues.NearNumber(t, "the terms together", got.Implicit+got.Constant+got.Boundary.Value, got.Explicit, 1e-9)
	mean, se, err := ImplicitFisher{}.Estimate(t.Context(), b, c, draws)
	if err != nil {
		t.Fatal(err)
	}
	testvalues.NearNumber(t, "implicit", got.Implicit, mean, 1e-9)
	if !(math.Abs(mean-want.Implicit) <= 5*se) {
		t.Errorf("implicit %v ± %v, want %v", mean, se, want.Implicit)
	}
}

// Points with the mean and covariance of p have the implicit form of p, exactly: it is the mean of a quadratic function.
func TestImplicitFisherReference(t *testing.T) {
	var cases []pair
	testvalues.Read(t, "fisher.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for _, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				_, q := c.densities(t)
				got, _, err := ImplicitFisher{}.Estimate(t.Context(), b, q, sigmaPoints(c.M1, cholesky(t, c.S1, 0)))
				if err != nil {
					t.Fatal(err)
				}
				testvalues.NearNumber(t, "implicit", got, c.Implicit, 1e-9)
			})
		}
	})
}

// Probes change the mean by chance only: vᵀPv of Rademacher probes has the variance 2Σ_{i≠j}Pᵢⱼ², of n·k probes
// 1/(nk) of it. The noise level reaches the score: with it P is that of the noised density.
func TestImplicitFisherWithProbes(t *testing.T) {
	const n, probes, sigma = 2000, 3, 0.7
	q, err := density.NewGaussian([]float64{0, 1}, [][]float64{{1, 0.6}, {0.6, 2}})
	if err != nil {
		t.Fatal(err)
	}
	s11, s22, s12 := 1+sigma*sigma, 2+sigma*sigma, 0.6
	offDiagonal := s12 / (s11*s22 - s12*s12)
	points := normal(1, n, 2)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		exact, _, err := ImplicitFisher{}.Estimate(t.Context(), b, q, points, sigma)
		if err != nil {
			t.Fatal(err)
		}
		got, se, err := ImplicitFisher{Probes: probes, Seed: 3}.Estimate(t.Context(), b, q, points, sigma)
		if err != nil {
			t.Fatal(err)
		}
		own := math.Sqrt(4 * offDiagonal * offDiagonal / (n * probes))
		if off := math.Abs(got - exact); !(off <= 5*own) || off == 0 {
			t.Errorf("%v with probes, %v without: want within %v, and not the same", got, exact, 5*own)
		}
		if !(se > 0) {
			t.Errorf("standard error %v", se)
		}
	})
}

// Points are taken in blocks, of which the last is filled up: each has its own score, slopes and noise level, in its place,
// and probes of its own.
func TestImplicitFisherInBlocks(t *testing.T) {
	const n = 10_001
	q, err := density.NewGaussian([]float64{0, 1}, [][]float64{{1, 0.6}, {0.6, 2}})
	if err != nil {
		t.Fatal(err)
	}
	b, points, same, sigma := testbackend.Go(t), normal(1, n, 2), make([][]float64, n), make([]float64, n)
	for i := range points {
		same[i], sigma[i] = []float64{0.3, -0.2}, 0.1+float64(i)/n
	}
	s, slopes, err := ImplicitFisher{}.scoreAndSlopes(t.Context(), b, q, points, sigma)
	if err != nil || len(s) != n || len(slopes) != n {
		t.Fatalf("%d scores and %d rows of slopes for %d points: %v", len(s), len(slopes), n, err)
	}
	for i := 0; i < n; i += 500 {
		s11, s22, s12 := 1+sigma[i]*sigma[i], 2+sigma[i]*sigma[i], 0.6
		det, x, y := s11*s22-s12*s12, points[i][0], points[i][1]-1
		testvalues.Near(t, "score", s[i], []float64{-(s22*x - s12*y) / det, -(s11*y - s12*x) / det}, 1e-9)
		testvalues.Near(t, "slopes", slopes[i], []float64{-s22 / det, -s11 / det}, 1e-9)
	}
	_, slopes, err = ImplicitFisher{Probes: 1, Kind: autodiff.Gaussian}.scoreAndSlopes(t.Context(), b, q, same, nil)
	if err != nil {
		t.Fatal(err)
	}
	different := map[float64]bool{}
	for _, r := range slopes {
		different[r[0]] = true
	}
	if len(different) < n-10 {
		t.Errorf("%d different estimates at %d equal points: every point must have its own probe", len(different), n)
	}
}

// A trained model keeps its weights: its implicit form is that with the divergence from central differences of its score.
func TestImplicitFisherOfFitted(t *testing.T) {
	points := normal(1, 20, 2)
	data, err := scorekit.Examples(points)
	if err != nil {
		t.Fatal(err)
	}
	b := testbackend.Go(t)
	fitted, err := scorekit.Fit(t.Context(), b, net.EnergyMLP{Hidden: []int{8}}, objective.Denoising{Sigma: 0.5}, data,
		scorekit.WithSteps(3), scorekit.WithDType(dtypes.Float64))
	if err != nil {
		t.Fatal(err)
	}
	got, _, err := ImplicitFisher{}.Estimate(t.Context(), b, fitted, points)
	if err != nil {
		t.Fatal(err)
	}
	const h = 1e-5
	want := 0.0
	for axis := range 2 {
		step := []float64{0, 0}
		score := func(by float64) [][]float64 {
			step[axis] = by
			s, err := scoreRows(t.Context(), b, fitted, moved(points, 1, step), nil)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
		up, down, here := score(h), score(-h), score(0)
		for i := range points {
			want += ((up[i][axis]-down[i][axis])/(2*h) + here[i][axis]*here[i][axis]/2) / 20
		}
	}
	testvalues.NearNumber(t, "implicit", got, want, 1e-6)
}
