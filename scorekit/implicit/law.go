package implicit

import (
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/random"
)

// Law is how a training knows the score ∇ₓ log q of the law of a generator that changes at every step: [Learned] by a
// network, or estimated from the points of the step alone, [Stein].
type Law interface {
	scorekit.Validator
	// network returns the model that learns, nil if none does.
	network() scorekit.Model
	// follow brings the weights up to the generator as it is. draw adds fresh points of it.
	follow(in *inner, vars *mlctx.Context, rng *random.Source, draw func() *Node)
	// at adds the score at points of the generator, [batch, d].
	at(vars *mlctx.Context, x *Node) *Node
}
