package net

import (
	"fmt"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
)

// ConvEnergy is an energy of images by convolutions, one after the other, for one noise level:
//
//	h ← a(W ∗ h + b) for each of Channels, from h = x;  E(x) = Σ over rows and columns of wᵀh
//
// with the activation a. The convolutions step by one pixel and have zeros beyond the edges, so that every h is as high and
// as wide as x. E is therefore a sum, over all places, of one learned potential of the L·(Kernel−1)+1 pixels around a
// place along each axis, L the number of convolutions: a field of experts (Roth and Black 2005). It knows textures and
// edges, and, but by what the edges of the image tell, not where in the image they are. For what is further apart
// take more layers, or [EnergyMLP]. The same weights take images of any size, smaller than the kernel too.
//
// x is [batch, height, width, channels]; the noise level is ignored. A constant does not change an energy's score, so
// that there is no bias after w. As with [EnergyMLP], nothing makes e^{−E} integrable.
type ConvEnergy struct {
	Channels   []int      `json:"channels"`         // that come out of the convolutions; empty means 32, 32, 32
	Kernel     int        `json:"kernel,omitempty"` // height and width of the kernels, odd; 0 means 3
	Activation Activation `json:"activation,omitempty"`
}

var _ scorekit.Model = ConvEnergy{}

func init() { scorekit.RegisterModel("net.ConvEnergy", ConvEnergy{}) }

// Validate returns an error for a number of channels below 1, a kernel that is even or negative, or an unknown
// activation.
func (m ConvEnergy) Validate() error {
	const who = "conv energy"
	for _, c := range m.Channels {
		if c < 1 {
			return fmt.Errorf("%s: channels %v: each must be at least 1", who, m.Channels)
		}
	}
	if m.Kernel < 0 || (m.Kernel != 0 && m.Kernel%2 == 0) {
		return fmt.Errorf("%s: kernel %d: must be odd and positive, or 0 for 3", who, m.Kernel)
	}
	return first(who, m.Activation.validate())
}

// Energy adds E(x), [batch], to the graph. It panics with an error, as graph functions do, if x is not [batch, height,
// width, channels].
func (m ConvEnergy) Energy(vars *mlctx.Context, x, _ *Node) *Node {
	if x.Rank() != 4 {
		panic(fmt.Errorf("conv energy: points of shape %v: must be images, [batch, height, width, channels]", x.Shape().Dimensions))
	}
	channels, kernel := m.Channels, m.Kernel
	if len(channels) == 0 {
		channels = []int{32, 32, 32}
	}
	if kernel == 0 {
		kernel = 3
	}
	h := x
	for i, out := range channels {
		h = m.Activation.apply(convolution(vars.Inf("layer_%d", i), h, kernel, out))
	}
	return scalar(vars, graph.ReduceSum(h, 1, 2))
}

// Score adds −∇ₓE(x), of the shape of x. It panics as Energy does.
func (m ConvEnergy) Score(vars *mlctx.Context, x, sigma *Node) *Node {
	return scorekit.Energy(m.Energy).Score(vars, x, sigma)
}

// convolution is W ∗ h + b, W as filter has it and b = 0 at the start.
func convolution(vars *mlctx.Context, h *Node, kernel, out int) *Node {
	h = filter(vars, h, kernel, out)
	return graph.Add(h, graph.Reshape(zeros(vars, "biases", h, out), 1, 1, 1, out))
}
