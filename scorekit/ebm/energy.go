package ebm

import (
	"context"
	"fmt"
	"math"
	"runtime"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/numbers"
	"github.com/scorekit/lab/scorekit"
)

// Node is a GoMLX graph node.
type Node = graph.Node

// energyOf returns the energy of a model, which the vocabulary of scores does not ask for.
func energyOf(model scorekit.Model) (scorekit.Energy, error) {
	switch m := model.(type) {
	case *scorekit.Fitted:
		return energyOf(m.Model())
	case scorekit.Energy:
		return m, nil
	case interface {
		Energy(vars *mlctx.Context, x, sigma *Node) *Node
	}:
		return m.Energy, nil
	case interface{ Energy(x *Node) *Node }: // a density
		return func(_ *mlctx.Context, x, _ *Node) *Node { return m.Energy(x) }, nil
	}
	return nil, fmt.Errorf("model %T has a score and no energy: must be a scorekit.Energy, a density, a model with a method Energy, or the result of Fit of one", model)
}

// bound is a model with an energy, made ready for graphs of points like those that it was bound to.
type bound struct {
	*scorekit.Bound
	energy scorekit.Energy // at its noise level; with checks of its shape, and that no weight is missing
}

// bind checks model and points against one another. sigma is the noise level that the energy is given, 0 for none.
func bind(model scorekit.Model, points any, sigma float64) (*bound, error) {
	if !(sigma >= 0) || math.IsInf(sigma, 0) {
		return nil, fmt.Errorf("noise level %v: must be positive and finite, or 0 for none", sigma)
	}
	b, err := scorekit.Bind(model, points)
	if err != nil {
		return nil, err
	}
	energy, err := energyOf(model)
	if err != nil {
		return nil, err
	}
	return &bound{b, complete(energy, sigma)}, nil
}

func complete(energy scorekit.Energy, level float64) scorekit.Energy {
	return func(vars *mlctx.Context, x, _ *Node) *Node {
		var sigma *Node
		if level > 0 {
			sigma = graph.BroadcastToDims(graph.Scalar(x.Graph(), x.DType(), level), x.Shape().Dimensions[0])
		}
		known := map[*mlctx.Variable]bool{}
		for v := range vars.IterVariables() {
			known[v] = true
		}
		e := energy(vars, x, sigma)
		if e.Rank() != 1 || e.Shape().Dimensions[0] != x.Shape().Dimensions[0] {
			panic(fmt.Errorf("energy of shape %v for points of shape %v: must be [batch]", e.Shape().Dimensions, x.Shape().Dimensions))
		}
		for v := range vars.IterVariables() {
			if !known[v] && !v.HasValue() {
				panic(fmt.Errorf("the energy has weights that were not given, %s first: use the result of Fit or Load", v.ScopeAndName()))
			}
		}
		return e
	}
}

// chunk is how many points go to the device at once: it bounds memory.
const chunk = 1 << 16

// evaluator computes energies on the device.
type evaluator struct {
	exec  *mlctx.Exec
	dtype dtypes.DType
	shape []int // of a point
}

func (b *bound) evaluator(backend backends.Backend) (*evaluator, error) {
	exec, err := mlctx.NewExec(backend, b.Vars, func(vars *mlctx.Context, x *Node) *Node {
		return graph.ConvertDType(b.energy(vars, x, nil), dtypes.Float64)
	})
	if err != nil {
		return nil, err
	}
	exec.SetMaxCache(-1)
	return &evaluator{exec, b.Points.DType(), b.Points.Shape().Dimensions[1:]}, nil
}

// each calls f with the energies of n points, chunk by chunk; point gives the numbers of one. f gets the index of the
// first of its energies. An energy that is NaN or −∞ is an error that names the point: a density is finite and ≥ 0.
func (e *evaluator) each(ctx context.Context, n int, point func(i int, x []float64), f func(first int, energies []float64)) error {
	d := 1
	for _, v := range e.shape {
		d *= v
	}
	for first := 0; first < n; first += chunk {
		if ctx.Err() != nil {
			return fmt.Errorf("stopped after %d of %d points: %w", first, n, context.Cause(ctx))
		}
		size := min(chunk, n-first)
		flat := make([]float64, size*d)
		for i := range size {
			point(first+i, flat[i*d:(i+1)*d])
		}
		x := numbers.Tensor(flat, e.dtype, append([]int{size}, e.shape...)...)
		out, err := e.exec.Exec1(x)
		if err != nil {
			return err
		}
		energies, err := tensors.CopyFlatData[float64](out)
		if err != nil {
			return err
		}
		if err := out.FinalizeAll(); err != nil {
			return err
		}
		if err := x.FinalizeAll(); err != nil {
			return err
		}
		for i, v := range energies {
			if math.IsNaN(v) || math.IsInf(v, -1) {
				return fmt.Errorf("the energy at %v is %v: must be a number, or +Inf where p is 0", flat[i*d:(i+1)*d], v)
			}
		}
		f(first, energies)
	}
	return nil
}

// guard runs f and starts its error with what; panics of graph-building code become errors.
func guard(what string, f func() error) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case runtime.Error: // a mistake of the Go program: hiding it would hide where it happened
			panic(r)
		case error:
			err = r
		default:
			panic(r)
		}
		if err != nil {
			err = fmt.Errorf("ebm: %s: %w", what, err)
		}
	}()
	return f()
}
