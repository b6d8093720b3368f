package sampler_test

import (
	"context"
	"math"
	"testing"

	"github.com/gomlx/gomlx/backends"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/sampler"
)

// On N(3, v) what is left of x − 3 after k steps is (1 − ε/v)ᵏ of it; on a mixture every chain collapses to the mode whose
// side it starts on, and none is left between.
func TestGradientAscent(t *testing.T) {
	two, err := density.NewMixture([]float64{0.2, 0.8}, isotropic(t, 1, -5), isotropic(t, 1, 5))
	if err != nil {
		t.Fatal(err)
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		climb := func(p scorekit.Model, s sampler.GradientAscent, start ...float64) []float64 {
			rows := make([][]float64, len(start))
			for i, x := range start {
				rows[i] = []float64{x}
			}
			d, err := scorekit.Sample(context.Background(), b, p, s, len(start), scorekit.WithStart(rows))
			if err != nil {
				t.Fatal(err)
			}
			return column(t, d.X, coordinate(0))
		}
		left := math.Pow(1-0.1/4, 30)
		testvalues.NearOne(t, "after 30 steps", climb(isotropic(t, 2, 3), sampler.GradientAscent{StepSize: 0.1, Steps: 30}, 3, 4, 1), []float64{3, 3 + left, 3 - 2*left}, 1e-6)
		testvalues.NearOne(t, "modes", climb(two, sampler.GradientAscent{StepSize: 0.5, Steps: 100}, -9, -1, -0.2, 0, 1, 12), []float64{-5, -5, -5, 5, 5, 5}, 1e-5)
	})
}
