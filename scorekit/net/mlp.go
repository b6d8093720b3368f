package net

import (
	"fmt"

	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
)

// MLP is a multilayer perceptron as a score for one noise level: s(x) = W_L a(… a(W₁x + b₁) …) + b_L, a the
// activation. x is [batch, dims...], flattened on the way in and shaped back on the way out; the noise level is ignored.
// With Features, γ(x) takes the place of x.
type MLP struct {
	Hidden     []int      `json:"hidden"` // widths of the hidden layers; empty means 128, 128, 128
	Activation Activation `json:"activation,omitempty"`
	Features   Fourier    `json:"features,omitzero"`
}

var _ scorekit.Model = MLP{}

func init() { scorekit.RegisterModel("net.MLP", MLP{}) }

// Validate returns an error for a width below 1, an unknown activation or impossible features.
func (m MLP) Validate() error {
	return first("MLP", checkHidden(m.Hidden), m.Activation.validate(), m.Features.validate())
}

// Score adds the network's output, of the shape of x.
func (m MLP) Score(vars *mlctx.Context, x, _ *Node) *Node {
	return onRows(x, func(rows *Node) *Node {
		return dense(vars.In("out"), m.layers(vars, rows), rows.Shape().Dimensions[1])
	})
}

// layers adds the hidden layers of [batch, d].
func (m MLP) layers(vars *mlctx.Context, rows *Node) *Node {
	return hiddenLayers(vars, m.Activation, widthsOr(m.Hidden, 128), m.Features.of(rows), nil)
}

// hiddenLayers adds h ← a(W h + b), and with a noise level's embedding h ← a(W h + b + A e), for each width.
func hiddenLayers(vars *mlctx.Context, a Activation, widths []int, h, e *Node) *Node {
	for i, width := range widths {
		h = a.apply(withLevel(vars.Inf("layer_%d", i), h, e, width))
	}
	return h
}

func widthsOr(hidden []int, width int) []int {
	if len(hidden) == 0 {
		return []int{width, width, width}
	}
	return hidden
}

func checkHidden(hidden []int) error {
	for _, h := range hidden {
		if h < 1 {
			return fmt.Errorf("hidden widths %v: each must be at least 1", hidden)
		}
	}
	return nil
}
