package scorekit

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/numbers"
)

const (
	blockNumbers             = 1 << 16 // of points in a block of Evaluate
	fewestPoints, mostPoints = 64, 4096
)

// evaluateBlock returns the shape of a block of points.
func evaluateBlock(points *tensors.Tensor) []int {
	dims := slices.Clone(points.Shape().Dimensions)
	n := dims[0]
	dims[0] = numbers.Evenly(n, min(max(blockNumbers/(points.Size()/n), fewestPoints), mostPoints))
	return dims
}

// stopped returns an error once ctx has ended.
func stopped(ctx context.Context, done, total int, what string) error {
	if ctx.Err() == nil {
		return nil
	}
	return fmt.Errorf("stopped after %d of %d %s: %w", done, total, what, context.Cause(ctx))
}

// inBlocks runs exec on blocks of size rows of parts and returns the results, one of the shape of each block of the first
// part, together. The last row fills up the last block.
func inBlocks(ctx context.Context, backend backends.Backend, exec *mlctx.Exec, parts []*tensors.Tensor, size int) (*tensors.Tensor, error) {
	shape := parts[0].Shape()
	n := shape.Dimensions[0]
	out := tensors.FromShape(shape.Clone())
	for first := 0; first < n; first += size {
		if err := stopped(ctx, first, n, "points"); err != nil {
			return nil, err
		}
		args := make([]any, len(parts))
		for i, part := range parts {
			block, err := takeRows(part, first, size)
			if err != nil {
				return nil, err
			}
			if args[i], err = graph.DonateTensorBuffer(block, backend, 0); err != nil {
				return nil, err
			}
		}
		result, err := exec.Exec1(args...)
		if err != nil {
			return nil, err
		}
		if err := errors.Join(copyRows(out, first, result, 0, min(size, n-first)), result.FinalizeAll()); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// takeRows copies size rows from the first on; beyond the end it repeats the last.
func takeRows(from *tensors.Tensor, first, size int) (*tensors.Tensor, error) {
	shape := from.Shape().Clone()
	n := shape.Dimensions[0]
	shape.Dimensions[0] = size
	to := tensors.FromShape(shape)
	err := copyRows(to, 0, from, first, min(size, n-first))
	for row := n - first; row < size && err == nil; row++ {
		err = copyRows(to, row, from, n-1, 1)
	}
	return to, err
}

// copyRows copies rows between tensors that differ in their number alone.
func copyRows(to *tensors.Tensor, at int, from *tensors.Tensor, first, rows int) error {
	width := from.Size() / from.Shape().Dimensions[0]
	var accessErr error
	err := from.ConstFlatData(func(source any) {
		accessErr = to.MutableFlatData(func(target any) {
			reflect.Copy(reflect.ValueOf(target).Slice(at*width, (at+rows)*width), reflect.ValueOf(source).Slice(first*width, (first+rows)*width))
		})
	})
	return errors.Join(err, accessErr)
}
