package sde_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit/sde"
)

// covariances lists Cov(x_s, x_t) for all pairs of times, row by row.
func covariances(t *testing.T, s sde.SDE, times []float64) []float64 {
	t.Helper()
	var out []float64
	for _, a := range times {
		for _, b := range times {
			out = append(out, must(sde.Covariance(s, a, b))(t))
		}
	}
	return out
}

func TestWienerCovariance(t *testing.T) {
	for _, c := range cases(t, "wiener.json", "wiener_cov") {
		testvalues.Case(t, c.ID, func(t *testing.T) {
			times := numbers(t, c.Inputs, "t")
			testvalues.Near(t, "covariance", covariances(t, sde.Wiener{}, times), flat(table(t, c.Expected, "cov")), 1e-9)
			still := make([][]float64, len(times)-1)
			for k := range still {
				still[k] = []float64{0}
			}
			testvalues.Near(t, "mean", flat(must(sde.ExactPath(sde.Wiener{}, times, []float64{0}, still))(t)), numbers(t, c.Expected, "mean"), 0)
		})
	}
}

func evenly(t *testing.T, end float64, n int) []float64 {
	t.Helper()
	return must(sde.EvenTimes(sde.Wiener{Horizon: end}, 0, end, n+1))(t)
}

func TestVariationMoments(t *testing.T) {
	for _, c := range cases(t, "wiener.json", "quadratic_variation") {
		testvalues.Case(t, c.ID, func(t *testing.T) {
			times := evenly(t, number(t, c.Inputs, "T"), get[int](t, c.Inputs, "n"))
			mean, variance, err := sde.Wiener{}.QuadraticVariationMoments(times)
			if err != nil {
				t.Fatal(err)
			}
			testvalues.NearNumber(t, "mean", mean, number(t, c.Expected, "qv_mean"), 1e-9)
			testvalues.NearNumber(t, "variance", variance, number(t, c.Expected, "qv_var"), 1e-9)
			if mean, variance, err = (sde.Wiener{}).TotalVariationMoments(times); err != nil {
				t.Fatal(err)
			}
			testvalues.NearNumber(t, "mean of the length", mean, number(t, c.Expected, "total_variation_mean"), 1e-9)
			testvalues.NearNumber(t, "variance of the length", variance, number(t, c.Expected, "total_variation_var"), 1e-9)
		})
	}
	for _, c := range cases(t, "wiener.json", "quadratic_variation_uneven") {
		testvalues.Case(t, c.ID, func(t *testing.T) {
			times := []float64{0}
			for i, dt := range numbers(t, c.Inputs, "dt") {
				times = append(times, times[i]+dt)
			}
			mean, variance, err := sde.Wiener{}.QuadraticVariationMoments(times)
			if err != nil {
				t.Fatal(err)
			}
			testvalues.NearNumber(t, "mean", mean, number(t, c.Expected, "qv_mean"), 1e-9)
			testvalues.NearNumber(t, "variance", variance, number(t, c.Expected, "qv_var"), 1e-9)
		})
	}
}

// Paths from listed noise; for a Wiener process the Euler–Maruyama step is exact.
func TestWienerPaths(t *testing.T) {
	for _, c := range cases(t, "wiener.json", "wiener_path") {
		testvalues.Case(t, c.ID, func(t *testing.T) {
			times, z := evenly(t, number(t, c.Inputs, "T"), get[int](t, c.Inputs, "n")), table(t, c.Inputs, "z")
			start := make([]float64, len(z[0]))
			for name, run := range map[string]func(sde.SDE, []float64, []float64, [][]float64) ([][]float64, error){
				"exact": sde.ExactPath, "Euler–Maruyama": sde.EulerMaruyama,
			} {
				w := must(run(sde.Wiener{}, times, start, z))(t)
				testvalues.NearOne(t, name, flat(w), flat(table(t, c.Expected, "path")), 1e-9)
				testvalues.Near(t, name+": quadratic variation", must(sde.QuadraticVariation(w))(t), numbers(t, c.Expected, "qv"), 1e-9)
				testvalues.Near(t, name+": Itô sum", must(sde.ItoSum(w, w))(t), numbers(t, c.Expected, "ito_sum"), 1e-9)
				testvalues.Near(t, name+": Stratonovich sum", must(sde.StratonovichSum(w, w))(t), numbers(t, c.Expected, "stratonovich_sum"), 1e-9)
				for i, length := range must(sde.TotalVariation(w))(t) {
					sum := 0.0
					for k := range z {
						sum += math.Abs(w[k+1][i] - w[k][i])
					}
					testvalues.NearNumber(t, name+": length", length, sum, 1e-12)
				}
			}
		})
	}
}

// A path that is pulled to μ is one that is pulled to 0, for x − μ.
func TestOrnsteinUhlenbeck(t *testing.T) {
	for _, c := range cases(t, "wiener.json", "ou_") {
		testvalues.Case(t, c.ID, func(t *testing.T) {
			theta, sigma := number(t, c.Inputs, "theta"), number(t, c.Inputs, "sigma")
			mu, x0, times := number(t, c.Inputs, "mu"), number(t, c.Inputs, "x0"), numbers(t, c.Inputs, "t")
			s := sde.OrnsteinUhlenbeck{Theta: theta, Sigma: sigma, Horizon: 5}
			means := func(levels []sde.Level) (out []float64) {
				for _, l := range levels {
					out = append(out, mu+(x0-mu)*l.Mean)
				}
				return out
			}
			var exact []sde.Level
			for _, time := range times {
				exact = append(exact, s.Marginal(time))
			}
			testvalues.Near(t, "mean", means(exact), numbers(t, c.Expected, "mean"), 1e-9)
			for i, want := range numbers(t, c.Expected, "var") {
				testvalues.NearNumber(t, "variance", exact[i].Std*exact[i].Std, want, 1e-9)
			}
			testvalues.Near(t, "covariance", covariances(t, s, times), flat(table(t, c.Expected, "cov_given_x0")), 1e-9)
			testvalues.NearNumber(t, "variance at rest", s.Prior().Std*s.Prior().Std, number(t, c.Expected, "stationary_var"), 1e-9)

			dt := number(t, c.Inputs, "em_dt")
			steps := must(sde.EulerMaruyamaLevels(s, evenly(t, 40*dt, 40)))(t)
			for i, k := range []int{1, 10, 40} {
				want := table(t, c.Expected, "euler_maruyama_mean_var_k1_10_40")[i]
				testvalues.Near(t, fmt.Sprint("Euler–Maruyama mean after ", k), means(steps[k:k+1]), want[:1], 1e-9)
				testvalues.NearNumber(t, fmt.Sprint("Euler–Maruyama variance after ", k), steps[k].Std*steps[k].Std, want[1], 1e-9)
			}
			// The variance at rest is the one that a step does not change. 1 − r² of the tiny θ keeps 9 digits.
			r, q := steps[1].Mean, steps[1].Std
			testvalues.NearNumber(t, "Euler–Maruyama variance at rest", q*q/((1-r)*(1+r)), number(t, c.Expected, "euler_maruyama_stationary_var"), 1e-8)

			matrix := must(sde.NewMatrixOrnsteinUhlenbeck([][]float64{{theta}}, []float64{mu}, sigma))(t)
			for i, time := range times {
				testvalues.Near(t, "mean of the matrix form", must(matrix.Mean([]float64{x0}, time))(t), numbers(t, c.Expected, "mean")[i:i+1], 1e-9)
				for j, other := range times {
					testvalues.Near(t, "covariance of the matrix form", flat(must(matrix.Covariance(time, other))(t)), table(t, c.Expected, "cov_given_x0")[i][j:j+1], 1e-9)
				}
			}
		})
	}
	for _, c := range cases(t, "wiener.json", "ou_multivariate") {
		testvalues.Case(t, c.ID, func(t *testing.T) {
			o := must(sde.NewMatrixOrnsteinUhlenbeck(table(t, c.Inputs, "A"), numbers(t, c.Inputs, "mu"), number(t, c.Inputs, "sigma")))(t)
			time := number(t, c.Inputs, "t")
			testvalues.Near(t, "mean", must(o.Mean(numbers(t, c.Inputs, "x0"), time))(t), numbers(t, c.Expected, "mean"), 1e-9)
			testvalues.Near(t, "covariance", flat(must(o.Covariance(time, time))(t)), flat(table(t, c.Expected, "cov")), 1e-9)
			rest, cov := o.Stationary()
			testvalues.Near(t, "mean at rest", rest, numbers(t, c.Inputs, "mu"), 0)
			testvalues.Near(t, "covariance at rest", flat(cov), flat(table(t, c.Expected, "stationary_cov")), 1e-9)
		})
	}
}

// Drawn exact paths have the marginals' mean and variance and the covariance of two times, within 5 standard errors of
// 20,000 paths; the noise of steps is not used twice.
func TestExactPathsByMonteCarlo(t *testing.T) {
	const n, x0 = 20_000, 1.7
	start := make([]float64, n)
	for i := range start {
		start[i] = x0
	}
	for k, s := range []sde.SDE{sde.VP{BetaMin: 0.1, BetaMax: 5}, sde.SubVP{BetaMin: 0.1, BetaMax: 5}, sde.VE{SigmaMin: 0.5, SigmaMax: 4}, sde.OrnsteinUhlenbeck{}, sde.Wiener{}, sde.CosineVP{}, sde.Rectified{}} {
		_, last := s.Range()
		times := []float64{0, 0.2 * last, 0.35 * last, 0.8 * last}
		path := must(sde.ExactPath(s, times, start, sde.StandardNormal(int64(k), len(times)-1, n)))(t)
		what := fmt.Sprintf("%T", s)
		early, late := s.Marginal(times[1]).Mean*x0, s.Marginal(times[3]).Mean*x0
		squares, products := make([]float64, n), make([]float64, n)
		for i := range n {
			squares[i] = (path[3][i] - late) * (path[3][i] - late)
			products[i] = (path[1][i] - early) * (path[3][i] - late)
		}
		testvalues.MeanWithin(t, what+": mean", path[3], late)
		testvalues.MeanWithin(t, what+": variance", squares, must(sde.Covariance(s, times[3], times[3]))(t))
		testvalues.MeanWithin(t, what+": covariance", products, must(sde.Covariance(s, times[1], times[3]))(t))
	}
}

// The moments that Euler–Maruyama reaches err from the exact ones by the order 1: half the step, half the error, to 10 %.
// And drawn paths have those moments, within 5 standard errors.
func TestEulerMaruyamaOrder(t *testing.T) {
	const x0 = 1.7
	for k, s := range []sde.SDE{sde.VP{BetaMin: 0.1, BetaMax: 5}, sde.SubVP{BetaMin: 0.1, BetaMax: 5}, sde.OrnsteinUhlenbeck{}, sde.VE{SigmaMin: 0.5, SigmaMax: 4}} {
		_, last := s.Range()
		end := 0.6 * last
		exact := must(sde.Between(s.Marginal(0), s.Marginal(end)))(t)
		reached := func(n int) sde.Level {
			levels := must(sde.EulerMaruyamaLevels(s, must(sde.EvenTimes(s, 0, end, n+1))(t)))(t)
			return levels[n]
		}
		coarse, fine := reached(500), reached(1000)
		what := fmt.Sprintf("%T", s)
		if s.Drift(end) != 0 {
			testvalues.NearNumber(t, what+": error of the mean", coarse.Mean-exact.Mean, 2*(fine.Mean-exact.Mean), 0.1)
		}
		testvalues.NearNumber(t, what+": error of the standard deviation", coarse.Std-exact.Std, 2*(fine.Std-exact.Std), 0.1)

		const n, paths = 8, 20_000
		start := make([]float64, paths)
		for i := range start {
			start[i] = x0
		}
		path := must(sde.EulerMaruyama(s, must(sde.EvenTimes(s, 0, end, n+1))(t), start, sde.StandardNormal(int64(k), n, paths)))(t)
		level, squares := reached(n), make([]float64, paths)
		for i, x := range path[n] {
			squares[i] = (x - level.Mean*x0) * (x - level.Mean*x0)
		}
		testvalues.MeanWithin(t, what+": mean of paths", path[n], level.Mean*x0)
		testvalues.MeanWithin(t, what+": variance of paths", squares, level.Std*level.Std)
	}
}

// The sums of a fine Wiener path tend to their integrals: ½(W² − T) and ½W², each within 5 standard deviations √(T²/(2n))
// of the quadratic variation's half; the quadratic variation of a diffusion to ∫g².
func TestIntegralsOfFinePaths(t *testing.T) {
	const n, end = 20_000, 2.0
	w := must(sde.ExactPath(sde.Wiener{}, evenly(t, end, n), []float64{0, 0, 0}, sde.StandardNormal(9, n, 3)))(t)
	ito, stratonovich := must(sde.ItoSum(w, w))(t), must(sde.StratonovichSum(w, w))(t)
	for i := range 3 {
		square := w[n][i] * w[n][i]
		if diff := ito[i] - (square-end)/2; !(math.Abs(diff) <= 5*end/math.Sqrt(2*n)) {
			t.Errorf("Itô sum %v, integral %v", ito[i], (square-end)/2)
		}
		testvalues.NearOne(t, "Stratonovich sum", stratonovich[i:i+1], []float64{square / 2}, 1e-9)
	}
	vp := sde.VP{}
	x := must(sde.EulerMaruyama(vp, must(sde.EvenTimes(vp, 0, 1, n+1))(t), []float64{1}, sde.StandardNormal(10, n, 1)))(t)
	// ∫β = 10.05, its standard deviation √(2∫β²/n) ≈ 0.12; the drift adds ∫(½βx)²Δt, less than 0.03.
	if got := must(sde.QuadraticVariation(x))(t)[0]; !(math.Abs(got-10.05) <= 5*0.12+0.03) {
		t.Errorf("quadratic variation %v, want 10.05", got)
	}
}

// Between, Posterior and their composition are the laws of a Gaussian chain: data and two states with their joint
// covariance, conditioned by hand.
func TestPosteriorConditions(t *testing.T) {
	for _, s := range all {
		times := inside(s, 3)
		earlier, later := s.Marginal(times[0]), s.Marginal(times[2])
		step := must(sde.Between(earlier, later))(t)
		what := fmt.Sprintf("%T%+v: ", s, s)
		testvalues.NearNumber(t, what+"mean", step.Mean*earlier.Mean, later.Mean, 1e-12)
		testvalues.NearNumber(t, what+"variance", step.Mean*step.Mean*earlier.Std*earlier.Std+step.Std*step.Std, later.Std*later.Std, 1e-9)
		// Precisions add: of x_s given x₀, and of x_t given x_s.
		law := must(sde.Posterior(later, earlier))(t)
		precision := 1/(earlier.Std*earlier.Std) + step.Mean*step.Mean/(step.Std*step.Std)
		testvalues.NearNumber(t, what+"posterior variance", law.Variance, 1/precision, 1e-9)
		testvalues.NearNumber(t, what+"of the data", law.OfData, earlier.Mean/(earlier.Std*earlier.Std)/precision, 1e-9)
		testvalues.NearNumber(t, what+"of the state", law.OfState, step.Mean/(step.Std*step.Std)/precision, 1e-9)
		for _, eta := range []float64{0, 0.3, 1, 9} {
			down, up, err := sde.Ancestral(later, earlier, eta)
			if err != nil {
				t.Fatal(err)
			}
			testvalues.NearNumber(t, what+"noise after a step", math.Hypot(down, up), earlier.Std, 1e-12)
			if want := min(eta*math.Sqrt(law.Variance), earlier.Std); up != want {
				t.Errorf("%seta %v draws %v, want %v", what, eta, up, want)
			}
		}
	}
}
