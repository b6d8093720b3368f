package density_test

import (
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit/density"
)

// runAt builds one graph, runs it at sets of points and returns every output flat. The points are inputs, rounded to
// the dtype, and not constants: of those XLA would compute everything while it compiles, slowly and by other code.
func runAt(t *testing.T, b backends.Backend, dtype dtypes.DType, points [][][]float64, build func(x []*density.Node) []*density.Node) [][]float64 {
	t.Helper()
	exec, err := graph.NewExec(b, func(inputs []*density.Node) []*density.Node {
		for i, x := range inputs {
			inputs[i] = graph.ConvertDType(x, dtype)
		}
		outputs := build(inputs)
		for i, out := range outputs {
			outputs[i] = graph.ConvertDType(out, dtypes.Float64)
		}
		return outputs
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	inputs := make([]any, len(points))
	for i, x := range points {
		inputs[i] = x
	}
	results, err := exec.Exec(inputs...)
	if err != nil {
		t.Fatal(err)
	}
	return testvalues.FlatAll(t, results)
}
