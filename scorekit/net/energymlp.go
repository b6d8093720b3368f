package net

import (
	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
)

// EnergyMLP is a multilayer perceptron as an energy for one noise level: E(x) = wᵀa(… a(W₁x + b₁) …), p ∝ e^{−E}. As a
// [scorekit.Model] it has the score s(x) = −∇ₓE(x), so that every objective trains it; its Jacobian is symmetric, as that
// of a true score is. A constant does not change an energy's score, so that there is no bias after w.
//
// Outside the data E is whatever the layers make of it: nothing makes e^{−E} integrable. [NoiseEnergyMLP] with a DataStd
// has a Gaussian's tails. x is [batch, dims...]; the noise level is ignored. With Features, γ(x) takes the place of x.
type EnergyMLP struct {
	Hidden     []int      `json:"hidden"` // widths of the hidden layers; empty means 128, 128, 128
	Activation Activation `json:"activation,omitempty"`
	Features   Fourier    `json:"features,omitzero"`
}

var _ scorekit.Model = EnergyMLP{}

func init() { scorekit.RegisterModel("net.EnergyMLP", EnergyMLP{}) }

// Validate returns an error for a width below 1, an unknown activation or impossible features.
func (m EnergyMLP) Validate() error {
	return first("energy MLP", checkHidden(m.Hidden), m.Activation.validate(), m.Features.validate())
}

// Energy adds E(x), [batch], to the graph.
func (m EnergyMLP) Energy(vars *mlctx.Context, x, _ *Node) *Node {
	return scalar(vars, MLP(m).layers(vars, flat(x)))
}

// Score adds −∇ₓE(x), of the shape of x.
func (m EnergyMLP) Score(vars *mlctx.Context, x, sigma *Node) *Node {
	return scorekit.Energy(m.Energy).Score(vars, x, sigma)
}

// scalar adds the last layer of an energy, wᵀh: [batch, width] → [batch].
func scalar(vars *mlctx.Context, h *Node) *Node {
	return graph.Reshape(linear(vars.In("out"), h, 1), h.Shape().Dimensions[0])
}
