package net

import (
	"fmt"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"
)

// imageBlock is a residual block on an image h (He et al. 2016, the norm before the convolution; Ho et al. 2020):
//
//	h ← h + W₂ ∗ a(norm(W₁ ∗ a(norm(h)), e))
//
// with kernels of 3×3, a SiLU, and the embedding e acting through the second norm. W₂ starts at 0, and so the block as
// nothing. There are no biases, which the norms have.
func imageBlock(vars *mlctx.Context, h, e *Node, groups int) *Node {
	in, out := vars.In("in"), vars.In("out")
	inner := filter(in, SiLU.apply(groupNorm(in, h, nil, groups)), 3, channelsOf(h))
	inner = SiLU.apply(groupNorm(out, inner, e, groups))
	return graph.Add(h, convolve(out, inner, 3, channelsOf(h), zero))
}

// imageOut makes the output of a network out of its last features: W ∗ a(norm(h)), W = 0 at the start.
func imageOut(vars *mlctx.Context, h *Node, groups, out int) *Node {
	return convolve(vars, SiLU.apply(groupNorm(vars, h, nil, groups)), 3, out, zero)
}

func checkAtLeast(what string, n int) error {
	if n < 0 {
		return fmt.Errorf("%s %d: must be at least 1, or 0 for the usual number", what, n)
	}
	return nil
}
