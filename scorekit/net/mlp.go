package net

import (
	"fmt"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
)

// MLP is a multilayer perceptron as a score for one noise level: s(x) = W_L a(… a(W₁x + b₁) …) + b_L, a the
// activation. x is [batch, dims...], flattened on the way in and shaped back on the way out; the noise level is ignored.
type MLP struct {
	Hidden     []int      `json:"hidden"` // widths of the hidden layers; empty means 128, 128, 128
	Activation Activation `json:"activation,omitempty"`
}

var _ scorekit.Model = MLP{}

func init() { scorekit.RegisterModel("net.MLP", MLP{}) }

// Validate returns an error for a width below 1 or an unknown activation.
func (m MLP) Validate() error {
	if err := checkHidden(m.Hidden); err != nil {
		return fmt.Errorf("MLP: %w", err)
	}
	if err := m.Activation.validate(); err != nil {
		return fmt.Errorf("MLP: %w", err)
	}
	return nil
}

// Score adds the network's output, of the shape of x.
func (m MLP) Score(vars *mlctx.Context, x, _ *Node) *Node {
	hidden := m.Hidden
	if len(hidden) == 0 {
		hidden = []int{128, 128, 128}
	}
	h := flat(x)
	d := h.Shape().Dimensions[1]
	for i, width := range hidden {
		h = m.Activation.apply(dense(vars.Inf("layer_%d", i), h, width))
	}
	return graph.Reshape(dense(vars.In("out"), h, d), x.Shape().Dimensions...)
}
