package implicit

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/given"
	"github.com/scorekit/lab/internal/rows"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/net"
	"github.com/scorekit/lab/scorekit/random"
)

// Adversarial trains a generator towards data against a critic (Goodfellow et al. 2014, with the loss that does not
// saturate), and holds up the entropy of its law. The critic is an energy E, low where the data are; with
// ζ(u) = log(1+eᵘ), p the data's law and q the generator's,
//
//	critic:     minimise  E_p ζ(E(x)) + E_q ζ(−E(x)) + ½ R1 E_p‖∇E(x)‖²
//	generator:  minimise  E_q ζ(E(x)) − λ H(q)
//
// The best critic without the penalty is E = log q − log p. The penalty (Mescheder, Geiger and Nowozin 2018) lets both
// come to rest where q = p. λ is Entropy: at 0 it is the plain game, in which a generator may settle on some of the
// data's modes; the term pushes points of the same mode apart until they spill over into others. It also makes the law
// wider than the data's, the more so the larger λ is.
//
// The loss shown in a training is E_q ζ(E(x)), log 2 where the critic cannot tell. Neither it nor its fall says how good
// the points are: look at them, with metric.Modes and a distance.
type Adversarial struct {
	Generator Generator
	Data      scorekit.Data // points of one axis, [n, d]
	Critic    net.EnergyMLP
	Steps     int     // the critic's steps for each of the generator, each on a fresh batch; 0 means 1
	Rate      float64 // the critic's learning rate; 0 means 1e-3
	R1        float64 // weight of the penalty; 0: none
	Law       Law     // may be nil if Entropy is 0
	Entropy   float64 // λ, not negative
}

var _ Training = Adversarial{}

// Validate returns an error for a part that is missing or has impossible settings, for data that do not have the
// generator's dimension, and for a number out of range.
func (a Adversarial) Validate() error {
	const who = "adversarial training"
	if err := checkGenerator(a.Generator); err != nil {
		return fmt.Errorf("%s: %w", who, err)
	}
	if err := given.Check("data", a.Data); err != nil {
		return fmt.Errorf("%s: %w", who, err)
	}
	if v, ok := a.Data.(scorekit.Validator); ok {
		if err := v.Validate(); err != nil {
			return fmt.Errorf("%s: %w", who, err)
		}
	}
	if shape := a.Data.Shape(); len(shape) != 1 || shape[0] != a.Generator.Dim() {
		return fmt.Errorf("%s: data of shape %v for a generator of %d numbers: must be equal", who, shape, a.Generator.Dim())
	}
	if err := a.Critic.Validate(); err != nil {
		return fmt.Errorf("%s: critic: %w", who, err)
	}
	if err := checkInner(a.Steps, a.Rate); err != nil {
		return fmt.Errorf("%s: critic: %w", who, err)
	}
	if !(a.R1 >= 0) || math.IsInf(a.R1, 0) {
		return fmt.Errorf("%s: R1 %v: must be finite and not negative", who, a.R1)
	}
	if err := checkEntropy(a.Entropy, a.Law); err != nil {
		return fmt.Errorf("%s: %w", who, err)
	}
	return nil
}

func (a Adversarial) parts() (Generator, Law, scorekit.Data) { return a.Generator, a.Law, a.Data }

func (a Adversarial) loss(vars *mlctx.Context, rng *random.Source, x *Node) *Node {
	n := x.Shape().Dimensions[0]
	in := newInner(vars, rng.Graph())
	critic := vars.In(criticScope)
	for i := range max(1, a.Steps) {
		if i > 0 {
			x = a.Data.Batch(vars.InAbsPath(dataPath), rng, n)
		}
		fake := graph.StopGradient(generate(a.Generator, vars.In(generatorScope), rng, n))
		in.descend(critic, graph.ReduceAllMean(a.criticLoss(critic, x, fake)), a.Rate)
	}
	s := newSample(in, a.Law, a.Generator, vars, rng, n)
	points := graph.Identity(s.points())
	value := graph.Softplus(a.Critic.Energy(critic, points, nil))
	direction := graph.Gradient(graph.ReduceAllSum(value), points)[0]
	if e := s.entropyDirection(a.Entropy); e != nil {
		direction = graph.Add(direction, e)
	}
	return in.finish(graph.Add(graph.StopGradient(value), pushed(s.x, direction)))
}

// criticLoss is ζ(E(x)) + ζ(−E(fake)) + ½R1‖∇E(x)‖², [n].
func (a Adversarial) criticLoss(vars *mlctx.Context, x, fake *Node) *Node {
	x = graph.Identity(x)
	real := a.Critic.Energy(vars, x, nil)
	loss := graph.Add(graph.Softplus(real), graph.Softplus(graph.Neg(a.Critic.Energy(vars, fake, nil))))
	if a.R1 > 0 {
		slope := graph.Gradient(graph.ReduceAllSum(real), x)[0]
		loss = graph.Add(loss, graph.MulScalar(rows.Sum(graph.Square(slope)), a.R1/2))
	}
	return loss
}
