package implicit

import (
	"fmt"

	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/internal/rows"
)

// EntropyTerm adds a loss whose value is 0 and whose gradient is that of the entropy: x = g_θ(ε) are points of a generator
// and s = ∇ₓ log q(x) the score of its law there, both [batch, dims...]; the result is [batch], and
//
//	∇_θ (1/n) Σᵢ termᵢ = −(1/n) Σᵢ (∂g/∂θ)ᵀ s(xᵢ)  →  ∇_θ H,   H = −E_q log q
//
// To raise the entropy of a generator in a loss that is minimised, subtract λ times the term.
//
// Why: H depends on θ through the points and through q itself,
//
//	−∇_θH = E[(∂g/∂θ)ᵀ ∇ₓ log q_θ(x)] + E[∇_θ log q_θ(x)]
//
// and the second mean is ∫ q ∇_θ log q = ∇_θ ∫ q = 0 (Roeder, Wu and Duvenaud 2017; Li and Turner 2018). "Score Matching",
// §4.2, leaves out the minus of H: without it the entropy falls. s is taken as it is: no gradient goes through it.
//
// It panics with an error, as graph functions do, unless x and s have the same shape.
func EntropyTerm(x, s *Node) *Node {
	return graph.Neg(pushed(x, s))
}

// EntropyGradient adds the gradient of the entropy of a generator's law for each of weights, in the shape of the weight:
//
//	∇_θ H ≈ −(1/n) Σᵢ (∂g/∂θ)ᵀ s(xᵢ),   H = −E_q log q
//
// x and s are as for [EntropyTerm], and weights the nodes of θ that x was made from. It is unbiased for an exact s; its
// error falls as 1/√n.
func EntropyGradient(x, s *Node, weights ...*Node) []*Node {
	return graph.Gradient(graph.ReduceAllMean(EntropyTerm(x, s)), weights...)
}

// pushed is a loss of each example that is 0 and whose gradient for the points is direction: minimising it moves them
// against direction.
func pushed(x, direction *Node) *Node {
	if !x.Shape().Equal(direction.Shape()) || x.Rank() < 2 {
		panic(fmt.Errorf("implicit: scores of shape %s for points of shape %s: must be equal, [batch, dims...]", direction.Shape(), x.Shape()))
	}
	return rows.Sum(graph.Mul(graph.StopGradient(direction), graph.Sub(x, graph.StopGradient(x))))
}
