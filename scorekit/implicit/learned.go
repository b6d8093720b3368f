package implicit

import (
	"fmt"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/given"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/random"
)

// Learned is a network that follows the score of the generator's law: before each step of the generator it takes Steps
// steps of its own on Objective, each on a fresh batch of the generator's points.
//
// objective.SlicedVR and objective.Implicit learn the score of the law itself; where a law is nearly on a surface, that is
// steeper than a network can follow. objective.Denoising learns the score of x + σz, which exists for every law and is
// near that of x where σ is small against the shapes of the law: the gradient of the entropy is then off by a share of
// order (σ/width)². Both are asked at x, without a noise level.
type Learned struct {
	Network   scorekit.Model     // of one noise level, such as net.MLP
	Objective scorekit.Objective // what it is trained by
	Steps     int                // its steps for each of the generator; 0 means 1
	Rate      float64            // its learning rate; 0 means 1e-3
}

var _ Law = Learned{}

// Validate returns an error if the network or the objective is missing or has impossible settings, for a network that is
// trained already, for a negative number of steps, and for a rate outside [0, 1].
func (l Learned) Validate() error {
	const who = "learned score of the law"
	for _, part := range []struct {
		name  string
		value any
	}{{"network", l.Network}, {"objective", l.Objective}} {
		if err := given.Check(part.name, part.value); err != nil {
			return fmt.Errorf("%s: %w", who, err)
		}
	}
	if _, ok := l.Network.(*scorekit.Fitted); ok {
		return fmt.Errorf("%s: network *scorekit.Fitted: training begins from fresh weights: give its Model()", who)
	}
	for _, part := range []any{l.Network, l.Objective} {
		if v, ok := part.(scorekit.Validator); ok {
			if err := v.Validate(); err != nil {
				return fmt.Errorf("%s: %w", who, err)
			}
		}
	}
	if err := checkInner(l.Steps, l.Rate); err != nil {
		return fmt.Errorf("%s: %w", who, err)
	}
	return nil
}

func (l Learned) network() scorekit.Model { return l.Network }

func (l Learned) follow(in *inner, vars *mlctx.Context, rng *random.Source, draw func() *Node) {
	vars = vars.In(networkScope)
	for range max(1, l.Steps) {
		loss := l.Objective.Loss(vars, rng, l.Network.Score, graph.StopGradient(draw()))
		in.descend(vars, graph.ReduceAllMean(loss), l.Rate)
	}
}

func (l Learned) at(vars *mlctx.Context, x *Node) *Node {
	return l.Network.Score(vars.In(networkScope), x, nil)
}
