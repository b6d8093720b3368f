package implicit

import (
	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit/random"
)

// sample is the points of one step of a generator.
type sample struct {
	x    *Node // [n, d], with the generator's gradient
	law  Law
	vars *mlctx.Context
}

// newSample brings law up to the generator as it is and draws n points for the generator's own step.
func newSample(in *inner, law Law, g Generator, vars *mlctx.Context, rng *random.Source, n int) sample {
	draw := func() *Node { return generate(g, vars.In(generatorScope), rng, n) }
	if law != nil {
		law.follow(in, vars, rng, draw)
	}
	return sample{draw(), law, vars}
}

// points is x without a gradient for the generator, to be asked about.
func (s sample) points() *Node { return graph.StopGradient(s.x) }

// entropyDirection is λ∇log q at the points, what an entropy weighed by λ moves them against; nil at λ = 0.
func (s sample) entropyDirection(weight float64) *Node {
	if weight == 0 {
		return nil
	}
	return graph.MulScalar(s.law.at(s.vars, s.points()), weight)
}
