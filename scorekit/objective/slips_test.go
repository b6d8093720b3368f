package objective_test

import (
	"math"
	"testing"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit/objective"
	"github.com/scorekit/lab/scorekit/random"
)

// The three weightings at listed levels, by hand with s(x) = −x: w(σ)·½(s(x + σz) + z/σ)², w = σ², 1 and σ²(σ² + σ_d²)/σ_d². Level
// 0, which is none, gives NaN with each of them.
func TestWeightingsByHand(t *testing.T) {
	x, z, levels := []float64{1, -0.5, 2, 1}, []float64{0.3, 2, -1, 0.5}, []float64{0.5, 2, 3, 0}
	const dataStd = 0.7
	got := testvalues.RunIn(t, testbackend.Go(t), dtypes.Float64, func(in testvalues.Inputs) []*objective.Node {
		own := ownLevels(func(*random.Source, int) *objective.Node { return in.Of(levels) })
		column := func(values []float64) *objective.Node { return graph.InsertAxes(in.Of(values), -1) }
		var out []*objective.Node
		for _, m := range []objective.MultiNoise{
			{Levels: own, Weighting: objective.SigmaSquared}, {Levels: own, Weighting: objective.Plain}, {Levels: own, Weighting: objective.EDM, DataStd: dataStd},
		} {
			out = append(out, m.Loss(nil, random.Listed(in.Graph, column(z)), testvalues.Ignoring(graph.Neg), column(x)))
		}
		return out
	})
	for k, weight := range []func(v float64) float64{
		func(v float64) float64 { return v },
		func(float64) float64 { return 1 },
		func(v float64) float64 { return v * (v + dataStd*dataStd) / (dataStd * dataStd) },
	} {
		var want []float64
		for i, sigma := range levels[:3] {
			want = append(want, weight(sigma*sigma)/2*math.Pow(-x[i]-sigma*z[i]+z[i]/sigma, 2))
		}
		testvalues.NearOne(t, []string{"σ²", "plain", "EDM"}[k], got[k][:3], want, 1e-13)
		if !math.IsNaN(got[k][3]) {
			t.Errorf("weighting %d: loss %v at level 0, want NaN", k, got[k][3])
		}
	}
}
