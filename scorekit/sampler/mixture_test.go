package sampler_test

import (
	"context"
	"math"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/sampler"
)

// The mixture 1/5 N(−5·1, I) + 4/5 N(5·1, I) in two dimensions (Song and Ermon 2019, figure 3), 4,000 chains from N(0, 4²I); 1,000 in
// pure Go, for its time.
// Plain Langevin dynamics keeps each chain on the side where it starts, whatever the modes weigh: about half of them on
// each. Annealed Langevin dynamics and tempering recover 0.2 within 4 standard errors, √(0.2·0.8/4000) = 0.0063 each. With
// this ladder the annealed chains are off by 0.004 for good (40,000 of them), because the modes part while the level falls;
// a coarser ladder, of 12 levels down to 0.1 with 40 steps each, is off by 0.027.
func TestWeightsOfModes(t *testing.T) {
	p, err := density.NewMixture([]float64{0.2, 0.8}, isotropic(t, 1, -5, -5), isotropic(t, 1, 5, 5))
	if err != nil {
		t.Fatal(err)
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		n := 4000
		if b.Name() == testbackend.Go(t).Name() {
			n = 1000
		}
		se := math.Sqrt(0.2 * 0.8 / float64(n))
		share := func(x *tensors.Tensor) float64 {
			lighter := column(t, x, func(row []float64) float64 {
				if row[0]+row[1] < 0 {
					return 1
				}
				return 0
			})
			return testvalues.Mean(lighter)
		}
		run := func(s scorekit.Sampler, options ...scorekit.SampleOption) *scorekit.Draws {
			t.Helper()
			d, err := scorekit.Sample(context.Background(), b, p, s, n, append(options, scorekit.WithSeed(2), scorekit.WithUnroll(1))...)
			if err != nil {
				t.Fatal(err)
			}
			return d
		}
		// Where a chain starts tells where it ends: by the components' shares at the start, a side is left for good.
		plain := share(run(sampler.Langevin{StepSize: 0.1, Steps: 200}, scorekit.WithStartNormal(4)).X)
		if plain < 0.4 || plain > 0.55 {
			t.Errorf("Langevin: share %v of the lighter mode, want about a half", plain)
		}
		annealed := run(sampler.AnnealedLangevin{Max: 20, Min: 1, Levels: 20, StepsPerLevel: 60, StepSize: 0.2, Denoise: true})
		if got := share(annealed.X); math.Abs(got-0.2) > 4*se {
			t.Errorf("annealed Langevin: share %v of the lighter mode, want 0.2 ± %v", got, se)
		}
		tempered := run(sampler.ParallelTempering{LogDensity: p.LogDensity, Betas: []float64{1, 0.3, 0.1, 0.03}, StepSize: 0.8, Steps: 200},
			scorekit.WithStartNormal(4), scorekit.WithBurnIn(100))
		if got := share(tempered.X); math.Abs(got-0.2) > 4*se {
			t.Errorf("tempering: share %v of the lighter mode, want 0.2 ± %v", got, se)
		}
		across := column(t, tempered.X, func(row []float64) float64 { return (row[0] - row[1]) / math.Sqrt2 })
		gaussianLaw(t, "tempering: across the line through the modes", across, 0, 1)
		for name, info := range tempered.Info {
			if !(info > 0.2 && info < 0.9) {
				t.Errorf("tempering: %s %v, want moves and swaps on all rungs", name, info)
			}
		}
		if len(tempered.Info) != 4+3 {
			t.Errorf("tempering: diagnostics %v", tempered.Info)
		}
	})
}
