package sampler

import (
	"fmt"

	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/random"
	"github.com/scorekit/lab/scorekit/sde"
)

// DDIM is sampling of a denoising diffusion model with as much new noise as is asked for (Song, Meng and Ermon 2021, eq. 12
// and 16). With x̂₀ and ε̂ the means of data and noise given the state x at index t, and s the next index of its grid:
//
//	x̂₀ = (x + (1−ᾱ_t)·score(x, t))/√ᾱ_t,  ε̂ = (x − √ᾱ_t x̂₀)/√(1−ᾱ_t)
//	x ← √ᾱ_s x̂₀ + √(1−ᾱ_s−v) ε̂ + √v z,  v = η² (1−ᾱ_s)/(1−ᾱ_t) (1 − ᾱ_t/ᾱ_s),  z ~ N(0, I)
//
// η = 0 draws nothing: it is a solver of the probability-flow ODE, by steps of Euler in x/√ᾱ_t and σ, and takes a starting
// point to the same end each time. η = 1 is [DDPM] with the small variance. The last step goes to the data, x ← x̂₀.
//
// With Clip it is the clipped x̂₀ that ε̂ is computed from, so that data and noise still add up to the state; diffusers does
// so on request (use_clipped_model_output). A step goes to the next index of its own grid; diffusers' step goes by T/n,
// which for linspace spacing is not one of the grid's.
//
// What score is meant, and where chains start, is as for DDPM.
type DDIM struct {
	Chain     sde.Discrete // the chain that the data went through
	Steps     int          // how many of its indices to use; 0 means all
	Spacing   sde.Spacing  // how these are spread; a single step needs Trailing, as the others start it at index 0
	Timesteps []int        // the indices themselves, falling, in place of Steps and Spacing
	Levels    []sde.Level  // the levels of the states of any process, in place of Chain: see [DDPM]

	Eta  float64 // η, from 0 to 1
	Clip float64 // keeps x̂₀ within [−Clip, Clip], for data that are; 0 means not
}

var (
	_ Noised           = DDIM{}
	_ scorekit.Starter = DDIM{}
)

func (d DDIM) grid() grid { return grid{d.Chain, d.Steps, d.Spacing, d.Timesteps, d.Levels} }

// NoiseLevels returns the levels of the chains at the start and after each step. It returns an error for impossible
// timesteps or levels.
func (d DDIM) NoiseLevels() ([]sde.Level, error) {
	levels, err := d.grid().list()
	if err != nil {
		return nil, fmt.Errorf("DDIM: %w", err)
	}
	return levels, nil
}

// Schedule returns one row a step, with the noise level σ = √((1−ᾱ)/ᾱ) before and after it and the factors of x̂₀, x and z.
// It returns an error for impossible timesteps, for levels whose noise does not fall, for an Eta outside of [0, 1] and for
// a negative Clip.
func (d DDIM) Schedule() (scorekit.Schedule, error) {
	if err := checkClip(d.Clip); err != nil {
		return scorekit.Schedule{}, fmt.Errorf("DDIM: %w", err)
	}
	if !(d.Eta >= 0 && d.Eta <= 1) {
		return scorekit.Schedule{}, fmt.Errorf("DDIM: eta %v: must be from 0 to 1", d.Eta)
	}
	s, err := d.grid().schedule(func(later, earlier sde.Level) (data, state, noise float64, err error) {
		down, up, err := sde.Ancestral(later, earlier, d.Eta)
		if err != nil {
			return 0, 0, 0, err
		}
		return earlier.Mean - down/later.Std*later.Mean, down / later.Std, up, nil
	})
	if err != nil {
		return scorekit.Schedule{}, fmt.Errorf("DDIM: %w", err)
	}
	return s, nil
}

// Start draws the states that draws from N(0, I) become at the first level.
func (d DDIM) Start(rng *random.Source, dims ...int) *Node { return d.grid().start(rng, dims) }

// Init returns the chains as they start.
func (d DDIM) Init(_ *mlctx.Context, _ *random.Source, _ scorekit.Score, x *Node) scorekit.State {
	return scorekit.State{X: x}
}

// Step moves every chain to the next level.
func (d DDIM) Step(vars *mlctx.Context, rng *random.Source, score scorekit.Score, state scorekit.State, row []*Node) (scorekit.State, scorekit.Info) {
	state.X = denoisingStep(vars, rng, score, state.X, row, d.Clip, d.Eta > 0)
	return state, nil
}

// Predict returns x̂₀ of the states x after the step of the row.
func (d DDIM) Predict(vars *mlctx.Context, score scorekit.Score, x *Node, row []*Node) *Node {
	return denoisedAfter(vars, score, x, row, d.Clip)
}
