package scorekit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/shapes"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"
	"github.com/gomlx/gomlx/pkg/ml/train/optimizers"

	"github.com/scorekit/lab/internal/rows"
	"github.com/scorekit/lab/scorekit/random"
)

// stepGraph is what the graph of training steps is made of. Seeds, learning rates, decays and examples are none of it: these
// are inputs.
type stepGraph struct {
	model     Model
	objective Objective
	data      Data
	optimizer Optimizer
	dtype     dtypes.DType
	batch     int
	labels    int      // classes of a model that is told those of its examples, 0 for any other
	dropout   *float64 // of classes, nil for a model that is not told them
	clipNorm  float64  // 0: off
	average   bool     // of the weights
}

// build adds a block of training steps to the graph. in is first [steps, 2], learning rate and EMA decay of each, and then
// the examples of a stream, if the data are one. It returns [steps, 2]: loss and gradient norm of each.
func (s *stepper) build(vars *mlctx.Context, in []*Node) *Node {
	vars = vars.Checked(false)
	in, zeros := s.spread.take(in)
	numbers := in[0]
	if len(in) > 1 {
		(&feed{parts: in[1:], batch: s.batch}).put(vars.In(dataScope))
	}
	g := numbers.Graph()
	steps := numbers.Shape().Dimensions[0]
	random_ := vars.In(stateScope).GetVariable(randomName)
	okVar := vars.In(guardScope).GetVariable("ok")
	rng := random.New(random_.ValueGraph(g), s.dtype, steps)
	optimizer := s.optimizer.gomlx()
	ok := okVar.ValueGraph(g)
	var stats []*Node
	for k := range steps {
		if k > 0 {
			rng.Next()
		}
		x, classes := takeBatch(s.data, vars.In(dataScope), rng, s.batch, s.labels > 0)
		x = splitBatch(x, zeros)
		score := bindScore(s.model)
		if classes != nil {
			score = bindScore(scoreGiven{s.model, dropClasses(rng, classes, *s.dropout)})
		}
		var mean *Node
		var gradients []*Node
		naming(s.objective, func() {
			loss := s.objective.Loss(vars.In(modelScope), rng, score, x)
			checkLoss(s.objective, loss, s.batch)
			mean = graph.ReduceAllMean(loss)
			gradients = vars.BuildTrainableVariablesGradientsGraph(mean)
		})
		if len(gradients) == 0 {
			panic(fmt.Errorf("model %T has no weights to train", s.model))
		}
		norm := globalNorm(gradients)
		ok = graph.LogicalAnd(ok, graph.LogicalAnd(graph.IsFinite(mean), graph.IsFinite(norm)))
		for i, gradient := range gradients {
			if s.clipNorm > 0 {
				gradient = graph.Mul(gradient, graph.MinScalar(graph.Div(graph.Scalar(g, norm.DType(), s.clipNorm), norm), 1))
			}
			gradients[i] = choose(ok, gradient, graph.ZerosLike(gradient))
		}
		// With the gradient and the rate at zero no weight moves: a step that is not finite, and all after it, leave
		// the last good weights as they are. A finite gradient keeps them finite (see maxRate), which saves a look at
		// all of them in each step.
		rate := element(numbers, k, 0)
		rate = choose(ok, rate, graph.ZerosLike(rate))
		optimizers.LearningRateVar(vars, s.dtype, 0).SetValueGraph(rate)
		optimizer.UpdateGraphWithGradients(vars, gradients, s.dtype)
		if s.average {
			s.updateAverage(vars, g, ok, element(numbers, k, 1))
		}
		stats = append(stats, graph.Stack([]*Node{mean, norm}, 0))
	}
	random_.SetValueGraph(rng.State())
	okVar.SetValueGraph(ok)
	s.remember()
	return graph.Stack(stats, 0)
}

// updateAverage updates the moving average of every weight.
func (s *stepper) updateAverage(vars *mlctx.Context, g *graph.Graph, ok, decay *Node) {
	zero := vars.WithInitializer(func(g *graph.Graph, shape shapes.Shape) *Node { return graph.Zeros(g, shape) })
	for _, v := range trainable(vars, g) {
		shadow := zero.InAbsPath("/"+emaScope+v.Scope()).VariableWithShape(v.Name(), v.Shape()).SetTrainable(false)
		old, new := shadow.ValueGraph(g), v.ValueGraph(g)
		mixed := graph.Add(graph.Mul(decay, old), graph.Mul(graph.OneMinus(decay), new))
		shadow.SetValueGraph(choose(ok, mixed, old))
	}
}

func trainable(vars *mlctx.Context, g *graph.Graph) []*mlctx.Variable {
	var list []*mlctx.Variable
	for v := range vars.IterVariables() {
		if v.Trainable && v.InUseByGraph(g) {
			list = append(list, v)
		}
	}
	return list
}

// bindScore is the model's score with a check of its shape.
func bindScore(model Model) Score {
	return func(vars *mlctx.Context, x, sigma *Node) *Node {
		s := model.Score(vars, x, sigma)
		if !s.Shape().Equal(x.Shape()) {
			panic(fmt.Errorf("model %s returned a score of shape %s for points of shape %s: the two must be equal", typeName(model), s.Shape(), x.Shape()))
		}
		return s
	}
}

func checkLoss(objective Objective, loss *Node, n int) {
	if loss == nil {
		panic(fmt.Errorf("objective %T returned no loss", objective))
	}
	if loss.Rank() != 1 || loss.Shape().Dimensions[0] != n {
		panic(fmt.Errorf("objective %T returned a loss of shape %v: must be [batch], here [%d]", objective, loss.Shape().Dimensions, n))
	}
}

// naming runs f and, where an operation of the model lacks a derivative, says which objective asked for it: another may do
// without.
func naming(objective Objective, f func()) {
	defer func() {
		r := recover()
		if err, ok := r.(error); ok && strings.HasPrefix(err.Error(), "autodiff: ") {
			panic(fmt.Errorf("objective %T: %w", objective, err))
		}
		if r != nil {
			panic(r)
		}
	}()
	f()
}

func checkBatch(x *Node, n int, shape []int) {
	want := append([]int{n}, shape...)
	if !slices.Equal(x.Shape().Dimensions, want) {
		panic(fmt.Errorf("data gave a batch of shape %v: must be %v", x.Shape().Dimensions, want))
	}
}

// choose is a where node on a scalar condition.
func choose(ok, yes, no *Node) *Node {
	if yes.Rank() > 0 {
		ok = graph.BroadcastToDims(ok, yes.Shape().Dimensions...)
	}
	return graph.Where(ok, yes, no)
}

func element(m *Node, row, col int) *Node {
	return graph.Reshape(graph.Slice(m, graph.AxisElem(row), graph.AxisElem(col)))
}

// globalNorm is the Euclidean norm of all gradients together: of each the squares are added up row by row, and then all of
// these sums at once, in few operations.
func globalNorm(gradients []*Node) *Node {
	var parts []*Node
	for _, gradient := range gradients {
		squares := graph.Square(gradient)
		if gradient.Rank() > 1 {
			squares = rows.Sum(graph.Reshape(squares, -1, gradient.Shape().Dim(-1)))
		}
		parts = append(parts, graph.Reshape(squares, 1, squares.Shape().Size()))
	}
	return graph.Sqrt(graph.Reshape(rows.Sum(graph.Concatenate(parts, 1))))
}
