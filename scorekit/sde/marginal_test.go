package sde_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit/sde"
)

// functions are what an SDE says of a list of times.
type functions struct{ mean, std, drift, diffusion []float64 }

// question is an SDE and times to ask it about, for a listed case or, with a name in place of the id, what a case says
// besides.
type question struct {
	id    string
	s     sde.SDE
	times []float64
	check func(t *testing.T, got functions)
}

func (q question) run(t *testing.T, got functions) {
	t.Helper()
	check := func(t *testing.T) { q.check(t, got) }
	if strings.Contains(q.id, " ") {
		t.Run(q.id, check)
		return
	}
	testvalues.Case(t, q.id, check)
}

// ask answers all questions on the host and in one graph for each backend, and checks each as a case.
func ask(t *testing.T, questions []question) {
	t.Run("host", func(t *testing.T) {
		for _, q := range questions {
			q.run(t, functions{at(q.times, mean(q.s)), at(q.times, std(q.s)), at(q.times, q.s.Drift), at(q.times, q.s.Diffusion)})
		}
	})
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.Run(t, b, func(g *graph.Graph) []*sde.Node {
			var out []*sde.Node
			for _, q := range questions {
				times := graph.Const(g, q.times)
				level := q.s.MarginalNode(times)
				out = append(out, level.Mean, level.Std, q.s.DriftNode(times), q.s.DiffusionNode(times))
			}
			return out
		})
		for i, q := range questions {
			q.run(t, functions{got[4*i], got[4*i+1], got[4*i+2], got[4*i+3]})
		}
	})
}

func TestReferenceMarginals(t *testing.T) {
	var questions []question
	for _, c := range cases(t, "schedules.json", "vp_subvp") {
		times, e := numbers(t, c.Inputs, "t"), c.Expected
		low, high := number(t, c.Inputs, "beta_min"), number(t, c.Inputs, "beta_max")
		vp := sde.VP{BetaMin: low, BetaMax: high}
		questions = append(questions,
			question{c.ID, vp, times, func(t *testing.T, got functions) {
				testvalues.Near(t, "mean", got.mean, numbers(t, e, "mean_coef"), 1e-9)
				testvalues.Near(t, "standard deviation", got.std, numbers(t, e, "vp_std"), 1e-9)
				testvalues.Near(t, "diffusion", got.diffusion, numbers(t, e, "vp_diffusion_g"), 1e-9)
				for i, beta := range numbers(t, e, "beta") {
					testvalues.NearNumber(t, "drift", got.drift[i], -beta/2, 1e-9)
					testvalues.NearNumber(t, "Beta", vp.Beta(times[i]), beta, 1e-9)
					// Small times, number by number: 1 − e^{−I} must not lose digits.
					testvalues.NearNumber(t, "standard deviation", got.std[i], numbers(t, e, "vp_std")[i], 1e-9)
					testvalues.NearNumber(t, "log SNR", vp.Marginal(times[i]).LogSNR(), numbers(t, e, "vp_log_snr")[i], 1e-9)
				}
			}},
			question{"sub-VP of " + c.ID, sde.SubVP{BetaMin: low, BetaMax: high}, times, func(t *testing.T, got functions) {
				testvalues.Near(t, "mean", got.mean, numbers(t, e, "mean_coef"), 1e-9)
				testvalues.Near(t, "diffusion", got.diffusion, numbers(t, e, "subvp_diffusion_g"), 1e-9)
				for i, want := range numbers(t, e, "subvp_std") {
					testvalues.NearNumber(t, "standard deviation", got.std[i], want, 1e-9)
					testvalues.NearNumber(t, "drift", got.drift[i], -numbers(t, e, "beta")[i]/2, 1e-9)
				}
			}})
	}
	for _, c := range cases(t, "schedules.json", "ve_") {
		times, e := numbers(t, c.Inputs, "t"), c.Expected
		ve := sde.VE{SigmaMin: number(t, c.Inputs, "sigma_min"), SigmaMax: number(t, c.Inputs, "sigma_max")}
		questions = append(questions, question{c.ID, ve, times, func(t *testing.T, got functions) {
			for i, want := range numbers(t, e, "kernel_std_convention") {
				testvalues.NearNumber(t, "standard deviation", got.std[i], want, 1e-9)
				clean := must(sde.Between(ve.Marginal(0), ve.Marginal(times[i])))(t)
				testvalues.NearNumber(t, "standard deviation from clean data", clean.Std, numbers(t, e, "kernel_std_exact")[i], 1e-9)
				testvalues.NearNumber(t, "diffusion", got.diffusion[i], numbers(t, e, "g")[i], 1e-9)
				if got.mean[i] != 1 || got.drift[i] != 0 {
					t.Errorf("mean %v and drift %v, want 1 and 0", got.mean[i], got.drift[i])
				}
			}
		}})
	}
	for _, c := range cases(t, "schedules.json", "viii") {
		right := get[map[string]float64](t, c.Expected, "right")
		vp := sde.VP{BetaMin: number(t, c.Inputs, "beta_min"), BetaMax: number(t, c.Inputs, "beta_max")}
		questions = append(questions, question{c.ID, vp, []float64{number(t, c.Inputs, "t")}, func(t *testing.T, got functions) {
			testvalues.NearNumber(t, "mean", got.mean[0], right["mean_coef"], 1e-9)
			testvalues.NearNumber(t, "standard deviation", got.std[0], right["std"], 1e-9)
		}})
	}
	ask(t, questions)
}

// sbi gives its drift at points, and its noise level at t with σ_min of the data counted in, as here.
func TestSBI(t *testing.T) {
	var questions []question
	for _, c := range cases(t, "parity.json", "sbi") {
		x, e := table(t, c.Inputs, "x"), c.Expected
		var s sde.SDE
		switch kind := get[string](t, c.Inputs, "sde"); kind {
		case "VP":
			s = sde.VP{BetaMin: number(t, c.Inputs, "beta_min"), BetaMax: number(t, c.Inputs, "beta_max")}
		case "subVP":
			s = sde.SubVP{BetaMin: number(t, c.Inputs, "beta_min"), BetaMax: number(t, c.Inputs, "beta_max")}
		case "VE":
			s = sde.VE{SigmaMin: number(t, c.Inputs, "sigma_min"), SigmaMax: number(t, c.Inputs, "sigma_max")}
		}
		questions = append(questions, question{c.ID, s, numbers(t, c.Inputs, "t"), func(t *testing.T, got functions) {
			testvalues.NearOne(t, "mean", got.mean, numbers(t, e, "mean_coef"), 1e-10)
			testvalues.NearOne(t, "standard deviation", got.std, numbers(t, e, "std"), 1e-10)
			testvalues.NearOne(t, "diffusion", got.diffusion, numbers(t, e, "diffusion"), 1e-10)
			if _, ve := s.(sde.VE); ve {
				testvalues.Near(t, "drift", got.drift, make([]float64, len(got.drift)), 0)
				return
			}
			for i, want := range table(t, e, "drift") {
				for j, w := range want {
					testvalues.NearNumber(t, "drift", got.drift[i]*x[i][j], w, 1e-10)
				}
			}
		}})
	}
	ask(t, questions)
}

// azula adds σ_min² to the variance of VP and cosine, and ends the straight path at {1, σ_min} and {α_min, 1} instead of
// {1, 0} and {0, 1}: the test does that to the levels here. Its VP has α = α_min^{t²}, which is β from 0 to −4 ln α_min.
func TestAzula(t *testing.T) {
	var questions []question
	for _, c := range cases(t, "parity.json", "azula") {
		p := get[map[string]float64](t, c.Inputs, "params")
		low, least, e := p["alpha_min"], p["sigma_min"], c.Expected
		var s sde.SDE
		kind := get[string](t, c.Inputs, "schedule")
		switch kind {
		case "VE":
			s = sde.VE{SigmaMin: least, SigmaMax: p["sigma_max"]}
		case "VP":
			s = sde.VP{BetaMin: 0, BetaMax: -4 * math.Log(low)}
		case "Cosine":
			s = sde.CosineVP{MinMean: low}
		case "Rectified":
			s = sde.Rectified{}
		}
		questions = append(questions, question{c.ID, s, numbers(t, c.Inputs, "t"), func(t *testing.T, got functions) {
			for i := range got.mean {
				a, b := got.mean[i], got.std[i]
				switch kind {
				case "VP", "Cosine":
					b = math.Hypot(b, least)
				case "Rectified":
					a, b = a+low*b, b+least*a
				}
				testvalues.NearNumber(t, "mean", a, numbers(t, e, "alpha")[i], 1e-10)
				testvalues.NearNumber(t, "standard deviation", b, numbers(t, e, "sigma")[i], 1e-10)
			}
		}})
	}
	ask(t, questions)
}

// path is what the probability-flow ODE says at a level: along x = a·x₀ + b·ε, a′ = f·a and b′ = f·b + g²/(2b), and its
// velocity at x is f·x − ½g²·score.
type path struct{ a, b, f, g float64 }

func (p path) rates() (da, db float64) { return p.f * p.a, p.f*p.b + p.g*p.g/(2*p.b) }

func (p path) score(x, velocity float64) float64 { return 2 * (p.f*x - velocity) / (p.g * p.g) }

func (p path) velocity(x, score float64) float64 { return p.f*x - p.g*p.g/2*score }

// convert turns one coordinate of a prediction into another.
func (p path) convert(t *testing.T, from, to sde.Prediction, x, y float64) float64 {
	t.Helper()
	return must(sde.Convert(from, to, sde.Level{Mean: p.a, Std: p.b}, []float64{x}, []float64{y}))(t)[0]
}

func (q functions) path(i int) path { return path{q.mean[i], q.std[i], q.drift[i], q.diffusion[i]} }

// reversed is 1 − t: flow matching counts time from noise to data, so that velocities have the other sign, too.
func reversed(times []float64) []float64 {
	return at(times, func(t float64) float64 { return 1 - t })
}

var interpolants = map[string]sde.SDE{
	"vp": sde.VP{}, "cosine": sde.CosineVP{}, "linear": sde.Rectified{},
	"VPScheduler": sde.VP{}, "Cosine": sde.CosineVP{}, "CondOT": sde.Rectified{},
}

// torchebm's interpolants with their derivatives: points on the path, their velocity, and the score from a velocity.
func TestTorchEBM(t *testing.T) {
	var questions []question
	for _, c := range cases(t, "parity.json", "torchebm") {
		e := c.Expected
		noise, data := table(t, c.Inputs, "noise_x0"), table(t, c.Inputs, "data_x1")
		velocity, points := table(t, c.Inputs, "velocity"), table(t, c.Inputs, "velocity_at_x")
		s := interpolants[get[string](t, c.Inputs, "interpolant")]
		questions = append(questions, question{c.ID, s, reversed(numbers(t, c.Inputs, "t")), func(t *testing.T, got functions) {
			testvalues.NearOne(t, "alpha", got.mean, numbers(t, e, "alpha"), 1e-10)
			testvalues.NearOne(t, "sigma", got.std, numbers(t, e, "sigma"), 1e-10)
			for i := range got.mean {
				p := got.path(i)
				da, db := p.rates()
				testvalues.NearOne(t, "derivatives", []float64{-da, -db}, []float64{numbers(t, e, "dalpha")[i], numbers(t, e, "dsigma")[i]}, 1e-10)
				for j := range noise[i] {
					testvalues.NearOne(t, "state", []float64{p.a*data[i][j] + p.b*noise[i][j]}, []float64{table(t, e, "xt")[i][j]}, 1e-10)
					testvalues.NearOne(t, "velocity", []float64{-da*data[i][j] - db*noise[i][j]}, []float64{table(t, e, "ut")[i][j]}, 1e-10)
					testvalues.NearOne(t, "score", []float64{p.score(points[i][j], -velocity[i][j])}, []float64{table(t, e, "velocity_to_score")[i][j]}, 1e-10)
				}
			}
		}})
	}
	ask(t, questions)
}

// flow_matching's schedulers with derivatives, and conversions between velocity, noise and data along its paths.
func TestFlowMatching(t *testing.T) {
	var questions []question
	for _, c := range cases(t, "parity.json", "flow") {
		e := c.Expected
		questions = append(questions, question{c.ID, interpolants[get[string](t, c.Inputs, "scheduler")], reversed(numbers(t, c.Inputs, "t")), func(t *testing.T, got functions) {
			testvalues.NearOne(t, "alpha", got.mean, numbers(t, e, "alpha"), 1e-10)
			testvalues.NearOne(t, "sigma", got.std, numbers(t, e, "sigma"), 1e-10)
			for i := range got.mean {
				da, db := got.path(i).rates()
				testvalues.NearOne(t, "derivatives", []float64{-da, -db}, []float64{numbers(t, e, "d_alpha")[i], numbers(t, e, "d_sigma")[i]}, 1e-10)
			}
		}})
	}
	for _, c := range cases(t, "parity.json", "flowpath") {
		e := c.Expected
		noise, data, y := table(t, c.Inputs, "x0"), table(t, c.Inputs, "x1"), table(t, c.Inputs, "velocity")
		questions = append(questions, question{c.ID, interpolants[get[string](t, c.Inputs, "scheduler")], reversed(numbers(t, c.Inputs, "t")), func(t *testing.T, got functions) {
			for i := range got.mean {
				p := got.path(i)
				da, db := p.rates()
				for j, y := range y[i] {
					x := p.a*data[i][j] + p.b*noise[i][j]
					for name, value := range map[string]float64{
						"x_t":                 x,
						"dx_t":                -da*data[i][j] - db*noise[i][j],
						"velocity_to_epsilon": p.convert(t, sde.Score, sde.Noise, x, p.score(x, -y)),
						"velocity_to_target":  p.convert(t, sde.Score, sde.Data, x, p.score(x, -y)),
						"epsilon_to_velocity": -p.velocity(x, p.convert(t, sde.Noise, sde.Score, x, y)),
						"target_to_velocity":  -p.velocity(x, p.convert(t, sde.Data, sde.Score, x, y)),
						"epsilon_to_target":   p.convert(t, sde.Noise, sde.Data, x, y),
					} {
						testvalues.NearOne(t, name, []float64{value}, []float64{table(t, e, name)[i][j]}, 1e-10)
					}
				}
			}
		}})
	}
	ask(t, questions)
}

// all is one of each process, with settings that are not its defaults among them.
var all = []sde.SDE{
	sde.VP{}, sde.VP{BetaMin: 2, BetaMax: 2}, sde.VP{BetaMax: 12}, sde.SubVP{}, sde.SubVP{BetaMin: 0.5, BetaMax: 7},
	sde.VE{}, sde.VE{SigmaMin: 0.2, SigmaMax: 3}, sde.CosineVP{}, sde.CosineVP{MinMean: 0.01}, sde.Rectified{},
	sde.OrnsteinUhlenbeck{}, sde.OrnsteinUhlenbeck{Theta: 0.3, Sigma: 0.7, Horizon: 2}, sde.Wiener{}, sde.Wiener{Sigma: 1.5, Horizon: 4},
}

func inside(s sde.SDE, n int) []float64 {
	first, last := s.Range()
	times := make([]float64, n)
	for i := range times {
		times[i] = first + (last-first)*(float64(i)+0.5)/float64(n)
	}
	return times
}

// Drift and diffusion are those that make the marginals: Mean′ = f·Mean and (Std²)′ = 2f·Std² + g², by central differences.
// Their error is of the order of h², and of the rounding 10⁻¹⁶/h: together below 10⁻⁶ of the largest term for h = 10⁻⁵T
// at times that are not within h of an end.
func TestMarginalsFollowTheEquation(t *testing.T) {
	for _, s := range all {
		_, last := s.Range()
		h := 1e-5 * last
		for _, time := range inside(s, 7) {
			before, now, after := s.Marginal(time-h), s.Marginal(time), s.Marginal(time+h)
			f, g := s.Drift(time), s.Diffusion(time)
			what := fmt.Sprintf("%T%+v at %v", s, s, time)
			slope := (after.Mean - before.Mean) / (2 * h)
			if diff := math.Abs(slope - f*now.Mean); !(diff <= 1e-6*max(math.Abs(f*now.Mean), 1e-3)) {
				t.Errorf("%s: mean changes at %v, drift says %v", what, slope, f*now.Mean)
			}
			slope = (after.Std*after.Std - before.Std*before.Std) / (2 * h)
			want := 2*f*now.Std*now.Std + g*g
			if diff := math.Abs(slope - want); !(diff <= 1e-6*max(g*g, 1e-3)) {
				t.Errorf("%s: variance changes at %v, drift and diffusion say %v", what, slope, want)
			}
		}
	}
}

// The means are e^{∫f} with the integral from the start of the range by Simpson's rule on 2,000 intervals, and the
// variances the solution of the linear equation, ∫ e^{2∫f} g².
func TestMarginalsByQuadrature(t *testing.T) {
	for _, s := range all {
		first, last := s.Range()
		end := first + (last-first)*0.7
		const n = 2000
		h := (end - first) / n
		from, to := s.Marginal(first), s.Marginal(end)
		drift, added := 0.0, 0.0
		for i := range n + 1 {
			time := first + float64(i)*h
			weight := h / 3 * []float64{2, 4}[i%2]
			if i == 0 || i == n {
				weight = h / 3
			}
			drift += weight * s.Drift(time)
			grown := to.Mean / s.Marginal(time).Mean
			added += weight * grown * grown * s.Diffusion(time) * s.Diffusion(time)
		}
		what := fmt.Sprintf("%T%+v", s, s)
		testvalues.NearNumber(t, what+": mean", from.Mean*math.Exp(drift), to.Mean, 1e-8)
		between := must(sde.Between(from, to))(t)
		testvalues.NearNumber(t, what+": variance", added, between.Std*between.Std, 1e-8)
	}
}

// A noise level leads back to its time, on the host and in a graph, and graphs say what the host says, for scalars and
// batches. float32 keeps 10⁻⁵ of each.
func TestGraphAgreesWithHost(t *testing.T) {
	ends := func(s sde.SDE) []float64 {
		first, last := s.Range()
		return append([]float64{first, last}, inside(s, 5)...)
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for _, single := range []bool{false, true} {
			dtype, rtol := float64Type, 1e-12
			if single {
				dtype, rtol = float32Type, 2e-5
			}
			got := testvalues.RunIn(t, b, dtype, func(in testvalues.Inputs) []*sde.Node {
				var out []*sde.Node
				for _, s := range all {
					times := in.Of(ends(s))
					level := s.MarginalNode(times)
					out = append(out, level.Mean, level.Std, s.DriftNode(times), s.DiffusionNode(times), s.TimeNode(level.Sigma()))
					scalar := s.MarginalNode(in.Of(ends(s)[3]))
					out = append(out, scalar.Mean, scalar.Std)
				}
				return out
			})
			for i, s := range all {
				what := fmt.Sprintf("%T%+v: ", s, s)
				times := ends(s)
				want := [][]float64{at(times, mean(s)), at(times, std(s)), at(times, s.Drift), at(times, s.Diffusion), times}
				for j, name := range []string{"mean", "standard deviation", "drift", "diffusion", "time"} {
					for k := range times {
						// Where the mean is nearly gone, or 1 − t is 10⁻³, a float32 time has lost digits that matter.
						allowed := rtol
						if single && s.Marginal(times[k]).Mean < 0.02 {
							allowed = 1e-3
						}
						testvalues.NearOne(t, fmt.Sprint(what, name, " at ", times[k]), got[7*i+j][k:k+1], want[j][k:k+1], allowed)
					}
				}
				l := s.Marginal(times[3])
				testvalues.Near(t, what+"scalar", []float64{got[7*i+5][0], got[7*i+6][0]}, []float64{l.Mean, l.Std}, rtol)
				for _, time := range times {
					testvalues.NearNumber(t, what+"time of a noise level", s.Time(s.Marginal(time).Sigma()), time, 1e-9)
				}
				if single {
					continue
				}
				if first, last := s.Range(); !(first > 0 && first < last) || slices.ContainsFunc(times, func(t float64) bool { return s.Marginal(t).Validate() != nil }) {
					t.Errorf("%srange %v to %v", what, first, last)
				}
			}
		}
	})
}
