package data_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/data"
	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/scorekit/random"
)

// Each image is itself or its mirror, half of them each, as rows and as images; colours stay with their pixels.
func TestFlips(t *testing.T) {
	const n = 1000
	var rows [][]float64
	for i := range n {
		row := make([]float64, 2*3*2)
		for j := range row {
			row[j] = float64(100*i + j)
		}
		rows = append(rows, row)
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		exec := must[*graph.Exec](t)(graph.NewExec(b, func(state, x *data.Node) []*data.Node {
			rng := random.New(state, dtypes.Float64, 1)
			return []*data.Node{data.Flips(2, 3, 2)(rng, x), data.Flips(2, 3, 2)(rng, graph.Reshape(x, n, 2, 3, 2)), data.Flips(3, 4, 0)(rng, x)}
		}))
		defer exec.Finalize()
		out := must[[]*tensors.Tensor](t)(exec.Exec(must[*tensors.Tensor](t)(random.Seed(2)), asTensor(rows, dtypes.Float64, n, 12)))
		for k, mirror := range [][]int{{4, 5, 2, 3, 0, 1, 10, 11, 8, 9, 6, 7}, {4, 5, 2, 3, 0, 1, 10, 11, 8, 9, 6, 7}, {3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8}} {
			flat, mirrored := values(t, out[k]), 0
			for i := range n {
				got := flat[12*i : 12*(i+1)]
				want := make([]float64, 12)
				for j := range want {
					want[j] = rows[i][mirror[j]]
				}
				switch {
				case slices.Equal(got, want):
					mirrored++
				case !slices.Equal(got, rows[i]):
					t.Fatalf("image %d became %v", i, got)
				}
			}
			if mirrored < 500-5*16 || mirrored > 500+5*16 { // √(n/4) = 15.8
				t.Errorf("%d of %d images are mirrored", mirrored, n)
			}
		}
		if slices.Equal(values(t, out[0]), values(t, out[1])) {
			t.Error("two draws mirror the same images")
		}
	})
	_, err := graph.ExecOnce(testbackend.Go(t), func(x *data.Node) *data.Node { return data.Flips(2, 3, 1)(random.Listed(x.Graph()), x) }, rows)
	if err == nil || !strings.Contains(err.Error(), "data: Flips: images of shape (Float64)[1000 12]: must be [batch, 2, 3, 1]") {
		t.Errorf("error %v", err)
	}
}
