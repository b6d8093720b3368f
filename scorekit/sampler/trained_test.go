package sampler_test

import (
	"context"
	"math"
	"testing"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/net"
	"github.com/scorekit/lab/scorekit/objective"
)

// A score that was trained on data around 2, noised, serves every sampler: 500 chains that run backwards end near the data,
// where those that stay around 0 would be off by 2. The grids are coarse and the training short: 0.8 is allowed. Eight steps
// of Langevin dynamics on four levels do not get there with the exact score either.
func TestTrainedBackwards(t *testing.T) {
	b := testbackend.Go(t)
	p, err := density.Isotropic([]float64{2, 2}, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	model := net.NoiseMLP{Hidden: []int{32}, DataStd: 2}
	fitted, err := scorekit.Fit(ctx, b, model, objective.MultiNoise{Min: 0.05, Max: 160}, p, scorekit.WithSteps(600), scorekit.WithSeed(1))
	if err != nil {
		t.Fatal(err)
	}
	for name, s := range backwards() {
		d, err := scorekit.Sample(ctx, b, fitted, s, 500, scorekit.WithSeed(2))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if name == "corrector alone" {
			continue
		}
		mean := testvalues.Mean(column(t, d.X, func(x []float64) float64 { return (x[0] + x[1]) / 2 }))
		t.Logf("%s: mean %v", name, mean)
		if !(math.Abs(mean-2) <= 0.8) {
			t.Errorf("%s: mean %v, want 2 within 0.8", name, mean)
		}
	}
}
