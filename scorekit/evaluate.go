package scorekit

import (
	"context"
	"fmt"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"
)

// Evaluate returns the score of model at points: a tensor [n, dims...], or rows as for [Examples]; the result has the
// shape of points. sigma is the noise level: none for a score that has none, one for all points, or one for each.
//
// The points are worked through in blocks of equal size, at most 4,096 points or 65,536 numbers of theirs but no fewer than 64
// points, so that the memory does not grow with their number beyond that of the points and scores themselves. The rows of a
// score do not depend on one another, and only their rounding on where a block ends. ctx stops it between two blocks. What was
// compiled for the last four models, and sizes of blocks, is kept for the next call.
//
// It returns an error for points that are not finite or of another shape than the model's, for a noise level that is
// not positive, for a model whose weights are missing, and one that wraps ctx's cause when it was stopped.
func Evaluate(ctx context.Context, backend backends.Backend, model Model, points any, sigma ...float64) (*tensors.Tensor, error) {
	var out *tensors.Tensor
	err := guard("scorekit: Evaluate", func() error {
		if err := given(argument{"ctx", ctx}, argument{"backend", backend}); err != nil {
			return err
		}
		bound, err := Bind(model, points)
		if err != nil {
			return err
		}
		levels, err := noiseLevels(sigma, bound.Points.Shape().Dimensions[0], bound.Points.DType())
		if err != nil {
			return err
		}
		parts := []*tensors.Tensor{bound.Points}
		if levels != nil {
			parts = append(parts, levels)
		}
		classes, err := classesOfEach(model, bound.Points.Shape().Dimensions[0])
		if err != nil {
			return err
		}
		if classes != nil {
			parts = append(parts, classes)
		}
		block := evaluateBlock(bound.Points)
		recipe, keep := recipeOf(backend, model, block, bound.Points.DType().String(), levels != nil, classes != nil)
		graph, ok := evaluation{}, false
		if keep {
			graph, ok = keptEvaluations.Take(recipe)
		}
		if !ok {
			if graph, err = newEvaluation(backend, bound, model, levels != nil, classes != nil); err != nil {
				return err
			}
		}
		defer func() { // also when the model panics
			if keep && out != nil {
				keptEvaluations.Put(recipe, graph)
			} else {
				graph.Finalize()
			}
		}()
		out, err = inBlocks(ctx, backend, graph.Exec, parts, block[0])
		return err
	})
	return out, err
}

// newEvaluation makes the graph of a block: of its points, and their noise levels and classes, if they have any.
func newEvaluation(backend backends.Backend, bound *Bound, model Model, levelled, classed bool) (e evaluation, err error) {
	e.Exec, err = mlctx.NewExec(backend, bound.Vars, func(vars *mlctx.Context, in []*Node) *Node {
		var s *Node
		if levelled {
			s = in[1]
		}
		if classed {
			return complete(toldEach{model.(Given), in[len(in)-1]})(vars, in[0], s)
		}
		return bound.Score(vars, in[0], s)
	})
	return e, err
}

// noiseLevels returns nil for none, else one level for each of n points.
func noiseLevels(sigma []float64, n int, dtype dtypes.DType) (*tensors.Tensor, error) {
	if len(sigma) == 0 {
		return nil, nil
	}
	if len(sigma) != 1 && len(sigma) != n {
		return nil, fmt.Errorf("%d noise levels for %d points: must be none, one, or one for each", len(sigma), n)
	}
	all := make([]float64, n)
	for i := range all {
		all[i] = sigma[i%len(sigma)]
		if !(all[i] > 0) || !finite(all[i]) {
			return nil, fmt.Errorf("noise level %v: must be positive and finite", all[i])
		}
	}
	return convert(tensors.FromFlatDataAndDimensions(all, n), dtype)
}
