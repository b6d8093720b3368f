package net

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
)

// NoiseMLP is a multilayer perceptron as a score for many noise levels. A network F predicts what is left of the noise
// once a Gaussian of standard deviation DataStd has explained its part: with v = σ² + DataStd²,
//
//	s(x, σ) = −x/v + DataStd/(σ√v) · F(x/√v, σ)
//
// This is the preconditioning of Karras et al. (2022, table 1), D = c_skip x + c_out F(c_in x), put into
// s = (D − x)/σ². F has inputs and targets of order one at every level, and far from the data, where nothing was
// learnt, the first term still pulls towards them. With DataStd 0, s(x, σ) = F(x, σ)/σ, a plain noise prediction.
//
// σ enters through an embedding e = a(W φ(σ) + b) of the Fourier features
//
//	φ(σ) = [sin(f_k ln σ), cos(f_k ln σ)],  f_k = ¼·32^{k/15},  k = 0 … 15
//
// (after Tancik et al. 2020), which every hidden layer receives through a matrix of its own: h ← a(W h + b + A e).
// x is [batch, dims...], σ [batch] and required.
type NoiseMLP struct {
	Hidden     []int      `json:"hidden"` // widths of the hidden layers; empty means 256, 256, 256
	Activation Activation `json:"activation,omitempty"`
	DataStd    float64    `json:"data_std,omitempty"` // root mean square of the data's coordinates; 0: plain noise prediction
}

var _ scorekit.Model = NoiseMLP{}

func init() { scorekit.RegisterModel("net.NoiseMLP", NoiseMLP{}) }

// Validate returns an error for a width below 1, an unknown activation, or a negative or infinite DataStd.
func (m NoiseMLP) Validate() error {
	if err := checkHidden(m.Hidden); err != nil {
		return fmt.Errorf("noise MLP: %w", err)
	}
	if err := m.Activation.validate(); err != nil {
		return fmt.Errorf("noise MLP: %w", err)
	}
	if !(m.DataStd >= 0) || math.IsInf(m.DataStd, 0) {
		return fmt.Errorf("noise MLP: data standard deviation %v: must be finite and not negative", m.DataStd)
	}
	return nil
}

// features is the number of frequencies; each gives a sine and a cosine.
const features = 16

// fourier returns φ(σ): [batch] → [batch, 2·features].
func fourier(sigma *Node) *Node {
	frequencies := make([]float64, features)
	for k := range frequencies {
		frequencies[k] = 0.25 * math.Pow(32, float64(k)/(features-1))
	}
	f := graph.ConstAsDType(sigma.Graph(), sigma.DType(), [][]float64{frequencies})
	angles := graph.Mul(graph.InsertAxes(graph.Log(sigma), -1), f)
	return graph.Concatenate([]*Node{graph.Sin(angles), graph.Cos(angles)}, -1)
}

// Score adds s(x, σ), of the shape of x. It panics, as graph functions do, when sigma is nil.
func (m NoiseMLP) Score(vars *mlctx.Context, x, sigma *Node) *Node {
	if sigma == nil {
		panic(fmt.Errorf("noise MLP: no noise level was given: use an objective and a sampler that have one, or MLP"))
	}
	hidden := m.Hidden
	if len(hidden) == 0 {
		hidden = []int{256, 256, 256}
	}
	points := flat(x)
	d := points.Shape().Dimensions[1]
	level := graph.InsertAxes(sigma, -1)
	h, skip, scale := points, graph.ZerosLike(level), graph.Reciprocal(level)
	if m.DataStd > 0 {
		v := graph.AddScalar(graph.Square(level), m.DataStd*m.DataStd)
		root := graph.Sqrt(v)
		h = graph.Div(points, root)
		skip = graph.Neg(graph.Reciprocal(v))
		scale = graph.MulScalar(graph.Reciprocal(graph.Mul(level, root)), m.DataStd)
	}
	e := m.Activation.apply(dense(vars.In("embedding"), fourier(sigma), hidden[0]))
	for i, width := range hidden {
		at := vars.Inf("layer_%d", i)
		h = m.Activation.apply(graph.Add(dense(at, h, width), linear(at.In("level"), e, width)))
	}
	s := graph.Add(graph.Mul(skip, points), graph.Mul(scale, dense(vars.In("out"), h, d)))
	return graph.Reshape(s, x.Shape().Dimensions...)
}
