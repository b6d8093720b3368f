package density_test

import (
	"math"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/scorekit/density"
)

// run builds one graph of a dtype with build, runs it and returns every output flat, in float64. Constants are made
// in float64 and rounded to the dtype.
func run(t *testing.T, b backends.Backend, dtype dtypes.DType, build func(in inputs) []*density.Node) [][]float64 {
	t.Helper()
	exec, err := graph.NewExec(b, func(g *graph.Graph) []*density.Node {
		outputs := build(inputs{g, dtype})
		for i, out := range outputs {
			outputs[i] = graph.ConvertDType(out, dtypes.Float64)
		}
		return outputs
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	results, err := exec.Exec()
	if err != nil {
		t.Fatal(err)
	}
	values := make([][]float64, len(results))
	for i, r := range results {
		values[i] = flat(t, r)
	}
	return values
}

func flat(t *testing.T, x *tensors.Tensor) []float64 {
	t.Helper()
	values, err := tensors.CopyFlatData[float64](x)
	if err != nil {
		t.Fatal(err)
	}
	return values
}

// inputs makes the nodes that a test's graph starts from.
type inputs struct {
	g     *graph.Graph
	dtype dtypes.DType
}

func (in inputs) points(rows [][]float64) *density.Node {
	return graph.ConvertDType(graph.Const(in.g, rows), in.dtype)
}

func (in inputs) levels(sigma []float64) *density.Node {
	return graph.ConvertDType(graph.Const(in.g, sigma), in.dtype)
}

// near fails the test unless |got−want| ≤ rtol·max|want| everywhere: NaN fails.
func near(t *testing.T, what string, got, want []float64, rtol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d values, want %d", what, len(got), len(want))
		return
	}
	scale := 0.0
	for _, w := range want {
		scale = max(scale, math.Abs(w))
	}
	for i := range want {
		if diff := math.Abs(got[i] - want[i]); !(diff <= rtol*scale) {
			t.Errorf("%s[%d] = %v, want %v: off by %.2g, allowed %.2g", what, i, got[i], want[i], diff, rtol*scale)
		}
	}
}

func flatten(rows [][]float64) []float64 {
	var flat []float64
	for _, r := range rows {
		flat = append(flat, r...)
	}
	return flat
}

func must[T any](t *testing.T) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
