package testvalues

import (
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/shapes"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"
)

// Run builds one graph with build, runs it and returns every output flat. Outputs must be float64.
func Run(t testing.TB, b backends.Backend, build func(g *graph.Graph) []*graph.Node) [][]float64 {
	t.Helper()
	exec, err := graph.NewExec(b, build)
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	results, err := exec.Exec()
	if err != nil {
		t.Fatal(err)
	}
	return FlatAll(t, results)
}

// RunIn is [Run] for a graph that computes in a dtype: its outputs, of any dtype, are converted to float64.
func RunIn(t testing.TB, b backends.Backend, dtype dtypes.DType, build func(in Inputs) []*graph.Node) [][]float64 {
	t.Helper()
	return Run(t, b, func(g *graph.Graph) []*graph.Node {
		outputs := build(Inputs{g, dtype})
		for i, out := range outputs {
			outputs[i] = graph.ConvertDType(out, dtypes.Float64)
		}
		return outputs
	})
}

// Inputs makes the nodes that a test's graph starts from.
type Inputs struct {
	Graph *graph.Graph
	DType dtypes.DType
}

// Of returns a number, or slices of them, as a constant of the inputs' dtype, rounded from float64.
func (in Inputs) Of(value any) *graph.Node {
	return graph.ConvertDType(graph.Const(in.Graph, value), in.DType)
}

// Flat returns the values of a float64 tensor.
func Flat(t testing.TB, x *tensors.Tensor) []float64 {
	t.Helper()
	values, err := tensors.CopyFlatData[float64](x)
	if err != nil {
		t.Fatal(err)
	}
	return values
}

// FlatAll returns the values of each tensor.
func FlatAll(t testing.TB, all []*tensors.Tensor) [][]float64 {
	t.Helper()
	values := make([][]float64, len(all))
	for i, x := range all {
		values[i] = Flat(t, x)
	}
	return values
}

// Shape returns a float64 shape.
func Shape(dims ...int) shapes.Shape { return shapes.Make(dtypes.Float64, dims...) }

// Ignoring makes a score of a function of the points alone: whatever the noise level, and without weights.
func Ignoring(f func(x *graph.Node) *graph.Node) func(vars *mlctx.Context, x, sigma *graph.Node) *graph.Node {
	return func(_ *mlctx.Context, x, _ *graph.Node) *graph.Node { return f(x) }
}
