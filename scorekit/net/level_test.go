package net

import (
	"math"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/scorekit"
)

// A level that is repeated for all points gives the scores of as many equal levels, though what is
// made of it is made once.
func TestSharedLevel(t *testing.T) {
	models := map[string]scorekit.Model{
		"NoiseMLP": NoiseMLP{Hidden: []int{5, 4}, DataStd: 0.7}, "NoiseResidualMLP": NoiseResidualMLP{Width: 4, Blocks: 2, DataStd: 0.7},
	}
	points := [][]float64{{0.3, -1.1, 0.8}, {2, 0, -0.4}, {-0.6, 0.9, 1.5}}
	const level = 0.6
	fitted := map[string]*scorekit.Fitted{}
	for name, m := range models {
		fitted[name] = trained(t, m, scorekit.WithDType(dtypes.Float64))
	}
	order := names(models)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := run(t, b, together(t, fitted), func(vars *mlctx.Context, g *graph.Graph) (out []*Node) {
			x := graph.Const(g, points)
			repeated := graph.BroadcastToDims(graph.Scalar(g, dtypes.Float64, level), len(points))
			if shared(repeated).Shape().Size() != 1 {
				t.Error("the level is not found to be shared")
			}
			for _, name := range order {
				for _, sigma := range []*Node{repeated, graph.Const(g, []float64{level, level, level})} {
					out = append(out, models[name].Score(vars.In(name), x, sigma))
				}
			}
			return out
		})
		for k, name := range order {
			for i, want := range got[2*k+1] {
				if !(math.Abs(got[2*k][i]-want) <= 1e-12*(1+math.Abs(want))) {
					t.Errorf("%s: number %d is %v, want %v", name, i, got[2*k][i], want)
				}
			}
		}
	})
}
