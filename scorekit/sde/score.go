package sde

import (
	"fmt"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
)

// ScoreAt returns the score of the state x at a level from a score of noised data, s(x, σ) = ∇ log (p ∗ N(0, σ²I))(x).
// The state is x = a(x₀ + σz) with σ = b/a, so that its density is a^{−d} p_σ(x/a), and by the chain rule
//
//	∇ log p_state(x) = (1/a) s(x/a, b/a)
//
// So any trained [scorekit.Score] serves every process. It must know noise levels up to b/a, which at the end of VP{} is
// 152: train it that far, or let the sampler start at a smaller t. x is [batch, dims...]; the level is scalars or [batch].
func ScoreAt(vars *mlctx.Context, score scorekit.Score, x *Node, at NodeLevel) *Node {
	mean := alike(at.Mean, x)
	return graph.Div(score(vars, graph.Div(x, mean), each(at.Sigma(), x)), mean)
}

// PredictAt is [ScoreAt] turned into another kind of prediction.
func PredictAt(vars *mlctx.Context, score scorekit.Score, x *Node, at NodeLevel, kind Prediction) *Node {
	return ConvertNode(Score, kind, at, x, ScoreAt(vars, score, x, at))
}

// FromNetwork makes a score of noised data from a network that predicts another quantity, of the states of a process and
// from their times: network.Score(vars, x, t) returns the kind of prediction for the state x at the times t, [batch].
// For a [Discrete] process t is the index, interpolated. With {a, b} the level of noise σ,
//
//	s(x, σ) = −ε(a·x, t)/σ
//
// where ε follows from the prediction as in [Convert]. A trained network brings its weights.
func FromNetwork(process Marginals, kind Prediction, network scorekit.Model) scorekit.Model {
	score := scorekit.Score(func(vars *mlctx.Context, x, sigma *Node) *Node {
		if sigma == nil {
			panic(fmt.Errorf("sde: FromNetwork: no noise level was given: use a sampler that has one"))
		}
		t := process.TimeNode(sigma)
		at := process.MarginalNode(t)
		state := graph.Mul(alike(at.Mean, x), x)
		noise := ConvertNode(kind, Noise, at, state, network.Score(vars, state, t))
		return graph.Neg(graph.Div(noise, alike(sigma, x)))
	})
	return withWeights(score, network)
}

// ToNetwork is the way back: a function of the states of a process and their times, [batch], that predicts a quantity
// from a score of noised data. A trained score brings its weights.
func ToNetwork(process Marginals, kind Prediction, score scorekit.Model) scorekit.Model {
	network := scorekit.Score(func(vars *mlctx.Context, x, t *Node) *Node {
		return PredictAt(vars, score.Score, x, process.MarginalNode(t), kind)
	})
	return withWeights(network, score)
}

// trained is a model with weights of its own, a *[scorekit.Fitted] or one made from it.
type trained interface {
	Vars() *mlctx.Context
	Shape() []int
	DType() dtypes.DType
}

// withWeights gives a score that was made from a model the weights of that model.
func withWeights(score scorekit.Score, from scorekit.Model) scorekit.Model {
	if t, ok := from.(trained); ok {
		return madeFrom{t, score}
	}
	return score
}

// madeFrom is a score with the weights of another model, and what is known of them.
type madeFrom struct {
	trained
	score scorekit.Score
}

func (m madeFrom) Score(vars *mlctx.Context, x, sigma *Node) *Node { return m.score(vars, x, sigma) }
