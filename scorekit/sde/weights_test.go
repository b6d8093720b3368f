package sde_test

import (
	"context"
	"testing"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/net"
	"github.com/scorekit/lab/scorekit/objective"
	"github.com/scorekit/lab/scorekit/sde"
)

// What is made from a trained model has its weights, shape and dtype: a score by way of a network for times is the score
// itself.
func TestTrainedModelsKeepTheirWeights(t *testing.T) {
	b := testbackend.Go(t)
	p := must(density.Isotropic([]float64{1, -1}, 0.5))(t)
	trained := must(scorekit.Fit(context.Background(), b, net.NoiseMLP{Hidden: []int{8}}, objective.MultiNoise{Min: 0.1, Max: 2}, p, scorekit.WithSteps(3)))(t)
	points := [][]float64{{0.5, 1}, {2, -3}}
	direct := must(scorekit.Evaluate(context.Background(), b, trained, points, 0.7))(t)
	want := flat(must(scorekit.Rows(direct))(t))
	network := sde.ToNetwork(sde.VP{}, sde.V, trained)
	back := sde.FromNetwork(sde.VP{}, sde.V, network)
	for i, got := range flat(must(scorekit.Rows(must(scorekit.Evaluate(context.Background(), b, back, points, 0.7))(t)))(t)) {
		testvalues.NearNumber(t, "score by way of a network", got, want[i], 1e-4) // float32
	}
	level := sde.VP{}.Marginal(sde.VP{}.Time(0.7))
	states := make([][]float64, len(points))
	for i, x := range points {
		states[i] = []float64{level.Mean * x[0], level.Mean * x[1]}
	}
	v := must(scorekit.Rows(must(scorekit.Evaluate(context.Background(), b, network, states, sde.VP{}.Time(0.7)))(t)))(t)
	for i, x := range states {
		score := must(sde.Convert(sde.V, sde.Score, level, x, v[i]))(t)
		for j := range score { // (1/a) s(x/a, σ)
			testvalues.NearNumber(t, "score", score[j]*level.Mean, want[2*i+j], 1e-4)
		}
	}
}
