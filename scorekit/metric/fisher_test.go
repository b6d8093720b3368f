package metric

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"
	"gonum.org/v1/gonum/mat"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/density"
)

// pair is one case of testdata/fisher.json: p = N(M1, S1), q = N(M2, S2), the divergence, its implicit form and
// ½E‖s_p‖² in closed form.
type pair struct {
	ID         string
	M1         []float64
	S1         [][]float64
	M2         []float64
	S2         [][]float64
	Divergence float64
	Implicit   float64
	HalfNorm   float64 `json:"half_norm"`
}

func (c pair) densities(t *testing.T) (p, q density.Gaussian) {
	t.Helper()
	p, err := density.NewGaussian(c.M1, c.S1)
	if err != nil {
		t.Fatal(err)
	}
	if q, err = density.NewGaussian(c.M2, c.S2); err != nil {
		t.Fatal(err)
	}
	return p, q
}

// cholesky returns L with LLᵀ = the covariance plus sigma² on the diagonal.
func cholesky(t *testing.T, cov [][]float64, sigma float64) *mat.TriDense {
	t.Helper()
	d := len(cov)
	s := mat.NewSymDense(d, nil)
	for i := range d {
		for j := i; j < d; j++ {
			s.SetSym(i, j, cov[i][j])
		}
		s.SetSym(i, i, cov[i][i]+sigma*sigma)
	}
	var c mat.Cholesky
	if !c.Factorize(s) {
		t.Fatal("covariance is not positive definite")
	}
	var l mat.TriDense
	c.LTo(&l)
	return &l
}

// at returns mean + L z.
func at(mean []float64, l *mat.TriDense, z []float64) []float64 {
	x := make([]float64, len(mean))
	for i := range x {
		x[i] = mean[i]
		for j := range i + 1 {
			x[i] += l.At(i, j) * z[j]
		}
	}
	return x
}

// sigmaPoints returns 2d points whose mean is mean and whose covariance is LLᵀ, exactly: mean ± √d L eᵢ.
func sigmaPoints(mean []float64, l *mat.TriDense) [][]float64 {
	d := len(mean)
	var points [][]float64
	for i := range d {
		for _, sign := range []float64{-1, 1} {
			z := make([]float64, d)
			z[i] = sign * math.Sqrt(float64(d))
			points = append(points, at(mean, l, z))
		}
	}
	return points
}

// Between Gaussians ‖s_p − s_q‖² is quadratic in x, so that the mean over points with p's mean and covariance is the
// expectation, exactly.
func TestFisherDivergenceInClosedForm(t *testing.T) {
	var cases []pair
	testvalues.Read(t, "fisher.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for _, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				p, q := c.densities(t)
				got, err := FisherDivergence(t.Context(), b, p, q, sigmaPoints(c.M1, cholesky(t, c.S1, 0)))
				if err != nil {
					t.Fatal(err)
				}
				testvalues.NearNumber(t, "divergence", got.Divergence, c.Divergence, 1e-9)
				testvalues.NearNumber(t, "relative divergence", got.Relative, c.Divergence/c.HalfNorm, 1e-9)
			})
		}
	})
}

// With a noise level both scores are those of the noised densities: N(m, S + σ²I) in place of N(m, S).
func TestFisherDivergenceOfNoisedScores(t *testing.T) {
	const sigma = 0.8
	var cases []pair
	testvalues.Read(t, "fisher.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for _, c := range cases[2:3] {
			p, q := c.densities(t)
			noisedP, err := p.Noised(sigma)
			if err != nil {
				t.Fatal(err)
			}
			noisedQ, err := q.Noised(sigma)
			if err != nil {
				t.Fatal(err)
			}
			points := sigmaPoints(c.M1, cholesky(t, c.S1, sigma))
			got, err := FisherDivergence(t.Context(), b, p, q, points, sigma)
			if err != nil {
				t.Fatal(err)
			}
			want, err := FisherDivergence(t.Context(), b, noisedP, noisedQ, points)
			if err != nil {
				t.Fatal(err)
			}
			testvalues.NearNumber(t, c.ID+": divergence", got.Divergence, want.Divergence, 1e-12)
			testvalues.NearNumber(t, c.ID+": relative divergence", got.Relative, want.Relative, 1e-12)
			if math.Abs(got.Divergence-c.Divergence) < 0.01*c.Divergence {
				t.Errorf("%s: %v with noise, as without it", c.ID, got.Divergence)
			}
		}
	})
}

// On draws from p the estimate is within 5 of its own standard errors of the closed form, and over 400 sets of 50 draws
// the estimates spread as the standard error says: the sample variance of 400 near-normal numbers is known to
// √(2/400) = 7 %, here doubled for the tails of a squared norm, and 3 of these are allowed.
func TestStandardErrorOfFisherDivergence(t *testing.T) {
	var cases []pair
	testvalues.Read(t, "fisher.json", &cases)
	const n, sets = 50, 400
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for _, c := range cases[3:4] {
			p, q := c.densities(t)
			rng := rand.New(rand.NewPCG(1, 2))
			l := cholesky(t, c.S1, 0)
			points := make([][]float64, n*sets)
			for i := range points {
				z := make([]float64, len(c.M1))
				for j := range z {
					z[j] = rng.NormFloat64()
				}
				points[i] = at(c.M1, l, z)
			}
			got, err := FisherDivergence(t.Context(), b, p, q, points)
			if err != nil {
				t.Fatal(err)
			}
			if gap := math.Abs(got.Divergence - c.Divergence); !(gap <= 5*got.StandardError) {
				t.Errorf("%s: divergence %v ± %v, want %v", c.ID, got.Divergence, got.StandardError, c.Divergence)
			}
			first, err := scoreRows(t.Context(), b, p, points, nil)
			if err != nil {
				t.Fatal(err)
			}
			second, err := scoreRows(t.Context(), b, q, points, nil)
			if err != nil {
				t.Fatal(err)
			}
			var spread, claimed float64
			for s := range sets {
				f := compare(first[s*n:(s+1)*n], second[s*n:(s+1)*n])
				spread += (f.Divergence - c.Divergence) * (f.Divergence - c.Divergence) / sets
				claimed += f.StandardError * f.StandardError / sets
			}
			testvalues.NearNumber(t, c.ID+": mean square of the standard error", claimed, spread, 3*0.14)
			testvalues.NearNumber(t, c.ID+": standard error of all", got.StandardError*got.StandardError, claimed/sets, 0.1)
		}
	})
}

// By hand, on two points: scores (1, 2) and (3, −1) against (0, 0) and (1, 1). The halves of the squared differences
// are 2.5 and 4, those of the first score's squared norms 2.5 and 5; the standard deviation of two numbers a, b is
// |a−b|/√2, their mean's error |a−b|/2.
func TestCompare(t *testing.T) {
	got := compare([][]float64{{1, 2}, {3, -1}}, [][]float64{{0, 0}, {1, 1}})
	if want := (Fisher{Divergence: 3.25, StandardError: 0.75, Relative: 6.5 / 7.5, RelativeError: got.RelativeError}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	// The gaps are off by 2.5 − 2.5·R = ⅓ and 4 − 5R = −⅓ from what R = 13/15 says; half the difference over the mean 3.75.
	testvalues.NearNumber(t, "error of the relative divergence", got.RelativeError, 1.0/3/3.75, 1e-12)
	zero := [][]float64{{0}, {0}}
	one := [][]float64{{1}, {1}}
	for _, test := range []struct {
		p, q     [][]float64
		relative float64
	}{{one, one, 0}, {one, zero, 1}, {zero, one, math.Inf(1)}, {zero, zero, 0}} {
		if got := compare(test.p, test.q); got.Relative != test.relative || got.StandardError != 0 || got.RelativeError != 0 {
			t.Errorf("scores %v and %v: %+v, want the relative divergence %v and no error", test.p, test.q, got, test.relative)
		}
	}
}

func TestFisherDivergenceErrors(t *testing.T) {
	p, err := density.Isotropic([]float64{0, 0}, 1)
	if err != nil {
		t.Fatal(err)
	}
	inverse := scorekit.Score(func(_ *mlctx.Context, x, _ *scorekit.Node) *scorekit.Node { return graph.Reciprocal(x) })
	b := testbackend.Go(t)
	for _, test := range []struct {
		p, q   scorekit.Model
		points [][]float64
		sigma  []float64
		want   string
	}{
		{p, inverse, [][]float64{{1, 1}, {1, 0}}, nil, "metric: Fisher divergence: second score: the score at point 1, coordinate 1 is +Inf: every value must be finite"},
		{inverse, p, [][]float64{{0, 1}, {1, 1}}, nil, "metric: Fisher divergence: first score: the score at point 0, coordinate 0 is +Inf: every value must be finite"},
		{p, p, [][]float64{{1, 1}}, nil, "metric: Fisher divergence: 1 point: must be at least 2, for the standard error"},
		{p, p, [][]float64{{1}, {2}}, nil, "metric: Fisher divergence: first score: scorekit: Evaluate: points of shape [1] for a model of points of shape [2]"},
		{p, p, [][]float64{{1, 2}, {2, math.NaN()}}, nil, "metric: Fisher divergence: first score: scorekit: Evaluate: points: row 1, column 1 is NaN: every value must be finite (rows and columns count from 0)"},
		{p, p, [][]float64{{1, 2}, {2, 3}}, []float64{-1}, "metric: Fisher divergence: first score: scorekit: Evaluate: noise level -1: must be positive and finite"},
	} {
		_, err := FisherDivergence(t.Context(), b, test.p, test.q, test.points, test.sigma...)
		if err == nil || strings.TrimSpace(err.Error()) != test.want {
			t.Errorf("error %v, want %s", err, test.want)
		}
	}
}
