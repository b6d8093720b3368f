package net

import (
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
)

// NoiseEnergyMLP is a multilayer perceptron as an energy for many noise levels. With v = σ² + DataStd² and f(u, σ) a
// scalar network that receives the level as [NoiseMLP] does,
//
//	E(x, σ) = ½‖x‖²/v − (DataStd/σ) f(x/√v, σ)
//	s(x, σ) = −∇ₓE(x, σ) = −x/v + DataStd/(σ√v) · ∇f(x/√v, σ)
//
// which is the preconditioning of [Preconditioned] with F = ∇f. f = 0 is the energy of N(0, vI); with a bounded
// activation, such as [Tanh], f is bounded and e^{−E} integrable whatever was learnt. With DataStd 0, E(x, σ) =
// −f(x, σ)/σ. E is known up to a number for each σ: energies at different levels cannot be compared.
//
// x is [batch, dims...], σ [batch] and required. With Features, γ(u) takes the place of f's input u.
type NoiseEnergyMLP struct {
	Hidden     []int      `json:"hidden"` // widths of the hidden layers; empty means 256, 256, 256
	Activation Activation `json:"activation,omitempty"`
	Features   Fourier    `json:"features,omitzero"`
	DataStd    float64    `json:"data_std,omitempty"` // root mean square of the data's coordinates; 0: no preconditioning
}

var _ scorekit.Model = NoiseEnergyMLP{}

func init() { scorekit.RegisterModel("net.NoiseEnergyMLP", NoiseEnergyMLP{}) }

// Validate returns an error for a width below 1, an unknown activation, impossible features, or a negative or infinite
// DataStd.
func (m NoiseEnergyMLP) Validate() error {
	return first("noise energy MLP", checkHidden(m.Hidden), m.Activation.validate(), m.Features.validate(), checkDataStd(m.DataStd))
}

// Energy adds E(x, σ), [batch], to the graph. It panics, as graph functions do, when sigma is nil.
func (m NoiseEnergyMLP) Energy(vars *mlctx.Context, x, sigma *Node) *Node {
	needLevel("noise energy MLP", sigma, "EnergyMLP")
	return preconditionEnergy(flat(x), sigma, m.DataStd, func(u *Node) *Node {
		return scalar(vars, NoiseMLP(m).layers(vars, u, sigma))
	})
}

// Score adds −∇ₓE(x, σ), of the shape of x. It panics, as graph functions do, when sigma is nil.
func (m NoiseEnergyMLP) Score(vars *mlctx.Context, x, sigma *Node) *Node {
	return scorekit.Energy(m.Energy).Score(vars, x, sigma)
}
