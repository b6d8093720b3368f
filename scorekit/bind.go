package scorekit

import (
	"fmt"

	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"
)

// Points checks points as [Examples] does and returns them as a tensor [n, dims...] of their own precision: float32 or
// float64. A tensor is returned as it is.
//
// It returns an error for no points, for rows of different lengths, and for a value that is NaN or Inf, named by its row
// and column. It is made for verbs of one's own: the error does not begin with a name, so that they can put theirs.
func Points(points any) (*tensors.Tensor, error) { return toTensor(points) }

// Bound is a model together with the points that it is asked about, checked and ready for a graph:
//
//	exec, err := mlctx.NewExec(backend, bound.Vars, func(vars *mlctx.Context, x *Node) *Node {
//		return bound.Score(vars, x, nil)
//	})
//	scores, err := exec.Exec1(bound.Points)
type Bound struct {
	Score  Score           // the model's, which panics with an error if a weight is missing or its shape is not that of x
	Vars   *mlctx.Context  // a copy of the model's weights, for one user alone
	Points *tensors.Tensor // [n, dims...], of the model's precision where it has one, else of their own
}

// Bind checks a model and points, given as for [Examples], against one another. It is what [Evaluate] begins with, for
// verbs of one's own.
//
// It returns an error, which like that of [Points] does not begin with a name, if the model is missing or has impossible
// settings, for points that are not finite or not of the model's shape, and for numbers beyond the range of float32 if
// that is the model's precision.
func Bind(model Model, points any) (*Bound, error) {
	if err := given(argument{"model", model}); err != nil {
		return nil, err
	}
	if err := validate(model); err != nil {
		return nil, err
	}
	x, err := toTensor(points)
	if err != nil {
		return nil, err
	}
	if err := fits(model, "points of shape", x.Shape().Dimensions[1:]); err != nil {
		return nil, err
	}
	if dtype := dtypeOf(model, x.DType()); dtype != x.DType() {
		if x, err = convert(x, dtype); err != nil {
			return nil, err
		}
	}
	vars, err := modelVars(model, nil)
	if err != nil {
		return nil, fmt.Errorf("model %T: %w", model, err)
	}
	return &Bound{Score: complete(model), Vars: vars, Points: x}, nil
}
