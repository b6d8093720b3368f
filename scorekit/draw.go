package scorekit

import (
	"context"
	"fmt"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit/random"
)

// Draw returns n examples of data on the host, [n, dims...], float32: draws from a density, a batch of a data set. The
// same seed, backend and version give the same examples. ctx stops it before the draws, which are one call, and while a stream
// is waited for.
//
// It returns an error for impossible settings of data and for n below 1, those of a stream's source, and one that wraps ctx's
// cause when it was stopped.
func Draw(ctx context.Context, backend backends.Backend, data Data, n int, seed int64) (*tensors.Tensor, error) {
	var out *tensors.Tensor
	err := guard("scorekit: Draw", func() error {
		if err := given(argument{"ctx", ctx}, argument{"backend", backend}, argument{"data", data}); err != nil {
			return err
		}
		if n < 1 {
			return fmt.Errorf("%d examples: must be at least 1", n)
		}
		if err := validate(data); err != nil {
			return err
		}
		drawn, err := drawBatch(ctx, backend, data, n, seed)
		if err != nil {
			return err
		}
		out, err = drawn.x.LocalClone()
		return err
	})
	return out, err
}

// drawn is a batch on the device with the random state that comes after it.
type drawn struct{ x, classes, state *tensors.Tensor }

// drawBatch draws a batch without classes.
func drawBatch(ctx context.Context, backend backends.Backend, data Data, n int, seed int64) (*drawn, error) {
	const dtype = dtypes.Float32
	state, err := random.Seed(seed)
	if err != nil {
		return nil, err
	}
	var parts []*tensors.Tensor
	if s, ok := streamOf(data); ok {
		if parts, err = s.first(ctx, n, seed, dtype); err != nil {
			return nil, err
		}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	exec, err := drawing(backend, data, n, dtype, false)
	if err != nil {
		return nil, err
	}
	defer exec.Finalize()
	return draw(exec, state, parts)
}

// drawing returns what draws batches of n examples, with classes if they are asked for.
func drawing(backend backends.Backend, data Data, n int, dtype dtypes.DType, labelled bool) (*mlctx.Exec, error) {
	return mlctx.NewExec(backend, mlctx.New().Checked(false), func(vars *mlctx.Context, in []*Node) []*Node {
		rng := random.New(in[0], dtype, 1)
		if len(in) > 1 {
			(&feed{parts: in[1:], batch: n}).put(vars)
		}
		x, labels := takeBatch(data, vars, rng, n, labelled)
		out := []*Node{graph.Identity(x), rng.State()} // pure Go cannot return an input as it is
		if labels != nil {
			out = append(out, graph.Identity(labels))
		}
		return out
	})
}

// draw draws a batch from a random state and, of a stream, the block that parts are.
func draw(exec *mlctx.Exec, state *tensors.Tensor, parts []*tensors.Tensor) (*drawn, error) {
	args := []any{state}
	for _, part := range parts {
		args = append(args, part)
	}
	out, err := exec.Exec(args...)
	if err != nil {
		return nil, err
	}
	d := &drawn{x: out[0], state: out[1]}
	if len(out) > 2 {
		d.classes = out[2]
	}
	return d, nil
}

// first returns the first n examples of a stream as one block.
func (s stream) first(ctx context.Context, n int, seed int64, dtype dtypes.DType) ([]*tensors.Tensor, error) {
	reader := startFeeder(ctx, order{source: s.source, shape: s.shape, dtype: dtype, seed: seed, batch: n, end: func(int) int { return 1 }, last: 1})
	defer reader.close()
	return reader.next(ctx)
}

// takeBatch adds a batch of data to the graph, with classes if they are asked for.
func takeBatch(data Data, vars *mlctx.Context, rng *random.Source, n int, labelled bool) (x, classes *Node) {
	if labelled {
		x, classes = data.(Labelled).LabelledBatch(vars, rng, n)
		checkClasses(data, classes, n)
	} else {
		x = data.Batch(vars, rng, n)
	}
	checkBatch(x, n, data.Shape())
	return x, classes
}
