package sampler

import (
	"fmt"
	"math"
	"strings"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
)

// Guide returns the score of model with a guidance term added,
//
//	s(x, σ) + scale·g(x, σ),  g(x, σ) = ∇ₓ log p(y | x, σ)
//
// With scale 1 and the exact g it is the score of the points given y, noised: by Bayes' rule ∇ log p_σ(x | y) =
// ∇ log p_σ(x) + ∇ log p(y | x, σ), so that any sampler draws from p(x₀ | y), without training anew. A larger scale draws
// from p(x) p(y|x)^scale as if it were so at every level, which for more than one level is not exactly so: closer to y
// and less diverse (Dhariwal and Nichol 2021, algorithm 1, with their classifier's ∇ log p(y|x); Song et al. 2021, eq. 14).
//
// g must be that of the noised point: p(y | x, σ) = ∫ p(y | x₀) p(x₀ | x = x₀ + σz) dx₀, as a classifier trained on noised
// points has it, and not that of the noiseless p(y | x₀) at x, which pulls too hard at high noise. term adds it to the
// graph as a score does: x is [batch, dims...] and sigma the noise level, [batch], in the convention of
// [scorekit.Score] whatever the sampler's process. To differentiate log p(y | x, σ) give a [scorekit.Energy], the negative
// of it. For two networks s and s_y, with a condition and without, scale w and the term s_y − s is classifier-free
// guidance (Ho and Salimans 2022).
//
// The result has the weights of both, if they are *[scorekit.Fitted]. It returns an error unless both are given and scale is
// finite, and for weights of two dtypes.
func Guide(model, term scorekit.Model, scale float64) (scorekit.Model, error) {
	if model == nil || term == nil {
		return nil, fmt.Errorf("sampler: Guide: model and term: both must be given")
	}
	if math.IsNaN(scale) || math.IsInf(scale, 0) {
		return nil, fmt.Errorf("sampler: Guide: scale %v: must be finite", scale)
	}
	g := guided{model: model, term: term, scale: scale}
	weights, dtype, err := g.weights()
	if err != nil {
		return nil, fmt.Errorf("sampler: Guide: %w", err)
	}
	if weights == nil {
		return g, nil
	}
	return guidedWeights{g, weights, dtype}, nil
}

type guided struct {
	model, term scorekit.Model
	scale       float64
	scope       string // where the term's weights are when the model has some, too
}

// Score returns the guided score. Both parts must have the shape of x.
func (g guided) Score(vars *mlctx.Context, x, sigma *Node) *Node {
	s := g.model.Score(vars, x, sigma)
	if g.scope != "" {
		vars = vars.In(g.scope)
	}
	t := g.term.Score(vars, x, sigma)
	if !s.Shape().Equal(x.Shape()) || !t.Shape().Equal(x.Shape()) {
		panic(fmt.Errorf("sampler: Guide: score of shape %s and term of shape %s for points of shape %s: must be equal", s.Shape(), t.Shape(), x.Shape()))
	}
	return graph.Add(s, graph.MulScalar(t, g.scale))
}

// Shape returns the shape of the model's points; nil if it does not tell.
func (g guided) Shape() []int {
	if m, ok := g.model.(interface{ Shape() []int }); ok {
		return m.Shape()
	}
	return nil
}

// Validate returns the model's and the term's own errors.
func (g guided) Validate() error {
	for _, part := range []scorekit.Model{g.model, g.term} {
		if v, ok := part.(scorekit.Validator); ok {
			if err := v.Validate(); err != nil {
				return err
			}
		}
	}
	return nil
}

// trained is a model with weights of its own.
type trained interface {
	Vars() *mlctx.Context
	DType() dtypes.DType
}

// weights returns the weights of both parts in one context, nil if neither has any.
func (g *guided) weights() (*mlctx.Context, dtypes.DType, error) {
	m, hasModel := g.model.(trained)
	t, hasTerm := g.term.(trained)
	switch {
	case !hasModel && !hasTerm:
		return nil, 0, nil
	case !hasTerm:
		return m.Vars(), m.DType(), nil
	case !hasModel:
		return t.Vars(), t.DType(), nil
	}
	if m.DType() != t.DType() {
		return nil, 0, fmt.Errorf("term with weights of dtype %s for a model of %s: must be equal", t.DType(), m.DType())
	}
	both, err := m.Vars().Clone()
	if err != nil {
		return nil, 0, fmt.Errorf("copying the weights: %w", err)
	}
	both, g.scope = both.Checked(false), freeScope(both)
	for v := range t.Vars().IterVariables() {
		value, err := v.Value()
		if err == nil {
			value, err = value.LocalClone()
		}
		if err != nil {
			return nil, 0, fmt.Errorf("copying the weights: %w", err)
		}
		both.InAbsPath(strings.TrimSuffix("/"+g.scope+v.Scope(), "/")).VariableWithValue(v.Name(), value).SetTrainable(v.Trainable)
	}
	return both, m.DType(), nil
}

// freeScope returns the name of a scope in which vars has nothing: a guided model may be guided again.
func freeScope(vars *mlctx.Context) string {
	for i := 1; ; i++ {
		name, free := fmt.Sprintf("guidance%d", i), true
		for v := range vars.IterVariables() {
			free = free && !strings.HasPrefix(v.Scope()+"/", "/"+name+"/")
		}
		if free {
			return name
		}
	}
}

// guidedWeights is a guided score that has weights.
type guidedWeights struct {
	guided
	vars  *mlctx.Context
	dtype dtypes.DType
}

func (g guidedWeights) Vars() *mlctx.Context { return g.vars }
func (g guidedWeights) DType() dtypes.DType  { return g.dtype }
