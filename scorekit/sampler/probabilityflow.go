package sampler

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/random"
	"github.com/scorekit/lab/scorekit/sde"
)

// ProbabilityFlow follows the probability-flow ODE from the prior to the data, on a grid. For dx = f x dt + g dW it is
//
//	dx/dt = f x − ½g² ∇log p_t(x)
//
// whose solutions have the law of the diffusion at every time and no noise (Song et al. 2021, eq. 13). The times are Steps
// equal steps over the range of the SDE, or those of Times. With Sigmas in place of an SDE the state is x₀ + σz and the ODE
//
//	dx/dσ = −σ s(x, σ) = (x − D(x, σ))/σ,  D(x, σ) = x + σ² s(x, σ)
//
// (Karras et al. 2022, eq. 1 and 3), which is that of every process in the variables x/Mean and σ = Std/Mean. With Sigmas
// that end in 0 and the solver Heun it is their algorithm 1; Euler is then DDIM without noise (Song, Meng and Ermon 2021).
// Grids are made by [sde.KarrasSigmas], [sde.GeometricSigmas] and others. The methods are those of
// [Solver].
//
// With Eta the steps are those of a reverse SDE with the same law at every level. A step to the level {a, b} goes on to less
// noise, down = √(b² − up²), and then draws noise:
//
//	x ← x + up z,  z ~ N(0, I)
//	up = Eta·q b/b_before, q of [sde.Between]  ([sde.Ancestral])        for DPMSolver2, DPMSolver2S and DPMSolverSDE
//	up = b √(1 − e^{−2 Eta h}), h = ln(σ_before/σ)                      for DPMSolver2M, ExponentialAB2, ExponentialAB3, DPMSolver3M
//
// The two are one for Eta = 1, the reverse SDE of [ReverseSDE], and 0; the second integrates the SDE of noise √Eta·g
// (Lu et al. 2022, DPM-Solver++, for Eta = 1; k-diffusion; q²b²/b_before² is b²(1 − e^{−2h})). Measured on Gaussian data the law of the
// chains is of order 2 with each of them. Given where a chain starts the law is that of the reverse SDE, but for DPMSolver2
// and DPMSolver2S only with order 1: their stage does not know the noise of the step. That of DPMSolverSDE does: it has the
// noise z₁ of the first half of a step, and the end (z₁ + z₂)/√2.
//
// With Denoise, or Sigmas that end in 0, a last step ends at the mean of the data given the last state,
// (x + Std²·score)/Mean (Tweedie's formula), which is Euler's to σ = 0; only that AdamsBashforth2 and
// AdamsBashforth4, without Denoise, go to a listed 0 as to any other level. Solvers with two scores pay for a second one
// there that they do not use.
//
// The score is that of noised data, s(x, σ): see [sde.ScoreAt]. Chains start as those of [ReverseSDE].
type ProbabilityFlow struct {
	SDE     sde.SDE
	Steps   int       // of equal time; 0 means 100
	Times   []float64 // falling, in place of Steps
	Sigmas  []float64 // falling, in place of an SDE; the last may be 0
	Solver  Solver
	Eta     float64 // how much of the noise is drawn anew, from 0 to 1; for the solvers listed above
	Denoise bool
}

var (
	_ scorekit.Sampler   = ProbabilityFlow{}
	_ scorekit.Starter   = ProbabilityFlow{}
	_ scorekit.Predictor = ProbabilityFlow{}
	_ Noised             = ProbabilityFlow{}
)

func (p ProbabilityFlow) descent() (descent, error) {
	return newDescent(probabilityFlow, p.SDE, p.Steps, 100, p.Times, p.Sigmas, p.Denoise)
}

// Schedule returns one row a step: where it leads, the levels at its start and end, and the coefficients of the solver;
// with Eta also the standard deviation of the noise, before it that in the middle for DPMSolverSDE. It returns an error for
// an unknown solver, for an Eta outside of [0, 1] or with a solver that has none, for noise levels σ that do not fall if the
// solver goes in them, and as that of [ReverseSDE] does.
func (p ProbabilityFlow) Schedule() (scorekit.Schedule, error) {
	if err := p.validate(); err != nil {
		return scorekit.Schedule{}, err
	}
	g, err := p.descent()
	if err != nil {
		return scorekit.Schedule{}, err
	}
	names := p.Solver.names()
	if p.Eta > 0 {
		if p.Solver == DPMSolverSDE {
			names = append(names, "stage noise")
		}
		names = append(names, "noise")
	}
	if err := p.falls(g); err != nil {
		return scorekit.Schedule{}, err
	}
	var failed error
	s := g.schedule(func(k int) []float64 {
		if p.Eta == 0 {
			return p.Solver.coefficients(g, k, g.levels[k+1].Std)
		}
		row, err := p.noisy(g, k)
		if failed == nil {
			failed = err
		}
		return row
	}, names...)
	if failed != nil {
		return scorekit.Schedule{}, fmt.Errorf("%s: %w", probabilityFlow, failed)
	}
	return s, nil
}

const probabilityFlow = "probability flow"

func (p ProbabilityFlow) validate() error {
	if err := p.Solver.validate(probabilityFlow); err != nil {
		return err
	}
	if !(p.Eta >= 0 && p.Eta <= 1) {
		return fmt.Errorf("%s: Eta %v: must be from 0 to 1", probabilityFlow, p.Eta)
	}
	switch p.Solver {
	case Heun, Euler, AdamsBashforth2, AdamsBashforth4:
		if p.Eta > 0 {
			return fmt.Errorf("%s: Eta %v with %s: must be 0, or the solver a DPMSolver or ExponentialAB", probabilityFlow, p.Eta, p.Solver.rule().name)
		}
	}
	return nil
}

// falls returns an error unless the noise level falls in each step, where the solver goes in it.
func (p ProbabilityFlow) falls(g descent) error {
	if p.Solver == Heun || p.Solver == Euler {
		return nil
	}
	for k, from := range g.levels[:len(g.levels)-1] {
		if to := g.levels[k+1]; !(to.Sigma() < from.Sigma()) {
			return fmt.Errorf("%s: step %d from noise level %v to %v: must go down for %s", probabilityFlow, k+1, from.Sigma(), to.Sigma(), p.Solver.rule().name)
		}
	}
	return nil
}

// noisy is the coefficients of step k with Eta, and the noise.
func (p ProbabilityFlow) noisy(g descent, k int) ([]float64, error) {
	from, to := g.levels[k], g.levels[k+1]
	down, up := to.Std, 0.0
	switch {
	case g.ends(k):
	case p.Solver.rule().staged:
		var err error
		if down, up, err = sde.Ancestral(from, to, p.Eta); err != nil {
			return nil, err
		}
	default:
		h := math.Log(from.Sigma() / to.Sigma())
		down, up = to.Std*math.Exp(-p.Eta*h), to.Std*math.Sqrt(-math.Expm1(-2*p.Eta*h))
	}
	c := p.Solver.coefficients(g, k, down)
	if p.Solver != DPMSolverSDE {
		return append(c, up), nil
	}
	if g.ends(k) {
		return append(c, 0, 0), nil
	}
	// The stage is a noisy step of its own, to the middle of the step in ln σ whatever Eta.
	middle := sde.Level{Mean: from.Mean, Std: from.Std * math.Sqrt(to.Sigma()/from.Sigma())}
	stageDown, stageUp, err := sde.Ancestral(from, middle, p.Eta)
	if err != nil {
		return nil, err
	}
	c[stageX], c[stagePrediction] = kept(from, sde.Level{Mean: middle.Mean, Std: stageDown})
	c[stageMean], c[stageStd] = middle.Mean, middle.Std
	return append(c, stageUp, up), nil
}

// NoiseLevels returns the levels of the chains at the start and after each step.
func (p ProbabilityFlow) NoiseLevels() ([]sde.Level, error) {
	g, err := p.descent()
	return g.levels, err
}

// Start draws the starting points from the prior.
func (p ProbabilityFlow) Start(rng *random.Source, dims ...int) *Node {
	g, err := p.descent()
	return draw(g, err, rng, dims)
}

// Init returns the chains as they start. Aux keeps what the solver remembers of the steps before, the latest first, each
// [chains, dims...].
func (p ProbabilityFlow) Init(_ *mlctx.Context, _ *random.Source, _ scorekit.Score, x *Node) scorekit.State {
	return p.Solver.init(x)
}

// Step moves every chain once.
func (p ProbabilityFlow) Step(vars *mlctx.Context, rng *random.Source, score scorekit.Score, state scorekit.State, row []*Node) (scorekit.State, scorekit.Info) {
	if p.Eta == 0 {
		return p.Solver.step(vars, score, state, row, nil), nil
	}
	dims, last := state.X.Shape().Dimensions, len(row)-1
	z := rng.Normal(dims...)
	var staged *Node
	if p.Solver == DPMSolverSDE { // the noise of the step is that of its two halves
		staged = graph.Mul(row[last-1], z)
		z = graph.MulScalar(graph.Add(z, rng.Normal(dims...)), math.Sqrt2/2)
	}
	state = p.Solver.step(vars, score, state, row, staged)
	state.X = graph.Add(state.X, graph.Mul(row[last], z))
	return state, nil
}

// Predict returns the mean of the data given x, as that of [ReverseSDE] does.
func (p ProbabilityFlow) Predict(vars *mlctx.Context, score scorekit.Score, x *Node, row []*Node) *Node {
	return foresee(vars, score, x, row)
}
