package sampler_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/sampler"
	"github.com/scorekit/lab/scorekit/sde"
)

// The tests here put every sampler to the use of Bayesian inference: θ has a prior, y = θ + error, and each chain samples
// θ given a y of its own. Both the prior and what y makes of it are mixtures of two Gaussians, so that everything is known
// exactly: density, score at every noise level, draws.

// inference is the problem: θ ~ Σₖ wₖ N(mₖ, spread²), y = θ + N(0, 1).
type inference struct {
	heavy  float64 // w₁, of the second
	means  [2]float64
	spread float64
}

// twoModes has the mean 0.5 and two modes that y tells apart only in part. oneMode is Gaussian.
var (
	twoModes = inference{0.7, [2]float64{-1, 1.2}, 0.6}
	oneMode  = inference{0.5, [2]float64{0.4, 0.4}, 0.8}
)

func (p inference) draw(rng *rand.Rand) float64 {
	k := 0
	if rng.Float64() < p.heavy {
		k = 1
	}
	return p.means[k] + p.spread*rng.NormFloat64()
}

// given is the law of θ given y, of the same kind.
func (p inference) given(y float64) inference {
	prior := p.spread * p.spread
	v := prior / (1 + prior)
	odds := math.Log(p.heavy / (1 - p.heavy))
	var q inference
	for k, m := range p.means {
		q.means[k] = v * (m/prior + y)
		odds += float64(1-2*k) * (y - m) * (y - m) / (2 * (1 + prior))
	}
	q.heavy, q.spread = 1/(1+math.Exp(-odds)), math.Sqrt(v)
	return q
}

// moments are E[θ], E[θ²] and E[cos θ].
func (p inference) moments() (first, second, cosine float64) {
	for k, w := range []float64{1 - p.heavy, p.heavy} {
		m, v := p.means[k], p.spread*p.spread
		first, second, cosine = first+w*m, second+w*(m*m+v), cosine+w*math.Cos(m)*math.Exp(-v/2)
	}
	return first, second, cosine
}

// posteriors is the laws of θ given the y of each chain, as a model: one law a row.
type posteriors []inference

// parts is the two means of each row, [n, 1], and log w₁/w₀.
func (p posteriors) parts(x *sampler.Node) (low, high, odds *sampler.Node) {
	column := func(of func(q inference) float64) *sampler.Node {
		values := make([]float64, x.Shape().Dimensions[0])
		for i := range values {
			values[i] = of(p[i%len(p)]) // tempering asks for all rungs at once
		}
		return graph.ConvertDType(graph.ConstTensor(x.Graph(), tensors.FromFlatDataAndDimensions(values, len(values), 1)), x.DType())
	}
	return column(func(q inference) float64 { return q.means[0] }), column(func(q inference) float64 { return q.means[1] }),
		column(func(q inference) float64 { return math.Log(q.heavy / (1 - q.heavy)) })
}

// logs is log wₖN(x; mₖ, v), up to one constant, and v is spread² + σ².
func (p posteriors) logs(x, sigma *sampler.Node) (low, high, first, second, v *sampler.Node) {
	low, high, odds := p.parts(x)
	v = graph.AddScalar(graph.ZerosLike(x), p[0].spread*p[0].spread)
	if sigma != nil {
		v = graph.Add(v, graph.Square(graph.Reshape(sigma, -1, 1)))
	}
	half := func(m *sampler.Node) *sampler.Node {
		return graph.Neg(graph.Div(graph.Square(graph.Sub(x, m)), graph.MulScalar(v, 2)))
	}
	return low, high, half(low), graph.Add(half(high), odds), v
}

func (p posteriors) Score(_ *mlctx.Context, x, sigma *sampler.Node) *sampler.Node {
	low, high, first, second, v := p.logs(x, sigma)
	mean := graph.Add(low, graph.Mul(graph.Sigmoid(graph.Sub(second, first)), graph.Sub(high, low)))
	return graph.Div(graph.Sub(mean, x), v)
}

func (p posteriors) logDensity(x *sampler.Node) *sampler.Node {
	_, _, first, second, _ := p.logs(x, nil)
	top := graph.Max(first, second)
	return graph.Reshape(graph.Add(top, graph.Log(graph.Add(graph.Exp(graph.Sub(first, top)), graph.Exp(graph.Sub(second, top))))), -1)
}

func (p posteriors) energy(_ *mlctx.Context, x, _ *sampler.Node) *sampler.Node {
	return graph.Neg(p.logDensity(x))
}

// trial is one sampler for these laws.
type trial struct {
	name  string
	model scorekit.Model
	s     scorekit.Sampler
	// law is that of the chains where it is not the law of θ given y itself, but what the sampler is known to make of it.
	law func(q inference) inference
}

// chainsOfOne draws one number for each row of the model.
func chainsOfOne(t *testing.T, b backends.Backend, c trial, n int, seed int64, options ...scorekit.SampleOption) []float64 {
	t.Helper()
	options = append([]scorekit.SampleOption{scorekit.WithShape(1), scorekit.WithDType(dtypes.Float64), scorekit.WithSeed(seed)}, options...)
	d, err := scorekit.Sample(context.Background(), b, c.model, c.s, n, options...)
	if err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	return column(t, d.X, func(row []float64) float64 { return row[0] })
}

// spreadBy multiplies the variance of each part of a law.
func spreadBy(scale float64) func(q inference) inference {
	return func(q inference) inference {
		q.spread *= math.Sqrt(scale)
		return q
	}
}

// walks are the samplers that go on from where they are, for two modes; steps are many enough to forget where they began.
func walks(p posteriors, steps int) []trial {
	return []trial{
		{"MALA", p, sampler.MALA{LogDensity: p.logDensity, StepSize: 0.3, Steps: steps}, nil},
		{"MALA, energy", p, sampler.MALA{Energy: p.energy, StepSize: 0.1, Adapt: steps / 2, Steps: steps}, nil},
		{"tempering", p, sampler.ParallelTempering{LogDensity: p.logDensity, Betas: []float64{1, 0.6, 0.3}, StepSize: 0.2, Steps: steps}, nil},
		{"underdamped", p, sampler.Underdamped{StepSize: 0.2, Friction: 1.5, Steps: 2 * steps}, nil},
	}
}

// waysDown are the samplers that undo noise, with grids so fine that their errors are far below what the tests can see.
func waysDown(t *testing.T, p posteriors) []trial {
	t.Helper()
	must := func(sigmas []float64, err error) []float64 {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return append(sigmas, 0)
	}
	karras, fine := must(sde.KarrasSigmas(500, 0.01, 60, 7)), must(sde.GeometricSigmas(500, 0.01, 400))
	chain, err := sde.Linear(1000, 1e-4, 0.02)
	if err != nil {
		t.Fatal(err)
	}
	vp := sde.VP{}
	all := []trial{
		{"reverse SDE, VP", p, sampler.ReverseSDE{SDE: vp, Steps: 600, Denoise: true}, nil},
		{"reverse SDE, sub-VP", p, sampler.ReverseSDE{SDE: sde.SubVP{}, Steps: 600, Denoise: true}, nil},
		{"reverse SDE, levels", p, sampler.ReverseSDE{Sigmas: fine}, nil},
		{"reverse diffusion, corrected", p, sampler.PredictorCorrector{SDE: vp, Steps: 400, Corrections: 1, SNR: 0.05, Denoise: true}, nil},
		{"Euler–Maruyama, then corrected", p, sampler.PredictorCorrector{SDE: vp, Steps: 400, Move: sampler.EulerMaruyama, Corrections: 1, Renew: 0.05, PredictorFirst: true, Denoise: true}, nil},
		{"ancestral", p, sampler.PredictorCorrector{Sigmas: fine, Move: sampler.Ancestral}, nil},
		{"flow, corrected", p, sampler.PredictorCorrector{Sigmas: fine, Move: sampler.Flow, Corrections: 1, Renew: 0.02}, nil},
		{"corrector alone", p, sampler.PredictorCorrector{Sigmas: fine, Move: sampler.Stay, Corrections: 2, Renew: 0.2, Denoise: true}, nil},
		{"churn", p, sampler.Churn{Sigmas: karras, Amount: 10}, nil},
		{"churn, Euler", p, sampler.Churn{Sigmas: fine, Amount: 20, Solver: sampler.Euler}, nil},
		{"Dormand–Prince, VP", p, sampler.DormandPrince{SDE: vp, Denoise: true}, nil},
		{"Dormand–Prince, levels", p, sampler.DormandPrince{From: 500, To: 0.01, Denoise: true}, nil},
		{"DDPM", p, sampler.DDPM{Chain: chain}, nil},
		{"DDPM, large variance", p, sampler.DDPM{Chain: chain, Large: true}, nil},
		{"DDIM", p, sampler.DDIM{Chain: chain, Steps: 250, Spacing: sde.Trailing}, nil},
		{"DDIM, half the noise", p, sampler.DDIM{Chain: chain, Steps: 500, Spacing: sde.Trailing, Eta: 0.5}, nil},
	}
	for s := sampler.Heun; s <= sampler.DPMSolver3M; s++ {
		grid := karras
		if s == sampler.Euler {
			grid = fine
		}
		all = append(all, trial{fmt.Sprintf("flow, solver %d", s), p, sampler.ProbabilityFlow{Sigmas: grid, Solver: s}, nil})
		if s != sampler.Heun && s != sampler.Euler && s != sampler.AdamsBashforth2 && s != sampler.AdamsBashforth4 {
			all = append(all, trial{fmt.Sprintf("flow, solver %d, noise", s), p, sampler.ProbabilityFlow{Sigmas: karras, Solver: s, Eta: 1}, nil})
		}
	}
	return all
}

// stepped are samplers whose step makes the law another one, which is known for Gaussian posteriors of variance v.
func stepped(p posteriors) []trial {
	v := p[0].spread * p[0].spread
	shift := func(ratio float64, start float64) func(q inference) inference {
		return func(q inference) inference { // x − m shrinks by ratio, from a start of N(0, start²)
			for k := range q.means {
				q.means[k] *= 1 - ratio
			}
			q.spread = ratio * start
			return q
		}
	}
	// A chain at the level σ ends with V/(1 − α/(4V)) for V = v + σ², and the last step takes it to v/V of the way.
	const last, alpha = 0.3, 0.2
	noised := v + last*last
	return []trial{
		{"Langevin", p, sampler.Langevin{StepSize: 0.6 * v, Steps: 30}, spreadBy(1 / (1 - 0.3))},
		{"Langevin, α, half the temperature", p, sampler.Langevin{Alpha: v, Temperature: 0.5, Steps: 40}, spreadBy(0.5 / (1 - 0.25))},
		{"underdamped", p, sampler.Underdamped{StepSize: 0.9 * math.Sqrt(v), Friction: 2, Steps: 40}, nil},
		{"annealed", p, sampler.AnnealedLangevin{Sigmas: []float64{1, last}, StepSize: alpha, StepsPerLevel: 25}, spreadBy(noised / (1 - alpha/(4*noised)) / v)},
		{"annealed, denoised", p, sampler.AnnealedLangevin{Sigmas: []float64{1, last}, StepSize: alpha, StepsPerLevel: 25, Denoise: true},
			spreadBy(v / noised / (1 - alpha/(4*noised)))},
		{"gradient ascent", p, sampler.GradientAscent{StepSize: 0.3 * v, Steps: 2}, shift(0.7*0.7, 1)},
	}
}

// calibrated checks the rank of each chain's θ among 15 exact draws: over many chains it must be uniform on 0 … 15.
func calibrated(t *testing.T, name string, laws []inference, values []float64, exact []float64, rng *rand.Rand) {
	t.Helper()
	const others = 15
	var counts [1 + others]float64
	for i, v := range values {
		rank := 0
		for k := range others {
			other := laws[i].draw(rng)
			if k == 0 && exact != nil { // the θ that y was made from is one
				other = exact[i]
			}
			if other < v {
				rank++
			}
		}
		counts[rank]++
	}
	statistic, expected := 0.0, float64(len(values))/(1+others)
	for _, c := range counts {
		statistic += (c - expected) * (c - expected) / expected
	}
	if p := (distuv.ChiSquared{K: others}).Survival(statistic); !(p > 1e-5) {
		t.Errorf("%s: ranks %v: χ² = %.0f for 15 degrees of freedom, p = %.1g", name, counts, statistic, p)
	}
}

// problem draws n pairs of θ and y and returns θ and the laws given y.
func (p inference) problem(n int, rng *rand.Rand) (thetas []float64, laws posteriors) {
	for range n {
		theta := p.draw(rng)
		thetas, laws = append(thetas, theta), append(laws, p.given(theta+rng.NormFloat64()))
	}
	return thetas, laws
}

// Simulation-based calibration (Cook, Gelman and Rubin 2006; Talts et al. 2018): where θ is drawn from its prior, y from θ,
// and a chain from the law of θ given y, the rank of the one among draws of the other is uniform. 4,000 chains have one
// number each to be ranked, so that a variance that is a fifth off is seen. χ² must not have a p-value below 10⁻⁵ in any of
// the 45 cases: a right program fails for one seed in 2,000. Chains with a long step are held against the law that their
// step is known to make, and not that of θ. SVGD makes no independent draws, and Inpaint none of the exact law: neither is here.
func TestCalibration(t *testing.T) {
	b := testbackend.Go(t)
	rng := rand.New(rand.NewPCG(2018, 1))
	const n = 4000
	thetas, laws := twoModes.problem(n, rng)
	for i, c := range append(walks(laws, 80), waysDown(t, laws)...) {
		calibrated(t, c.name, laws, chainsOfOne(t, b, c, n, int64(i)), thetas, rng)
	}

	// By Bayes' rule the score of the prior guided by that of y given the noised θ is that of θ given y and noised.
	prior := make(posteriors, n)
	for i := range prior {
		prior[i] = twoModes
	}
	likelihood := scorekit.Score(func(vars *mlctx.Context, x, sigma *sampler.Node) *sampler.Node {
		return graph.Sub(laws.Score(vars, x, sigma), prior.Score(vars, x, sigma))
	})
	guided, err := sampler.Guide(prior, likelihood, 1)
	if err != nil {
		t.Fatal(err)
	}
	flow := sampler.DormandPrince{From: 500, To: 0.01, Denoise: true}
	calibrated(t, "guided", laws, chainsOfOne(t, b, trial{"guided", guided, flow, nil}, n, 50), thetas, rng)

	_, laws = oneMode.problem(n, rng)
	for i, c := range stepped(laws) {
		known := make([]inference, n)
		for j, q := range laws {
			known[j] = q
			if c.law != nil {
				known[j] = c.law(q)
			}
		}
		calibrated(t, c.name+", long step", known, chainsOfOne(t, b, c, n, int64(60+i)), nil, rng)
	}
}

// Geweke's joint-distribution test (2004): θ and y are drawn together once from the prior, and then again and again by
// turns, θ by a sampler given y, y given θ. If the sampler leaves the law of θ given y as it is, the joint law stays what it
// was; an error, however small, adds up over the rounds. 8,000 chains, each with its own y, give independent pairs: their
// moments are compared with the exact ones to 5 standard errors.
func TestJointDistribution(t *testing.T) {
	b := testbackend.Go(t)
	const n = 8000
	first, second, cosine := twoModes.moments()
	run := func(name string, rounds int, goesOn bool, at func(p posteriors) trial) {
		t.Helper()
		rng := rand.New(rand.NewPCG(2004, uint64(rounds)))
		thetas, laws := twoModes.problem(n, rng)
		ys := make([]float64, n)
		for round := range rounds {
			var options []scorekit.SampleOption
			if goesOn {
				options = append(options, scorekit.WithStart(onePerRow(thetas)))
			}
			thetas = chainsOfOne(t, b, at(laws), n, int64(round), options...)
			for i, theta := range thetas {
				ys[i] = theta + rng.NormFloat64()
				laws[i] = twoModes.given(ys[i])
			}
		}
		mean := func(what string, want float64, of func(theta, y float64) float64) {
			t.Helper()
			values := make([]float64, n)
			for i := range values {
				values[i] = of(thetas[i], ys[i])
			}
			testvalues.MeanWithin(t, name+": mean of "+what, values, want)
		}
		mean("θ", first, func(theta, _ float64) float64 { return theta })
		mean("θ²", second, func(theta, _ float64) float64 { return theta * theta })
		mean("cos θ", cosine, func(theta, _ float64) float64 { return math.Cos(theta) })
		mean("y", first, func(_, y float64) float64 { return y })
		mean("y²", second+1, func(_, y float64) float64 { return y * y })
		mean("θy", second, func(theta, y float64) float64 { return theta * y })
	}
	for i, c := range walks(nil, 4) {
		run(c.name, 20, true, func(p posteriors) trial { return walks(p, 4)[i] })
	}
	for i, c := range waysDown(t, nil) {
		switch c.name { // one of each kind; all of them forget where a chain was
		case "reverse SDE, levels", "reverse diffusion, corrected", "churn", "DDPM", "DDIM", "Dormand–Prince, levels", "flow, solver 2, noise":
			run(c.name, 3, false, func(p posteriors) trial { return waysDown(t, p)[i] })
		}
	}
}

// Unadjusted chains change the joint law in a way that is known where everything is Gaussian: k steps take θ − m(y) to ρᵏ of
// it, and add noise. By turns with y = θ + error, m(y) = c y + const, the variance of θ goes from round to round as
//
//	V ← (ρᵏ + (1 − ρᵏ)c)² V + ((1 − ρᵏ)c)² + 2εT (1 − ρ²ᵏ)/(1 − ρ²),  ρ = 1 − ε/v
//
// and that of y is V + 1. 8,000 chains must have them within 5 standard errors.
func TestJointDistributionOfLangevin(t *testing.T) {
	b := testbackend.Go(t)
	const n, rounds, steps = 8000, 10, 3
	prior := oneMode.spread * oneMode.spread
	v := prior / (1 + prior)
	for _, c := range []struct {
		name    string
		epsilon float64
		level   float64 // of the noise that the score knows of
		sampler scorekit.Sampler
	}{
		{"ε", 0.5 * v, 0, sampler.Langevin{StepSize: 0.5 * v, Steps: steps}},
		{"α", 0.5 * v, 0, sampler.Langevin{Alpha: v, Steps: steps}},
		{"annealed", 0.5 * v, 0.4, sampler.AnnealedLangevin{Sigmas: []float64{0.4}, StepSize: v, StepsPerLevel: steps}},
	} {
		rng := rand.New(rand.NewPCG(1996, 7))
		thetas, laws := oneMode.problem(n, rng)
		rho := 1 - c.epsilon/(v+c.level*c.level)
		kept := math.Pow(rho, steps)
		noise := 2 * c.epsilon * (1 - kept*kept) / (1 - rho*rho)
		variance := prior
		ys := make([]float64, n)
		for round := range rounds {
			thetas = chainsOfOne(t, b, trial{c.name, laws, c.sampler, nil}, n, int64(round), scorekit.WithStart(onePerRow(thetas)))
			for i, theta := range thetas {
				ys[i] = theta + rng.NormFloat64()
				laws[i] = oneMode.given(ys[i])
			}
			pull := (1 - kept) * v // c = v, as y has the variance 1
			variance = (kept+pull)*(kept+pull)*variance + pull*pull + noise
		}
		centre := oneMode.means[0]
		for what, of := range map[string]func(i int) (value, want float64){
			"θ":          func(i int) (float64, float64) { return thetas[i], centre },
			"(θ − m)²":   func(i int) (float64, float64) { return math.Pow(thetas[i]-centre, 2), variance },
			"(y − m)²":   func(i int) (float64, float64) { return math.Pow(ys[i]-centre, 2), variance + 1 },
			"(θ−m)(y−m)": func(i int) (float64, float64) { return (thetas[i] - centre) * (ys[i] - centre), variance },
		} {
			values, want := make([]float64, n), 0.0
			for i := range values {
				values[i], want = of(i)
			}
			testvalues.MeanWithin(t, "Langevin, "+c.name+": mean of "+what, values, want)
		}
	}
}

// onePerRow is values as points of one number.
func onePerRow(values []float64) [][]float64 {
	rows := make([][]float64, len(values))
	for i, v := range values {
		rows[i] = []float64{v}
	}
	return rows
}
