package sampler_test

import (
	"context"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/sampler"
)

// Predictions are Tweedie's formula at the level of the step: x/(1 + σ²) for data from N(0, 1). The annealed sampler's level
// falls from step to step, and after its step that denoises nothing is left to take off. Samplers that are given no level
// predict where they are.
func TestPredictions(t *testing.T) {
	p := isotropic(t, 1, 0)
	start := [][]float64{{3}, {-1}}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		cases := []struct {
			s      scorekit.Sampler
			model  scorekit.Model
			levels []float64
		}{
			{sampler.AnnealedLangevin{Sigmas: []float64{2, 1}, StepsPerLevel: 1, StepSize: 0.1, Denoise: true}, p, []float64{2, 1, 0}},
			{sampler.Langevin{StepSize: 0.1, Steps: 2, Sigma: 1.5}, p, []float64{1.5, 1.5}},
			{sampler.Langevin{StepSize: 0.1, Steps: 2}, p, []float64{0, 0}},
			{sampler.GradientAscent{StepSize: 0.1, Steps: 1, Sigma: 2}, p, []float64{2}},
			{sampler.Underdamped{StepSize: 0.1, Steps: 1, Sigma: 2}, p, []float64{2}},
			{sampler.MALA{Energy: bowl, StepSize: 0.1, Steps: 1, Sigma: 2}, scorekit.Energy(bowl), []float64{2}},
			{sampler.ParallelTempering{Energy: bowl, Betas: []float64{1, 0.5}, StepSize: 0.1, Steps: 1, Sigma: 3}, scorekit.Energy(bowl), []float64{3}},
		}
		if b.Name() != testbackend.Go(t).Name() {
			cases = cases[:1] // each costs compilations
		}
		for _, c := range cases {
			d, err := scorekit.Sample(context.Background(), b, c.model, c.s, 2, scorekit.WithStart(start), scorekit.WithTrajectory(1),
				scorekit.WithPredictions(), scorekit.WithUnroll(1), scorekit.WithDType(dtypes.Float64))
			if err != nil {
				t.Fatal(err)
			}
			if d.Trajectory[0].Predicted != nil || !d.Predicted.Equal(d.Trajectory[len(c.levels)].Predicted) {
				t.Errorf("%T: predictions for the start, or others than those of the last step at the end", c.s)
			}
			for i, sigma := range c.levels {
				x := testvalues.Flat(t, d.Trajectory[i+1].X)
				for j := range x {
					x[j] /= 1 + sigma*sigma
				}
				testvalues.NearOne(t, "prediction", testvalues.Flat(t, d.Trajectory[i+1].Predicted), x, 1e-12)
			}
		}
	})
}
