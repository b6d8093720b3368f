package implicit

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"
)

// MLP is a multilayer perceptron as a generator,
//
//	x = W_L a(… a(W₁ε + b₁) …) + b_L,  a(u) = u·sigmoid(u)
//
// Its law can have several modes, which a [Linear] one cannot. With fewer Inputs than Outputs the law lies on a surface
// and has no density: its entropy is −∞, and only a score learnt under noise tells something of it.
type MLP struct {
	Inputs  int     `json:"inputs"`           // numbers of ε
	Outputs int     `json:"outputs"`          // numbers of x
	Hidden  []int   `json:"hidden"`           // widths of the hidden layers; empty means 128, 128
	Spread  float64 `json:"spread,omitempty"` // factor of W_L at the start; 0 means 1
}

var _ Generator = MLP{}

// Validate returns an error for a width below 1 and a spread that is negative or infinite.
func (m MLP) Validate() error {
	for _, h := range m.Hidden {
		if h < 1 {
			return fmt.Errorf("MLP generator: hidden widths %v: each must be at least 1", m.Hidden)
		}
	}
	if !(m.Spread >= 0) || math.IsInf(m.Spread, 0) {
		return fmt.Errorf("MLP generator: spread %v: must be finite and not negative", m.Spread)
	}
	return checkDims("MLP generator", m.Inputs, m.Outputs)
}

// NoiseDim returns Inputs.
func (m MLP) NoiseDim() int { return m.Inputs }

// Dim returns Outputs.
func (m MLP) Dim() int { return m.Outputs }

// Generate adds x, [batch, Outputs].
func (m MLP) Generate(vars *mlctx.Context, noise *Node) *Node {
	widths := m.Hidden
	if len(widths) == 0 {
		widths = []int{128, 128}
	}
	h := noise
	for i, width := range widths {
		u := dense(vars.Inf("layer_%d", i), h, width, 1)
		h = graph.Mul(u, graph.Sigmoid(u))
	}
	spread := m.Spread
	if spread == 0 {
		spread = 1
	}
	return dense(vars.In("out"), h, m.Outputs, spread)
}
