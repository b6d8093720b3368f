package sampler

import (
	"fmt"
	"math"
	"slices"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/rows"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/random"
)

// target is a law that is known up to a constant, by one of its two functions.
type target struct {
	energy     scorekit.Energy
	logDensity func(x *Node) *Node
	sigma      float64
}

func (t target) validate(who string) error {
	if (t.energy == nil) == (t.logDensity == nil) {
		return fmt.Errorf("%s: Energy and LogDensity: exactly one must be given", who)
	}
	return level(who, t.sigma)
}

// point is where chains are, with what is known of the target there.
type point struct {
	x, logp, s *Node // [n, dims...], [n], [n, dims...]
}

// aux is what a state keeps of a point besides x.
func (p point) aux() []*Node { return []*Node{p.logp, p.s} }

// at evaluates the target. An energy and its gradient come from one pass; with a log-density the score is the model's.
func (t target) at(vars *mlctx.Context, score scorekit.Score, x *Node) point {
	var logp, s *Node
	if t.energy != nil {
		x = graph.Identity(x) // points that were drawn are marked StopGradient, and their own gradient would be 0
		logp = graph.Neg(t.energyAt(vars, x))
		checkPerPoint("energy", logp, x)
		s = graph.Gradient(graph.ReduceAllSum(logp), x)[0]
	} else {
		logp, s = t.logDensity(x), scoreAt(vars, score, x, t.sigma)
		checkPerPoint("log-density", logp, x)
	}
	return point{x, logp, s}
}

// energyAt is the energy with a check that no weight is missing from vars.
func (t target) energyAt(vars *mlctx.Context, x *Node) *Node {
	known := map[*mlctx.Variable]bool{}
	if vars != nil {
		for v := range vars.IterVariables() {
			known[v] = true
		}
	}
	energy := t.energyHere(vars, x)
	if vars != nil {
		for v := range vars.IterVariables() {
			if !known[v] && (v.Trainable || !v.HasValue()) {
				panic(fmt.Errorf("the energy has weights that were not given, %s first: use the result of Fit or Load as the model, or WithVars", v.ScopeAndName()))
			}
		}
	}
	return energy
}

func (t target) energyHere(vars *mlctx.Context, x *Node) *Node {
	defer explainMissingLevel(t.sigma)
	return t.energy(vars, x, fixedLevel(t.sigma, x))
}

func checkPerPoint(what string, v, x *Node) {
	if !slices.Equal(v.Shape().Dimensions, x.Shape().Dimensions[:1]) {
		panic(fmt.Errorf("%s of shape %v for points of shape %v: must be [chains]", what, v.Shape().Dimensions, x.Shape().Dimensions))
	}
}

// start evaluates the target where the chains start. Where p is 0 there, log p = −∞, a chain may start; where log p is NaN
// or +∞ it could neither stay nor leave by a rule, and x is made NaN, which stops the run as diverged.
func (t target) start(vars *mlctx.Context, score scorekit.Score, x *Node) point {
	p := t.at(vars, score, x)
	fine := graph.LessThan(p.logp, graph.Infinity(p.logp.Graph(), p.logp.DType(), 1))
	p.x = graph.Where(fine, p.x, graph.MulScalar(graph.OnesLike(p.x), math.NaN()))
	return p
}

// noiseless is Tweedie's formula, x + σ²s(x, σ), at the target's noise level; for none it is x.
func (t target) noiseless(vars *mlctx.Context, score scorekit.Score, x *Node) *Node {
	if t.sigma == 0 {
		return x
	}
	return graph.Add(x, graph.MulScalar(t.at(vars, score, x).s, t.sigma*t.sigma))
}

// langevin proposes y = x + ε βs(x) + √(2ε) z and returns y with log p^β(y) q(x|y) / p^β(x) q(y|x), [n], what Metropolis
// and Hastings decide by. eps and beta are scalars or [n, 1, ...]; beta nil is 1.
func (t target) langevin(vars *mlctx.Context, rng *random.Source, score scorekit.Score, from point, eps, beta *Node) (to point, ratio *Node) {
	z := rng.Normal(from.x.Shape().Dimensions...)
	tempered := func(v *Node) *Node {
		if beta == nil {
			return v
		}
		return graph.Mul(v, beta)
	}
	y := graph.Add(graph.Add(from.x, graph.Mul(eps, tempered(from.s))), graph.Mul(graph.Sqrt(graph.MulScalar(eps, 2)), z))
	to = t.at(vars, score, y)
	gain := graph.Sub(to.logp, from.logp)
	if beta != nil {
		gain = graph.Mul(gain, graph.Reshape(beta, -1))
	}
	return to, graph.Add(gain, backward(tempered(graph.Add(from.s, to.s)), z, eps))
}

// move takes one step of Metropolis and Hastings with the proposals of langevin, and returns where it leads and the
// probabilities of acceptance, [n]. A chain that started where p is 0 moves until it has left.
func (t target) move(vars *mlctx.Context, rng *random.Source, score scorekit.Score, from point, eps, beta *Node) (to point, accept *Node) {
	to, ratio := t.langevin(vars, rng, score, from, eps, beta)
	outside := graph.Equal(from.logp, graph.Infinity(ratio.Graph(), ratio.DType(), -1))
	accept = graph.Where(outside, graph.OnesLike(ratio), probability(ratio))
	ok := graph.LessThan(rng.Uniform(accept.Shape().Dimensions...), accept)
	return point{graph.Where(ok, to.x, from.x), graph.Where(ok, to.logp, from.logp), graph.Where(ok, to.s, from.s)}, accept
}

// backward is log q(x|y) − log q(y|x) of the Langevin proposal y = x + ε s(x) + √(2ε) z, q(y|x) = N(y; x + ε s(x), 2εI).
// With w = √(ε/2)(s(x) + s(y)) it is −⟨w, z + w/2⟩: x − y − ε s(y) = −√(2ε)(z + w), so that the two squares, each about
// as large as the dimension, need not be subtracted from each other. sum is s(x) + s(y).
func backward(sum, z, eps *Node) *Node {
	w := graph.Mul(graph.Sqrt(graph.MulScalar(eps, 0.5)), sum)
	return graph.Neg(rows.Sum(graph.Mul(w, graph.Add(z, graph.MulScalar(w, 0.5)))))
}

// probability is min(1, e^r), and 0 where r is NaN.
func probability(r *Node) *Node {
	zero := graph.ZerosLike(r)
	p := graph.Exp(graph.Where(graph.LessThan(r, zero), r, zero))
	return graph.Where(graph.Equal(r, r), p, zero)
}
