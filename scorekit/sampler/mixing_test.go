package sampler_test

import (
	"context"
	"math"
	"testing"

	"github.com/gomlx/gomlx/backends"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/metric"
	"github.com/scorekit/lab/scorekit/sampler"
)

// Langevin's draws on N(0, v) are an autoregressive chain with the coefficient r = 1 − ε/v: of N draws (1−r)/(1+r)·N are
// worth as much as independent ones. 64 chains of 1,000 draws: the estimate, which sums correlations to a distance of some
// 6τ, has a relative error of about √(2·13τ/N) = 0.05 for τ = 7 (Sokal 1997), and 4 of it are allowed.
func TestChainsAreWorthWhatTheyShould(t *testing.T) {
	const eps, n, draws = 0.25, 64, 1000
	p := isotropic(t, 1, 0)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		d, err := scorekit.Sample(context.Background(), b, p, sampler.Langevin{StepSize: eps, Steps: draws + 50}, n, scorekit.WithBurnIn(50), scorekit.WithThinning(1), scorekit.WithSeed(3))
		if err != nil {
			t.Fatal(err)
		}
		trace, err := metric.Trace(d.Kept, 0)
		if err != nil {
			t.Fatal(err)
		}
		size, err := metric.EffectiveSampleSize(t.Context(), trace)
		if err != nil {
			t.Fatal(err)
		}
		const r = 1 - eps
		want := (1 - r) / (1 + r) * n * draws
		if math.Abs(size/want-1) > 4*0.05 {
			t.Errorf("worth %v independent draws, want %v", size, want)
		}
		if agree, err := metric.RHat(t.Context(), trace); err != nil || agree > 1.01 {
			t.Errorf("R̂ %v, error %v", agree, err)
		}
	})
}
