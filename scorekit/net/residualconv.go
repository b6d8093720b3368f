package net

import (
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
)

// ResidualConv is a network of residual convolutions at one resolution as a score of images for many noise levels, of all
// images or of those of a class: F(u, σ, class) of
//
//	s(x, σ | class) = −x/v + DataStd/(σ√v) · F(x/√v, σ, class),  v = σ² + DataStd²
//
// or F(x, σ, class)/σ with DataStd 0, as in [NoiseMLP]; F is a 3×3 convolution to Channels, the residual blocks of [UNet], and
// norm, SiLU and 3×3 convolution to the channels of the image.
//
// It sees 4·Blocks+5 pixels along each axis, and of what is further apart only the means and variances that the norms take. It is
// for small images, such as 8×8 digits, and for textures; a [UNet] sees more for the same work.
//
// x is [batch, height, width, channels], σ [batch] and required; the same weights take images of any size. Classes are as in
// [UNet], and so is the speed on pure Go.
type ResidualConv struct {
	Channels  int     `json:"channels,omitempty"`  // features; 0 means 32
	Blocks    int     `json:"blocks,omitempty"`    // 0 means 3
	Groups    int     `json:"groups,omitempty"`    // of channels, each normalised by itself; 0 means 8, or what divides Channels
	Embedding int     `json:"embedding,omitempty"` // width of the embedding of level and class; 0 means 128
	Classes   int     `json:"classes,omitempty"`   // how many; 0: the network knows of none
	DataStd   float64 `json:"data_std,omitempty"`  // root mean square of the data's coordinates; 0: plain noise prediction
}

var _ scorekit.Conditional = ResidualConv{}

func init() { scorekit.RegisterModel("net.ResidualConv", ResidualConv{}) }

// Validate returns an error for a negative setting, groups that do not divide the channels, or an infinite DataStd.
func (m ResidualConv) Validate() error {
	const who = "residual conv net"
	return first(who, checkAtLeast("channels", m.Channels), checkAtLeast("blocks", m.Blocks), checkAtLeast("embedding", m.Embedding),
		checkGroups(m.Groups, m.channels()), checkClasses(m.Classes), checkDataStd(m.DataStd))
}

func (m ResidualConv) channels() int { return valueOr(m.Channels, 32) }

// NumClasses returns Classes.
func (m ResidualConv) NumClasses() int { return m.Classes }

// Score adds s(x, σ), of the shape of x: the score of all classes together. It panics with an error, as graph functions
// do, when sigma is nil or x is not [batch, height, width, channels].
func (m ResidualConv) Score(vars *mlctx.Context, x, sigma *Node) *Node {
	return m.score(vars, x, sigma, nil)
}

// ScoreGiven adds s(x, σ | class), of the shape of x. It panics as Score does, and when there are no Classes or classes is
// not int32 [batch].
func (m ResidualConv) ScoreGiven(vars *mlctx.Context, x, sigma, classes *Node) *Node {
	needClasses("residual conv net", m.Classes, classes, x)
	return m.score(vars, x, sigma, classes)
}

func (m ResidualConv) score(vars *mlctx.Context, x, sigma, classes *Node) *Node {
	needLevel("residual conv net", sigma, "ConvEnergy")
	needImages("residual conv net", x)
	e := conditions(vars.In("embedding"), sigma, classes, m.Classes, valueOr(m.Embedding, 128))
	groups := groupsOf(m.Groups, m.channels())
	return precondition(x, sigma, m.DataStd, func(u *Node) *Node {
		h := filter(vars.In("in"), u, 3, m.channels())
		for k := range valueOr(m.Blocks, 3) {
			h = imageBlock(vars.Inf("block_%d", k), h, e, groups)
		}
		return imageOut(vars.In("out"), h, groups, channelsOf(u))
	})
}
