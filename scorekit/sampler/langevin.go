package sampler

import (
	"fmt"
	"math"

	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/random"
)

// Langevin is the unadjusted Langevin algorithm (Roberts and Tweedie 1996). Its step is written in one of two ways, and
// the setting that is given says which:
//
//	StepSize:  x ← x + ε s(x) + √(2ε) z
//	Alpha:     x ← x + (α/2) s(x) + √α z,   z ~ N(0, I)
//
// They are the same chain with α = 2ε (Welling and Teh 2011 use the second). The noise always comes with its drift: a
// mixed pair, such as ε with √ε, would draw from another law, and cannot be set up. The one way to change the noise
// alone says what it does: at Temperature T it is √(2εT) z, which draws from p^{1/T}.
//
// The chain is exact only as ε → 0: on N(μ, v) its variance at rest is Tv/(1 − ε/(2v)) = Tv/(1 − α/(4v)), its draws are
// correlated with coefficient 1 − ε/v from step to step, and it diverges for ε ≥ 2v, v the smallest variance of the
// target. [MALA] corrects that where p is known up to a constant.
//
// Chains start at draws from N(0, I) unless [scorekit.Sample] is told otherwise.
type Langevin struct {
	StepSize    float64 // ε, in squared units of the data; positive
	Alpha       float64 // α = 2ε, in place of StepSize
	Temperature float64 // T; 0 means 1
	Steps       int     // number of steps; 0 means 1,000
	Sigma       float64 // noise level given to the score; 0 gives none
}

var (
	_ scorekit.Sampler   = Langevin{}
	_ scorekit.Predictor = Langevin{}
)

// Schedule returns one row a step: ε and √(2εT). It returns an error for a step, a temperature or a noise level that is
// not positive and finite, for a step given in both ways, or for a negative number of steps.
func (l Langevin) Schedule() (scorekit.Schedule, error) {
	step, err := l.step()
	if err != nil {
		return scorekit.Schedule{}, err
	}
	temperature := l.Temperature
	if temperature == 0 {
		temperature = 1
	}
	if err := positive("Langevin", "temperature", temperature); err != nil {
		return scorekit.Schedule{}, err
	}
	steps, err := count("Langevin", l.Steps)
	if err != nil {
		return scorekit.Schedule{}, err
	}
	if err := level("Langevin", l.Sigma); err != nil {
		return scorekit.Schedule{}, err
	}
	return constantRows(steps, []string{"step", "noise"}, step, math.Sqrt(2*step*temperature)), nil
}

// step returns ε.
func (l Langevin) step() (float64, error) {
	if l.Alpha == 0 {
		return l.StepSize, positive("Langevin", "step", l.StepSize)
	}
	if l.StepSize != 0 {
		return 0, fmt.Errorf("Langevin: step %v and alpha %v: only one may be given", l.StepSize, l.Alpha)
	}
	return l.Alpha / 2, positive("Langevin", "alpha", l.Alpha)
}

// Init returns the chains as they start.
func (l Langevin) Init(_ *mlctx.Context, _ *random.Source, _ scorekit.Score, x *Node) scorekit.State {
	return scorekit.State{X: x}
}

// Step moves every chain once.
func (l Langevin) Step(vars *mlctx.Context, rng *random.Source, score scorekit.Score, state scorekit.State, row []*Node) (scorekit.State, scorekit.Info) {
	state.X = move(rng, state.X, scoreAt(vars, score, state.X, l.Sigma), row[0], row[1])
	return state, nil
}

// Predict returns the mean of the noiseless points given x, x + σ²s(x, σ) (Tweedie's formula); x itself without a noise
// level.
func (l Langevin) Predict(vars *mlctx.Context, score scorekit.Score, x *Node, _ []*Node) *Node {
	return noiseless(vars, score, x, l.Sigma)
}
