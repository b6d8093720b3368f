package scorekit

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"
)

// Given is the score of points of given classes, with classifier-free guidance w,
//
//	s(x, σ | c) + w (s(x, σ | c) − s(x, σ)) = (1+w) s(x, σ | c) − w s(x, σ)
//
// (Ho and Salimans 2022, eq. 6, for the score). With w = 0 it is the score of p_σ(x | c); a larger w draws points that are
// more clearly of their class and less diverse, from no density that is known when there is more than one level of
// noise; w = −1 is the score of all classes together. Both scores come from one evaluation of the network, on a batch of
// twice the size; with w = 0 there is only the first.
//
// It is a [Model] for [Sample], [Evaluate] and the rest; a verb that takes its points in chunks, as a likelihood does, needs
// one class for all of them. Model must be [Conditional]: a *[Fitted] of such a model, whose
// weights are found as its own are.
type Given struct {
	Model    Model
	Classes  []int   // one for all points, or one for each, in order; NoClass for the score of all classes together
	Guidance float64 // w, at least −1
}

var _ Model = Given{}

// Validate returns an error for a model that is missing, has no classes, or has impossible settings; for no classes, or one
// that the model does not have; and for a guidance that is not finite or below −1.
func (g Given) Validate() error {
	if err := g.check(); err != nil {
		return fmt.Errorf("Given: %w", err)
	}
	return nil
}

func (g Given) check() error {
	if err := given(argument{"model", g.Model}); err != nil {
		return err
	}
	if err := validate(g.Model); err != nil {
		return err
	}
	n := numClasses(g.Model)
	if n == 0 {
		return fmt.Errorf("model %T has no classes: must be Conditional", g.Model)
	}
	if len(g.Classes) == 0 {
		return fmt.Errorf("no classes: must be one for all points, or one for each")
	}
	for i, class := range g.Classes {
		if err := checkClass(class, n); err != nil {
			return fmt.Errorf("point %d: %w", i, err)
		}
	}
	if !(g.Guidance >= -1) || math.IsInf(g.Guidance, 0) {
		return fmt.Errorf("guidance %v: must be finite and at least −1", g.Guidance)
	}
	return nil
}

// Score adds the guided score, of the shape of x. It panics, as graph functions do, with the errors of Validate, and for
// another number of points than classes, unless there is one class for all.
func (g Given) Score(vars *mlctx.Context, x, sigma *Node) *Node {
	if err := g.Validate(); err != nil {
		panic(err)
	}
	n := x.Shape().Dimensions[0]
	if err := g.checkPoints(n); err != nil {
		panic(err)
	}
	list := graph.Const(x.Graph(), g.numbers())
	if len(g.Classes) != n {
		list = graph.BroadcastToDims(list, n)
	}
	return g.score(vars, x, sigma, list)
}

// numbers returns the classes as a graph takes them.
func (g Given) numbers() []int32 {
	list := make([]int32, len(g.Classes))
	for i, class := range g.Classes {
		list[i] = int32(class)
	}
	return list
}

// score is Score with the classes in the graph, int32 [batch].
func (g Given) score(vars *mlctx.Context, x, sigma, classes *Node) *Node {
	model := g.Model.(Conditional)
	if g.Guidance == 0 {
		return model.ScoreGiven(vars, x, sigma, classes)
	}
	twice := func(a, b *Node) *Node { return graph.Concatenate([]*Node{a, b}, 0) }
	if sigma != nil {
		sigma = twice(sigma, sigma)
	}
	n := x.Shape().Dimensions[0]
	both := model.ScoreGiven(vars, twice(x, x), sigma, twice(classes, unknown(classes)))
	if dims := both.Shape().Dimensions; len(dims) == 0 || dims[0] != 2*n {
		panic(fmt.Errorf("Given: model %T returned a score of shape %s for %d points: must be of their shape", g.Model, both.Shape(), 2*n))
	}
	told, plain := graph.Slice(both, graph.AxisRange(0, n)), graph.Slice(both, graph.AxisRange(n, 2*n))
	return graph.Add(told, graph.MulScalar(graph.Sub(told, plain), g.Guidance))
}

// classesOfEach returns the classes of a [Given] that has one for each of n points, int32 [n]; nil for any other model.
func classesOfEach(model Model, n int) (*tensors.Tensor, error) {
	g, ok := model.(Given)
	if !ok || len(g.Classes) == 1 {
		return nil, nil
	}
	if err := g.checkPoints(n); err != nil {
		return nil, err
	}
	return tensors.FromFlatDataAndDimensions(g.numbers(), n), nil
}

func (g Given) checkPoints(n int) error {
	if len(g.Classes) != 1 && len(g.Classes) != n {
		return errClasses(len(g.Classes), n)
	}
	return nil
}

func errClasses(told, points int) error {
	return fmt.Errorf("Given: %d classes for %d points: must be one for all, or one for each", told, points)
}

// toldEach is a Given whose classes are a node, int32 [batch].
type toldEach struct {
	Given
	classes *Node
}

func (t toldEach) Score(vars *mlctx.Context, x, sigma *Node) *Node {
	if told, n := t.classes.Shape().Size(), x.Shape().Dimensions[0]; told != n {
		panic(errClasses(told, n))
	}
	return t.score(vars, x, sigma, t.classes)
}

// Vars returns the model's weights: an empty context for a model that brings none.
func (g Given) Vars() *mlctx.Context {
	if w, ok := g.Model.(weighted); ok && !isNil(g.Model) {
		return w.Vars()
	}
	return mlctx.New().Checked(false)
}

// Shape returns the shape of the model's points; nil if it does not tell.
func (g Given) Shape() []int {
	if m, ok := g.Model.(shaped); ok && !isNil(g.Model) {
		return m.Shape()
	}
	return nil
}

// DType returns the float type of the model's weights; float32 if it does not tell.
func (g Given) DType() dtypes.DType { return dtypeOf(g.Model, dtypes.Float32) }

func (g Given) of() Model { return g.Model }

// wrapped is a score made of that of a model, here in this package.
type wrapped interface{ of() Model }

// typeName is what errors call a model: that of the user's own.
func typeName(model Model) string {
	if w, ok := model.(wrapped); ok {
		return typeName(w.of())
	}
	return fmt.Sprintf("%T", model)
}
