package sampler

import (
	"fmt"
	"slices"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/rows"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/random"
)

// ParallelTempering draws from a law of several modes with a ladder of tempered copies of it, p^β for the inverse
// temperatures 1 = β₁ > β₂ > … > β_K > 0 (replica exchange; Swendsen and Wang 1986, Geyer 1991). Each chain has a replica
// on every rung. A step is one of [MALA] on each rung, with the step ε/β that the wider law bears,
//
//	y = x + (ε/β) βs(x) + √(2ε/β) z,  accepted for p^β,
//
// and then neighbours change places, xₖ ↔ xₖ₊₁, with probability
//
//	min(1, e^{(βₖ − βₖ₊₁)(E(xₖ) − E(xₖ₊₁))}),  E = −log p
//
// for the pairs (1, 2), (3, 4), … after one step and (2, 3), (4, 5), … after the next, which passes replicas along the
// ladder faster than pairs chosen by lot (Okabe et al. 2001; Syed et al. 2022). On the hot rungs chains cross between
// modes, and swaps bring them down. The law of the first rung at rest is p exactly, the weights of its modes included.
//
// The lowest β must make the barriers flat: β·(height of the barrier in log p) of about 1. Neighbours must overlap: the
// accepted share of swaps of every pair should be 0.2 or more, and a ladder with equal ratios βₖ₊₁/βₖ serves a Gaussian
// mode on every rung alike. The cost is K times that of MALA; energies and scores are kept, so that a swap costs none.
//
// p is given as to [MALA]. Chains start at draws from N(0, I) on all rungs unless [scorekit.Sample] is told otherwise;
// what it returns is the first rung. Info: "acceptance", the mean acceptance probability of moves on the first rung, and
// "acceptance k" on rung k; "swap k", that of the exchange between the rungs k and k + 1, all counted from 1.
type ParallelTempering struct {
	Energy     scorekit.Energy     // E(x): [chains, dims...] → [chains]
	LogDensity func(x *Node) *Node // log p(x), in place of Energy
	Betas      []float64           // β₁ … β_K, at least two, falling from 1
	StepSize   float64             // ε, in squared units of the data; positive
	Steps      int                 // number of steps; 0 means 1,000
	Sigma      float64             // noise level given to the score or the energy; 0 gives none
}

var (
	_ scorekit.Sampler   = ParallelTempering{}
	_ scorekit.Predictor = ParallelTempering{}
)

func (p ParallelTempering) target() target { return target{p.Energy, p.LogDensity, p.Sigma} }

// Schedule returns one row a step: 0 where the odd pairs swap, counted from 1, and 1 where the even ones do. It returns an
// error if not exactly one of Energy and LogDensity is given, for inverse temperatures that do not fall from 1 or are not
// positive, for a step or a noise level that is not positive and finite, or a negative number of steps.
func (p ParallelTempering) Schedule() (scorekit.Schedule, error) {
	const who = "parallel tempering"
	if err := p.target().validate(who); err != nil {
		return scorekit.Schedule{}, err
	}
	if len(p.Betas) < 2 {
		return scorekit.Schedule{}, fmt.Errorf("%s: %d inverse temperatures: must be at least 2", who, len(p.Betas))
	}
	for k, beta := range p.Betas {
		switch {
		case k == 0 && beta != 1:
			return scorekit.Schedule{}, fmt.Errorf("%s: first inverse temperature %v: must be 1", who, beta)
		case k > 0 && !(beta < p.Betas[k-1] && beta > 0):
			return scorekit.Schedule{}, fmt.Errorf("%s: inverse temperature %d, %v: must be positive and below the one before it, %v", who, k+1, beta, p.Betas[k-1])
		}
	}
	if err := positive(who, "step", p.StepSize); err != nil {
		return scorekit.Schedule{}, err
	}
	steps, err := count(who, p.Steps)
	if err != nil {
		return scorekit.Schedule{}, err
	}
	schedule := constantRows(steps, []string{"pairs"}, 0)
	if len(p.Betas) > 2 { // two rungs make one pair
		odd := []float64{1}
		for i := 1; i < steps; i += 2 {
			schedule.Rows[i] = odd
		}
	}
	return schedule, nil
}

// Init places all rungs at the starting points. Aux keeps the other rungs, [(K−1)·chains, dims...], and log p,
// [K·chains], and the score, [K·chains, dims...], of all of them, rung by rung.
func (p ParallelTempering) Init(vars *mlctx.Context, _ *random.Source, score scorekit.Score, x *Node) scorekit.State {
	at := p.target().start(vars, score, x)
	repeat := func(v *Node, times int) *Node { return graph.Concatenate(slices.Repeat([]*Node{v}, times), 0) }
	k := len(p.Betas)
	return scorekit.State{X: at.x, Aux: []*Node{repeat(at.x, k-1), repeat(at.logp, k), repeat(at.s, k)}}
}

// Step moves every replica and then swaps neighbours.
func (p ParallelTempering) Step(vars *mlctx.Context, rng *random.Source, score scorekit.Score, state scorekit.State, row []*Node) (scorekit.State, scorekit.Info) {
	rungs, n := len(p.Betas), state.X.Shape().Dimensions[0]
	all := point{graph.Concatenate([]*Node{state.X, state.Aux[0]}, 0), state.Aux[1], state.Aux[2]}
	beta := p.perReplica(all.x, n, func(k int) float64 { return p.Betas[k] })
	eps := p.perReplica(all.x, n, func(k int) float64 { return p.StepSize / p.Betas[k] })
	all, accept := p.target().move(vars, rng, score, all, eps, beta)
	all, swaps := p.swap(rng, all, n, row[0])

	info := scorekit.Info{}
	moves := graph.ReduceMean(graph.Reshape(accept, rungs, n), 1)
	swaps = graph.ReduceMean(swaps, 1)
	for k := range rungs {
		name := "acceptance"
		if k > 0 {
			name = fmt.Sprintf("acceptance %d", k+1)
			info[fmt.Sprintf("swap %d", k)] = graph.Reshape(graph.Slice(swaps, graph.AxisElem(k-1)))
		}
		info[name] = graph.Reshape(graph.Slice(moves, graph.AxisElem(k)))
	}
	first := graph.Slice(all.x, graph.AxisRange(0, n))
	return scorekit.State{X: first, Aux: []*Node{graph.Slice(all.x, graph.AxisRange(n, rungs*n)), all.logp, all.s}}, info
}

// perReplica gives every replica the number of its rung: [K·n, 1, ...].
func (p ParallelTempering) perReplica(x *Node, n int, of func(k int) float64) *Node {
	values := make([]float64, len(p.Betas))
	for k := range values {
		values[k] = of(k)
	}
	rungs := graph.ConvertDType(graph.Const(x.Graph(), values), x.DType())
	return rows.Like(graph.Reshape(graph.BroadcastToDims(graph.Reshape(rungs, -1, 1), len(values), n), -1), x)
}

// swap exchanges neighbours, for the pairs that are tried in this step, and returns the probabilities of all pairs,
// [K−1, n].
func (p ParallelTempering) swap(rng *random.Source, all point, n int, pairs *Node) (point, *Node) {
	rungs, dtype, g := len(p.Betas), all.x.DType(), all.x.Graph()
	gaps, turn := make([]float64, rungs-1), make([]float64, rungs-1)
	for k := range gaps {
		gaps[k], turn[k] = p.Betas[k]-p.Betas[k+1], float64(k%2)
	}
	column := func(v []float64) *Node {
		return graph.Reshape(graph.ConvertDType(graph.Const(g, v), dtype), rungs-1, 1)
	}
	logp := graph.Reshape(all.logp, rungs, n)
	up := func(v *Node) *Node { return graph.Slice(v, graph.AxisRange(1, rungs)) }
	down := func(v *Node) *Node { return graph.Slice(v, graph.AxisRange(0, rungs-1)) }
	probabilities := probability(graph.Mul(column(gaps), graph.Sub(up(logp), down(logp))))
	tried := graph.ConvertDType(graph.Equal(column(turn), pairs), dtype)
	accepted := graph.LessThan(rng.Uniform(rungs-1, n), graph.Mul(probabilities, tried))

	// A replica comes from the rung above where its pair with that one swaps, from the rung below where that pair does,
	// and stays elsewhere; no two pairs that are tried together share a rung.
	swapped := graph.ConvertDType(accepted, dtype)
	none := graph.Zeros(g, graph.Slice(swapped, graph.AxisRange(0, 1)).Shape())
	mask := func(parts ...*Node) *Node {
		return graph.Reshape(graph.GreaterThan(graph.Concatenate(parts, 0), graph.Scalar(g, dtype, 0.5)), rungs*n)
	}
	fromAbove, fromBelow := mask(swapped, none), mask(none, swapped)
	exchange := func(v *Node) *Node {
		above := graph.Concatenate([]*Node{graph.Slice(v, graph.AxisRange(n, rungs*n)), graph.Slice(v, graph.AxisRange(0, n))}, 0)
		below := graph.Concatenate([]*Node{graph.Slice(v, graph.AxisRange((rungs-1)*n, rungs*n)), graph.Slice(v, graph.AxisRange(0, (rungs-1)*n))}, 0)
		return graph.Where(fromAbove, above, graph.Where(fromBelow, below, v))
	}
	return point{exchange(all.x), exchange(all.logp), exchange(all.s)}, probabilities
}

// Predict returns the mean of the noiseless points given x, x + σ²s(x, σ) (Tweedie's formula); x itself without a noise
// level.
func (p ParallelTempering) Predict(vars *mlctx.Context, score scorekit.Score, x *Node, _ []*Node) *Node {
	return p.target().noiseless(vars, score, x)
}
