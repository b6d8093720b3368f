package sde_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/gomlx/gomlx/backends"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit/sde"
)

// index turns the papers' t = 1 … T into 0 … T−1.
func index(papers []int) []int {
	out := make([]int, len(papers))
	for i, t := range papers {
		out[i] = t - 1
	}
	return out
}

// previous is the level before the state of an index: that of the data before state 0.
func previous(levels []sde.Level, i int) sde.Level {
	if i == 0 {
		return sde.Level{Mean: 1}
	}
	return levels[i-1]
}

func TestDDPMChain(t *testing.T) {
	for _, c := range cases(t, "schedules.json", "ddpm_linear") {
		testvalues.Case(t, c.ID, func(t *testing.T) {
			e := c.Expected
			d := must(sde.Linear(get[int](t, c.Inputs, "T"), number(t, c.Inputs, "beta_1"), number(t, c.Inputs, "beta_T")))(t)
			which, levels := index(get[[]int](t, c.Inputs, "t")), d.Levels()
			testvalues.Near(t, "beta", pick(d.Betas(), which), numbers(t, e, "beta"), 1e-12)
			for k, i := range which {
				testvalues.NearNumber(t, "alpha bar", d.AlphaBars()[i], numbers(t, e, "alpha_bar")[k], 1e-9)
				testvalues.NearNumber(t, "mean", levels[i].Mean, numbers(t, e, "sqrt_alpha_bar")[k], 1e-9)
				testvalues.NearNumber(t, "standard deviation", levels[i].Std, numbers(t, e, "sqrt_one_minus_alpha_bar")[k], 1e-9)
				testvalues.NearNumber(t, "posterior variance", d.PosteriorVariances()[i], numbers(t, e, "posterior_var")[k], 1e-9)
				law := must(sde.Posterior(levels[i], previous(levels, i)))(t)
				testvalues.NearOne(t, "posterior", []float64{law.OfData, law.OfState, law.Variance},
					[]float64{numbers(t, e, "posterior_coef_x0")[k], numbers(t, e, "posterior_coef_xt")[k], numbers(t, e, "posterior_var")[k]}, 1e-9)
				// Ho et al., eq. 11: the mean is x/√α − c·ε, with x₀ = (x − b·ε)/a.
				testvalues.NearNumber(t, "coefficient of the noise", law.OfData*levels[i].Std/levels[i].Mean, numbers(t, e, "eps_coefficient_in_mean")[k], 1e-9)
				testvalues.NearNumber(t, "coefficient of the state", law.OfData/levels[i].Mean+law.OfState, 1/math.Sqrt(d.Alphas()[i]), 1e-9)
			}
		})
	}
}

// The unclipped ᾱ of the listed cases is 0 in effect at the last step, and the chain's is not; before it they are equal.
func TestSquaredCosine(t *testing.T) {
	for _, c := range cases(t, "schedules.json", "cosine") {
		testvalues.Case(t, c.ID, func(t *testing.T) {
			d := must(sde.SquaredCosine(get[int](t, c.Inputs, "T")))(t)
			which := index(get[[]int](t, c.Inputs, "t"))
			testvalues.Near(t, "beta", pick(d.Betas(), which), numbers(t, c.Expected, "beta"), 1e-9)
			bars := pick(d.AlphaBars(), which)
			for k, want := range numbers(t, c.Expected, "alpha_bar_clipped") {
				testvalues.NearNumber(t, "alpha bar", bars[k], want, 1e-9)
			}
			unclipped := numbers(t, c.Expected, "alpha_bar")
			last := len(bars) - 1
			testvalues.Near(t, "alpha bar before the last", bars[:last], unclipped[:last], 1e-9)
		})
	}
}

// chain is one of diffusers'.
func chain(t *testing.T, kind string, n int, first, last float64) sde.Discrete {
	t.Helper()
	switch kind {
	case "linear":
		return must(sde.Linear(n, first, last))(t)
	case "scaled_linear":
		return must(sde.ScaledLinear(n, first, last))(t)
	case "squaredcos_cap_v2":
		return must(sde.SquaredCosine(n))(t)
	}
	t.Fatalf("schedule %s", kind)
	return sde.Discrete{}
}

func listedChain(t *testing.T, c listed) sde.Discrete {
	t.Helper()
	return chain(t, get[string](t, c.Inputs, "beta_schedule"), get[int](t, c.Inputs, "num_train_timesteps"),
		number(t, c.Inputs, "beta_start"), number(t, c.Inputs, "beta_end"))
}

func TestDiffusersTables(t *testing.T) {
	for _, c := range cases(t, "parity.json", "tables") {
		testvalues.Case(t, c.ID, func(t *testing.T) {
			d, which := listedChain(t, c), get[[]int](t, c.Inputs, "t")
			testvalues.NearOne(t, "beta", pick(d.Betas(), which), numbers(t, c.Expected, "betas_f64"), 1e-12)
			testvalues.NearOne(t, "alpha bar", pick(d.AlphaBars(), which), numbers(t, c.Expected, "alphas_cumprod_f64"), 1e-12)
		})
	}
}

// DPM-Solver++ asks for one more timestep and leaves the last out; Euler's linspace is not rounded, and its noise levels
// are those of the chain, interpolated, with a 0 at the end.
func TestDiffusersTimesteps(t *testing.T) {
	spacings := map[string]sde.Spacing{"leading": sde.Leading, "trailing": sde.Trailing, "linspace": sde.Linspace}
	d := chain(t, "linear", 1000, 1e-4, 0.02)
	for _, c := range cases(t, "parity.json", "timesteps") {
		testvalues.Case(t, c.ID, func(t *testing.T) {
			n, total := get[int](t, c.Inputs, "num_inference_steps"), get[int](t, c.Inputs, "num_train_timesteps")
			spacing := spacings[get[string](t, c.Inputs, "spacing")]
			scheduler := get[string](t, c.Inputs, "scheduler")
			ask := n
			if scheduler == "DPMSolverMultistepScheduler" && spacing != sde.Trailing {
				ask++
			}
			steps := must(sde.Timesteps(total, ask, spacing))(t)
			if err := sde.CheckTimesteps(total, steps); err != nil {
				t.Error(err)
			}
			got := make([]float64, n)
			for i := range got {
				got[i] = float64(steps[i])
			}
			euler := scheduler == "EulerDiscreteScheduler"
			if euler && spacing == sde.Linspace {
				got = must(sde.LinspaceTimes(total, n))(t)
			}
			testvalues.Near(t, "timesteps", got, numbers(t, c.Expected, "timesteps"), 1e-13)
			if euler {
				testvalues.NearOne(t, "sigmas", append(at(got, d.Sigma), 0), numbers(t, c.Expected, "sigmas"), 1e-10)
			}
		})
	}
}

// x_t and the v target of diffusers at the index of each row, in a graph.
func TestDiffusersAddNoise(t *testing.T) {
	all := cases(t, "parity.json", "add_noise")
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.RunIn(t, b, float64Type, func(in testvalues.Inputs) []*sde.Node {
			var out []*sde.Node
			for _, c := range all {
				level := listedChain(t, c).MarginalNode(in.Of(numbers(t, c.Inputs, "t")))
				noise := in.Of(table(t, c.Inputs, "noise"))
				x := level.Noised(in.Of(table(t, c.Inputs, "x0")), noise)
				out = append(out, x, sde.ConvertNode(sde.Noise, sde.V, level, x, noise))
			}
			return out
		})
		for i, c := range all {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				testvalues.NearOne(t, "x", got[2*i], flat(table(t, c.Expected, "xt")), 1e-12)
				testvalues.NearOne(t, "v", got[2*i+1], flat(table(t, c.Expected, "v_target")), 1e-12)
			})
		}
	})
}

// Index and noise level lead back to one another, also between two indices and beyond the ends, on the host and in a
// graph, in float64 and float32.
func TestDiscreteTimes(t *testing.T) {
	chains := []sde.Discrete{chain(t, "linear", 1000, 1e-4, 0.02), chain(t, "squaredcos_cap_v2", 50, 0, 0), chain(t, "linear", 1, 0.3, 0.3)}
	asked := func(d sde.Discrete) []float64 {
		last := float64(d.Len() - 1)
		return []float64{0, 0.25 * last, 0.3337 * last, 0.9 * last, last}
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for dtype, rtol := range map[testType]float64{float64Type: 1e-12, float32Type: 2e-5} {
			got := testvalues.RunIn(t, b, dtype, func(in testvalues.Inputs) []*sde.Node {
				var out []*sde.Node
				for _, d := range chains {
					level := d.MarginalNode(in.Of(asked(d)))
					out = append(out, level.Mean, level.Std, d.TimeNode(level.Sigma()), d.TimeNode(in.Of([]float64{1e-9, 1e9})),
						d.MarginalNode(in.Of(asked(d)[2])).Std)
				}
				return out
			})
			for i, d := range chains {
				what, times := fmt.Sprintf("chain %d: ", i), asked(d)
				last := times[len(times)-1]
				testvalues.NearOne(t, what+"mean", got[5*i], at(times, func(t float64) float64 { return d.Marginal(t).Mean }), rtol)
				testvalues.NearOne(t, what+"standard deviation", got[5*i+1], at(times, func(t float64) float64 { return d.Marginal(t).Std }), rtol)
				testvalues.NearOne(t, what+"index", got[5*i+2], times, rtol)
				testvalues.NearOne(t, what+"index beyond the ends", got[5*i+3], []float64{0, last}, rtol)
				testvalues.NearOne(t, what+"scalar", got[5*i+4], []float64{d.Marginal(times[2]).Std}, rtol)
				testvalues.NearOne(t, what+"index on the host", at(times, func(t float64) float64 { return d.Time(d.Sigma(t)) }), times, 1e-12)
				testvalues.NearOne(t, what+"index beyond the ends on the host", at([]float64{1e-9, 1e9}, d.Time), []float64{0, last}, 0)
				testvalues.NearOne(t, what+"noise level beyond the ends", at([]float64{-3, 1e9}, d.Sigma), []float64{d.Sigma(0), d.Sigma(last)}, 0)
				for k, l := range d.Levels() {
					testvalues.NearNumber(t, what+"noise level of an index", d.Sigma(float64(k)), l.Sigma(), 1e-12)
				}
			}
		}
	})
}

// The chain with β_t = β(t)Δt tends to the SDE: its levels differ by O(1/n), with the constant that the expansion of
// ln(1−βΔt) gives.
func TestChainTendsToVP(t *testing.T) {
	for _, c := range cases(t, "schedules.json", "ddpm_to_vp") {
		testvalues.Case(t, c.ID, func(t *testing.T) {
			e := c.Expected
			vp := sde.VP{BetaMin: number(t, c.Inputs, "beta_min"), BetaMax: number(t, c.Inputs, "beta_max")}
			limit := 2 * math.Log(vp.Marginal(1).Mean)
			testvalues.NearNumber(t, "limit", limit, number(t, e, "log_alpha_bar_sde"), 1e-8)
			testvalues.NearNumber(t, "limit", math.Exp(limit), number(t, e, "alpha_bar_sde"), 1e-8)
			for k, n := range get[[]int](t, c.Inputs, "N") {
				right := must(sde.Discretize(vp.Beta, n))(t)
				linear := must(sde.Linear(n, vp.BetaMin/float64(n), vp.BetaMax/float64(n)))(t)
				errorOf := func(d sde.Discrete) float64 { return 2*math.Log(d.Levels()[n-1].Mean) - limit }
				testvalues.NearNumber(t, "error", errorOf(right), numbers(t, e, "log_error_right")[k], 1e-8)
				testvalues.NearNumber(t, "error of the linear chain", errorOf(linear), numbers(t, e, "log_error_linspace")[k], 1e-8)
				testvalues.NearNumber(t, "alpha bar of the linear chain", linear.AlphaBars()[n-1], numbers(t, e, "alpha_bar_linspace")[k], 1e-8)
				if n == 10000 { // the next term is about 10⁻³ of it
					testvalues.NearNumber(t, "n·error", float64(n)*errorOf(right), number(t, e, "N_times_error_limit_right"), 2e-3)
					testvalues.NearNumber(t, "n·error of the linear chain", float64(n)*errorOf(linear), number(t, e, "N_times_error_limit_linspace"), 2e-3)
				}
			}
		})
	}
}

// At every time, not only the last, twice the steps halve the distance between chain and SDE, in mean and standard
// deviation: to 5 %, as the next order is a share of about ∫β/n.
func TestChainTendsToVPAtEveryTime(t *testing.T) {
	for _, s := range []interface {
		sde.SDE
		Beta(t float64) float64
	}{sde.VP{}, sde.CosineVP{MinMean: 0.1}} {
		for _, time := range []float64{0.25, 0.5, 1} {
			distance := func(n int) (mean, std float64) {
				got := must(sde.Discretize(s.Beta, n))(t).Levels()[int(time*float64(n))-1]
				return got.Mean - s.Marginal(time).Mean, got.Std - s.Marginal(time).Std
			}
			m1, s1 := distance(4000)
			m2, s2 := distance(8000)
			testvalues.NearNumber(t, fmt.Sprintf("%T: mean at %v", s, time), m1, 2*m2, 0.05)
			testvalues.NearNumber(t, fmt.Sprintf("%T: standard deviation at %v", s, time), s1, 2*s2, 0.05)
		}
	}
}

func TestReferenceKarrasSigmas(t *testing.T) {
	for _, c := range cases(t, "schedules.json", "karras") {
		testvalues.Case(t, c.ID, func(t *testing.T) {
			got := must(sde.KarrasSigmas(number(t, c.Inputs, "sigma_max"), number(t, c.Inputs, "sigma_min"), get[int](t, c.Inputs, "N"), number(t, c.Inputs, "rho")))(t)
			for i, want := range numbers(t, c.Expected, "sigmas_with_trailing_zero") {
				testvalues.NearNumber(t, "sigma", append(got, 0)[i], want, 1e-9)
			}
		})
	}
}

func TestKDiffusionSigmas(t *testing.T) {
	for _, c := range cases(t, "parity.json", "sigmas") {
		testvalues.Case(t, c.ID, func(t *testing.T) {
			high, low, n, rho := number(t, c.Inputs, "sigma_max"), number(t, c.Inputs, "sigma_min"), get[int](t, c.Inputs, "n"), number(t, c.Inputs, "rho")
			v := get[map[string]float64](t, c.Inputs, "vp")
			vp := sde.VP{BetaMin: v["beta_min"], BetaMax: v["beta_min"] + v["beta_d"]}
			if first, _ := vp.Range(); first != v["eps_s"] {
				t.Errorf("range from %v, want %v", first, v["eps_s"])
			}
			for name, got := range map[string][]float64{
				"karras":          must(sde.KarrasSigmas(high, low, n, rho))(t),
				"exponential":     must(sde.GeometricSigmas(high, low, n))(t),
				"polyexponential": must(sde.PolyexponentialSigmas(high, low, n, rho))(t),
				"vp":              must(sde.SigmasOf(vp, n))(t),
			} {
				for i, want := range numbers(t, c.Expected, name) {
					testvalues.NearNumber(t, name, append(got, 0)[i], want, 1e-12)
				}
			}
			want := table(t, c.Expected, "ancestral")
			for i, in := range table(t, c.Expected, "ancestral_inputs") { // from, to, eta
				down, up, err := sde.Ancestral(sde.Level{Mean: 1, Std: in[0]}, sde.Level{Mean: 1, Std: in[1]}, in[2])
				if err != nil {
					t.Fatal(err)
				}
				testvalues.NearOne(t, "ancestral", []float64{down, up}, want[i], 1e-12)
			}
		})
	}
}

// One step of DDIM at three η and of DDPM, from Posterior and Ancestral and in a graph from the prediction.
func TestReferenceReverseSteps(t *testing.T) {
	d := chain(t, "linear", 1000, 1e-4, 0.02)
	level := func(papers int) sde.Level {
		if papers == 0 {
			return sde.Level{Mean: 1}
		}
		return d.Levels()[papers-1]
	}
	for _, c := range cases(t, "schedules.json", "ddim") {
		testvalues.Case(t, c.ID, func(t *testing.T) {
			later, earlier := level(get[int](t, c.Inputs, "t")), level(get[int](t, c.Inputs, "s"))
			x, eps, z := numbers(t, c.Inputs, "x_t"), numbers(t, c.Inputs, "eps"), numbers(t, c.Inputs, "z")
			data := must(sde.Convert(sde.Noise, sde.Data, later, x, eps))(t)
			testvalues.Near(t, "data", data, numbers(t, c.Expected, "x0_pred"), 1e-9)
			for _, eta := range []float64{0, 0.5, 1} {
				down, up, err := sde.Ancestral(later, earlier, eta)
				if err != nil {
					t.Fatal(err)
				}
				testvalues.NearOne(t, "up", []float64{up}, []float64{number(t, c.Expected, fmt.Sprintf("sigma_eta_%.1f", eta))}, 1e-9)
				got := make([]float64, len(x))
				for i := range got {
					got[i] = earlier.Mean*data[i] + down*eps[i] + up*z[i]
				}
				testvalues.Near(t, fmt.Sprint("step with eta ", eta), got, numbers(t, c.Expected, fmt.Sprintf("eta_%.1f", eta)), 1e-9)
			}
			law := must(sde.Posterior(later, earlier))(t)
			testvalues.NearOne(t, "posterior variance", []float64{law.Variance}, []float64{number(t, c.Expected, "ddpm_posterior_var")}, 1e-9)
			got := make([]float64, len(x))
			for i := range got {
				got[i] = law.OfData*data[i] + law.OfState*x[i] + math.Sqrt(law.Variance)*z[i]
			}
			testvalues.Near(t, "ancestral step", got, numbers(t, c.Expected, "ddpm_ancestral"), 1e-9)
			between := must(sde.Between(earlier, later))(t)
			testvalues.NearNumber(t, "larger variance", between.Std*between.Std, number(t, c.Expected, "beta_large_var"), 1e-9)
		})
	}
}
