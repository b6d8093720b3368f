package scorekit

import (
	"context"
	"errors"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/numbers"
	"github.com/scorekit/lab/internal/purego"
	"github.com/scorekit/lab/scorekit/random"
)

// Limits of a block of EvaluateLoss. What stops it waits for the end of a block, which is why pure Go, being slower, gets
// smaller ones.
const (
	lossNumbers  = 1 << 18 // of examples in a block
	mostExamples = 1 << 17
	slower       = 8 // times is pure Go
)

// losses is what EvaluateLoss computes, a block at a time: the examples are drawn by one graph, and their losses are those of
// another.
type losses struct {
	data     Data
	n, size  int // examples, in all and in a block
	dtype    dtypes.DType
	classes  int             // the most that examples may have; 0: they are not asked for
	told     *tensors.Tensor // the classes of a Given that has one for each example; else nil
	drawing  *mlctx.Exec
	judgment *mlctx.Exec
}

func newLosses(backend backends.Backend, model Model, objective Objective, data Data, n int) (l *losses, err error) {
	width := 1
	for _, d := range data.Shape() {
		width *= d
	}
	l = &losses{data: data, n: n, dtype: dtypeOf(model, dtypes.Float32)}
	perBlock, most := lossNumbers, mostExamples
	if purego.Is(backend) {
		perBlock, most = perBlock/slower, most/slower
	}
	l.size = numbers.Evenly(n, min(max(perBlock/max(width, 1), fewestPoints), most))
	if hasClasses(data) { // without any the plain score is asked for
		if l.classes, err = labelsFor(model, data); err != nil {
			return nil, err
		}
	}
	if l.told, err = classesOfEach(model, n); err != nil {
		return nil, err
	}
	vars, err := modelVars(model, nil)
	if err != nil {
		return nil, err
	}
	if l.drawing, err = drawing(backend, data, l.size, l.dtype, l.classes > 0); err != nil {
		return nil, err
	}
	l.judgment, err = mlctx.NewExec(backend, vars, func(vars *mlctx.Context, in []*Node) []*Node {
		score := complete(model)
		switch {
		case l.told != nil:
			score = complete(toldEach{model.(Given), in[2]})
		case len(in) > 2:
			score = complete(scoreGiven{model, in[2]})
		}
		var loss *Node
		rng := random.New(in[0], l.dtype, 1)
		naming(objective, func() { loss = objective.Loss(vars, rng, score, in[1]) })
		checkLoss(objective, loss, l.size)
		forget(vars, in[0].Graph())
		if l.size == n {
			return []*Node{loss}
		}
		return []*Node{loss, rng.State()}
	})
	if err != nil {
		l.drawing.Finalize()
		return nil, err
	}
	return l, nil
}

// forget takes back what an objective has set variables to, such as the number of its step: it holds for training.
func forget(vars *mlctx.Context, g *graph.Graph) {
	for v := range vars.IterVariables() {
		if v.ChangedInGraph(g) {
			v.SetValueGraph(g.GetParameterByName(v.ParameterName()))
		}
	}
}

func (l *losses) finalize() {
	l.drawing.Finalize()
	l.judgment.Finalize()
}

// all returns the loss of each example.
func (l *losses) all(ctx context.Context, seed int64) ([]float64, error) {
	state, err := random.Seed(seed)
	if err != nil {
		return nil, err
	}
	var reader *feeder
	if s, ok := streamOf(l.data); ok {
		reader = startFeeder(ctx, order{source: s.source, shape: s.shape, dtype: l.dtype, seed: seed, batch: l.size, classes: l.classes,
			end: func(batch int) int { return batch + 1 }, last: (l.n + l.size - 1) / l.size})
		defer reader.close()
	}
	var all []float64
	for len(all) < l.n {
		if err := stopped(ctx, len(all), l.n, "examples"); err != nil {
			return nil, err
		}
		var parts []*tensors.Tensor
		if reader != nil {
			parts, err = reader.next(ctx)
			if ended := stopped(ctx, len(all), l.n, "examples"); ended != nil {
				return nil, ended
			}
			if err != nil {
				return nil, err
			}
		}
		var block []float64
		if block, state, err = l.block(state, parts, len(all)); err != nil {
			return nil, err
		}
		all = append(all, block[:min(l.size, l.n-len(all))]...)
	}
	return all, nil
}

// block returns the losses of the examples from the first on, and the random state after them.
func (l *losses) block(state *tensors.Tensor, parts []*tensors.Tensor, first int) (block []float64, next *tensors.Tensor, err error) {
	d, err := draw(l.drawing, state, parts)
	if err != nil {
		return nil, nil, err
	}
	classes := d.classes
	if l.told != nil {
		if classes, err = takeRows(l.told, first, l.size); err != nil {
			return nil, nil, err
		}
	}
	args := []any{d.state, d.x}
	if classes != nil {
		args = append(args, classes)
	}
	out, err := l.judgment.Exec(args...)
	if err != nil {
		return nil, nil, err
	}
	if len(out) > 1 {
		next = out[1]
	}
	block, err = floats(out[0]) // the square of a finite float32 need not be one
	// A block's tensors are large: they are given back here and not when they are found to be of no use.
	for _, t := range []*tensors.Tensor{d.x, classes, out[0]} {
		if t != nil {
			err = errors.Join(err, t.FinalizeAll())
		}
	}
	return block, next, err
}
