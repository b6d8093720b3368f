package density_test

import (
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit/density"
)

// A product of Gaussians is the Gaussian with their covariances as blocks, with and without a noise level.
func TestProductOfGaussians(t *testing.T) {
	gaussian := must[density.Gaussian](t)
	a := gaussian(density.NewGaussian([]float64{0.5, 1}, [][]float64{{2, -0.9}, {-0.9, 0.8}}))
	b := gaussian(density.Isotropic([]float64{-2}, 0.6))
	inner := must[density.Product](t)(density.NewProduct(b, a))
	p := must[density.Product](t)(density.NewProduct(a, inner))
	mean := []float64{0.5, 1, -2, 0.5, 1}
	cov := [][]float64{{2, -0.9, 0, 0, 0}, {-0.9, 0.8, 0, 0, 0}, {0, 0, 0.36, 0, 0}, {0, 0, 0, 2, -0.9}, {0, 0, 0, -0.9, 0.8}}
	testvalues.Near(t, "mean", p.Mean(), mean, 0)
	for i, row := range p.Cov() {
		testvalues.Near(t, "covariance", row, cov[i], 1e-15)
	}
	whole := gaussian(density.NewGaussian(mean, cov))
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.RunIn(t, b, dtypes.Float64, func(in testvalues.Inputs) []*graph.Node {
			x, sigma := in.Of(grid(5, 3)), in.Of([]float64{0, 0.4, 2})
			return []*graph.Node{
				p.LogDensity(x), whole.LogDensity(x), p.Energy(x), whole.Energy(x),
				p.Score(nil, x, nil), whole.Score(nil, x, nil), p.Score(nil, x, sigma), whole.Score(nil, x, sigma),
			}
		})
		for i, what := range []string{"log-density", "energy", "score", "noised score"} {
			testvalues.Near(t, what, got[2*i], got[2*i+1], 1e-12)
		}
	})
}

// Moments that do not exist, or are not known, are nil.
func TestMissingMoments(t *testing.T) {
	cauchy := must[density.StudentT](t)(density.NewStudentT(1, []float64{0}, [][]float64{{1}}))
	heavy := must[density.Pareto](t)(density.NewPareto([]float64{1, 1}, []float64{3, 1.5}))
	well := must[density.DoubleWell](t)(density.NewDoubleWell(2, 1, 0))
	product := must[density.Product](t)
	if cauchy.Mean() != nil || cauchy.Cov() != nil || heavy.Mean() == nil || heavy.Cov() != nil {
		t.Errorf("Cauchy has %v, %v and Pareto %v, %v", cauchy.Mean(), cauchy.Cov(), heavy.Mean(), heavy.Cov())
	}
	for _, p := range []density.Product{product(density.NewProduct(heavy, cauchy)), product(density.NewProduct(well))} {
		if p.Mean() != nil || p.Cov() != nil {
			t.Errorf("product has %v, %v", p.Mean(), p.Cov())
		}
	}
}
