package sampler

import (
	"fmt"
	"math"

	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/random"
	"github.com/scorekit/lab/scorekit/sde"
)

// DDPM is ancestral sampling of a denoising diffusion model (Ho et al. 2020, algorithm 2). From the state x at index t
// with ᾱ_t a step goes to that of the next index s of its grid, drawing from the law of that state given x and the data,
// with the data's mean given x, x̂₀, in place of them (eq. 6 and 7 for any s < t). With α = ᾱ_t/ᾱ_s and β = 1 − α:
//
//	x̂₀ = (x + (1−ᾱ_t)·score(x, t))/√ᾱ_t
//	x ← √ᾱ_s β/(1−ᾱ_t) x̂₀ + √α (1−ᾱ_s)/(1−ᾱ_t) x + √v z,  z ~ N(0, I)
//
// The small variance v = β̃ = β(1−ᾱ_s)/(1−ᾱ_t) is right for data that are one point, the large one v = β for data from
// N(0, I): the truth is between them (section 3.2). The last step goes to the data: x ← x̂₀, without noise, with either variance.
// So have Ho et al. it; diffusers with the large variance adds √β z to x̂₀ in the last step, too.
//
// The score is that of data with noise σ, s(x, σ), trained in any way: score(x, t) = s(x/√ᾱ_t, σ_t)/√ᾱ_t with
// σ_t² = (1−ᾱ_t)/ᾱ_t (see [sde.ScoreAt]). A network that predicts noise, data or v of the chain's states becomes one by
// [sde.FromNetwork].
//
// Chains start as draws from N(0, I) would at the first level, N(0, (Mean² + Std²)I), which is N(0, I) for a Chain; unless
// [scorekit.Sample] is told otherwise.
type DDPM struct {
	Chain     sde.Discrete // the chain that the data went through
	Steps     int          // how many of its indices to use; 0 means all
	Spacing   sde.Spacing  // how these are spread; a single step needs Trailing, as the others start it at index 0
	Timesteps []int        // the indices themselves, falling, in place of Steps and Spacing

	// Levels, in place of Chain, are those of the states of any process, from where chains start to where they end, with
	// falling noise: end with {1, 0} to go to the data.
	Levels []sde.Level

	Large bool    // the variance β in place of β̃
	Clip  float64 // keeps x̂₀ within [−Clip, Clip], for data that are; 0 means not
}

var (
	_ Noised           = DDPM{}
	_ scorekit.Starter = DDPM{}
)

func (d DDPM) grid() grid { return grid{d.Chain, d.Steps, d.Spacing, d.Timesteps, d.Levels} }

// NoiseLevels returns the levels of the chains at the start and after each step. It returns an error for impossible
// timesteps or levels.
func (d DDPM) NoiseLevels() ([]sde.Level, error) {
	levels, err := d.grid().list()
	if err != nil {
		return nil, fmt.Errorf("DDPM: %w", err)
	}
	return levels, nil
}

// Schedule returns one row a step, with the noise level σ = √((1−ᾱ)/ᾱ) before and after it and the factors of x̂₀, x and z.
// It returns an error for impossible timesteps, for levels whose noise does not fall, and for a negative Clip.
func (d DDPM) Schedule() (scorekit.Schedule, error) {
	if err := checkClip(d.Clip); err != nil {
		return scorekit.Schedule{}, fmt.Errorf("DDPM: %w", err)
	}
	s, err := d.grid().schedule(func(later, earlier sde.Level) (data, state, noise float64, err error) {
		law, err := sde.Posterior(later, earlier)
		if err != nil {
			return 0, 0, 0, err
		}
		noise = math.Sqrt(law.Variance)
		if d.Large && earlier.Std > 0 {
			added, err := sde.Between(earlier, later)
			if err != nil {
				return 0, 0, 0, err
			}
			noise = added.Std
		}
		return law.OfData, law.OfState, noise, nil
	})
	if err != nil {
		return scorekit.Schedule{}, fmt.Errorf("DDPM: %w", err)
	}
	return s, nil
}

// Start draws the states that draws from N(0, I) become at the first level.
func (d DDPM) Start(rng *random.Source, dims ...int) *Node { return d.grid().start(rng, dims) }

// Init returns the chains as they start.
func (d DDPM) Init(_ *mlctx.Context, _ *random.Source, _ scorekit.Score, x *Node) scorekit.State {
	return scorekit.State{X: x}
}

// Step moves every chain to the next level.
func (d DDPM) Step(vars *mlctx.Context, rng *random.Source, score scorekit.Score, state scorekit.State, row []*Node) (scorekit.State, scorekit.Info) {
	state.X = denoisingStep(vars, rng, score, state.X, row, d.Clip, true)
	return state, nil
}

// Predict returns x̂₀ of the states x after the step of the row.
func (d DDPM) Predict(vars *mlctx.Context, score scorekit.Score, x *Node, row []*Node) *Node {
	return denoisedAfter(vars, score, x, row, d.Clip)
}
