package sampler_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/backends"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/sampler"
	"github.com/scorekit/lab/scorekit/sde"
)

// onHost is Step of a probability flow on data N(m, s²) in one dimension, by the same sums. v is x and three predictions
// before it; z is the noise, of each half of the step for DPMSolverSDE.
func onHost(s sampler.ProbabilityFlow, row []float64, m, width float64, v []float64, z ...float64) []float64 {
	kind, staged := sde.Data, false
	switch s.Solver {
	case sampler.Heun:
		kind, staged = sde.Score, true
	case sampler.Euler:
		kind = sde.Score
	case sampler.DPMSolver2:
		kind, staged = sde.Noise, true
	case sampler.AdamsBashforth2, sampler.AdamsBashforth4:
		kind = sde.Noise
	case sampler.DPMSolver2S, sampler.DPMSolverSDE:
		staged = true
	}
	predict := func(x, a, std float64) float64 {
		score := -(x - a*m) / (a*a*width*width + std*std)
		switch kind {
		case sde.Score:
			return score
		case sde.Noise:
			return -std * score
		default:
			return (x + std*std*score) / a
		}
	}
	c, x := row[5:], v[0]
	var fresh, middle float64
	if s.Eta > 0 { // fresh noise
		last := len(c) - 1
		fresh = c[last] * z[0]
		if s.Solver == sampler.DPMSolverSDE {
			middle, fresh = c[last-1]*z[0], c[last]*(z[0]+z[1])/math.Sqrt2
		}
		c = c[:last]
	}
	p := predict(x, row[1], row[2])
	if staged {
		stage := predict(c[0]*x+c[1]*p+middle, c[2], c[3])
		return []float64{c[4]*x + c[5]*p + c[6]*stage + fresh, 0, 0, 0}
	}
	end := c[0]*x + c[1]*p + fresh
	for k, factor := range c[2:] {
		end += factor * v[1+k]
	}
	return []float64{end, p, v[1], v[2]}
}

// deterministic lists the solvers and their orders.
var deterministic = map[sampler.Solver]float64{
	sampler.Heun: 2, sampler.Euler: 1, sampler.DPMSolver2M: 2, sampler.DPMSolver2: 2, sampler.DPMSolver2S: 2, sampler.DPMSolverSDE: 2,
	sampler.AdamsBashforth2: 2, sampler.AdamsBashforth4: 4, sampler.ExponentialAB2: 2, sampler.ExponentialAB3: 3, sampler.DPMSolver3M: 2,
}

// The observed orders on data N(m, s²), on noise levels and on the times of an SDE: what the error is divided by when steps
// are half as long. Chains start so high that the first steps of those that remember, of lower orders, do not matter.
// Step makes the same sums as the host.
func TestSolverOrder(t *testing.T) {
	const m, s, high, low, start = 1.3, 0.7, 200, 0.05, 120.0
	exact := m + (start-m)*math.Sqrt((s*s+low*low)/(s*s+high*high))
	vp := flowCases(t)["order_vp_pfode"]
	for solver, want := range deterministic {
		off := func(n int) float64 {
			sigmas, err := sde.KarrasSigmas(high, low, n+1, 7)
			if err != nil {
				t.Fatal(err)
			}
			c := flowCase{M: m, S: s, Start: start}
			return c.end(t, sampler.ProbabilityFlow{Sigmas: sigmas, Solver: solver}) - exact
		}
		observed := math.Log2(off(400) / off(800))
		t.Logf("solver %d: observed order %.4f", solver, observed)
		testvalues.NearNumber(t, fmt.Sprintf("solver %d: observed order", solver), observed, want, 0.03)
		if want > 2 || solver == sampler.DPMSolver3M { // not settled: equal times are coarse at high σ
			continue
		}
		inTime := func(n int) float64 { return vp.end(t, vp.flow(t, n, solver)) - vp.Exact }
		observed = math.Log2(inTime(2000) / inTime(4000))
		testvalues.NearNumber(t, fmt.Sprintf("solver %d, in time: observed order", solver), observed, want, 0.03)
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for solver := range deterministic {
			if solver == sampler.Heun || solver == sampler.Euler {
				continue // TestFlowOrder
			}
			flow := vp.flow(t, 12, solver)
			flow.Denoise = true
			w := newWalker(t, b, flow, 0, gaussianScore)
			x := [][]float64{{vp.Start}}
			w.start(x)
			for _, row := range schedule(t, flow).Rows {
				x = w.step(x, nil, row, []float64{vp.M}, []float64{vp.S})
			}
			testvalues.NearNumber(t, fmt.Sprintf("solver %d on the device: end", solver), x[0][0], vp.end(t, flow), 1e-11)
		}
	})
}

// Adams–Bashforth steps are exact, once they remember enough, where ε̂ is a polynomial in σ, whose integral is known; the
// exponential ones where D is one in u = ln σ: from D = u² the flow leads along x = u² + 2u + 2 and what e^u adds. Half
// the square term shows there, and steps of any lengths are allowed.
func TestExactOnPolynomials(t *testing.T) {
	sigmas := []float64{9, 7.5, 4, 3.1, 2.9, 1.7, 1.1, 0.4}
	power := func(x float64, n int) float64 { return math.Pow(x, float64(n)) }
	for _, c := range []struct {
		solver       sampler.Solver
		degree, from int // highest power that is exact; first step that is
	}{
		{sampler.AdamsBashforth2, 1, 1}, {sampler.AdamsBashforth4, 3, 3},
		{sampler.ExponentialAB2, 1, 1}, {sampler.ExponentialAB3, 2, 2}, {sampler.DPMSolver3M, 1, 1},
	} {
		adams := c.solver == sampler.AdamsBashforth2 || c.solver == sampler.AdamsBashforth4
		for degree := 0; degree <= c.degree+1; degree++ {
			value := func(sigma float64) float64 {
				if adams {
					return power(sigma, degree)
				}
				return power(math.Log(sigma), degree)
			}
			flow := func(x, from, to float64) float64 {
				if adams {
					return x + (power(to, degree+1)-power(from, degree+1))/float64(degree+1)
				}
				particular := func(sigma float64) float64 { // of dx/du = x − u^degree
					sum, factor := 0.0, 1.0
					for k := degree; k >= 0; k-- {
						sum += factor * power(math.Log(sigma), k)
						factor *= float64(k)
					}
					return sum
				}
				return particular(to) + (x-particular(from))*to/from
			}
			known := []float64{0, 0, 0, 0}
			for k, row := range schedule(t, sampler.ProbabilityFlow{Sigmas: sigmas, Solver: c.solver}).Rows {
				known = slices.Insert(known[:3], 0, value(sigmas[k]))
				const x = 0.8
				got := row[5] * x
				for j, factor := range row[6:] {
					got += factor * known[j]
				}
				off := math.Abs(got - flow(x, sigmas[k], sigmas[k+1]))
				if k >= c.from && degree <= c.degree && !(off <= 1e-12) {
					t.Errorf("solver %d, degree %d, step %d: off by %v", c.solver, degree, k, off)
				}
				if degree > c.degree && !(off > 1e-5) {
					t.Errorf("solver %d, degree %d, step %d: off by %v only", c.solver, degree, k, off)
				}
			}
		}
	}
	even := schedule(t, sampler.ProbabilityFlow{Sigmas: []float64{5, 4, 3, 2, 1}, Solver: sampler.AdamsBashforth4}).Rows[3]
	testvalues.Near(t, "equal steps", even[5:], []float64{1, -55. / 24, 59. / 24, -37. / 24, 9. / 24}, 1e-14)
}

// Adams–Bashforth steps end at σ = 0 as at any level, unless Denoise asks for Tweedie's formula.
func TestAdamsToZero(t *testing.T) {
	s := sampler.ProbabilityFlow{Sigmas: []float64{3, 2, 1, 0}, Solver: sampler.AdamsBashforth2}
	testvalues.Near(t, "a level", schedule(t, s).Rows[2][5:], []float64{1, -1.5, 0.5}, 1e-14)
	s.Denoise = true
	testvalues.Near(t, "the data", schedule(t, s).Rows[2][5:], []float64{1, -1, 0}, 0)
}

// noisySolvers lists the solvers with Eta, and the order of the law that they lead to from a given point.
var noisySolvers = map[sampler.Solver]float64{
	sampler.DPMSolver2: 1, sampler.DPMSolver2S: 1, sampler.DPMSolverSDE: 2, sampler.DPMSolver2M: 2,
	sampler.ExponentialAB2: 2, sampler.ExponentialAB3: 2, sampler.DPMSolver3M: 2,
}

// lawOnHost is the mean and the variance that chains from N(mean, variance) have at the end, on data N(m, s²): every step
// is affine in x, in what it remembers and in the noise.
func lawOnHost(t *testing.T, flow sampler.ProbabilityFlow, m, s, mean, variance float64) (float64, float64) {
	t.Helper()
	const d = 4
	center, cov := []float64{mean, 0, 0, 0}, [d][d]float64{{variance}}
	for _, row := range schedule(t, flow).Rows {
		still := onHost(flow, row, m, s, make([]float64, d), 0, 0)
		slope := func(v []float64, z ...float64) []float64 {
			out := onHost(flow, row, m, s, v, z...)
			for i := range out {
				out[i] -= still[i]
			}
			return out
		}
		var columns [d][]float64
		for j := range d {
			basis := make([]float64, d)
			basis[j] = 1
			columns[j] = slope(basis, 0, 0)
		}
		noises := [][]float64{slope(make([]float64, d), 1, 0), slope(make([]float64, d), 0, 1)}
		var next [d][d]float64
		for i := range d {
			for j := range d {
				for k := range d {
					for l := range d {
						next[i][j] += columns[k][i] * cov[k][l] * columns[l][j]
					}
				}
				for _, z := range noises {
					next[i][j] += z[i] * z[j]
				}
			}
		}
		center, cov = onHost(flow, row, m, s, center, 0, 0), next
	}
	return center[0], cov[0][0]
}

// The law of noisy chains that start at that of the noised data tends to it, s² + σ² in variance, with order 2 for any Eta.
// From one point the variance tends to that of the data, with low noise, given the point, v − v²/(s² + σ_max²) where
// v = s² + σ_min², if Eta is 1: only with order 1 for solvers whose stage does not know the noise.
func TestNoisyOrder(t *testing.T) {
	const m, s, low = 1.3, 0.7, 0.05
	const v = s*s + low*low
	for solver, fromPoint := range noisySolvers {
		law := func(high, eta float64, n int, variance float64) float64 {
			sigmas, err := sde.KarrasSigmas(high, low, n+1, 7)
			if err != nil {
				t.Fatal(err)
			}
			mean, variance := lawOnHost(t, sampler.ProbabilityFlow{Sigmas: sigmas, Solver: solver, Eta: eta}, m, s, m, variance)
			testvalues.NearNumber(t, "mean", mean, m, 1e-12)
			return variance
		}
		order := func(what string, want float64, off func(n int) float64) {
			coarse, fine := off(800), off(1600)
			observed := math.Log2(coarse / fine)
			t.Logf("solver %d, %s: errors %.2e and %.2e, observed order %.4f", solver, what, coarse, fine, observed)
			testvalues.NearNumber(t, fmt.Sprintf("solver %d, %s: observed order", solver, what), observed, want, 0.04)
		}
		for _, eta := range []float64{0.5, 1} {
			order(fmt.Sprintf("η = %v", eta), 2, func(n int) float64 { return law(20, eta, n, s*s+20*20) - v })
		}
		order("from a point", fromPoint, func(n int) float64 { return law(2, 1, n, 0) - (v - v*v/(s*s+2*2)) })
	}
}

// Solvers that know the levels alone lead along the same x/a on the times of an SDE as on its σ = b/a.
func TestLevelsAlone(t *testing.T) {
	const m, s = 1.3, 0.7
	vp := sde.VP{}
	moments := []float64{1, 0.85, 0.6, 0.45, 0.2, 0.05}
	var sigmas []float64
	for _, at := range moments {
		sigmas = append(sigmas, vp.Marginal(at).Sigma())
	}
	first, last := vp.Marginal(moments[0]).Mean, vp.Marginal(moments[len(moments)-1]).Mean
	for solver := range deterministic {
		if solver == sampler.Heun || solver == sampler.Euler {
			continue
		}
		for _, eta := range []float64{0, 0.7} {
			if _, ok := noisySolvers[solver]; !ok && eta > 0 {
				continue
			}
			mean, variance := lawOnHost(t, sampler.ProbabilityFlow{SDE: vp, Times: moments, Solver: solver, Eta: eta}, m, s, 0.4, 0.9)
			wantMean, wantVariance := lawOnHost(t, sampler.ProbabilityFlow{Sigmas: sigmas, Solver: solver, Eta: eta}, m, s, 0.4/first, 0.9/(first*first))
			testvalues.NearNumber(t, fmt.Sprintf("solver %d, η = %v: mean", solver, eta), mean/last, wantMean, 1e-10)
			testvalues.NearNumber(t, fmt.Sprintf("solver %d, η = %v: variance", solver, eta), variance/(last*last), wantVariance, 1e-10)
		}
	}
}

// stalled is a process whose noise stands still.
type stalled struct{ sde.VP }

func (stalled) Marginal(float64) sde.Level { return sde.Level{Mean: 0.5, Std: 0.5} }

// Solvers that divide by steps of the noise level refuse a process without any; Euler and Heun do not mind.
func TestNoiseMustFall(t *testing.T) {
	flow := sampler.ProbabilityFlow{SDE: stalled{}, Times: []float64{0.5, 0.4}}
	schedule(t, flow)
	for solver, eta := range map[sampler.Solver]float64{sampler.DPMSolver2: 0, sampler.AdamsBashforth4: 0, sampler.DPMSolver2M: 0.5} {
		flow.Solver, flow.Eta = solver, eta
		_, err := flow.Schedule()
		if want := "probability flow: step 1 from noise level 1 to 1: must go down for "; err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("solver %d: error %v, want %s…", solver, err, want)
		}
	}
}

// Chains have that law, on noise levels and on an SDE: mean and variance within 5 standard errors.
func TestNoisyChains(t *testing.T) {
	const m, s = 1.3, 0.7
	b := testbackend.Go(t)
	p, err := density.Isotropic([]float64{m}, s)
	if err != nil {
		t.Fatal(err)
	}
	sigmas, err := sde.KarrasSigmas(20, 0.05, 9, 7)
	if err != nil {
		t.Fatal(err)
	}
	for solver := range noisySolvers {
		for name, flow := range map[string]sampler.ProbabilityFlow{
			"levels": {Sigmas: sigmas, Solver: solver, Eta: 0.7},
			"SDE":    {SDE: sde.VP{}, Steps: 8, Solver: solver, Eta: 1, Denoise: true},
		} {
			t.Run(fmt.Sprintf("solver %d, %s", solver, name), func(t *testing.T) {
				start := 20.0
				if flow.SDE != nil {
					start = 1
				}
				mean, variance := lawOnHost(t, flow, m, s, 0, start*start)
				d := sample(t, b, p, flow)
				testvalues.MeanWithin(t, "mean", column(t, d.X, func(x []float64) float64 { return x[0] }), mean)
				testvalues.MeanWithin(t, "variance", column(t, d.X, func(x []float64) float64 { return (x[0] - mean) * (x[0] - mean) }), variance)
			})
		}
	}
}
