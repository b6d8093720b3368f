package sampler

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/rows"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/random"
	"github.com/scorekit/lab/scorekit/sde"
)

// Move is how a [PredictorCorrector] goes from one level of noise, {a, b}, to the next, {a′, b′}. In the formulas of its
// values r = a/a′ and q² = b² − r²b′² are the law of the noisier state given the other (see [sde.Between]), s is the score,
// and z ~ N(0, I).
type Move int

const (
	// ReverseDiffusion turns the step of the forward chain round: x ← (2 − r)x + q² s + q z (Song et al. 2021, eq. 46;
	// algorithms 2 and 3).
	ReverseDiffusion Move = iota
	// EulerMaruyama is the step of [ReverseSDE]; it needs an SDE.
	EulerMaruyama
	// Ancestral draws from the law of the next state given this one and the denoised point:
	// x ← a′x̂₀ + √(b′² − up²) ε̂ + up z with up = Eta·q b′/b (Song et al. 2021, app. F; [sde.Ancestral]).
	Ancestral
	// Flow is Ancestral without noise: Euler's step in σ of [ProbabilityFlow].
	Flow
	// Stay leaves the points to the corrector: with it, annealed Langevin dynamics.
	Stay
)

// PredictorCorrector runs a diffusion backwards, from a level of noise to the next by its Move, the predictor, and corrects
// the points by Langevin dynamics at each level (Song et al. 2021, algorithm 1). Each of Corrections steps there is
//
//	x ← x + ε s(x) + √(2ε) z,  z ~ N(0, I),  ε = 2 r² (SNR ‖z‖/‖s‖)²
//
// with norms over all coordinates of a point, and r that of the [Move] in the same step, 1 for a variance-exploding process
// (algorithms 4 and 5). By default the norms are means over the batch, as in the authors' code: all chains have one ε, and so have a slight
// influence on one another. With PerChain every chain has its own; near a mode its score vanishes and ε has no bound, so
// that it suits points of many coordinates, for which ‖z‖ and ‖s‖ hardly vary. A third rule has no norms at all: with
// Renew, each correction replaces a share δ of the noise b of the level,
//
//	x ← x + (1 − √(1−δ)) b² s(x) + √δ b z
//
// which is x ← a x̂₀ + √(1−δ)(x − a x̂₀) + √δ b z, and has ε ≈ δb²/2.
//
// The corrections of a level come before the move away from it, as in the authors' code; with PredictorFirst after the move
// to it, as in the paper. The times are Steps equal steps over the range of the SDE, or those of Times; Sigmas in place of an
// SDE are the levels {1, σ}. With Denoise one more step without noise ends at the mean of the data given the last state,
// (x + Std²·score)/Mean (Tweedie's formula), in place of the move to σ = 0 if the Sigmas end so; no corrections follow it.
// Without it only Ancestral and Flow, which end there by themselves, may go to σ = 0.
//
// The score is that of noised data, s(x, σ): see [sde.ScoreAt]. Chains start as those of [ReverseSDE].
// Info: "correction", the mean of ε over chains, without Renew.
type PredictorCorrector struct {
	SDE     sde.SDE
	Steps   int       // of equal time; 0 means 1,000
	Times   []float64 // falling, in place of Steps
	Sigmas  []float64 // falling, in place of an SDE; the last may be 0
	Denoise bool

	Move           Move
	Eta            float64 // share of the noise that Ancestral draws anew; 0 means 1, not 0 as in DDIM and ProbabilityFlow: that is Flow
	Corrections    int     // at each level; 0 means none
	SNR            float64 // signal-to-noise ratio of a correction; 0 means 0.16
	PerChain       bool    // norms of each chain in place of means over the batch
	Renew          float64 // δ, from 0 to 1, in place of SNR
	PredictorFirst bool
}

var (
	_ scorekit.Sampler   = PredictorCorrector{}
	_ scorekit.Starter   = PredictorCorrector{}
	_ scorekit.Predictor = PredictorCorrector{}
	_ Noised             = PredictorCorrector{}
)

func (p PredictorCorrector) descent() (descent, error) {
	return newDescent("predictor–corrector", p.SDE, p.Steps, 1000, p.Times, p.Sigmas, p.Denoise)
}

func (p PredictorCorrector) validate() error {
	const who = "predictor–corrector"
	switch {
	case p.Move < ReverseDiffusion || p.Move > Stay:
		return fmt.Errorf("%s: Move %d: must be ReverseDiffusion, EulerMaruyama, Ancestral, Flow or Stay", who, int(p.Move))
	case p.Move == EulerMaruyama && p.SDE == nil:
		return fmt.Errorf("%s: EulerMaruyama with Sigmas: needs an SDE; ReverseDiffusion does not", who)
	case !(p.Eta >= 0) || math.IsInf(p.Eta, 0):
		return fmt.Errorf("%s: Eta %v: must be positive and finite, or 0 for 1", who, p.Eta)
	case p.Eta != 0 && p.Move != Ancestral:
		return fmt.Errorf("%s: Eta %v: is of the move Ancestral", who, p.Eta)
	case p.Corrections < 0:
		return fmt.Errorf("%s: %d corrections: must not be negative", who, p.Corrections)
	case p.Move == Stay && p.Corrections == 0:
		return fmt.Errorf("%s: Stay with 0 Corrections: nothing would move the points; must be at least 1", who)
	case (p.Move == ReverseDiffusion || p.Move == Stay) && !p.Denoise && len(p.Sigmas) > 1 && p.Sigmas[len(p.Sigmas)-1] == 0:
		return fmt.Errorf("%s: Sigmas that end in 0 with ReverseDiffusion or Stay: the points would keep noise there; needs Denoise, or the move Ancestral or Flow", who)
	case !(p.SNR >= 0) || math.IsInf(p.SNR, 0):
		return fmt.Errorf("%s: SNR %v: must be positive and finite, or 0 for 0.16", who, p.SNR)
	case !(p.Renew >= 0 && p.Renew <= 1):
		return fmt.Errorf("%s: Renew %v: must be from 0 to 1", who, p.Renew)
	case p.Renew > 0 && (p.SNR != 0 || p.PerChain):
		return fmt.Errorf("%s: Renew with SNR or PerChain: only one rule may be given", who)
	}
	return nil
}

// Schedule returns one row a step: where it leads, the levels at its start and end, the factors of x, of the score and of
// the noise in the move, and the level of the corrections with their numbers: 2r²SNR², or the factors of the score and the
// noise. It returns an error as that of [ReverseSDE] does, for an unknown move, for numbers that are negative or not
// finite, for Stay without corrections, for Sigmas that end in 0 with a move that leaves noise there, and for two rules of the
// correction at once.
func (p PredictorCorrector) Schedule() (scorekit.Schedule, error) {
	if err := p.validate(); err != nil {
		return scorekit.Schedule{}, err
	}
	g, err := p.descent()
	if err != nil {
		return scorekit.Schedule{}, err
	}
	s := g.schedule(func(k int) []float64 {
		move, wrong := p.move(g, k)
		if wrong != nil && err == nil {
			err = wrong
		}
		return append(move, p.correction(g, k)...)
	}, "x", "score", "noise", "corrected mean", "corrected std", "correction", "correction noise")
	if err != nil {
		return scorekit.Schedule{}, fmt.Errorf("predictor–corrector: %w", err)
	}
	return s, nil
}

// move is the factors of x, of the score and of the noise of move k.
func (p PredictorCorrector) move(g descent, k int) ([]float64, error) {
	from, to := g.levels[k], g.levels[k+1]
	ofX, ofScore := tweedie(from)
	if g.ends(k) && p.Denoise {
		return []float64{ofX, ofScore, 0}, nil
	}
	switch p.Move {
	case EulerMaruyama:
		return eulerMaruyama(g, k), nil
	case Ancestral, Flow:
		down, up := to.Std, 0.0
		if p.Move == Ancestral {
			eta := p.Eta
			if eta == 0 {
				eta = 1
			}
			var err error
			if down, up, err = sde.Ancestral(from, to, eta); err != nil {
				return nil, err
			}
		}
		return []float64{to.Mean * ofX, to.Mean*ofScore - down*from.Std, up}, nil
	case Stay:
		return []float64{1, 0, 0}, nil
	default:
		step, err := sde.Between(to, from)
		if err != nil {
			return nil, err
		}
		return []float64{2 - step.Mean, step.Std * step.Std, step.Std}, nil
	}
}

// correction is the level of the corrections in step k and their two numbers.
func (p PredictorCorrector) correction(g descent, k int) []float64 {
	from, to := g.levels[k], g.levels[k+1]
	at := from
	if p.PredictorFirst {
		if to == data {
			return []float64{from.Mean, from.Std, 0, 0}
		}
		at = to
	}
	if p.Renew > 0 {
		return []float64{at.Mean, at.Std, (1 - math.Sqrt(1-p.Renew)) * at.Std * at.Std, math.Sqrt(p.Renew) * at.Std}
	}
	snr, r := p.SNR, from.Mean/to.Mean
	if snr == 0 {
		snr = 0.16
	}
	if g.ends(k) { // no step of the process
		r = 1
	}
	return []float64{at.Mean, at.Std, 2 * r * r * snr * snr, 0}
}

// NoiseLevels returns the levels of the chains at the start and after each step.
func (p PredictorCorrector) NoiseLevels() ([]sde.Level, error) {
	g, err := p.descent()
	return g.levels, err
}

// Start draws the starting points from the prior.
func (p PredictorCorrector) Start(rng *random.Source, dims ...int) *Node {
	g, err := p.descent()
	return draw(g, err, rng, dims)
}

// Init returns the chains as they start.
func (p PredictorCorrector) Init(_ *mlctx.Context, _ *random.Source, _ scorekit.Score, x *Node) scorekit.State {
	return scorekit.State{X: x}
}

// Step corrects every chain and moves it, or the other way round.
func (p PredictorCorrector) Step(vars *mlctx.Context, rng *random.Source, score scorekit.Score, state scorekit.State, row []*Node) (scorekit.State, scorekit.Info) {
	x, c := state.X, row[placeColumns:]
	var info scorekit.Info
	if p.Corrections > 0 && !p.PredictorFirst {
		x, info = p.correct(vars, rng, score, x, c[3:])
	}
	switch {
	case p.Move == Stay && !p.Denoise:
	case p.Move == Stay || p.Move == Flow:
		x = graph.Add(graph.Mul(c[0], x), graph.Mul(c[1], sde.ScoreAt(vars, score, x, here(row))))
	default:
		x = move(rng, graph.Mul(c[0], x), sde.ScoreAt(vars, score, x, here(row)), c[1], c[2])
	}
	if p.Corrections > 0 && p.PredictorFirst {
		x, info = p.correct(vars, rng, score, x, c[3:])
	}
	return scorekit.State{X: x}, info
}

// correct adds the corrections: c is their level and their two numbers.
func (p PredictorCorrector) correct(vars *mlctx.Context, rng *random.Source, score scorekit.Score, x *Node, c []*Node) (*Node, scorekit.Info) {
	at := sde.NodeLevel{Mean: c[0], Std: c[1]}
	var total *Node
	for range p.Corrections {
		s := sde.ScoreAt(vars, score, x, at)
		if p.Renew > 0 {
			x = move(rng, x, s, c[2], c[3])
			continue
		}
		z := rng.Normal(x.Shape().Dimensions...)
		noise, slope := norm(z), norm(s)
		if !p.PerChain {
			noise, slope = graph.ReduceAllMean(noise), graph.ReduceAllMean(slope)
		}
		// Where the score is 0 there is nothing to be in proportion to, and no correction.
		flat := graph.Equal(slope, graph.ZerosLike(slope))
		ratio := graph.Where(flat, graph.ZerosLike(slope), graph.Div(noise, graph.Where(flat, graph.OnesLike(slope), slope)))
		eps := graph.Mul(c[2], graph.Square(ratio))
		mean := graph.ReduceAllMean(eps)
		if total != nil {
			mean = graph.Add(total, mean)
		}
		total = mean
		if p.PerChain {
			eps = rows.Like(eps, x)
		}
		x = graph.Add(graph.Add(x, graph.Mul(eps, s)), graph.Mul(graph.Sqrt(graph.MulScalar(eps, 2)), z))
	}
	if total == nil {
		return x, nil
	}
	return x, scorekit.Info{"correction": graph.DivScalar(total, float64(p.Corrections))}
}

// norm is the length of each point: [n, dims...] → [n].
func norm(x *Node) *Node { return graph.Sqrt(rows.Sum(graph.Square(x))) }

// Predict returns the mean of the data given x, as that of [ReverseSDE] does.
func (p PredictorCorrector) Predict(vars *mlctx.Context, score scorekit.Score, x *Node, row []*Node) *Node {
	return foresee(vars, score, x, row)
}
