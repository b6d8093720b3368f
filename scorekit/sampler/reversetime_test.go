package sampler_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/random"
	"github.com/scorekit/lab/scorekit/sampler"
	"github.com/scorekit/lab/scorekit/sde"
)

// backwards lists every sampler that runs a diffusion backwards, in all its ways, with few steps.
func backwards() map[string]scorekit.Sampler {
	vp, sigmas := sde.VP{}, []float64{20, 5, 1, 0.2}
	return map[string]scorekit.Sampler{
		"reverse SDE":             sampler.ReverseSDE{SDE: vp, Steps: 5, Denoise: true},
		"reverse SDE, levels":     sampler.ReverseSDE{Sigmas: sigmas, Denoise: true},
		"reverse diffusion":       sampler.PredictorCorrector{SDE: vp, Steps: 5, Corrections: 1, Denoise: true},
		"Euler–Maruyama, first":   sampler.PredictorCorrector{SDE: vp, Steps: 5, Move: sampler.EulerMaruyama, Corrections: 2, PerChain: true, PredictorFirst: true, Denoise: true},
		"ancestral":               sampler.PredictorCorrector{Sigmas: sigmas, Move: sampler.Ancestral, Corrections: 1, Renew: 0.1, Denoise: true},
		"corrector alone":         sampler.PredictorCorrector{Sigmas: sigmas, Move: sampler.Stay, Corrections: 2, Denoise: true},
		"Euler":                   sampler.ProbabilityFlow{SDE: sde.SubVP{}, Steps: 5, Solver: sampler.Euler, Denoise: true},
		"Heun":                    sampler.ProbabilityFlow{Sigmas: sigmas, Denoise: true},
		"DPM-Solver++":            sampler.ProbabilityFlow{SDE: sde.VE{SigmaMax: 20, SigmaMin: 0.01}, Steps: 5, Solver: sampler.DPMSolver2M, Denoise: true},
		"DPM-Solver":              sampler.ProbabilityFlow{SDE: vp, Steps: 5, Solver: sampler.DPMSolver2, Denoise: true},
		"DPM-Solver, noise":       sampler.ProbabilityFlow{Sigmas: sigmas, Solver: sampler.DPMSolver2, Eta: 0.5, Denoise: true},
		"DPM-Solver++(2S)":        sampler.ProbabilityFlow{SDE: vp, Steps: 5, Solver: sampler.DPMSolver2S, Eta: 1, Denoise: true},
		"DPM-Solver++ SDE":        sampler.ProbabilityFlow{SDE: vp, Steps: 5, Solver: sampler.DPMSolverSDE, Eta: 0.7, Denoise: true},
		"DPM-Solver++ SDE, calm":  sampler.ProbabilityFlow{Sigmas: sigmas, Solver: sampler.DPMSolverSDE, Denoise: true},
		"DPM-Solver++(2M), noise": sampler.ProbabilityFlow{SDE: vp, Steps: 5, Solver: sampler.DPMSolver2M, Eta: 0.5, Denoise: true},
		"DPM-Solver++(3M)":        sampler.ProbabilityFlow{Sigmas: sigmas, Solver: sampler.DPMSolver3M, Eta: 1, Denoise: true},
		"AB, 2":                   sampler.ProbabilityFlow{SDE: vp, Steps: 5, Solver: sampler.AdamsBashforth2, Denoise: true},
		"AB, 4":                   sampler.ProbabilityFlow{Sigmas: sigmas, Solver: sampler.AdamsBashforth4, Denoise: true},
		"exponential AB, 2":       sampler.ProbabilityFlow{SDE: vp, Steps: 5, Solver: sampler.ExponentialAB2, Denoise: true},
		"exponential AB, 3":       sampler.ProbabilityFlow{Sigmas: sigmas, Solver: sampler.ExponentialAB3, Eta: 0.3, Denoise: true},
		"churn":                   sampler.Churn{Sigmas: sigmas, Amount: 2, Denoise: true},
		"churn, Euler":            sampler.Churn{Sigmas: sigmas, Amount: 2, Solver: sampler.Euler, Denoise: true},
		"Dormand–Prince":          sampler.DormandPrince{SDE: sde.OrnsteinUhlenbeck{}, Denoise: true},
		"Dormand–Prince, levels":  sampler.DormandPrince{From: 20, To: 0.2, Denoise: true},
	}
}

// unit is the score of N(0, I) with noise, for points of any shape.
var unit = scorekit.Score(func(_ *mlctx.Context, x, sigma *sampler.Node) *sampler.Node {
	dims := slices.Repeat([]int{1}, x.Rank())
	dims[0] = x.Shape().Dimensions[0]
	return graph.Neg(graph.Div(x, graph.AddScalar(graph.Square(graph.Reshape(sigma, dims...)), 1)))
})

// Every sampler runs one chain, one step, points of one coordinate and of odd shapes, which are moved as the same points
// laid out flat, and three chains and then two with one object.
func TestShapesBackwards(t *testing.T) {
	b := testbackend.Go(t)
	run := func(t *testing.T, s scorekit.Sampler, dims []int, options ...scorekit.SampleOption) *scorekit.Draws {
		t.Helper()
		options = append([]scorekit.SampleOption{scorekit.WithDType(dtypes.Float64), scorekit.WithShape(dims[1:]...), scorekit.WithSeed(3)}, options...)
		d, err := scorekit.Sample(context.Background(), b, unit, s, dims[0], options...)
		if err != nil {
			t.Fatal(err)
		}
		if got := d.X.Shape().Dimensions; !slices.Equal(got, dims) {
			t.Fatalf("shape %v, want %v", got, dims)
		}
		return d
	}
	for name, s := range backwards() {
		t.Run(name, func(t *testing.T) {
			run(t, s, []int{1, 1})
			run(t, s, []int{3, 3})
			run(t, s, []int{2, 3})
			deep := run(t, s, []int{2, 1, 5, 7}, scorekit.WithTrajectory(1), scorekit.WithPredictions())
			flat := run(t, s, []int{2, 35})
			testvalues.NearOne(t, "flat", testvalues.Flat(t, flat.X), testvalues.Flat(t, deep.X), 1e-12)
			// The last step denoises: its points are what is predicted for them.
			testvalues.NearOne(t, "prediction at the end", testvalues.Flat(t, deep.Predicted), testvalues.Flat(t, deep.X), 0)
			last := len(deep.Trajectory) - 1
			testvalues.NearOne(t, "trajectory's end", testvalues.Flat(t, deep.Trajectory[last].X), testvalues.Flat(t, deep.X), 0)
			if deep.Trajectory[1].Predicted == nil {
				t.Error("no prediction on the way")
			}
		})
	}
	for name, s := range map[string]scorekit.Sampler{
		"reverse SDE":   sampler.ReverseSDE{SDE: sde.VP{}, Steps: 1},
		"denoise alone": sampler.ReverseSDE{SDE: sde.VP{}, Times: []float64{0.5}, Denoise: true},
		"flow":          sampler.ProbabilityFlow{Sigmas: []float64{1, 0}},
		"corrector":     sampler.PredictorCorrector{Sigmas: []float64{1, 0.5}, Corrections: 1},
		"churn":         sampler.Churn{Sigmas: []float64{1, 0}, Amount: 1},
	} {
		t.Run("one step: "+name, func(t *testing.T) { run(t, s, []int{1, 1}) })
	}
}

// The two backends agree on a step of each sampler, for points of an odd shape.
func TestBackendsAgreeBackwards(t *testing.T) {
	all := backwards()
	names := slices.Sorted(func(yield func(string) bool) {
		for name := range all {
			if !yield(name) {
				return
			}
		}
	})
	var first [][]float64
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.Run(t, b, func(g *graph.Graph) []*graph.Node {
			var out []*graph.Node
			point := make([]float64, 2*35)
			for i := range point {
				point[i] = 3 * math.Sin(float64(3*i+1))
			}
			x := graph.ConstTensor(g, tensors.FromFlatDataAndDimensions(point, 2, 1, 5, 7))
			for _, name := range names {
				s := all[name]
				rng := random.Listed(g, graph.Cos(x), graph.Sin(x), graph.Cos(graph.MulScalar(x, 2)))
				state := s.Init(nil, rng, unit, x)
				for _, values := range schedule(t, s).Rows[:2] {
					var row []*graph.Node
					for _, v := range values {
						row = append(row, graph.Scalar(g, dtypes.Float64, v))
					}
					rng := random.Listed(g, graph.Cos(x), graph.Sin(x), graph.Cos(graph.MulScalar(x, 2)))
					state, _ = s.Step(nil, rng, unit, state, row)
				}
				out = append(out, state.X)
			}
			return out
		})
		if first == nil {
			first = got
		}
		for i, name := range names {
			testvalues.NearOne(t, name, got[i], first[i], 1e-12)
		}
	})
}

// Chains on the mixture ⅕ N(−5·1, I) + ⅘ N(5·1, I) in two dimensions (Song and Ermon 2019, fig. 3) recover the weights,
// within 4 standard errors of 4,000 chains, √(0.2·0.8/4000) = 0.0063. The priors are wide enough: what they leave out, the
// mean of the data, 4.2 Mean(T)/Std(T) standard deviations, moves the weights by 0.28 times that, at most 0.0023. Where
// the steps have no bias beyond 0.01, the spread within the modes is right, too, within 5 standard errors.
func TestMixtureBackwards(t *testing.T) {
	left, err := density.Isotropic([]float64{-5, -5}, 1)
	if err != nil {
		t.Fatal(err)
	}
	right, err := density.Isotropic([]float64{5, 5}, 1)
	if err != nil {
		t.Fatal(err)
	}
	p, err := density.NewMixture([]float64{0.2, 0.8}, left, right)
	if err != nil {
		t.Fatal(err)
	}
	sigmas, err := sde.KarrasSigmas(1000, 0.002, 60, 7)
	if err != nil {
		t.Fatal(err)
	}
	wide := sde.VE{SigmaMin: 0.01, SigmaMax: 1000}
	const n = 4000
	for _, c := range []struct {
		name    string
		sampler scorekit.Sampler
		exact   bool
		xla     bool
	}{
		{"reverse SDE", sampler.ReverseSDE{SDE: sde.VP{BetaMin: 0.1, BetaMax: 25}, Steps: 500, Denoise: true}, false, false},
		{"predictor–corrector", sampler.PredictorCorrector{SDE: wide, Steps: 200, Corrections: 1, Denoise: true}, false, false},
		{"predictor–corrector, shares", sampler.PredictorCorrector{SDE: wide, Steps: 200, Move: sampler.Ancestral, Corrections: 1, Renew: 0.1, Denoise: true}, false, false},
		{"Heun", sampler.ProbabilityFlow{Sigmas: sigmas, Denoise: true}, true, true},
		{"Euler", sampler.ProbabilityFlow{Sigmas: sigmas, Solver: sampler.Euler, Denoise: true}, false, false},
		{"DPM-Solver++", sampler.ProbabilityFlow{Sigmas: sigmas, Solver: sampler.DPMSolver2M, Denoise: true}, true, false},
		{"Dormand–Prince", sampler.DormandPrince{SDE: wide, Denoise: true}, true, false},
		{"DPM-Solver, noise", sampler.ProbabilityFlow{Sigmas: sigmas, Solver: sampler.DPMSolver2, Eta: 1, Denoise: true}, true, false},
		{"DPM-Solver++ SDE", sampler.ProbabilityFlow{Sigmas: sigmas, Solver: sampler.DPMSolverSDE, Eta: 1, Denoise: true}, true, false},
		{"DPM-Solver++(3M), noise", sampler.ProbabilityFlow{Sigmas: sigmas, Solver: sampler.DPMSolver3M, Eta: 0.5, Denoise: true}, true, false},
		{"Adams–Bashforth", sampler.ProbabilityFlow{Sigmas: sigmas, Solver: sampler.AdamsBashforth4, Denoise: true}, true, false},
		{"churn", sampler.Churn{Sigmas: sigmas, Amount: 20, Denoise: true}, true, false},
	} {
		check := func(t *testing.T, b backends.Backend) {
			d, err := scorekit.Sample(context.Background(), b, p, c.sampler, n, scorekit.WithDType(dtypes.Float64), scorekit.WithSeed(2), scorekit.WithUnroll(1))
			if err != nil {
				t.Fatal(err)
			}
			share := testvalues.Mean(column(t, d.X, func(x []float64) float64 {
				if x[0]+x[1] > 0 {
					return 1
				}
				return 0
			}))
			t.Logf("share of the right mode %v, %v", share, d.Info)
			if se := math.Sqrt(0.2 * 0.8 / n); !(math.Abs(share-0.8) <= 4*se) {
				t.Errorf("share of the right mode %v, want 0.8 within 4·%v", share, se)
			}
			if c.exact {
				testvalues.MeanWithin(t, "spread", column(t, d.X, func(x []float64) float64 {
					u, v := math.Abs(x[0])-5, math.Abs(x[1])-5
					return (u*u + v*v) / 2
				}), 1)
			}
		}
		t.Run(c.name, func(t *testing.T) {
			if c.xla {
				testbackend.Each(t, check)
				return
			}
			check(t, testbackend.Go(t))
		})
	}
}

// The moves of the predictor–corrector for the variance-preserving chain are those of the paper and of Ho et al. (2020):
// with ᾱ of two levels and β = 1 − ᾱ/ᾱ′, algorithm 3 is (2 − √(1−β))x + βs + √β z and ancestral sampling
// (x + βs)/√(1−β) + √(β(1−ᾱ′)/(1−ᾱ)) z. A correction of r = √(1−β) has 2(1−β)SNR², algorithm 5.
func TestMoves(t *testing.T) {
	vp, times := sde.VP{}, []float64{0.5, 0.45, 0.4}
	from, to := vp.Marginal(0.5), vp.Marginal(0.45)
	beta := 1 - from.Mean*from.Mean/(to.Mean*to.Mean)
	row := func(s sampler.PredictorCorrector) []float64 {
		s.SDE, s.Times = vp, times
		return schedule(t, s).Rows[0]
	}
	reverse := row(sampler.PredictorCorrector{Corrections: 1, SNR: 0.2})
	testvalues.Near(t, "levels", reverse[:5], []float64{0.45, from.Mean, from.Std, to.Mean, to.Std}, 1e-15)
	testvalues.Near(t, "reverse diffusion", reverse[5:8], []float64{2 - math.Sqrt(1-beta), beta, math.Sqrt(beta)}, 1e-12)
	testvalues.Near(t, "correction", reverse[8:], []float64{from.Mean, from.Std, 2 * (1 - beta) * 0.04, 0}, 1e-12)
	first := row(sampler.PredictorCorrector{Corrections: 1, Renew: 0.36, PredictorFirst: true})
	testvalues.Near(t, "share", first[8:], []float64{to.Mean, to.Std, 0.2 * to.Std * to.Std, 0.6 * to.Std}, 1e-12)
	root := math.Sqrt(1 - beta)
	ancestral := row(sampler.PredictorCorrector{Move: sampler.Ancestral})
	testvalues.Near(t, "ancestral", ancestral[5:8], []float64{1 / root, beta / root, math.Sqrt(beta) * to.Std / from.Std}, 1e-12)
	flow := row(sampler.PredictorCorrector{Move: sampler.Flow})
	testvalues.Near(t, "flow", flow[5:8], []float64{1 / root, from.Std * (from.Std/root - to.Std), 0}, 1e-12)
	euler := row(sampler.PredictorCorrector{Move: sampler.EulerMaruyama})
	b := vp.Beta(0.5)
	testvalues.Near(t, "Euler–Maruyama", euler[5:8], []float64{1 + b*0.05/2, b * 0.05, math.Sqrt(b * 0.05)}, 1e-12)
	testvalues.Near(t, "stay", row(sampler.PredictorCorrector{Move: sampler.Stay, Corrections: 1})[5:8], []float64{1, 0, 0}, 0)
}

// The order of moves and corrections, and the norms: on the score −x of points x = (3, 4) and (0, 1) with noise z, a
// correction is x(1 − ε) + √(2ε) z with ε = 2·SNR²·(‖z‖/‖x‖)², where the norms are those of each chain, or means.
func TestCorrectionRules(t *testing.T) {
	x, z := [][]float64{{3, 4}, {0, 1}}, [][]float64{{1, -2}, {2, 1}}
	quiet := [][]float64{{0, 0}, {0, 0}}
	linear := func([]*sampler.Node) scorekit.Score {
		return testvalues.Ignoring(graph.Neg)
	}
	correct := func(x [][]float64, eps ...float64) []float64 {
		var out []float64
		for i := range x {
			for j := range x[i] {
				out = append(out, x[i][j]*(1-eps[i])+math.Sqrt(2*eps[i])*z[i][j])
			}
		}
		return out
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		s := sampler.PredictorCorrector{Sigmas: []float64{2, 1, 0.5}, Corrections: 1, SNR: 0.3}
		drift := func(x [][]float64) [][]float64 { return times(1-3, x) } // 2² − 1² = 3
		row := schedule(t, s).Rows[0]
		ratio := math.Sqrt(5) / 3 // means of √5 and √5, and of 5 and 1
		eps := 2 * 0.09 * ratio * ratio
		w := newWalker(t, b, s, 2, linear)
		want := drift(matrixOf(correct(x, eps, eps), 2))
		testvalues.NearOne(t, "correction first", slices.Concat(w.step(x, [][][]float64{z, quiet}, row)...), slices.Concat(want...), 1e-13)
		s.PredictorFirst = true
		w = newWalker(t, b, s, 2, linear)
		eps /= 4 // ‖x‖ is twice as large after the drift
		testvalues.NearOne(t, "move first", slices.Concat(w.step(x, [][][]float64{quiet, z}, schedule(t, s).Rows[0])...), correct(drift(x), eps, eps), 1e-13)
		s = sampler.PredictorCorrector{Sigmas: []float64{2, 1}, Move: sampler.Stay, Corrections: 1, SNR: 0.3, PerChain: true}
		w = newWalker(t, b, s, 1, linear)
		testvalues.NearOne(t, "per chain", slices.Concat(w.step(x, [][][]float64{z}, schedule(t, s).Rows[0])...), correct(x, 0.18*5/25, 0.18*5), 1e-13)
		testvalues.NearOne(t, "no score", slices.Concat(w.step(quiet, [][][]float64{z}, schedule(t, s).Rows[0])...), slices.Concat(quiet...), 0)
	})
}

func matrixOf(flat []float64, d int) [][]float64 { return slices.Collect(slices.Chunk(flat, d)) }

// Denoise ends with Tweedie's formula, from a state of the process with its Mean, whatever the sampler; levels that end
// in 0 end so, too.
func TestDenoiseBackwards(t *testing.T) {
	mu, s := []float64{0.7, -1}, []float64{0.5, 1.2}
	x := [][]float64{{0.3, -0.4}}
	vp := sde.VP{}
	at := vp.Marginal(0.3)
	tweedie := func(x float64, i int, l sde.Level) float64 {
		v := l.Mean*l.Mean*s[i]*s[i] + l.Std*l.Std
		return mu[i] + l.Mean*s[i]*s[i]/v*(x-l.Mean*mu[i])
	}
	b := testbackend.Go(t)
	for name, c := range map[string]struct {
		sampler scorekit.Sampler
		at      sde.Level
		draws   int
	}{
		"reverse SDE":       {sampler.ReverseSDE{SDE: vp, Times: []float64{0.3}, Denoise: true}, at, 1},
		"levels":            {sampler.ReverseSDE{Sigmas: []float64{0.8, 0}}, sde.Level{Mean: 1, Std: 0.8}, 1},
		"reverse diffusion": {sampler.PredictorCorrector{SDE: vp, Times: []float64{0.3}, Denoise: true}, at, 1},
		"no move":           {sampler.PredictorCorrector{SDE: vp, Times: []float64{0.3}, Move: sampler.Stay, Corrections: 1, PredictorFirst: true, Denoise: true}, at, 1},
		"Heun":              {sampler.ProbabilityFlow{SDE: vp, Times: []float64{0.3}, Denoise: true}, at, 0},
		"Euler":             {sampler.ProbabilityFlow{SDE: vp, Times: []float64{0.3}, Solver: sampler.Euler, Denoise: true}, at, 0},
		"Euler, levels":     {sampler.ProbabilityFlow{Sigmas: []float64{0.8, 0}, Solver: sampler.Euler}, sde.Level{Mean: 1, Std: 0.8}, 0},
		"DPM-Solver++":      {sampler.ProbabilityFlow{SDE: vp, Times: []float64{0.3}, Solver: sampler.DPMSolver2M, Denoise: true}, at, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWalker(t, b, c.sampler, c.draws, gaussianScore)
			w.start(x)
			rows := schedule(t, c.sampler).Rows
			got := w.step(x, [][][]float64{{{5, 5}}}, rows[len(rows)-1], mu, s)
			testvalues.NearOne(t, "end", got[0], []float64{tweedie(0.3, 0, c.at), tweedie(-0.4, 1, c.at)}, 1e-13)
		})
	}
	// DormandPrince knows the score from its last slope. Of its two chains one arrives earlier and waits.
	p, err := density.Diagonal(mu, s)
	if err != nil {
		t.Fatal(err)
	}
	start := [][]float64{{300, -0.4}, {0.3, -0.4}}
	for name, c := range map[string]struct {
		sampler sampler.DormandPrince
		at      sde.Level
	}{
		"VP":     {sampler.DormandPrince{SDE: vp, From: 0.5, To: 0.3, RelTol: 1e-12}, at},
		"levels": {sampler.DormandPrince{From: 1.5, To: 0.8, RelTol: 1e-12}, sde.Level{Mean: 1, Std: 0.8}},
	} {
		run := func(s sampler.DormandPrince, start [][]float64) *scorekit.Draws {
			d, err := scorekit.Sample(context.Background(), b, p, s, len(start),
				scorekit.WithStart(start), scorekit.WithDType(dtypes.Float64), scorekit.WithPredictions(), scorekit.WithTrajectory(1))
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		plain := run(c.sampler, start)
		c.sampler.Denoise = true
		clean := run(c.sampler, start)
		if alone := run(c.sampler, start[1:]); len(alone.Trajectory) >= len(clean.Trajectory) {
			t.Errorf("Dormand–Prince, %s: both chains arrive after %d steps", name, len(alone.Trajectory)-1)
		}
		var want []float64
		for _, x := range matrix(t, plain.X) {
			want = append(want, tweedie(x[0], 0, c.at), tweedie(x[1], 1, c.at))
		}
		testvalues.Near(t, "Dormand–Prince: predicted, "+name, testvalues.Flat(t, plain.Predicted), want, 1e-12)
		testvalues.Near(t, "Dormand–Prince: denoised, "+name, testvalues.Flat(t, clean.X), want, 1e-12)
	}
}

// Predictions on the way are Tweedie's formula at the level that a step has reached, and chains start at the prior's.
func TestPredictionAndStart(t *testing.T) {
	b := testbackend.Go(t)
	p, err := density.Isotropic([]float64{1, -1}, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	vp := sde.VP{}
	for name, s := range map[string]scorekit.Sampler{
		"reverse SDE": sampler.ReverseSDE{SDE: vp, Times: []float64{0.6, 0.4}},
		"corrector":   sampler.PredictorCorrector{SDE: vp, Times: []float64{0.6, 0.4}},
		"flow":        sampler.ProbabilityFlow{SDE: vp, Times: []float64{0.6, 0.4}},
	} {
		d, err := scorekit.Sample(context.Background(), b, p, s, 3, scorekit.WithDType(dtypes.Float64), scorekit.WithPredictions())
		if err != nil {
			t.Fatal(err)
		}
		at := vp.Marginal(0.4)
		v := at.Mean*at.Mean*0.25 + at.Std*at.Std
		var want []float64
		for i, x := range testvalues.Flat(t, d.X) {
			m := 1 - 2*float64(i%2)
			want = append(want, m+at.Mean*0.25/v*(x-at.Mean*m))
		}
		testvalues.NearOne(t, name, testvalues.Flat(t, d.Predicted), want, 1e-12)
	}
	for name, c := range map[string]struct {
		sampler scorekit.Sampler
		std     float64
	}{
		"prior":                   {sampler.ReverseSDE{SDE: sde.VE{SigmaMin: 0.1, SigmaMax: 30}, Steps: 2}, 30},
		"before the end":          {sampler.ProbabilityFlow{SDE: vp, Times: []float64{0.3, 0.2}}, vp.Marginal(0.3).Std},
		"levels":                  {sampler.PredictorCorrector{Sigmas: []float64{7, 1}}, 7},
		"churn":                   {sampler.Churn{Sigmas: []float64{7, 1}}, 7},
		"Dormand–Prince":          {sampler.DormandPrince{SDE: sde.OrnsteinUhlenbeck{Sigma: 2}}, math.Sqrt2},
		"Dormand–Prince, earlier": {sampler.DormandPrince{SDE: vp, From: 0.3, To: 0.1}, vp.Marginal(0.3).Std},
		"Dormand–Prince, levels":  {sampler.DormandPrince{From: 9, To: 1}, 9},
	} {
		got := testvalues.Run(t, b, func(g *graph.Graph) []*graph.Node {
			return []*graph.Node{c.sampler.(scorekit.Starter).Start(random.Listed(g, graph.Const(g, []float64{1})), 1, 1)}
		})
		testvalues.Near(t, name, got[0], []float64{c.std}, 1e-14)
	}
	if _, ok := any(sampler.DormandPrince{}).(sampler.Noised); ok {
		t.Error("chains of Dormand–Prince have no common level")
	}
	for name, s := range backwards() {
		noised, ok := s.(sampler.Noised)
		if !ok {
			continue
		}
		levels, err := noised.NoiseLevels()
		if err != nil {
			t.Fatal(err)
		}
		rows := schedule(t, s).Rows
		for k, row := range rows {
			if (sde.Level{Mean: row[3], Std: row[4]}) != levels[k+1] {
				t.Errorf("%s: level %d is %v, the schedule's %v", name, k+1, levels[k+1], row[3:5])
			}
		}
		if len(levels) != len(rows)+1 {
			t.Errorf("%s: %d levels for %d steps", name, len(levels), len(rows))
		}
	}
}

// Impossible settings are errors that name them.
func TestErrorsBackwards(t *testing.T) {
	nan, vp, two := math.NaN(), sde.VP{}, []float64{2, 1}
	for want, s := range map[string]scorekit.Sampler{
		"reverse SDE: neither SDE nor Sigmas: one must be given":                                   sampler.ReverseSDE{},
		"reverse SDE: SDE and Sigmas: only one may be given":                                       sampler.ReverseSDE{SDE: vp, Sigmas: two},
		"reverse SDE: Times and Sigmas: only one may be given":                                     sampler.ReverseSDE{Times: two, Sigmas: two},
		"reverse SDE: -1 steps: must be positive":                                                  sampler.ReverseSDE{SDE: vp, Steps: -1},
		"reverse SDE: sde: VP: BetaMin -1: must be":                                                sampler.ReverseSDE{SDE: sde.VP{BetaMin: -1}},
		"reverse SDE: Times[1] = 0.6: must be below the one before it, 0.5":                        sampler.ReverseSDE{SDE: vp, Times: []float64{0.5, 0.6}},
		"reverse SDE: Times[1] = 0: sde.VP has no finite score":                                    sampler.ReverseSDE{SDE: vp, Times: []float64{0.5, 0}},
		"reverse SDE: Times[0] = NaN: sde.VP has no finite score":                                  sampler.ReverseSDE{SDE: vp, Times: []float64{nan, 0.1}},
		"reverse SDE: Times[0] = 1: sde.Rectified has no finite score":                             sampler.ReverseSDE{SDE: sde.Rectified{}, Times: []float64{1, 0.1}},
		"reverse SDE: no Times: there must be at least one":                                        sampler.ReverseSDE{SDE: vp, Times: []float64{}},
		"reverse SDE: grid of one point: must have at least two, or Denoise":                       sampler.ReverseSDE{SDE: vp, Times: []float64{1}},
		"predictor–corrector: no Sigmas: there must be at least one":                               sampler.PredictorCorrector{Sigmas: []float64{}},
		"predictor–corrector: Sigmas[1] = 2: must be below the one before it, 2":                   sampler.PredictorCorrector{Sigmas: []float64{2, 2}},
		"predictor–corrector: Sigmas[0] = 0: must be positive":                                     sampler.PredictorCorrector{Sigmas: []float64{0}},
		"predictor–corrector: Sigmas[1] = 0: must be positive":                                     sampler.PredictorCorrector{Sigmas: []float64{2, 0, 1}},
		"predictor–corrector: Sigmas[0] = +Inf: must be positive and finite":                       sampler.PredictorCorrector{Sigmas: []float64{math.Inf(1), 1}},
		"predictor–corrector: Move 5: must be":                                                     sampler.PredictorCorrector{Sigmas: two, Move: 5},
		"predictor–corrector: EulerMaruyama with Sigmas: needs an SDE":                             sampler.PredictorCorrector{Sigmas: two, Move: sampler.EulerMaruyama},
		"predictor–corrector: Eta NaN: must be":                                                    sampler.PredictorCorrector{Sigmas: two, Move: sampler.Ancestral, Eta: nan},
		"predictor–corrector: Eta 0.5: is of the move Ancestral":                                   sampler.PredictorCorrector{Sigmas: two, Eta: 0.5},
		"predictor–corrector: -1 corrections: must not be negative":                                sampler.PredictorCorrector{Sigmas: two, Corrections: -1},
		"predictor–corrector: SNR -1: must be":                                                     sampler.PredictorCorrector{Sigmas: two, Corrections: 1, SNR: -1},
		"predictor–corrector: Renew 1.5: must be from 0 to 1":                                      sampler.PredictorCorrector{Sigmas: two, Corrections: 1, Renew: 1.5},
		"predictor–corrector: Renew with SNR or PerChain: only one rule":                           sampler.PredictorCorrector{Sigmas: two, Corrections: 1, Renew: 0.5, PerChain: true},
		"probability flow: Solver 11: must be Heun, Euler, DPMSolver2M, ":                          sampler.ProbabilityFlow{Sigmas: two, Solver: 11},
		"probability flow: Solver -1: must be Heun, Euler, DPMSolver2M, ":                          sampler.ProbabilityFlow{Sigmas: two, Solver: -1},
		"probability flow: Eta 1.5: must be from 0 to 1":                                           sampler.ProbabilityFlow{Sigmas: two, Solver: sampler.DPMSolver2, Eta: 1.5},
		"probability flow: Eta NaN: must be from 0 to 1":                                           sampler.ProbabilityFlow{Sigmas: two, Solver: sampler.DPMSolver2, Eta: nan},
		"probability flow: Eta 1 with Heun: must be 0, or the solver a DPMSolver or ExponentialAB": sampler.ProbabilityFlow{Sigmas: two, Eta: 1},
		"probability flow: Eta 0.5 with AdamsBashforth4: must be 0":                                sampler.ProbabilityFlow{Sigmas: two, Solver: sampler.AdamsBashforth4, Eta: 0.5},
		"churn: no Sigmas":                                                sampler.Churn{},
		"churn: Solver 2: must be Heun or Euler":                          sampler.Churn{Sigmas: two, Solver: sampler.DPMSolver2M},
		"churn: Amount -1: must be finite and not negative":               sampler.Churn{Sigmas: two, Amount: -1},
		"churn: Noise +Inf: must be finite":                               sampler.Churn{Sigmas: two, Noise: math.Inf(1)},
		"churn: Min 3: must be at most Max, 2":                            sampler.Churn{Sigmas: two, Min: 3, Max: 2},
		"Dormand–Prince: neither SDE nor From and To":                     sampler.DormandPrince{},
		"Dormand–Prince: From 1 and To 2: must be":                        sampler.DormandPrince{From: 1, To: 2},
		"Dormand–Prince: From 1 and To 0: must be":                        sampler.DormandPrince{From: 1},
		"Dormand–Prince: From and To: time 0: sde.VP has no finite score": sampler.DormandPrince{SDE: vp, From: 1},
		"Dormand–Prince: RelTol -1: must be positive and finite":          sampler.DormandPrince{SDE: vp, RelTol: -1},
		"Dormand–Prince: AbsTol NaN: must be positive and finite":         sampler.DormandPrince{SDE: vp, AbsTol: nan},
		"Dormand–Prince: MaxSteps -1: must be positive":                   sampler.DormandPrince{SDE: vp, MaxSteps: -1},

		"reverse SDE: Steps 5 and Times: only one may be given":                                                      sampler.ReverseSDE{SDE: vp, Steps: 5, Times: []float64{1, 0.5}},
		"predictor–corrector: Steps 5 and Sigmas: only one may be given":                                             sampler.PredictorCorrector{Steps: 5, Sigmas: two},
		"probability flow: Steps 5 and Times: only one may be given":                                                 sampler.ProbabilityFlow{SDE: vp, Steps: 5, Times: []float64{1, 0.5}},
		"reverse SDE: Times[0] = 3: must be at most 1, the end of the range of sde.VE":                               sampler.ReverseSDE{SDE: sde.VE{}, Times: []float64{3, 0.5, 0.1}},
		"reverse SDE: Times[0] = 1: must be at most 0.99":                                                            sampler.ReverseSDE{SDE: sde.CosineVP{}, Times: []float64{1, 0.5}},
		"Dormand–Prince: From and To: time 5: must be at most 1, the end of the range of sde.VP":                     sampler.DormandPrince{SDE: vp, From: 5, To: 0.1},
		"reverse SDE: Times[0] = 1: float32 does not hold the level":                                                 sampler.ReverseSDE{SDE: sde.VP{BetaMin: 0.1, BetaMax: 500}, Times: []float64{1, 0.5}},
		"churn: Sigmas[0] = 1e+20: its square and its inverse must be numbers of float32":                            sampler.Churn{Sigmas: []float64{1e20, 1}},
		"Dormand–Prince: From 1e+20 and To 1: the square of the one and the inverse of the other must be":            sampler.DormandPrince{From: 1e20, To: 1},
		"predictor–corrector: Stay with 0 Corrections: nothing would move":                                           sampler.PredictorCorrector{Sigmas: two, Move: sampler.Stay},
		"predictor–corrector: Sigmas that end in 0 with ReverseDiffusion or Stay: the points would keep noise there": sampler.PredictorCorrector{Sigmas: []float64{2, 1, 0}},
		"predictor–corrector: Sigmas that end in 0 with ReverseDiffusion or Stay: the points would":                  sampler.PredictorCorrector{Sigmas: []float64{2, 1, 0}, Move: sampler.Stay, Corrections: 1},
	} {
		if _, err := s.Schedule(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", fmt.Sprintf("%T", s), err, want)
		}
	}
}

// The fresh noise of churn: a share of Amount/N of σ between Min and Max, at most √2 − 1, with σ̂² − σ² times Noise². The last
// of N steps is the one to 0, whether it is listed or Denoise asks for it.
func TestChurnNoise(t *testing.T) {
	for _, s := range []sampler.Churn{
		{Sigmas: []float64{8, 4, 2, 1, 0}, Amount: 1.2, Min: 2, Max: 5, Noise: 1.01},
		{Sigmas: []float64{8, 4, 2, 1}, Amount: 1.2, Min: 2, Max: 5, Noise: 1.01, Denoise: true},
	} {
		for k, row := range schedule(t, s).Rows {
			sigma := s.Sigmas[k]
			level, fresh := sigma, 0.0
			if k == 1 || k == 2 { // γ = 1.2/4
				level, fresh = 1.3*sigma, 1.01*math.Sqrt(0.69)*sigma
			}
			testvalues.NearNumber(t, fmt.Sprintf("step %d: level", k), row[2], level, 1e-14)
			testvalues.NearNumber(t, fmt.Sprintf("step %d: noise", k), row[len(row)-1], fresh, 1e-14)
		}
	}
	most := schedule(t, sampler.Churn{Sigmas: []float64{8, 4}, Amount: 5}).Rows[0]
	testvalues.NearNumber(t, "largest level", most[2], 8*math.Sqrt2, 1e-14)
	testvalues.NearNumber(t, "largest noise", most[len(most)-1], 8, 1e-14) // σ̂² = 2σ²
	calm := schedule(t, sampler.Churn{Sigmas: []float64{8, 4}}).Rows[0]
	testvalues.Near(t, "none", []float64{calm[2], calm[len(calm)-1]}, []float64{8, 0}, 0)
}

// In float32, the default, every sampler ends close to where it ends in float64 from the same points with the default
// settings, if it draws no noise: 100 times the tolerance of a step of DormandPrince, 10⁻⁵, covers its sum over the steps
// and the rounding of states as large as 300.
func TestSinglePrecision(t *testing.T) {
	b := testbackend.Go(t)
	p, err := density.Isotropic([]float64{1, -2, 0.5}, 0.7)
	if err != nil {
		t.Fatal(err)
	}
	sigmas, err := sde.KarrasSigmas(80, 0.002, 30, 7)
	if err != nil {
		t.Fatal(err)
	}
	point := [][]float64{{0.5, -1.5, 2}, {-0.3, 0.1, 1}}
	for name, s := range map[string]scorekit.Sampler{
		"VP":              sampler.DormandPrince{SDE: sde.VP{}, Denoise: true},
		"sub-VP":          sampler.DormandPrince{SDE: sde.SubVP{}, Denoise: true},
		"VE":              sampler.DormandPrince{SDE: sde.VE{}, Denoise: true},
		"cosine":          sampler.DormandPrince{SDE: sde.CosineVP{}, Denoise: true},
		"rectified":       sampler.DormandPrince{SDE: sde.Rectified{}, Denoise: true},
		"levels":          sampler.DormandPrince{From: 80, To: 0.002, Denoise: true},
		"Heun":            sampler.ProbabilityFlow{Sigmas: sigmas, Denoise: true},
		"Heun, VP":        sampler.ProbabilityFlow{SDE: sde.VP{}, Denoise: true},
		"DPM-Solver++":    sampler.ProbabilityFlow{Sigmas: sigmas, Solver: sampler.DPMSolver2M, Denoise: true},
		"DPM-Solver":      sampler.ProbabilityFlow{Sigmas: sigmas, Solver: sampler.DPMSolver2, Denoise: true},
		"Adams–Bashforth": sampler.ProbabilityFlow{Sigmas: sigmas, Solver: sampler.AdamsBashforth4, Denoise: true},
		"exponential AB":  sampler.ProbabilityFlow{Sigmas: sigmas, Solver: sampler.ExponentialAB3, Denoise: true},
	} {
		start := point
		switch name {
		case "VE":
			start = times(50, point)
		case "levels", "Heun", "DPM-Solver++", "DPM-Solver", "Adams–Bashforth", "exponential AB":
			start = times(80, point)
		}
		var ends [][]float64
		for _, dtype := range []dtypes.DType{dtypes.Float64, dtypes.Float32} {
			d, err := scorekit.Sample(context.Background(), b, p, s, 2, scorekit.WithStart(start), scorekit.WithDType(dtype))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			ends = append(ends, slices.Concat(matrix(t, d.X)...))
			t.Log(name, dtype, d.Info)
		}
		testvalues.NearOne(t, name, ends[1], ends[0], 1e-3)
	}
}
