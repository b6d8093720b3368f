package sampler

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/random"
)

// MALA is the Metropolis-adjusted Langevin algorithm: a step of [Langevin] as a proposal,
//
//	y = x + ε s(x) + √(2ε) z,  z ~ N(0, I),
//
// to which a chain goes with probability
//
//	min(1, p(y) q(x|y) / p(x) q(y|x)),  q(y|x) = N(y; x + ε s(x), 2εI)
//
// and else stays (Roberts and Tweedie 1996). Its law at rest is p exactly, at any ε and with any s: a step that is too
// long, or a score that is wrong, costs acceptance and not correctness. The score and log p of where a chain is are kept
// for the next step, so that a step takes one evaluation of each.
//
// p must be known up to a constant. Give it as Energy, E = −log p + constant; the score is then −∇E, from the same pass,
// and that of the model given to [scorekit.Sample] is not used. Or give LogDensity, log p + constant, such as the method
// of a density, and the score is the model's.
//
// With Adapt the first steps tune ε to an acceptance of 0.574, the best one in high dimension (Roberts and Rosenthal
// 1998), by log ε ← log ε + t^{−0.6}(a − 0.574) at step t = 1 … Adapt, a the mean acceptance over all chains (Andrieu and
// Thoms 2008): one ε for all chains. After them ε is frozen, and from then on the chain is exact; leave the first ones out
// with [scorekit.WithBurnIn].
//
// Chains start at draws from N(0, I) unless [scorekit.Sample] is told otherwise. One that starts where p is 0 moves
// without test until it has left; one that starts where log p is NaN or +∞ stops the run as diverged. An infinite or NaN
// log p at a proposal is a rejection.
//
// Info: "acceptance", the mean acceptance probability over the chains; "step", ε.
type MALA struct {
	Energy     scorekit.Energy     // E(x): [chains, dims...] → [chains]
	LogDensity func(x *Node) *Node // log p(x), in place of Energy
	StepSize   float64             // ε, in squared units of the data; with Adapt the first one; positive
	Adapt      int                 // number of first steps that tune ε; 0 means none
	Steps      int                 // number of steps, those that tune included; 0 means 1,000
	Sigma      float64             // noise level given to the score or the energy; 0 gives none
}

var (
	_ scorekit.Sampler   = MALA{}
	_ scorekit.Predictor = MALA{}
)

// bestAcceptance is the acceptance at which MALA moves fastest in high dimension.
const bestAcceptance = 0.574

func (m MALA) target() target { return target{m.Energy, m.LogDensity, m.Sigma} }

// Schedule returns one row a step: the factor of the change of log ε. It returns an error if not exactly one of Energy
// and LogDensity is given, for a step or a noise level that is not positive and finite, for a step that float32 does not hold,
// for a negative number of steps, or if all steps would tune ε.
func (m MALA) Schedule() (scorekit.Schedule, error) {
	const who = "MALA"
	if err := m.target().validate(who); err != nil {
		return scorekit.Schedule{}, err
	}
	if err := positive(who, "step", m.StepSize); err != nil {
		return scorekit.Schedule{}, err
	}
	if !single(2 * m.StepSize) { // all proposals would be infinite and rejected, without a word
		return scorekit.Schedule{}, fmt.Errorf("%s: step %v: twice it must be a number of float32", who, m.StepSize)
	}
	steps, err := count(who, m.Steps)
	if err != nil {
		return scorekit.Schedule{}, err
	}
	if m.Adapt < 0 || m.Adapt >= steps {
		return scorekit.Schedule{}, fmt.Errorf("%s: %d steps of adaptation: must be from 0 to %d, less than all steps", who, m.Adapt, steps-1)
	}
	schedule := constantRows(steps, []string{"tuning"}, 0)
	for t := range m.Adapt {
		schedule.Rows[t] = []float64{math.Pow(float64(t+1), -0.6)}
	}
	return schedule, nil
}

// Init evaluates the target where the chains start. Aux keeps log p, [chains], the score, [chains, dims...], and ε.
func (m MALA) Init(vars *mlctx.Context, _ *random.Source, score scorekit.Score, x *Node) scorekit.State {
	at := m.target().start(vars, score, x)
	return scorekit.State{X: at.x, Aux: append(at.aux(), graph.Scalar(x.Graph(), x.DType(), m.StepSize))}
}

// Step proposes a move for every chain and takes those that are accepted.
func (m MALA) Step(vars *mlctx.Context, rng *random.Source, score scorekit.Score, state scorekit.State, row []*Node) (scorekit.State, scorekit.Info) {
	here, eps := point{state.X, state.Aux[0], state.Aux[1]}, state.Aux[2]
	here, accept := m.target().move(vars, rng, score, here, eps, nil)
	mean := graph.ReduceAllMean(accept)
	tuned := graph.Mul(eps, graph.Exp(graph.Mul(row[0], graph.AddScalar(mean, -bestAcceptance))))
	return scorekit.State{X: here.x, Aux: append(here.aux(), tuned)}, scorekit.Info{"acceptance": mean, "step": eps}
}

// Predict returns the mean of the noiseless points given x, x + σ²s(x, σ) (Tweedie's formula); x itself without a noise
// level.
func (m MALA) Predict(vars *mlctx.Context, score scorekit.Score, x *Node, _ []*Node) *Node {
	return m.target().noiseless(vars, score, x)
}
