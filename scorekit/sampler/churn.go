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

// Churn follows the probability flow on noise levels and adds fresh noise before every step, which mends errors of earlier
// ones: the stochastic sampler of Karras et al. (2022, algorithm 2), also called the EDM stochastic sampler. Of N steps, the
// one from σ to σ′ is
//
//	γ = min(Amount/N, √2 − 1) for Min ≤ σ ≤ Max, else 0
//	σ̂ = (1 + γ)σ,  x ← x + √(σ̂² − σ²) Noise·z,  z ~ N(0, I)
//
// and then one of [ProbabilityFlow] from σ̂ to σ′. Amount 0 is algorithm 1. With Denoise, or Sigmas that end in 0, the last
// step ends at the mean of the data given the last state (with its fresh noise), D(x, σ̂), and counts as one of the N.
//
// Chains start at draws from N(0, σ₀²I), unless [scorekit.Sample] is told otherwise.
type Churn struct {
	Sigmas   []float64 // falling; the last may be 0
	Amount   float64   // S_churn, not negative
	Min, Max float64   // S_tmin and S_tmax, in the units of the data; Max 0 means no limit
	Noise    float64   // S_noise, slightly above 1 for networks that remove too much; 0 means 1
	Solver   Solver    // Heun or Euler
	Denoise  bool
}

var (
	_ scorekit.Sampler   = Churn{}
	_ scorekit.Starter   = Churn{}
	_ scorekit.Predictor = Churn{}
	_ Noised             = Churn{}
)

func (c Churn) descent() (descent, error) {
	if c.Sigmas == nil {
		return descent{}, fmt.Errorf("churn: no Sigmas: there must be at least one")
	}
	return newDescent("churn", nil, 0, 0, nil, c.Sigmas, c.Denoise)
}

// Schedule returns one row a step: where it leads, the levels at its start, with the fresh noise, and at its end, the
// coefficients of the solver and the standard deviation of the fresh noise. It returns an error for levels that do not fall
// or are not positive, for numbers that are negative or not finite, and for another solver than Heun and Euler.
func (c Churn) Schedule() (scorekit.Schedule, error) {
	g, err := c.descent()
	if err != nil {
		return scorekit.Schedule{}, err
	}
	if c.Solver != Heun && c.Solver != Euler {
		return scorekit.Schedule{}, fmt.Errorf("churn: Solver %d: must be Heun or Euler", int(c.Solver))
	}
	for _, setting := range []struct {
		name  string
		value float64
	}{{"Amount", c.Amount}, {"Min", c.Min}, {"Max", c.Max}, {"Noise", c.Noise}} {
		if !(setting.value >= 0) || math.IsInf(setting.value, 0) {
			return scorekit.Schedule{}, fmt.Errorf("churn: %s %v: must be finite and not negative", setting.name, setting.value)
		}
	}
	high, noise := c.Max, c.Noise
	if high == 0 {
		high = math.Inf(1)
	}
	if c.Min > high {
		return scorekit.Schedule{}, fmt.Errorf("churn: Min %v: must be at most Max, %v", c.Min, c.Max)
	}
	if noise == 0 {
		noise = 1
	}
	n := len(g.levels) - 1
	fresh := make([]float64, n)
	churned := descent{levels: append([]sde.Level{}, g.levels...)}
	var coefficients [][]float64
	for k := range n {
		sigma, gamma := g.levels[k].Std, 0.0
		if sigma >= c.Min && sigma <= high {
			gamma = min(c.Amount/float64(n), math.Sqrt2-1)
		}
		fresh[k] = sigma * math.Sqrt(gamma*(2+gamma)) * noise
		churned.levels[k].Std = (1 + gamma) * sigma // only this step starts there
		coefficients = append(coefficients, append(c.Solver.coefficients(churned, k, g.levels[k+1].Std), fresh[k]))
	}
	s := churned.schedule(func(k int) []float64 { return coefficients[k] }, append(c.Solver.names(), "noise")...)
	for k := range s.Rows { // a step ends before the next noise comes
		s.Rows[k][atPlace], s.Rows[k][nextStd] = g.levels[k+1].Std, g.levels[k+1].Std
	}
	return s, nil
}

// NoiseLevels returns the levels of the chains at the start and after each step.
func (c Churn) NoiseLevels() ([]sde.Level, error) {
	g, err := c.descent()
	return g.levels, err
}

// Start draws the starting points from N(0, σ₀²I).
func (c Churn) Start(rng *random.Source, dims ...int) *Node {
	g, err := c.descent()
	return draw(g, err, rng, dims)
}

// Init returns the chains as they start.
func (c Churn) Init(_ *mlctx.Context, _ *random.Source, _ scorekit.Score, x *Node) scorekit.State {
	return scorekit.State{X: x}
}

// Step adds noise to every chain and moves it once.
func (c Churn) Step(vars *mlctx.Context, rng *random.Source, score scorekit.Score, state scorekit.State, row []*Node) (scorekit.State, scorekit.Info) {
	state.X = graph.Add(state.X, graph.Mul(row[len(row)-1], rng.Normal(state.X.Shape().Dimensions...)))
	return c.Solver.step(vars, score, state, row, nil), nil
}

// Predict returns the mean of the noiseless points given x, as that of [ReverseSDE] does.
func (c Churn) Predict(vars *mlctx.Context, score scorekit.Score, x *Node, row []*Node) *Node {
	return foresee(vars, score, x, row)
}
