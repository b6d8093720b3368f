package rows_test

import (
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/internal/rows"
	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
)

func TestRows(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.RunIn(t, b, dtypes.Float64, func(in testvalues.Inputs) []*graph.Node {
			x := in.Of([][][]float64{{{1, 2}, {3, 4}}, {{5, 6}, {7, 9}}})
			wide := rows.Like(in.Of([]float64{2, 10}), x)
			return []*graph.Node{graph.Mul(wide, x), rows.Sum(x), rows.Sum(in.Of([][]float64{{1, 2}, {3, 5}}))}
		})
		testvalues.Near(t, "product", got[0], []float64{2, 4, 6, 8, 50, 60, 70, 90}, 0)
		testvalues.Near(t, "sums", got[1], []float64{10, 27}, 0)
		testvalues.Near(t, "sums of a matrix", got[2], []float64{3, 8}, 0)
	})
}
