package objective_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/shapes"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/objective"
	"github.com/scorekit/lab/scorekit/random"
)

// read fills cases from a file of testdata.
func read(t *testing.T, name string, cases any) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, cases); err != nil {
		t.Fatal(err)
	}
}

// inputs makes the nodes that a test's graph starts from.
type inputs struct {
	g     *graph.Graph
	dtype dtypes.DType
}

func (in inputs) of(value any) *objective.Node {
	return graph.ConvertDType(graph.Const(in.g, value), in.dtype)
}

// run builds one graph with build, runs it and returns every output flat, in float64.
func run(t *testing.T, b backends.Backend, dtype dtypes.DType, build func(in inputs) []*objective.Node) [][]float64 {
	t.Helper()
	exec, err := graph.NewExec(b, func(g *graph.Graph) []*objective.Node {
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
		if values[i], err = tensors.CopyFlatData[float64](r); err != nil {
			t.Fatal(err)
		}
	}
	return values
}

// drawn is run with a source of random numbers.
func drawn(t *testing.T, b backends.Backend, seed int64, build func(rng *random.Source) []*objective.Node) [][]float64 {
	t.Helper()
	return run(t, b, dtypes.Float64, func(in inputs) []*objective.Node {
		state, err := random.Seed(seed)
		if err != nil {
			t.Fatal(err)
		}
		return build(random.New(graph.ConstTensor(in.g, state), in.dtype, 1))
	})
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

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// within fails the test unless the mean of values is want, give or take 5 of its standard errors.
func within(t *testing.T, what string, values []float64, want float64) {
	t.Helper()
	m, squares, n := mean(values), 0.0, float64(len(values))
	for _, v := range values {
		squares += (v - m) * (v - m)
	}
	se := math.Sqrt(squares / (n - 1) / n)
	if !(math.Abs(m-want) <= 5*se) {
		t.Errorf("%s: %v ± %v, want %v", what, m, se, want)
	}
}

// ignoring makes a score of a function that does not depend on a noise level.
func ignoring(f func(x *objective.Node) *objective.Node) scorekit.Score {
	return func(_ *mlctx.Context, x, _ *objective.Node) *objective.Node { return f(x) }
}

// network is s(x) = W2 tanh(W1 x + b1) + b2 with listed weights: W1 [H, d], W2 [d, H].
type network struct {
	W1 [][]float64
	B1 []float64
	W2 [][]float64
	B2 []float64
}

// nodes returns the weights as nodes.
func (n network) nodes(in inputs) []*objective.Node {
	return []*objective.Node{in.of(n.W1), in.of(n.B1), in.of(n.W2), in.of(n.B2)}
}

func (n network) flat() [][]float64 { return [][]float64{flatten(n.W1), n.B1, flatten(n.W2), n.B2} }

func apply(w []*objective.Node, x *objective.Node) *objective.Node {
	h := graph.Tanh(graph.Add(graph.Dot(x, graph.Transpose(w[0], 0, 1)), graph.InsertAxes(w[1], 0)))
	return graph.Add(graph.Dot(h, graph.Transpose(w[2], 0, 1)), graph.InsertAxes(w[3], 0))
}

func shape(dims ...int) shapes.Shape { return shapes.Make(dtypes.Float64, dims...) }
