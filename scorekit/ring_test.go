package scorekit_test

import (
	"testing"

	"github.com/scorekit/lab/data"
	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/metric"
	"github.com/scorekit/lab/scorekit/net"
	"github.com/scorekit/lab/scorekit/objective"
)

// The usual job from end to end, on XLA because pure Go would need minutes: the ring of 8 Gaussians, 2,000 steps of
// batch 512, Adam at 1e-3. The relative Fisher divergence, mean of 3 seeds, must be at most 0.02; runs give 0.004, and
// the standard error of one estimate on 20,000 points is 3 % of it.
func TestRingIsLearned(t *testing.T) {
	be, ok := testbackend.XLA(t)
	if !ok {
		return
	}
	const sigma = 0.5
	ring := data.Ring{}
	exact, err := ring.Density()
	if err != nil {
		t.Fatal(err)
	}
	blurred, err := exact.Noised(sigma)
	if err != nil {
		t.Fatal(err)
	}
	points, err := scorekit.Draw(t.Context(), be, blurred, 20_000, 99)
	if err != nil {
		t.Fatal(err)
	}
	mean := 0.0
	for seed := range int64(3) {
		f, err := scorekit.Fit(background, be, net.MLP{Hidden: []int{128, 128, 128}}, objective.Denoising{Sigma: sigma}, ring,
			scorekit.WithSteps(2000), scorekit.WithBatch(512), scorekit.WithSeed(seed))
		if err != nil {
			t.Fatal(err)
		}
		d, err := metric.FisherDivergence(t.Context(), be, exact, f, points, sigma)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("seed %d: relative Fisher divergence %.4f", seed, d.Relative)
		mean += d.Relative / 3
	}
	if mean > 0.02 {
		t.Errorf("mean relative Fisher divergence %.4f: must be at most 0.02", mean)
	}
}
