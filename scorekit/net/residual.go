package net

import (
	"fmt"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
)

// ResidualMLP is a network of residual blocks as a score for one noise level (He et al. 2016):
//
//	h₀ = W_in x + b_in,  h ← h + W₂ a(W₁h + b₁) + b₂ for each block,  s(x) = W_out h + b_out
//
// A straight way leads from x to s: without the blocks s is linear, the score of a Gaussian, and the blocks add what is
// missing. W₂ starts as N(0, 1/(Width·Blocks)), so that the blocks together add about as much as comes in, however many
// there are; unlike a start at zero this gives every weight a gradient from the first step.
//
// Take it in place of [MLP] where more than three or four hidden layers are wanted. x is [batch, dims...]; the noise
// level is ignored. With Features, γ(x) takes the place of x.
type ResidualMLP struct {
	Width      int        `json:"width,omitempty"`  // of h and of the layer inside a block; 0 means 128
	Blocks     int        `json:"blocks,omitempty"` // 0 means 3
	Activation Activation `json:"activation,omitempty"`
	Features   Fourier    `json:"features,omitzero"`
}

// NoiseResidualMLP is [ResidualMLP] for many noise levels: the network F(u, σ) of
//
//	s(x, σ) = −x/v + DataStd/(σ√v) · F(x/√v, σ),  v = σ² + DataStd²
//
// or F(x, σ)/σ with DataStd 0, as in [NoiseMLP], whose embedding e of the level each block receives through a matrix of
// its own: h ← h + W₂ a(W₁h + b₁ + A e) + b₂. x is [batch, dims...], σ [batch] and required. With Features, γ(u) takes
// the place of F's input u.
type NoiseResidualMLP struct {
	Width      int        `json:"width,omitempty"`  // of h, the layer inside a block and the embedding; 0 means 256
	Blocks     int        `json:"blocks,omitempty"` // 0 means 3
	Activation Activation `json:"activation,omitempty"`
	Features   Fourier    `json:"features,omitzero"`
	DataStd    float64    `json:"data_std,omitempty"` // root mean square of the data's coordinates; 0: plain noise prediction
}

var _, _ scorekit.Model = ResidualMLP{}, NoiseResidualMLP{}

func init() {
	scorekit.RegisterModel("net.ResidualMLP", ResidualMLP{})
	scorekit.RegisterModel("net.NoiseResidualMLP", NoiseResidualMLP{})
}

// Validate returns an error for a negative width or number of blocks, an unknown activation or impossible features.
func (m ResidualMLP) Validate() error {
	return first("residual MLP", checkBlocks(m.Width, m.Blocks), m.Activation.validate(), m.Features.validate())
}

// Validate returns an error for a negative width or number of blocks, an unknown activation, impossible features, or a
// negative or infinite DataStd.
func (m NoiseResidualMLP) Validate() error {
	return first("noise residual MLP", checkBlocks(m.Width, m.Blocks), m.Activation.validate(), m.Features.validate(), checkDataStd(m.DataStd))
}

func checkBlocks(width, blocks int) error {
	if width < 0 {
		return fmt.Errorf("width %d: must be at least 1, or 0 for the usual one", width)
	}
	if blocks < 0 {
		return fmt.Errorf("blocks %d: must be at least 1, or 0 for the usual number", blocks)
	}
	return nil
}

// Score adds the network's output, of the shape of x.
func (m ResidualMLP) Score(vars *mlctx.Context, x, _ *Node) *Node {
	width := valueOr(m.Width, 128)
	return onRows(x, func(rows *Node) *Node {
		h := residualBlocks(vars, m.Activation, width, valueOr(m.Blocks, 3), m.Features.of(rows), nil)
		return dense(vars.In("out"), h, rows.Shape().Dimensions[1])
	})
}

// Score adds s(x, σ), of the shape of x. It panics, as graph functions do, when sigma is nil.
func (m NoiseResidualMLP) Score(vars *mlctx.Context, x, sigma *Node) *Node {
	needLevel("noise residual MLP", sigma, "ResidualMLP")
	width := valueOr(m.Width, 256)
	return precondition(x, sigma, m.DataStd, func(u *Node) *Node {
		return onRows(u, func(rows *Node) *Node {
			e := embed(vars, m.Activation, shared(sigma), width)
			h := residualBlocks(vars, m.Activation, width, valueOr(m.Blocks, 3), m.Features.of(rows), e)
			return dense(vars.In("out"), h, rows.Shape().Dimensions[1])
		})
	})
}

// residualBlocks adds the way in and the blocks. e is the embedding of a noise level, or nil.
func residualBlocks(vars *mlctx.Context, a Activation, width, blocks int, h, e *Node) *Node {
	h = dense(vars.In("in"), h, width)
	for i := range blocks {
		at := vars.Inf("block_%d", i)
		inner := a.apply(withLevel(at.In("in"), h, e, width))
		h = graph.Add(h, biased(at.In("out"), damped(at.In("out"), inner, width, blocks)))
	}
	return h
}

func valueOr(n, usual int) int {
	if n == 0 {
		return usual
	}
	return n
}
