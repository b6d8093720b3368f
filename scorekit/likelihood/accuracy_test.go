package likelihood_test

import (
	"math"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/likelihood"
	"github.com/scorekit/lab/scorekit/sde"
)

// noised is a density that knows its convolution with noise.
type noised interface {
	scorekit.Model
	LogDensityNoised(x, sigma *likelihood.Node) *likelihood.Node
}

// states returns the exact log-densities of the states of a process at a level, at points: −d ln a + log p_{b/a}(x/a).
func states(t *testing.T, b backends.Backend, p noised, at sde.Level, points [][]float64) []float64 {
	t.Helper()
	d := float64(len(points[0]))
	return testvalues.Run(t, b, func(g *graph.Graph) []*graph.Node {
		sigma := make([]float64, len(points))
		for i := range sigma {
			sigma[i] = at.Sigma()
		}
		logp := p.LogDensityNoised(graph.DivScalar(graph.Const(g, points), at.Mean), graph.Const(g, sigma))
		return []*graph.Node{graph.AddScalar(logp, -d*math.Log(at.Mean))}
	})[0]
}

// With the settings left alone, the log-density by the exact score is within 1e-4 nats of the exact one, for a correlated
// Gaussian and for a mixture of far, narrow and correlated modes, once the prior is exact: in its place the exact density of
// the data at the last time is put. With noise enough at the end (VP to β 60, where e^{−15} of the data are left, and VE to
// σ 10⁶) the prior itself is good to that, too.
func TestDefaultAccuracy(t *testing.T) {
	narrow := diagonal(t, []float64{-3, 2}, []float64{0.2, 0.3})
	wide := gaussian(t, []float64{2, 1}, [][]float64{{1, 0.8}, {0.8, 1.2}})
	mixture, err := density.NewMixture([]float64{0.3, 0.7}, narrow, wide)
	if err != nil {
		t.Fatal(err)
	}
	points := [][]float64{{-3, 2}, {-3.4, 1.5}, {2, 1}, {0, 0}, {-0.5, 1.5}, {5, -4}, {-6, 3}}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for _, test := range []struct {
			name  string
			model noised
			sde   sde.SDE
			prior bool // is good to 1e-4 itself
		}{
			{"Gaussian, VP", wide, sde.VP{}, false},
			{"mixture, VP", mixture, sde.VP{}, false},
			{"mixture, VP to β 60", mixture, sde.VP{BetaMin: 0.1, BetaMax: 60}, true},
			{"mixture, sub-VP", mixture, sde.SubVP{}, false},
			{"mixture, VE", mixture, sde.VE{}, false},
			{"Gaussian, VE to 1e6", wide, sde.VE{SigmaMin: 0.01, SigmaMax: 1e6}, true},
		} {
			t.Run(test.name, func(t *testing.T) {
				r := logDensity(t, b, test.model, points, likelihood.Settings{SDE: test.sde})
				from, last := test.sde.Range()
				want := states(t, b, test.model, test.sde.Marginal(from), points)
				end := states(t, b, test.model, test.sde.Marginal(last), r.Latent)
				worst := 0.0
				for i, got := range r.LogDensity {
					off := got - test.sde.Prior().LogDensity(r.Latent[i]) + end[i] - want[i]
					if !(math.Abs(off) <= 1e-4) {
						t.Errorf("point %v: off by %.2g nats, allowed 1e-4", points[i], off)
					}
					worst = max(worst, math.Abs(off))
					if off := got - want[i]; test.prior && !(math.Abs(off) <= 1e-4) {
						t.Errorf("point %v: with the prior off by %.2g nats, allowed 1e-4", points[i], off)
					}
				}
				t.Logf("worst %.2g; %d evaluations, %d steps, %d rejected", worst, r.Evaluations, r.Steps, r.Rejected)
			})
		}
	})
}
