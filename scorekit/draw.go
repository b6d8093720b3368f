package scorekit

import (
	"fmt"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit/random"
)

// Draw returns n examples of data on the host, [n, dims...], float32: draws from a density, a batch of a data set. The
// same seed, backend and version give the same examples.
//
// It returns an error for impossible settings of data and for n below 1.
func Draw(backend backends.Backend, data Data, n int, seed int64) (*tensors.Tensor, error) {
	var out *tensors.Tensor
	err := guard("scorekit: Draw", func() error {
		if err := given(argument{"backend", backend}, argument{"data", data}); err != nil {
			return err
		}
		if n < 1 {
			return fmt.Errorf("%d examples: must be at least 1", n)
		}
		if err := validate(data); err != nil {
			return err
		}
		state, err := random.Seed(seed)
		if err != nil {
			return err
		}
		x, _, err := drawBatch(backend, data, n, state, dtypes.Float32)
		if err != nil {
			return err
		}
		out, err = x.LocalClone()
		return err
	})
	return out, err
}

// drawBatch draws a batch and returns it, on the device, with the random state that comes after it.
func drawBatch(backend backends.Backend, data Data, n int, state *tensors.Tensor, dtype dtypes.DType) (x, next *tensors.Tensor, err error) {
	exec, err := mlctx.NewExec(backend, mlctx.New().Checked(false), func(vars *mlctx.Context, state *Node) (x, next *Node) {
		rng := random.New(state, dtype, 1)
		x = data.Batch(vars, rng, n)
		checkBatch(x, n, data.Shape())
		return x, rng.State()
	})
	if err != nil {
		return nil, nil, err
	}
	defer exec.Finalize()
	return exec.Exec2(state)
}
