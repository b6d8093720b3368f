package sampler_test

import (
	"math"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/metric"
	"github.com/scorekit/lab/scorekit/sampler"
)

// One step is that of blackjax 1.7.1, whose length scale is our bandwidth, and whose median rule is the one of the
// documentation.
func TestBlackjaxSVGD(t *testing.T) {
	var cases []struct {
		ID           string
		Particles    [][]float64
		Mean         []float64
		Cov          [][]float64
		LengthScale  float64 `json:"length_scale"`
		LearningRate float64 `json:"learning_rate"`
		After        [][]float64
		Median       float64
		Kernel       float64 `json:"kernel_value_01"`
	}
	testvalues.Read(t, "svgd.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for _, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				p, err := density.NewGaussian(c.Mean, c.Cov)
				if err != nil {
					t.Fatal(err)
				}
				draws, err := scorekit.Sample(t.Context(), b, p, sampler.SVGD{StepSize: c.LearningRate, Bandwidth: c.LengthScale, Steps: 1}, len(c.Particles),
					scorekit.WithStart(c.Particles), scorekit.WithDType(dtypes.Float64))
				if err != nil {
					t.Fatal(err)
				}
				rows, err := scorekit.Rows(draws.X)
				if err != nil {
					t.Fatal(err)
				}
				testvalues.NearOne(t, "after one step", slices.Concat(rows...), slices.Concat(c.After...), 1e-10)
				squared := 0.0
				for i, v := range c.Particles[0] {
					squared += (v - c.Particles[1][i]) * (v - c.Particles[1][i])
				}
				testvalues.NearNumber(t, "kernel", math.Exp(-squared/c.LengthScale), c.Kernel, 1e-10)
				median, err := metric.MedianDistance(c.Particles)
				if err != nil {
					t.Fatal(err)
				}
				testvalues.NearNumber(t, "median rule", median*median/math.Log(float64(len(c.Particles))), c.Median, 1e-10)
			})
		}
	})
}

// At rest the mean of the scores, each weighed by its particle's kernels, is 0 and on N(1, 2²) the particles have the
// mean 1 and nearly the standard deviation 2 (50 of them: 1.94); one alone climbs to the mode.
func TestSVGDStandsForTheTarget(t *testing.T) {
	p, err := density.Isotropic([]float64{1}, 2)
	if err != nil {
		t.Fatal(err)
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		run := func(n, steps int) []float64 {
			draws, err := scorekit.Sample(t.Context(), b, p, sampler.SVGD{StepSize: 1, Bandwidth: 1, Steps: steps}, n)
			if err != nil {
				t.Fatal(err)
			}
			rows, err := scorekit.Rows(draws.X)
			if err != nil {
				t.Fatal(err)
			}
			return slices.Concat(rows...)
		}
		x := run(50, 2000)
		mean, squares := testvalues.Mean(x), 0.0
		for _, v := range x {
			squares += (v - mean) * (v - mean) / float64(len(x))
		}
		t.Logf("mean %.4f, standard deviation %.4f", mean, math.Sqrt(squares))
		if !(math.Abs(mean-1) < 0.01 && math.Abs(math.Sqrt(squares)-2) < 0.1) {
			t.Errorf("mean %v, standard deviation %v: want 1 and 2", mean, math.Sqrt(squares))
		}
		testvalues.Near(t, "one particle", run(1, 200), []float64{1}, 1e-5)
	})
}

func TestSVGDSettings(t *testing.T) {
	good := sampler.SVGD{StepSize: 0.1, Bandwidth: 1}
	for want, change := range map[string]func(v *sampler.SVGD){
		"SVGD: step 0: must be positive and finite":                        func(v *sampler.SVGD) { v.StepSize = 0 },
		"SVGD: bandwidth NaN: must be positive and finite":                 func(v *sampler.SVGD) { v.Bandwidth = math.NaN() },
		"SVGD: -1 steps: must be positive, or 0 for 1,000":                 func(v *sampler.SVGD) { v.Steps = -1 },
		"SVGD: noise level -1: must be positive and finite, or 0 for none": func(v *sampler.SVGD) { v.Sigma = -1 },
	} {
		v := good
		change(&v)
		if _, err := v.Schedule(); err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if s, err := good.Schedule(); err != nil || len(s.Rows) != 1000 {
		t.Errorf("%d rows, %v", len(s.Rows), err)
	}
}
