package scorekit_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/gomlx/gomlx/backends"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/kde"
	"github.com/scorekit/lab/scorekit/objective"
	"github.com/scorekit/lab/scorekit/sampler"
	"github.com/scorekit/lab/scorekit/sde"
)

// The losses of the exact score of N(0, a²I) have closed forms: those made by integration by parts have the mean −d/(2a²), explicit
// 0, and denoising its floor. They hold, within five standard errors and float32's rounding, whatever the unit of the data is, in
// one dimension and in thousands, and for noise far below and far above the data.
func TestLossesAtAnyScale(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, be backends.Backend) {
		scales, dims := []float64{1e-8, 1, 1e8}, []int{1, 3, 4096}
		if be != testbackend.Go(t) { // each costs a compilation
			scales, dims = []float64{1e-8, 1e8}, []int{3}
		}
		for _, a := range scales {
			for _, d := range dims {
				g := gaussian(t, a, make([]float64, d)...)
				n := 4000
				if d > 1000 {
					n = 100
				}
				check := func(name string, o scorekit.Objective, want, rounding float64) {
					t.Helper()
					mean, se, err := scorekit.EvaluateLoss(background, be, g, o, g, n, 7)
					if err != nil {
						t.Errorf("%s, data of size %g, d = %d: %v", name, a, d, err)
						return
					}
					if !(math.Abs(mean-want) <= 5*se+rounding) {
						t.Errorf("%s, data of size %g, d = %d: %g ± %g, want %g", name, a, d, mean, se, want)
					}
				}
				parts := -float64(d) / (2 * a * a)
				check("explicit", objective.Explicit{Target: g}, 0, 0)
				check("hutchinson", objective.ImplicitHutchinson{Probes: 1}, parts, -1e-5*parts)
				check("sliced", objective.Sliced{Projections: 1}, parts, -1e-5*parts)
				check("sliced, variance reduced", objective.SlicedVR{Projections: 1}, parts, -1e-5*parts)
				if d < 1000 {
					check("implicit", objective.Implicit{}, parts, -1e-5*parts)
				}
				for _, ratio := range []float64{1e-6, 1, 1e6} {
					for _, weighted := range []bool{false, true} {
						o := objective.Denoising{Sigma: ratio * a, Weighted: weighted}
						floor, err := o.Floor(d, a)
						if err != nil {
							t.Fatal(err)
						}
						// The score and z/σ nearly cancel far above the data; both are rounded at 1e-7/σ.
						rounding := float64(d) * math.Pow(1.2e-7/o.Sigma, 2)
						if weighted {
							rounding *= o.Sigma * o.Sigma
						}
						if floor > 1e-36 { // float32 ends at 1e-38
							check(fmt.Sprintf("%+v", o), o, floor, rounding+1e-5*floor)
						}
					}
				}
			}
		}
	})
}

// Chains on the exact score of N(0, a²I) have the variance a²/(1 − ε/(2a²)) of Langevin with step ε, and those of the probability
// flow a², from noise a million times as large as the data to noise a millionth of them. The variance of m draws has the
// relative standard error √(2/m); five of them, and a hundredth for the grid of the flow (Heun on 200 levels), are allowed.
func TestSamplersAtAnyScale(t *testing.T) {
	be := testbackend.Go(t)
	const n, d = 500, 4
	for _, a := range []float64{1e-8, 1, 1e8} {
		g := gaussian(t, a, make([]float64, d)...)
		variance := func(s scorekit.Sampler, options ...scorekit.SampleOption) float64 {
			t.Helper()
			draws, err := scorekit.Sample(background, be, g, s, n, append(options, scorekit.WithSeed(3), scorekit.WithLimit(1e12*max(a, 1)))...)
			if err != nil {
				t.Fatalf("%T, size %g: %v", s, a, err)
			}
			mean, v, m := meanAndVariance(t, draws.X)
			if !(math.Abs(mean) <= 5*math.Sqrt(v/m)) {
				t.Errorf("%T, size %g: mean %g, want 0 ± %g", s, a, mean, math.Sqrt(v/m))
			}
			return v / (a * a)
		}
		tolerance := 5 * math.Sqrt(2.0/(n*d))
		if v := variance(sampler.Langevin{StepSize: 0.5 * a * a, Steps: 40}, scorekit.WithStartNormal(2*a)); !(math.Abs(v*0.75-1) <= tolerance) {
			t.Errorf("Langevin, size %g: variance %g, want %g", a, v, 1/0.75)
		}
		sigmas, err := sde.GeometricSigmas(1e6*a, 1e-6*a, 200)
		if err != nil {
			t.Fatal(err)
		}
		flow := sampler.ProbabilityFlow{Sigmas: sigmas, Solver: sampler.Heun}
		if v := variance(flow); !(math.Abs(v-1) <= tolerance+0.01) {
			t.Errorf("probability flow, size %g: variance %g, want 1", a, v)
		}
		if a > 1 {
			_, err := scorekit.Sample(background, be, g, flow, 1, scorekit.WithSeed(3))
			wantError(t, err, "must stay below 1e+12 (the chains do not grow: let them be that large by WithLimit)")
		}
	}
}

// A million standard deviations away every score is finite and, where tails are lighter than exponential, points home.
func TestFarPoints(t *testing.T) {
	one := func(d any, err error) scorekit.Model {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return d.(scorekit.Model)
	}
	two := func(at float64) density.Gaussian { return gaussian(t, 1, at, at) }
	points := [][]float64{{-1, 0.5}, {0.3, 0.2}, {1, -1}}
	models := map[string]scorekit.Model{
		"normal":         two(0),
		"mixture":        one(density.NewMixture(nil, two(-2), two(2))),
		"student t":      one(density.NewStudentT(3, []float64{0, 0}, [][]float64{{1, 0}, {0, 1}})),
		"laplace":        one(density.NewLaplace([]float64{0, 0}, []float64{1, 1})),
		"logistic":       one(density.NewLogistic([]float64{0, 0}, []float64{1, 1})),
		"ring":           one(density.NewRing(2, 4, 0.3)),
		"kernel density": one(kde.New(points, kde.Gaussian, kde.Fixed(0.5))),
	}
	far := [][]float64{{1e6, 1e6}, {-1e6, 1e6}, {1e6, 0}, {0, -1e6}, {1e18, 1e18}}
	testbackend.Each(t, func(t *testing.T, be backends.Backend) {
		for name, m := range models {
			tensor, err := scorekit.Evaluate(background, be, m, far)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			rows, err := scorekit.Rows(tensor)
			if err != nil {
				t.Fatal(err)
			}
			for i, s := range rows {
				home := -(s[0]*far[i][0] + s[1]*far[i][1])
				if !(home > 0) || math.IsInf(home, 0) {
					t.Errorf("%s at %v: score %v, which does not point home", name, far[i], s)
				}
			}
		}
	})
}
