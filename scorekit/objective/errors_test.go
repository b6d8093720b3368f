package objective_test

import (
	"context"
	"math"
	"testing"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/net"
	"github.com/scorekit/lab/scorekit/objective"
)

func TestImpossibleSettings(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	floor := func(d objective.Denoising, dim int, std float64) error { _, err := d.Floor(dim, std); return err }
	good := objective.Denoising{Sigma: 1}
	for _, test := range []struct {
		err  error
		want string
	}{
		{objective.Denoising{}.Validate(), "denoising objective: sigma 0: must be positive and finite"},
		{objective.Denoising{Sigma: -1}.Validate(), "denoising objective: sigma -1: must be positive and finite"},
		{objective.Denoising{Sigma: nan}.Validate(), "denoising objective: sigma NaN: must be positive and finite"},
		{objective.Denoising{Sigma: inf}.Validate(), "denoising objective: sigma +Inf: must be positive and finite"},
		{objective.MultiNoise{Max: 1}.Validate(), "multi-noise objective: smallest noise level 0: must be positive and finite"},
		{objective.MultiNoise{Min: nan, Max: 1}.Validate(), "multi-noise objective: smallest noise level NaN: must be positive and finite"},
		{objective.MultiNoise{Min: inf, Max: inf}.Validate(), "multi-noise objective: smallest noise level +Inf: must be positive and finite"},
		{objective.MultiNoise{Min: 1, Max: 0.5}.Validate(), "multi-noise objective: largest noise level 0.5: must be finite and at least the smallest, 1"},
		{objective.MultiNoise{Min: 1, Max: inf}.Validate(), "multi-noise objective: largest noise level +Inf: must be finite and at least the smallest, 1"},
		{objective.MultiNoise{Min: 1, Max: nan}.Validate(), "multi-noise objective: largest noise level NaN: must be finite and at least the smallest, 1"},
		{objective.MultiNoise{Min: 1, Max: 2, Weighting: 7}.Validate(), "multi-noise objective: weighting 7: must be SigmaSquared or Plain"},
		{floor(objective.Denoising{}, 1, 1), "denoising objective: sigma 0: must be positive and finite"},
		{floor(good, 0, 1), "denoising objective: Floor: dim 0: must be at least 1"},
		{floor(good, 1, -1), "denoising objective: Floor: std -1: must be finite and not negative"},
		{floor(good, 1, nan), "denoising objective: Floor: std NaN: must be finite and not negative"},
		{floor(good, 1, inf), "denoising objective: Floor: std +Inf: must be finite and not negative"},
	} {
		if test.err == nil || test.err.Error() != test.want {
			t.Errorf("error %v, want %s", test.err, test.want)
		}
	}
	for _, v := range []scorekit.Validator{good, objective.Denoising{Sigma: 1e-9, Weighted: true}, objective.MultiNoise{Min: 1, Max: 1}, objective.MultiNoise{Min: 0.01, Max: 50, Weighting: objective.Plain}} {
		if err := v.Validate(); err != nil {
			t.Errorf("%T%+v: %v", v, v, err)
		}
	}
}

// Fit asks before it works, and says whose setting it was.
func TestFitRefuses(t *testing.T) {
	data, err := scorekit.Examples([][]float64{{1, 2}, {3, 4}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = scorekit.Fit(context.Background(), testbackend.Go(t), net.MLP{}, objective.Denoising{Sigma: -1}, data)
	if want := "scorekit: Fit: denoising objective: sigma -1: must be positive and finite"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
