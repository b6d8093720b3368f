package sampler

import (
	"math"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/random"
	"github.com/scorekit/lab/scorekit/sde"
)

// ReverseSDE runs a diffusion backwards from its prior to the data. The time reversal of dx = f x dt + g dW is
//
//	dx = (f x − g² ∇log p_t(x)) dt + g dW̄
//
// (Anderson 1982; Song et al. 2021, eq. 6), and a step of Euler–Maruyama from t to s, Δt = t − s,
//
//	x ← x + Δt (−f x + g² score(x)) + g √Δt z,  z ~ N(0, I)
//
// of weak and strong order 1 in Δt, since the noise does not depend on x. The times are Steps equal steps over the range of
// the SDE, or those of Times.
//
// With Sigmas in place of an SDE the state is x₀ + σz, and σ is the variable. All but the noise ε̂ = −σ·score(x, σ), which
// is held during a step, is then integrated exactly:
//
//	x ← x + 2(σ_{k+1} − σ_k) ε̂ + √(σ_k² − σ_{k+1}²) z
//
// With Denoise one more step without noise ends at the mean of the data given the last state, (x + Std²·score)/Mean
// (Tweedie's formula); so does the step to σ = 0 of Sigmas that end so.
//
// The score is that of noised data, s(x, σ): see [sde.ScoreAt]. Chains start at draws from the prior, at Times that begin
// before the end of the range from N(0, Std²I), and with Sigmas from N(0, σ₀²I), unless [scorekit.Sample] is told
// otherwise.
type ReverseSDE struct {
	SDE     sde.SDE
	Steps   int       // of equal time; 0 means 1,000
	Times   []float64 // falling, in place of Steps
	Sigmas  []float64 // falling, in place of an SDE; the last may be 0
	Denoise bool
}

var (
	_ scorekit.Sampler   = ReverseSDE{}
	_ scorekit.Starter   = ReverseSDE{}
	_ scorekit.Predictor = ReverseSDE{}
	_ Noised             = ReverseSDE{}
)

func (r ReverseSDE) descent() (descent, error) {
	return newDescent("reverse SDE", r.SDE, r.Steps, 1000, r.Times, r.Sigmas, r.Denoise)
}

// Schedule returns one row a step: where it leads, the levels at its start and end, and the factors of x, of the score and
// of the noise. It returns an error for an impossible SDE, for one and Sigmas together or neither, for two of Steps, Times and
// Sigmas, for times or levels that do not fall or at which there is no score that float32 holds, for times after the range of
// the SDE, and for a negative number of steps.
func (r ReverseSDE) Schedule() (scorekit.Schedule, error) {
	g, err := r.descent()
	if err != nil {
		return scorekit.Schedule{}, err
	}
	return g.schedule(func(k int) []float64 {
		switch {
		case g.ends(k):
			ofX, ofScore := tweedie(g.levels[k])
			return []float64{ofX, ofScore, 0}
		case g.process == nil:
			from, to := g.levels[k].Std, g.levels[k+1].Std
			return []float64{1, 2 * from * (from - to), math.Sqrt((from - to) * (from + to))}
		default:
			return eulerMaruyama(g, k)
		}
	}, "x", "score", "noise"), nil
}

// eulerMaruyama is the factors of x, of the score and of the noise in a step of the reverse SDE.
func eulerMaruyama(g descent, k int) []float64 {
	dt, drift, diffusion := g.times[k]-g.times[k+1], g.process.Drift(g.times[k]), g.process.Diffusion(g.times[k])
	return []float64{1 - drift*dt, diffusion * diffusion * dt, diffusion * math.Sqrt(dt)}
}

// NoiseLevels returns the levels of the chains at the start and after each step.
func (r ReverseSDE) NoiseLevels() ([]sde.Level, error) {
	g, err := r.descent()
	return g.levels, err
}

// Start draws the starting points from the prior.
func (r ReverseSDE) Start(rng *random.Source, dims ...int) *Node {
	g, err := r.descent()
	return draw(g, err, rng, dims)
}

// Init returns the chains as they start.
func (r ReverseSDE) Init(_ *mlctx.Context, _ *random.Source, _ scorekit.Score, x *Node) scorekit.State {
	return scorekit.State{X: x}
}

// Step moves every chain once.
func (r ReverseSDE) Step(vars *mlctx.Context, rng *random.Source, score scorekit.Score, state scorekit.State, row []*Node) (scorekit.State, scorekit.Info) {
	c := row[placeColumns:]
	s := sde.ScoreAt(vars, score, state.X, here(row))
	state.X = move(rng, graph.Mul(c[0], state.X), s, c[1], c[2])
	return state, nil
}

// Predict returns the mean of the data given x, (x + Std²·score)/Mean at the level of x (Tweedie's formula); the data
// themselves after a step that leads to them.
func (r ReverseSDE) Predict(vars *mlctx.Context, score scorekit.Score, x *Node, row []*Node) *Node {
	return foresee(vars, score, x, row)
}
