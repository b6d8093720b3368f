package net

import (
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
)

// NoiseMLP is a multilayer perceptron as a score for many noise levels: a network F(u, σ) with the preconditioning of
// [Preconditioned]. With v = σ² + DataStd²,
//
//	s(x, σ) = −x/v + DataStd/(σ√v) · F(x/√v, σ)
//
// F predicts what is left of the noise once a Gaussian of standard deviation DataStd has explained its part; far from
// the data, where nothing was learnt, the first term still pulls towards them. With DataStd 0, s(x, σ) = F(x, σ)/σ, a
// plain noise prediction, whose inputs grow with σ: it starts with scores of the right size only while x is of order one.
//
// σ enters through an embedding e = a(W φ(σ) + b) of the Fourier features
//
//	φ(σ) = [sin(f_k ln σ), cos(f_k ln σ)],  f_k = ¼·32^{k/15},  k = 0 … 15
//
// (after Tancik et al. 2020), which every hidden layer receives through a matrix of its own: h ← a(W h + b + A e).
// x is [batch, dims...], σ [batch] and required. With Features, γ(u) takes the place of F's input u.
type NoiseMLP struct {
	Hidden     []int      `json:"hidden"` // widths of the hidden layers; empty means 256, 256, 256
	Activation Activation `json:"activation,omitempty"`
	Features   Fourier    `json:"features,omitzero"`
	DataStd    float64    `json:"data_std,omitempty"` // root mean square of the data's coordinates; 0: plain noise prediction
}

var _ scorekit.Model = NoiseMLP{}

func init() { scorekit.RegisterModel("net.NoiseMLP", NoiseMLP{}) }

// Validate returns an error for a width below 1, an unknown activation, impossible features, or a negative or infinite
// DataStd.
func (m NoiseMLP) Validate() error {
	return first("noise MLP", checkHidden(m.Hidden), m.Activation.validate(), m.Features.validate(), checkDataStd(m.DataStd))
}

// Score adds s(x, σ), of the shape of x. It panics, as graph functions do, when sigma is nil.
func (m NoiseMLP) Score(vars *mlctx.Context, x, sigma *Node) *Node {
	needLevel("noise MLP", sigma, "MLP")
	return precondition(x, sigma, m.DataStd, func(u *Node) *Node {
		return onRows(u, func(rows *Node) *Node {
			return dense(vars.In("out"), m.layers(vars, rows, sigma), rows.Shape().Dimensions[1])
		})
	})
}

// layers adds the embedding of the noise level, once for a level that all share, and the hidden layers of [batch, d].
func (m NoiseMLP) layers(vars *mlctx.Context, rows, sigma *Node) *Node {
	widths := widthsOr(m.Hidden, 256)
	e := embed(vars, m.Activation, shared(sigma), widths[0])
	return hiddenLayers(vars, m.Activation, widths, m.Features.of(rows), e)
}
