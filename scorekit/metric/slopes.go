package metric

import (
	"context"
	"errors"
	"fmt"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/given"
	"github.com/scorekit/lab/internal/numbers"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/autodiff"
	"github.com/scorekit/lab/scorekit/random"
)

// scoreAndSlopes returns the score of at least two points and, for each coordinate, numbers whose sum over a row is its
// divergence. One graph computes both, in blocks of points, each with probes of its own.
func (f ImplicitFisher) scoreAndSlopes(ctx context.Context, backend backends.Backend, q scorekit.Model, points any, sigma []float64) (s, slopes [][]float64, err error) {
	if f.Probes < 0 {
		return nil, nil, fmt.Errorf("%d probes: must be positive, or 0 for the exact divergence", f.Probes)
	}
	if f.Kind != autodiff.Rademacher && f.Kind != autodiff.Gaussian && f.Kind != autodiff.Sphere {
		return nil, nil, fmt.Errorf("probe kind %d: must be Rademacher, Gaussian or Sphere", int(f.Kind))
	}
	if ctx == nil {
		return nil, nil, errNoContext
	}
	if err := given.Check("backend", backend); err != nil {
		return nil, nil, err
	}
	bound, err := scorekit.Bind(q, points)
	if err != nil {
		return nil, nil, err
	}
	rows, err := scorekit.Rows(bound.Points)
	if err != nil {
		return nil, nil, err
	}
	n, d := len(rows), len(rows[0])
	if n < 2 {
		return nil, nil, fmt.Errorf("%d point: must be at least 2, for the standard error", n)
	}
	if f.Probes == 0 && d > maxExact {
		return nil, nil, fmt.Errorf("points of %d dimensions: the exact divergence takes a pass for each, up to %d: set Probes", d, maxExact)
	}
	levels, err := levelsOf(sigma, n)
	if err != nil {
		return nil, nil, err
	}
	state, err := random.Seed(f.Seed)
	if err != nil {
		return nil, nil, err
	}
	exec, err := mlctx.NewExec(backend, bound.Vars, func(vars *mlctx.Context, in []*scorekit.Node) []*scorekit.Node {
		state, x := in[0], graph.Identity(in[1])
		var sigma *scorekit.Node
		if levels != nil {
			sigma = in[2]
		}
		s := bound.Score(vars, x, sigma)
		rng := random.New(state, x.DType(), 1)
		slopes := f.slopes(rng, s, x)
		return []*scorekit.Node{rng.State(), s, slopes}
	})
	if err != nil {
		return nil, nil, err
	}
	defer exec.Finalize()
	dtype, dims := bound.Points.DType(), append([]int(nil), bound.Points.Shape().Dimensions...)
	size := numbers.Evenly(n, min(max(1<<16/d, 64), 4096))
	dims[0] = size
	for first := 0; first < n; first += size {
		if err := stopped(ctx, first, n); err != nil {
			return nil, nil, err
		}
		args := []any{state, numbers.Tensor(block(rows, first, size), dtype, dims...)}
		if levels != nil {
			args = append(args, numbers.Tensor(block(levels, first, size), dtype, size))
		}
		out, err := exec.Exec(args...)
		if err != nil {
			return nil, nil, err
		}
		more, err := finiteRows("score", out[1], first, n)
		if err != nil {
			return nil, nil, err
		}
		moreSlopes, err := finiteRows("slope", out[2], first, n)
		if err != nil {
			return nil, nil, err
		}
		s, slopes = append(s, more...), append(slopes, moreSlopes...)
		for _, used := range []any{args[0], args[1], args[len(args)-1], out[1], out[2]} {
			err = errors.Join(err, used.(*tensors.Tensor).FinalizeAll())
		}
		if err != nil {
			return nil, nil, err
		}
		state = out[0]
	}
	return s, slopes, state.FinalizeAll()
}

// slopes are ∂sᵢ/∂xᵢ, or (1/k) Σ v ⊙ (∂s/∂x)ᵀv over probes, of the shape of x.
func (f ImplicitFisher) slopes(rng *random.Source, s, x *scorekit.Node) *scorekit.Node {
	if f.Probes == 0 {
		return autodiff.Diagonal(s, x)
	}
	all := f.Kind.Draw(rng, f.Probes, x.Shape().Dimensions...)
	total := graph.ZerosLike(x)
	for j := range f.Probes {
		v := graph.Reshape(graph.Slice(all, graph.AxisElem(j)), x.Shape().Dimensions...)
		total = graph.Add(total, graph.Mul(autodiff.VJP(s, x, v), v))
	}
	return graph.DivScalar(total, float64(f.Probes))
}

// levelsOf returns nil for no noise level, else one row for each of n points.
func levelsOf(sigma []float64, n int) ([][]float64, error) {
	if len(sigma) == 0 {
		return nil, nil
	}
	if len(sigma) != 1 && len(sigma) != n {
		return nil, fmt.Errorf("%d noise levels for %d points: must be none, one, or one for each", len(sigma), n)
	}
	rows := make([][]float64, n)
	for i := range rows {
		v := sigma[i%len(sigma)]
		if !(v > 0) || !finite(v) {
			return nil, fmt.Errorf("noise level %v: must be positive and finite", v)
		}
		rows[i] = []float64{v}
	}
	return rows, nil
}

// block returns the numbers of size rows from the first on; beyond the end the last is repeated, so that all blocks have
// one size and one compilation.
func block(rows [][]float64, first, size int) []float64 {
	flat := make([]float64, 0, size*len(rows[0]))
	for i := range size {
		flat = append(flat, rows[min(first+i, len(rows)-1)]...)
	}
	return flat
}

// finiteRows returns the rows of a block that belong to points, n in all, and an error if a number is not finite.
func finiteRows(what string, t *tensors.Tensor, first, n int) ([][]float64, error) {
	rows, err := scorekit.Rows(t)
	if err != nil {
		return nil, err
	}
	rows = rows[:min(len(rows), n-first)]
	return rows, allFinite(what, rows, first)
}

// allFinite returns an error that names the first number that is not finite, of rows whose first is that of the point
// first.
func allFinite(what string, rows [][]float64, first int) error {
	for i, r := range rows {
		for j, v := range r {
			if !finite(v) {
				return fmt.Errorf("the %s at point %d, coordinate %d is %v: every value must be finite", what, first+i, j, v)
			}
		}
	}
	return nil
}
