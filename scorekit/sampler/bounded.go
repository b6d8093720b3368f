package sampler

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
)

// Bounded is the score of a model of data that are known to lie in the box [Min, Max]ᵈ, such as the pixels of an
// image. The mean of the clean point given its noised self, which by Tweedie's formula is D(x) = x + σ²s(x, σ), then
// lies in the box too; a network that was never shown a point far outside may put it elsewhere and let a chain drift
// away. Bounded clips the mean and takes the score that belongs to it,
//
//	s′(x, σ) = (clip(D(x), Min, Max) − x)/σ²
//
// (clipping the predicted clean point: Ho et al. 2020, in their code; Saharia et al. 2022, §2.3). Where D is in the box the score is
// the model's own. The noise level is required.
type Bounded struct {
	Model    scorekit.Model
	Min, Max float64 // in the units of the data; Min < Max
}

var _ scorekit.Model = Bounded{}

// Validate returns an error unless there is a model and Min < Max, both finite.
func (b Bounded) Validate() error {
	if b.Model == nil {
		return fmt.Errorf("bounded score: model nil: must be given")
	}
	if !(b.Min < b.Max) || math.IsInf(b.Min, 0) || math.IsInf(b.Max, 0) {
		return fmt.Errorf("bounded score: box from %v to %v: must be finite and rise", b.Min, b.Max)
	}
	if v, ok := b.Model.(scorekit.Validator); ok {
		return v.Validate()
	}
	return nil
}

// Score adds s′(x, σ), of the shape of x. It panics, as graph functions do, when sigma is nil.
func (b Bounded) Score(vars *mlctx.Context, x, sigma *Node) *Node {
	if sigma == nil {
		panic(fmt.Errorf("bounded score: no noise level was given: the clean point cannot be told without one"))
	}
	dims := make([]int, x.Rank())
	for i := range dims {
		dims[i] = 1
	}
	dims[0] = x.Shape().Dimensions[0]
	variance := graph.Reshape(graph.Square(sigma), dims...)
	clean := graph.Add(x, graph.Mul(variance, b.Model.Score(vars, x, sigma)))
	clean = graph.MinScalar(graph.MaxScalar(clean, b.Min), b.Max)
	return graph.Div(graph.Sub(clean, x), variance)
}

// Vars returns the model's weights, nil when it has none of its own.
func (b Bounded) Vars() *mlctx.Context {
	if w, ok := b.Model.(interface{ Vars() *mlctx.Context }); ok {
		return w.Vars()
	}
	return nil
}

// Shape returns the shape of the model's points, nil when it does not tell.
func (b Bounded) Shape() []int {
	if s, ok := b.Model.(interface{ Shape() []int }); ok {
		return s.Shape()
	}
	return nil
}

// DType returns the float type of the model, float32 when it does not tell.
func (b Bounded) DType() dtypes.DType {
	if t, ok := b.Model.(interface{ DType() dtypes.DType }); ok {
		return t.DType()
	}
	return dtypes.Float32
}
