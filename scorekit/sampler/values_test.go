package sampler_test

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/random"
	"github.com/scorekit/lab/scorekit/sampler"
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

func schedule(t *testing.T, s scorekit.Sampler) scorekit.Schedule {
	t.Helper()
	got, err := s.Schedule()
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// run builds one graph with build, runs it and returns every output flat.
func run(t *testing.T, b backends.Backend, build func(g *graph.Graph) []*sampler.Node) [][]float64 {
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

// step adds one step of s from x, with the listed noise z and a row of its schedule.
func step(s scorekit.Sampler, score scorekit.Score, x, z *sampler.Node, row []float64) *sampler.Node {
	g := x.Graph()
	rng := random.Listed(g, z)
	var nodes []*sampler.Node
	for _, v := range row {
		nodes = append(nodes, graph.Scalar(g, dtypes.Float64, v))
	}
	state, _ := s.Step(nil, rng, score, s.Init(nil, rng, score, x), nodes)
	return state.X
}

// ignoring makes a score of a function that does not depend on a noise level.
func ignoring(f func(x *sampler.Node) *sampler.Node) scorekit.Score {
	return func(_ *mlctx.Context, x, _ *sampler.Node) *sampler.Node { return f(x) }
}

// near fails the test unless |got−want| ≤ rtol·max(1, max|want|) everywhere: NaN fails.
func near(t *testing.T, what string, got, want []float64, rtol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d values, want %d", what, len(got), len(want))
		return
	}
	scale := 1.0
	for _, w := range want {
		scale = max(scale, math.Abs(w))
	}
	for i := range want {
		if diff := math.Abs(got[i] - want[i]); !(diff <= rtol*scale) {
			t.Errorf("%s[%d] = %v, want %v: off by %.2g, allowed %.2g", what, i, got[i], want[i], diff, rtol*scale)
		}
	}
}

// within fails the test unless the mean of values is want, give or take 5 of its standard errors.
func within(t *testing.T, what string, values []float64, want float64) {
	t.Helper()
	m, squares, n := 0.0, 0.0, float64(len(values))
	for _, v := range values {
		m += v / n
	}
	for _, v := range values {
		squares += (v - m) * (v - m)
	}
	if se := math.Sqrt(squares / (n - 1) / n); !(math.Abs(m-want) <= 5*se) {
		t.Errorf("%s: %v ± %v, want %v", what, m, se, want)
	}
}

func flatten(rows [][]float64) []float64 {
	var all []float64
	for _, r := range rows {
		all = append(all, r...)
	}
	return all
}

// repeated returns n copies of a point.
func repeated(x []float64, n int) [][]float64 {
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = x
	}
	return rows
}
