package net

import (
	"fmt"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
)

// UNet is a network of convolutions at several resolutions as a score of images for many noise levels, of all images or of
// those of a class (Ronneberger et al. 2015; Ho et al. 2020): F(u, σ, class) of
//
//	s(x, σ | class) = −x/v + DataStd/(σ√v) · F(x/√v, σ, class),  v = σ² + DataStd²
//
// or F(x, σ, class)/σ with DataStd 0, as in [NoiseMLP]. F goes down the resolutions and up again:
//
//	squares of Patch×Patch pixels become one pixel with more channels, then 3×3 convolution to Channels[0]
//	down: Blocks residual blocks; 2×2 pixels become one of the next Channels; …
//	at the lowest resolution: with Attention, each pixel takes from all others
//	up: … one pixel becomes 2×2, to which what was there on the way down is added; Blocks residual blocks
//	norm, SiLU, 3×3 convolution to Patch²·channels, and those back to squares of pixels
//
// A residual block is h ← h + W₂ ∗ a(norm(W₁ ∗ a(norm(h)))): kernels of 3×3 with zeros beyond the edges, a SiLU, and a group
// norm of each image by itself (Wu and He 2018), so that the images of a batch do not influence one another. The noise level and the class act through the
// second norm of each block: they scale and shift its features. The last convolution of each block and of F start at 0:
// the score begins as that of N(0, DataStd²I) with the noise added.
//
// Images of any size are taken, by the same weights: where a side is odd on its way down, a row or column of zeros is
// added at its end, and cut off again on the way up, so that 28 pixels go to 14, 7 and, with one resolution more, 4.
//
// x is [batch, height, width, channels], σ [batch] and required. Classes are numbered from 0; [scorekit.NoClass], and
// any other number that is not a class, means all of them together, for which Score is.
//
// On pure Go it can be trained and sampled from, but it takes some ninety times as long as on XLA.
type UNet struct {
	Channels  []int   `json:"channels"`            // features at each resolution, the finest first; empty means 64, 128
	Blocks    int     `json:"blocks,omitempty"`    // at each resolution on the way down, and again up; 0 means 1
	Patch     int     `json:"patch,omitempty"`     // side of the squares that enter as one pixel; 1 for the finest detail, at 4 times the work; 0 means 2
	Groups    int     `json:"groups,omitempty"`    // of channels, each normalised by itself; 0 means 8, or what divides Channels
	Attention bool    `json:"attention,omitempty"` // at the lowest resolution
	Embedding int     `json:"embedding,omitempty"` // width of the embedding of level and class; 0 means 128
	Classes   int     `json:"classes,omitempty"`   // how many; 0: the network knows of none
	DataStd   float64 `json:"data_std,omitempty"`  // root mean square of the data's coordinates; 0: plain noise prediction
}

var _ scorekit.Conditional = UNet{}

func init() { scorekit.RegisterModel("net.UNet", UNet{}) }

// Validate returns an error for a width below 1, a negative setting, groups that do not divide all channels, or an infinite
// DataStd.
func (m UNet) Validate() error {
	const who = "UNet"
	for _, c := range m.Channels {
		if c < 1 {
			return fmt.Errorf("%s: channels %v: each must be at least 1", who, m.Channels)
		}
	}
	return first(who, checkAtLeast("blocks", m.Blocks), checkAtLeast("patch", m.Patch), checkAtLeast("embedding", m.Embedding),
		checkGroups(m.Groups, m.channels()...), checkClasses(m.Classes), checkDataStd(m.DataStd))
}

func (m UNet) channels() []int {
	if len(m.Channels) == 0 {
		return []int{64, 128}
	}
	return m.Channels
}

// NumClasses returns Classes.
func (m UNet) NumClasses() int { return m.Classes }

// Score adds s(x, σ), of the shape of x: the score of all classes together. It panics with an error, as graph functions do, when
// sigma is nil or x is not [batch, height, width, channels].
func (m UNet) Score(vars *mlctx.Context, x, sigma *Node) *Node { return m.score(vars, x, sigma, nil) }

// ScoreGiven adds s(x, σ | class), of the shape of x. It panics as Score does, and when there are no Classes or classes is
// not int32 [batch].
func (m UNet) ScoreGiven(vars *mlctx.Context, x, sigma, classes *Node) *Node {
	needClasses("UNet", m.Classes, classes, x)
	return m.score(vars, x, sigma, classes)
}

func (m UNet) score(vars *mlctx.Context, x, sigma, classes *Node) *Node {
	needLevel("UNet", sigma, "ConvEnergy")
	needImages("UNet", x)
	e := conditions(vars.In("embedding"), sigma, classes, m.Classes, valueOr(m.Embedding, 128))
	return precondition(x, sigma, m.DataStd, func(u *Node) *Node { return m.features(vars, u, e) })
}

// features is F(u) with the embedding e of level and class.
func (m UNet) features(vars *mlctx.Context, u, e *Node) *Node {
	channels, patch := m.channels(), valueOr(m.Patch, 2)
	blocks := func(vars *mlctx.Context, h *Node) *Node {
		for k := range valueOr(m.Blocks, 1) {
			h = imageBlock(vars.Inf("block_%d", k), h, e, groupsOf(m.Groups, channelsOf(h)))
		}
		return h
	}
	h := filter(vars.In("in"), toChannels(u, patch), 3, channels[0])
	var passed []*Node // what each resolution leaves for the way up
	for i := range channels {
		at := vars.Inf("down_%d", i)
		if i > 0 {
			passed = append(passed, h)
			h = halve(at, h, channels[i])
		}
		h = blocks(at, h)
	}
	if m.Attention {
		h = attention(vars.In("attention"), h, groupsOf(m.Groups, channelsOf(h)))
	}
	for i := len(channels) - 1; i >= 0; i-- {
		at := vars.Inf("up_%d", i)
		if i < len(passed) {
			size := passed[i].Shape().Dimensions
			h = graph.Add(passed[i], double(at, h, size[1], size[2], size[3]))
		}
		h = blocks(at, h)
	}
	size := u.Shape().Dimensions
	h = imageOut(vars.In("out"), h, groupsOf(m.Groups, channelsOf(h)), patch*patch*size[3])
	return toPixels(h, patch, size[1], size[2])
}
