package sampler_test

import (
	"context"
	"errors"
	"fmt"
	"math"
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
	"github.com/scorekit/lab/scorekit/sampler"
	"github.com/scorekit/lab/scorekit/sde"
)

// flowCase is a listed case on data N(m, s²).
type flowCase struct {
	ID       string
	BetaMin  float64 `json:"beta_min"`
	BetaMax  float64 `json:"beta_max"`
	SigmaMin float64 `json:"sigma_min"`
	SigmaMax float64 `json:"sigma_max"`
	Rho      float64
	M, S     float64
	To       float64 `json:"t_end"`
	Start    float64 `json:"x_start"`
	N        []int
	Exact    float64   `json:"exact_end"`
	Euler    []float64 `json:"euler_end"`
	Heun     []float64 `json:"heun_end"`
	Mean     []float64
	Var      []float64
}

func flowCases(t *testing.T) map[string]flowCase {
	t.Helper()
	var list []flowCase
	testvalues.Read(t, "gaussian_flow.json", &list)
	cases := map[string]flowCase{}
	for _, c := range list {
		cases[c.ID] = c
	}
	return cases
}

// flow is the sampler of the case with n steps; EDM grids of n points, those that end with 0 of n and the 0.
func (c flowCase) flow(t *testing.T, n int, solver sampler.Solver) sampler.ProbabilityFlow {
	t.Helper()
	var err error
	p := sampler.ProbabilityFlow{Solver: solver}
	switch c.ID {
	case "order_vp_pfode":
		p.SDE = sde.VP{BetaMin: c.BetaMin, BetaMax: c.BetaMax}
		p.Times, err = sde.EvenTimes(p.SDE, 1, c.To, n+1)
	case "order_edm_sigma_to_min":
		p.Sigmas, err = sde.KarrasSigmas(c.SigmaMax, c.SigmaMin, n+1, c.Rho)
	default:
		p.Sigmas, err = sde.KarrasSigmas(c.SigmaMax, c.SigmaMin, n, c.Rho)
		p.Denoise = true
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// end follows the rows of a solver's schedule on the host.
func (c flowCase) end(t *testing.T, s sampler.ProbabilityFlow) float64 {
	t.Helper()
	v := []float64{c.Start, 0, 0, 0}
	for _, row := range schedule(t, s).Rows {
		v = onHost(s, row, c.M, c.S, v)
	}
	return v[0]
}

// The listed ends of Euler's and of Heun's method on data N(m, s²): on the host for all grids, by Step for those of up to
// 80 steps.
func TestFlowOrder(t *testing.T) {
	cases := flowCases(t)
	const onDevice = 80
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		walkers := map[string]*walker{}
		for _, id := range []string{"order_vp_pfode", "order_edm_sigma_to_min", "edm_sampler_trailing_zero"} {
			testvalues.Case(t, id, func(t *testing.T) {
				c := cases[id]
				for solver, want := range map[sampler.Solver][]float64{sampler.Euler: c.Euler, sampler.Heun: c.Heun} {
					var errors []float64
					for i, n := range c.N {
						s := c.flow(t, n, solver)
						end := c.end(t, s)
						errors = append(errors, end-c.Exact)
						testvalues.NearNumber(t, fmt.Sprintf("solver %d, %d steps: end", solver, n), end, want[i], 1e-7)
						if n > onDevice {
							continue
						}
						name := fmt.Sprint(solver)
						if walkers[name] == nil {
							walkers[name] = newWalker(t, b, s, 0, gaussianScore)
						}
						w := walkers[name]
						w.t = t
						x := [][]float64{{c.Start}}
						for _, row := range schedule(t, s).Rows {
							x = w.step(x, nil, row, []float64{c.M}, []float64{c.S})
						}
						testvalues.NearNumber(t, fmt.Sprintf("solver %d, %d steps on the device: end", solver, n), x[0][0], end, 1e-11)
					}
					if id == "edm_sampler_trailing_zero" {
						continue // its grids are not each twice as fine as the one before
					}
					order := map[sampler.Solver]float64{sampler.Euler: 1, sampler.Heun: 2}[solver]
					last := len(errors) - 1
					observed := math.Log2(errors[last-1] / errors[last])
					t.Logf("solver %d: observed order %.4f", solver, observed)
					testvalues.NearNumber(t, fmt.Sprintf("solver %d: observed order", solver), observed, order, 0.03)
				}
			})
		}
	})
}

// Chains of the reverse SDE on data N(m, s²): mean and variance of where they end follow from the schedule, whose steps are
// affine, and are those listed. Real chains have them, too, within 5 standard errors.
func TestReverseSDEMoments(t *testing.T) {
	c := flowCases(t)["reverse_sde_euler_maruyama_moments"]
	p, err := density.Isotropic([]float64{c.M}, c.S)
	if err != nil {
		t.Fatal(err)
	}
	process := sde.VP{BetaMin: c.BetaMin, BetaMax: c.BetaMax}
	at := func(n int) sampler.ReverseSDE {
		times, err := sde.EvenTimes(process, 1, c.To, n+1)
		if err != nil {
			t.Fatal(err)
		}
		return sampler.ReverseSDE{SDE: process, Times: times}
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		testvalues.Case(t, c.ID, func(t *testing.T) {
			for i, n := range c.N {
				mean, variance := 0.0, 1.0
				for _, row := range schedule(t, at(n)).Rows {
					v := row[1]*row[1]*c.S*c.S + row[2]*row[2]
					slope := row[5] - row[6]/v
					mean = slope*mean + row[6]*row[1]*c.M/v
					variance = slope*slope*variance + row[7]*row[7]
				}
				testvalues.NearNumber(t, fmt.Sprintf("%d steps: mean", n), mean, c.Mean[i], 1e-8)
				testvalues.NearNumber(t, fmt.Sprintf("%d steps: variance", n), variance, c.Var[i], 1e-8)
			}
			d := sample(t, b, p, at(c.N[0]))
			values := func(f func(x float64) float64) []float64 {
				return column(t, d.X, func(row []float64) float64 { return f(row[0]) })
			}
			testvalues.MeanWithin(t, "chains: mean", values(func(x float64) float64 { return x }), c.Mean[0])
			testvalues.MeanWithin(t, "chains: variance", values(func(x float64) float64 { return (x - c.Mean[0]) * (x - c.Mean[0]) }), c.Var[0])
		})
	})
}

// DormandPrince meets its tolerances on data N(m, s²) of the listed cases, with less work the looser they are: the error
// at the end stays below 10 times the tolerance of a step, also at loose ones from far out, where the flow of VP is nearly 0
// at first, and on noise levels that fall by more than 4 powers of ten. A chain ends where it ends alone, so
// that chains do not depend on one another; and too few attempts are an error that says how many chains wait.
func TestDormandPrince(t *testing.T) {
	cases := flowCases(t)
	run := func(t *testing.T, b backends.Backend, c flowCase, s sampler.DormandPrince, start []float64, options ...scorekit.SampleOption) (*scorekit.Draws, error) {
		p, err := density.Isotropic([]float64{c.M}, c.S)
		if err != nil {
			t.Fatal(err)
		}
		x := tensors.FromFlatDataAndDimensions(start, len(start), 1)
		options = append([]scorekit.SampleOption{scorekit.WithStart(x), scorekit.WithDType(dtypes.Float64), scorekit.WithUnroll(1)}, options...)
		return scorekit.Sample(context.Background(), b, p, s, len(start), options...)
	}
	b := testbackend.Go(t) // on XLA it follows the listed endpoints
	vp, edm := cases["order_vp_pfode"], cases["order_edm_sigma_to_min"]
	const m, width = 1.3, 0.7
	for _, tol := range []float64{1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 1e-5} {
		onLevels := []sde.Level{{Mean: 1, Std: 80}, {Mean: 1, Std: 0.002}}
		for name, c := range map[string]struct {
			s        sampler.DormandPrince
			from, to sde.Level
			start    []float64
		}{
			"VP":     {sampler.DormandPrince{SDE: sde.VP{}}, sde.VP{}.Marginal(1), sde.VP{}.Marginal(1e-3), []float64{5, 0.3, -3, 1}},
			"sub-VP": {sampler.DormandPrince{SDE: sde.SubVP{}}, sde.SubVP{}.Marginal(1), sde.SubVP{}.Marginal(1e-3), []float64{5, 0.3, -3, 1}},
			"levels": {sampler.DormandPrince{From: 80, To: 0.002}, onLevels[0], onLevels[1], []float64{241.3, 81.3, 25.3, -38.7}},
		} {
			c.s.RelTol, c.s.AbsTol = tol, tol
			d, err := run(t, b, flowCase{M: m, S: width}, c.s, c.start)
			if err != nil {
				t.Fatal(err)
			}
			spread := func(l sde.Level) float64 { return math.Hypot(l.Mean*width, l.Std) }
			for i, got := range testvalues.Flat(t, d.X) {
				want := c.to.Mean*m + (c.start[i]-c.from.Mean*m)*spread(c.to)/spread(c.from)
				if off := math.Abs(got - want); !(off <= 10*tol) {
					t.Errorf("%s from %v, tolerance %v: off by %v", name, c.start[i], tol, off)
				}
			}
		}
	}
	for _, tol := range []float64{1e-4, 1e-7, 1e-10} {
		s := sampler.DormandPrince{SDE: sde.VP{BetaMin: vp.BetaMin, BetaMax: vp.BetaMax}, From: 1, To: vp.To, RelTol: tol, AbsTol: tol}
		d, err := run(t, b, vp, s, []float64{vp.Start, -3, 0.1})
		if err != nil {
			t.Fatal(err)
		}
		got := testvalues.Flat(t, d.X)
		off := math.Abs(got[0] - vp.Exact)
		t.Logf("VP, tolerance %.0e: error %.2e, %v", tol, off, d.Info)
		if !(off <= 10*tol) {
			t.Errorf("VP, tolerance %v: off by %v", tol, off)
		}
		// From 1 to some accepted steps, each of six scores, and rejected ones.
		if spent, kept := d.Info["evaluations"], d.Info["accepted"]; !(kept >= 5 && spent >= 1+6*kept-1e-9 && spent <= 3*(1+6*kept)) {
			t.Errorf("VP, tolerance %v: %v evaluations for %v steps", tol, spent, kept)
		}
		if tol > 1e-10 {
			continue
		}
		alone, err := run(t, b, vp, s, []float64{vp.Start}, scorekit.WithTrajectory(1))
		if err != nil {
			t.Fatal(err)
		}
		// One score at the start and six an attempt, and the run stops when its only chain arrives.
		attempts := float64(alone.Trajectory[len(alone.Trajectory)-1].Step)
		testvalues.NearNumber(t, "evaluations alone", alone.Info["evaluations"], 1+6*attempts, 1e-12)
		testvalues.Near(t, "alone", testvalues.Flat(t, alone.X), got[:1], 1e-14)
		levels := sampler.DormandPrince{From: edm.SigmaMax, To: edm.SigmaMin, RelTol: tol, AbsTol: tol}
		d, err = run(t, b, edm, levels, []float64{edm.Start})
		if err != nil {
			t.Fatal(err)
		}
		if off := math.Abs(testvalues.Flat(t, d.X)[0] - edm.Exact); !(off <= 10*tol) {
			t.Errorf("noise levels: off by %v", off)
		}
		few := s
		few.MaxSteps = 4
		d, err = run(t, b, vp, few, []float64{vp.Start, -3})
		want := "scorekit: Sample: sampler sampler.DormandPrince: 2 of 2 chains are not at the end after all 4 steps: must be allowed more, or looser tolerances"
		if err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
		if d == nil || d.X == nil {
			t.Error("no chains with the error")
		}
	}
}

// A score that is no number at the start stops DormandPrince at the first step; one that is none from some level on, as
// soon as its steps are lost in the rounding of the level. Neither waits for all attempts.
func TestDormandPrinceStops(t *testing.T) {
	root := func(inside float64) scorekit.Score { // −√(σ − inside) x, no number for σ below inside
		return func(_ *mlctx.Context, x, sigma *sampler.Node) *sampler.Node {
			return graph.Mul(graph.Sqrt(graph.InsertAxes(graph.AddScalar(sigma, -inside), -1)), graph.Neg(x))
		}
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for _, dtype := range []dtypes.DType{dtypes.Float32, dtypes.Float64} {
			for inside, most := range map[float64]int{9: 1, 0.3: 200} {
				_, err := scorekit.Sample(context.Background(), b, root(inside), sampler.DormandPrince{From: 2, To: 0.1}, 3,
					scorekit.WithShape(2), scorekit.WithDType(dtype))
				var diverged *scorekit.DivergedError
				if !errors.As(err, &diverged) || diverged.Step > most || math.IsInf(diverged.Before, 0) != (most == 1) {
					t.Errorf("no number for σ below %v: error %v, want a divergence at step %d or before", inside, err, most)
				}
			}
		}
	})
}
