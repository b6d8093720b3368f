package sampler

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/random"
)

// AnnealedLangevin runs Langevin dynamics from a high noise level down to a low one, on the score of the data at each
// level, with a step that follows the level: for i = 1 … L, StepsPerLevel times,
//
//	αᵢ = StepSize · σᵢ²/σ_L²,   x ← x + (αᵢ/2) s(x, σᵢ) + √αᵢ z,  z ~ N(0, I)
//
// (Song and Ermon 2019, algorithm 1). The relative step αᵢ/σᵢ² is the same at every level. The levels fall
// geometrically from Max to Min, or are those of Sigmas. With Denoise one more step without noise takes the
// remaining noise off the samples, the mean of x given its noised self (Tweedie's formula; Jolicoeur-Martineau et
// al. 2021),
//
//	x ← x + σ_L² s(x, σ_L)
//
// In the parameterisation of [Langevin], ε = α/2. Chains start at draws from N(0, σ₁²I), unless [scorekit.Sample] is
// told otherwise.
type AnnealedLangevin struct {
	Max, Min      float64   // σ₁ and σ_L, in the units of the data; Max > Min > 0
	Levels        int       // L; 0 means 10
	Sigmas        []float64 // the levels themselves, falling, in place of the three above
	StepsPerLevel int       // 0 means 100
	StepSize      float64   // α_L, the step at the lowest level, in squared units of the data; positive
	Denoise       bool
}

var (
	_ scorekit.Sampler   = AnnealedLangevin{}
	_ scorekit.Starter   = AnnealedLangevin{}
	_ scorekit.Predictor = AnnealedLangevin{}
)

// ladder returns the noise levels.
func (a AnnealedLangevin) ladder() ([]float64, error) {
	if a.Sigmas != nil {
		if a.Max != 0 || a.Min != 0 || a.Levels != 0 {
			return nil, fmt.Errorf("annealed Langevin: Sigmas and Max, Min or Levels: only one of the two may be given")
		}
		for i, s := range a.Sigmas {
			if err := positive("annealed Langevin", fmt.Sprintf("noise level %d,", i), s); err != nil {
				return nil, err
			}
			if i > 0 && s >= a.Sigmas[i-1] {
				return nil, fmt.Errorf("annealed Langevin: noise level %d, %v: must be below the one before it, %v", i, s, a.Sigmas[i-1])
			}
		}
		if len(a.Sigmas) == 0 {
			return nil, fmt.Errorf("annealed Langevin: no noise levels: there must be at least one")
		}
		return a.Sigmas, nil
	}
	if err := positive("annealed Langevin", "lowest noise level", a.Min); err != nil {
		return nil, err
	}
	if !(a.Max > a.Min) || math.IsInf(a.Max, 0) {
		return nil, fmt.Errorf("annealed Langevin: highest noise level %v: must be finite and above the lowest, %v", a.Max, a.Min)
	}
	n := a.Levels
	if n == 0 {
		n = 10
	}
	if n < 2 {
		return nil, fmt.Errorf("annealed Langevin: %d levels: must be at least 2, or 0 for 10", n)
	}
	sigmas := make([]float64, n)
	for i := range sigmas {
		sigmas[i] = a.Max * math.Pow(a.Min/a.Max, float64(i)/float64(n-1))
	}
	sigmas[n-1] = a.Min // not off by the rounding of Min/Max
	return sigmas, nil
}

// Schedule returns one row a step: σ, the factor of the score and that of the noise. It returns an error for levels
// that do not fall or are not positive, for levels given in both ways, a step that is not positive, or a negative number of
// steps.
func (a AnnealedLangevin) Schedule() (scorekit.Schedule, error) {
	sigmas, err := a.ladder()
	if err != nil {
		return scorekit.Schedule{}, err
	}
	if err := positive("annealed Langevin", "step", a.StepSize); err != nil {
		return scorekit.Schedule{}, err
	}
	if a.StepsPerLevel < 0 {
		return scorekit.Schedule{}, fmt.Errorf("annealed Langevin: %d steps a level: must be positive, or 0 for 100", a.StepsPerLevel)
	}
	each := a.StepsPerLevel
	if each == 0 {
		each = 100
	}
	last := sigmas[len(sigmas)-1]
	rows := make([][]float64, 0, len(sigmas)*each+1)
	for _, sigma := range sigmas {
		alpha := a.StepSize * sigma * sigma / (last * last)
		for range each {
			rows = append(rows, []float64{sigma, alpha / 2, math.Sqrt(alpha)})
		}
	}
	if a.Denoise {
		rows = append(rows, []float64{last, last * last, 0})
	}
	return scorekit.Schedule{Columns: []string{"sigma", "step", "noise"}, Rows: rows}, nil
}

// Start draws the starting points from N(0, σ₁²I).
func (a AnnealedLangevin) Start(rng *random.Source, dims ...int) *Node {
	sigmas, err := a.ladder()
	if err != nil {
		panic(err)
	}
	return graph.MulScalar(rng.Normal(dims...), sigmas[0])
}

// Init returns the chains as they start.
func (a AnnealedLangevin) Init(_ *mlctx.Context, _ *random.Source, _ scorekit.Score, x *Node) scorekit.State {
	return scorekit.State{X: x}
}

// Step moves every chain once.
func (a AnnealedLangevin) Step(vars *mlctx.Context, rng *random.Source, score scorekit.Score, state scorekit.State, row []*Node) (scorekit.State, scorekit.Info) {
	s := score(vars, state.X, levels(row[0], state.X))
	state.X = move(rng, state.X, s, row[1], row[2])
	return state, nil
}

// Predict returns the mean of the noiseless points given x, x + σ²s(x, σ) (Tweedie's formula) with the level σ of the row;
// after the step that denoises it is x.
func (a AnnealedLangevin) Predict(vars *mlctx.Context, score scorekit.Score, x *Node, row []*Node) *Node {
	s := score(vars, x, levels(row[0], x))
	noised := graph.GreaterThan(row[2], graph.ZerosLike(row[2]))
	return graph.Add(x, graph.Mul(graph.Where(noised, graph.Square(row[0]), graph.ZerosLike(row[0])), s))
}
