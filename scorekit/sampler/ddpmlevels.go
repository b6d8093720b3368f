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

// grid is where a sampler of denoising diffusion gets its levels from: see the fields of [DDPM].
type grid struct {
	chain     sde.Discrete
	steps     int
	spacing   sde.Spacing
	timesteps []int
	levels    []sde.Level
}

// list returns the levels of the chains from the start to the end.
func (g grid) list() ([]sde.Level, error) {
	levels := g.levels
	if (levels != nil) == (g.chain.Len() > 0) {
		return nil, fmt.Errorf("one of Chain and Levels, and not both, must be given")
	}
	if levels != nil {
		if g.steps != 0 || g.spacing != 0 || g.timesteps != nil {
			return nil, fmt.Errorf("with Levels, none of Steps, Spacing and Timesteps may be given: they choose from a Chain")
		}
		return levels, checkLevels(levels)
	}
	timesteps, err := g.times()
	if err != nil {
		return nil, err
	}
	all := g.chain.Levels()
	for _, t := range timesteps {
		levels = append(levels, all[t])
	}
	return append(levels, sde.Level{Mean: 1}), nil
}

func (g grid) times() ([]int, error) {
	if g.timesteps != nil {
		if g.steps != 0 || g.spacing != 0 {
			return nil, fmt.Errorf("with Timesteps, neither Steps nor Spacing may be given")
		}
		return g.timesteps, sde.CheckTimesteps(g.chain.Len(), g.timesteps)
	}
	steps := g.steps
	if steps == 0 {
		steps = g.chain.Len()
	}
	if steps == 1 && g.chain.Len() > 1 && (g.spacing == sde.Leading || g.spacing == sde.Linspace) {
		return nil, fmt.Errorf("1 step with Spacing Leading or Linspace: it would start at index 0, which has hardly any noise to take off: must be Trailing, or at least 2 steps")
	}
	return sde.Timesteps(g.chain.Len(), steps, g.spacing)
}

// checkLevels returns an error unless there is a step to do and each level before the last one has data and noise. That
// the noise falls is what the law of a step asks for.
func checkLevels(levels []sde.Level) error {
	if len(levels) < 2 {
		return fmt.Errorf("%d levels: must be at least 2, from where chains start to where they end", len(levels))
	}
	for i, l := range levels {
		if err := l.Validate(); err != nil {
			return fmt.Errorf("level %d: %w", i, err)
		}
		if l.Mean == 0 || l.Std == 0 && i < len(levels)-1 {
			return fmt.Errorf("level %d, %+v: Mean must be positive, and so must Std except at the last", i, l)
		}
	}
	return nil
}

// Columns of the schedules of DDPM and DDIM. A step goes from the level {mean, mean·sigma} to {to mean, to mean·to sigma}:
//
//	x ← data·x̂₀ + state·x + noise·z
var denoisingColumns = []string{"mean", "sigma", "data", "state", "noise", "to mean", "to sigma"}

const (
	colMean = iota
	colSigma
	colData
	colState
	colNoise
	colToMean
	colToSigma
)

// schedule returns the rows, with the three numbers of the law of a step from law.
func (g grid) schedule(law func(later, earlier sde.Level) (data, state, noise float64, err error)) (scorekit.Schedule, error) {
	levels, err := g.list()
	if err != nil {
		return scorekit.Schedule{}, err
	}
	s := scorekit.Schedule{Columns: denoisingColumns}
	for i, later := range levels[:len(levels)-1] {
		earlier := levels[i+1]
		data, state, noise, err := law(later, earlier)
		if err != nil {
			return scorekit.Schedule{}, fmt.Errorf("levels %d and %d: %w", i, i+1, err)
		}
		s.Rows = append(s.Rows, []float64{later.Mean, later.Sigma(), data, state, noise, earlier.Mean, earlier.Sigma()})
	}
	return s, nil
}

// start draws the states that draws from N(0, I) become at the first level.
func (g grid) start(rng *random.Source, dims []int) *Node {
	levels, err := g.list()
	if err != nil {
		panic(err)
	}
	return graph.MulScalar(rng.Normal(dims...), math.Hypot(levels[0].Mean, levels[0].Std))
}

// denoised is x̂₀, the mean of the noiseless points given the states x (Tweedie's formula), kept to [−clip, clip] unless
// clip is 0: with y = x/mean it is y + σ²s(y, σ).
func denoised(vars *mlctx.Context, score scorekit.Score, x, mean, sigma *Node, clip float64) *Node {
	y := graph.Div(x, mean)
	x0 := graph.Add(y, graph.Mul(graph.Square(sigma), score(vars, y, levels(sigma, x))))
	if clip > 0 {
		x0 = graph.ClipScalar(x0, -clip, clip)
	}
	return x0
}

// denoisingStep does a step of the schedule. Without draws its noise is left out.
func denoisingStep(vars *mlctx.Context, rng *random.Source, score scorekit.Score, x *Node, row []*Node, clip float64, draws bool) *Node {
	x0 := denoised(vars, score, x, row[colMean], row[colSigma], clip)
	x = graph.Add(graph.Mul(row[colData], x0), graph.Mul(row[colState], x))
	if draws {
		x = graph.Add(x, graph.Mul(row[colNoise], rng.Normal(x.Shape().Dimensions...)))
	}
	return x
}

// denoisedAfter is x̂₀ of the states x after a step; without noise they are it. A score need not know the level 0: there
// it is asked for that of before the step, and not used.
func denoisedAfter(vars *mlctx.Context, score scorekit.Score, x *Node, row []*Node, clip float64) *Node {
	noisy := graph.GreaterThan(row[colToSigma], graph.ZerosLike(row[colToSigma]))
	x0 := denoised(vars, score, x, row[colToMean], graph.Where(noisy, row[colToSigma], row[colSigma]), clip)
	return graph.Where(graph.BroadcastToDims(noisy, x.Shape().Dimensions...), x0, graph.Div(x, row[colToMean]))
}

func checkClip(clip float64) error {
	if !(clip >= 0) || math.IsInf(clip, 0) {
		return fmt.Errorf("clip %v: must be positive and finite, or 0 for none", clip)
	}
	return nil
}
