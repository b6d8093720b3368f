package sampler_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/sampler"
)

// The tests here run whole chains and compare averages over them with what the dynamics must give, within 5 standard
// errors, taken from the spread of what is averaged. Some 150 averages are compared on each backend: a right program
// would fail for one seed in 10,000.
const chains = 20_000

func sample(t *testing.T, b backends.Backend, model scorekit.Model, s scorekit.Sampler, options ...scorekit.SampleOption) *scorekit.Draws {
	t.Helper()
	options = append([]scorekit.SampleOption{scorekit.WithDType(dtypes.Float64), scorekit.WithUnroll(5), scorekit.WithSeed(1)}, options...)
	d, err := scorekit.Sample(context.Background(), b, model, s, chains, options...)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// column returns f of coordinate j of every chain.
func column(t *testing.T, x *tensors.Tensor, f func(row []float64) float64) []float64 {
	t.Helper()
	rows, err := scorekit.Rows(x)
	if err != nil {
		t.Fatal(err)
	}
	values := make([]float64, len(rows))
	for i, r := range rows {
		values[i] = f(r)
	}
	return values
}

// Langevin chains on a correlated Gaussian, from one point, have the listed mean and covariance after 20 and after 100
// steps.
func TestLangevinOnGaussian(t *testing.T) {
	var cases []moments
	testvalues.Read(t, "moments.json", &cases)
	var c moments
	for _, each := range cases {
		if each.ID == "ula_gauss_eps_d2" {
			c = each
		}
	}
	p, err := density.NewGaussian(c.Mu, c.Sigma)
	if err != nil {
		t.Fatal(err)
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		d := sample(t, b, p, c.sampler(c.Step, 100), scorekit.WithStart(slices.Repeat([][]float64{c.X0}, chains)), scorekit.WithTrajectory(20))
		compared := 0
		for k, steps := range c.K {
			for _, snap := range d.Trajectory {
				if snap.Step != steps || steps == 0 {
					continue
				}
				compared++
				mean := c.MeanAfterK[k]
				for i := range mean {
					name := fmt.Sprintf("%d steps: mean %d", steps, i)
					testvalues.MeanWithin(t, name, column(t, snap.X, func(x []float64) float64 { return x[i] }), mean[i])
					for j := range i + 1 {
						name := fmt.Sprintf("%d steps: covariance %d, %d", steps, i, j)
						testvalues.MeanWithin(t, name, column(t, snap.X, func(x []float64) float64 { return (x[i] - mean[i]) * (x[j] - mean[j]) }), c.CovAfterK[k][i][j])
					}
				}
			}
		}
		if compared != 2 {
			t.Errorf("%d snapshots compared, want 2", compared)
		}
	})
}

// Annealed chains on a Gaussian, from one point, have the listed mean and variance after each level.
func TestAnnealedOnGaussian(t *testing.T) {
	var cases []annealed
	testvalues.Read(t, "annealed.json", &cases)
	c := cases[1]
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		d := sample(t, b, c.density(t), c.sampler(), scorekit.WithStart(slices.Repeat([][]float64{{c.X0}}, chains)), scorekit.WithTrajectory(c.Each))
		for level := range c.Levels {
			snap := d.Trajectory[level+1]
			name := fmt.Sprintf("level %d, step %d", level, snap.Step)
			testvalues.MeanWithin(t, name+": mean", column(t, snap.X, func(x []float64) float64 { return x[0] }), c.Mean[level])
			testvalues.MeanWithin(t, name+": variance", column(t, snap.X, func(x []float64) float64 { return (x[0] - c.Mean[level]) * (x[0] - c.Mean[level]) }), c.Var[level])
		}
		testvalues.MeanWithin(t, "mean, denoised", column(t, d.X, func(x []float64) float64 { return x[0] }), c.Denoised)
		// The last step multiplies what is left of x − m by s²/(s² + σ²).
		shrink := c.S * c.S / (c.S*c.S + c.Last*c.Last)
		want := shrink * shrink * c.Var[c.Levels-1]
		testvalues.MeanWithin(t, "variance, denoised", column(t, d.X, func(x []float64) float64 { return (x[0] - c.Denoised) * (x[0] - c.Denoised) }), want)
	})
}

// line is a density on the real line, as numbers on a grid.
type line struct{ x, p []float64 }

const grid = 0.02

func newLine(end float64, density func(x float64) float64) line {
	var l line
	for k := -math.Round(end / grid); k <= math.Round(end/grid); k++ {
		l.x, l.p = append(l.x, k*grid), append(l.p, density(k*grid))
	}
	return l
}

func normal(x, mean, std float64) float64 {
	u := (x - mean) / std
	return math.Exp(-u*u/2) / (std * math.Sqrt(2*math.Pi))
}

// advance takes the law of x to that of x + drift·s(x) + noise·z, times times.
func (l line) advance(score func(x float64) float64, drift, noise float64, times int) line {
	n := len(l.x)
	kernel := make([]float64, n*n)
	for j, x := range l.x {
		for i, y := range l.x {
			kernel[i*n+j] = grid * normal(y, x+drift*score(x), noise)
		}
	}
	for range times {
		next := make([]float64, n)
		for i := range next {
			for j, p := range l.p {
				next[i] += kernel[i*n+j] * p
			}
		}
		l.p = next
	}
	return l
}

// expectation of f.
func (l line) expectation(f func(x float64) float64) float64 {
	sum := 0.0
	for i, p := range l.p {
		sum += grid * p * f(l.x[i])
	}
	return sum
}

var statistics = map[string]func(x float64) float64{
	"1":       func(x float64) float64 { return 1 },
	"x":       func(x float64) float64 { return x },
	"x²":      func(x float64) float64 { return x * x },
	"cos 2x":  func(x float64) float64 { return math.Cos(2 * x) },
	"tanh 3x": func(x float64) float64 { return math.Tanh(3 * x) },
}

// On a mixture of two modes the law of a chain has no closed form, but a second route: its density carried from step
// to step on a grid, by the rule of the transition x + drift·s(x) + noise·z, with the score worked out apart.
// Averages over chains of both samplers, started where they start by themselves, agree with it, before the chains have
// come to rest and thus with the discretisation as it is. Steps of 0.02 against noise of at least 0.14 make the sums
// exact to 10 digits.
func TestMixture(t *testing.T) {
	weights, means, stds := []float64{0.4, 0.6}, []float64{-1, 1.5}, []float64{0.5, 0.4}
	var components []density.Gaussian
	for k := range means {
		g, err := density.Isotropic(means[k:k+1], stds[k])
		if err != nil {
			t.Fatal(err)
		}
		components = append(components, g)
	}
	p, err := density.NewMixture(weights, components...)
	if err != nil {
		t.Fatal(err)
	}
	score := func(sigma float64) func(x float64) float64 {
		return func(x float64) float64 {
			var top, bottom float64
			for k, m := range means {
				v := stds[k]*stds[k] + sigma*sigma
				w := weights[k] * normal(x, m, math.Sqrt(v))
				top, bottom = top-w*(x-m)/v, bottom+w
			}
			return top / max(bottom, 1e-300)
		}
	}
	compare := func(t *testing.T, x *tensors.Tensor, law line, last func(x float64) float64) {
		t.Helper()
		for name, f := range statistics {
			want := law.expectation(func(x float64) float64 { return f(last(x)) })
			if name == "1" {
				if math.Abs(want-1) > 1e-9 {
					t.Errorf("the law on the grid sums to %v", want)
				}
				continue
			}
			testvalues.MeanWithin(t, "mean of "+name, column(t, x, func(x []float64) float64 { return f(x[0]) }), want)
		}
	}
	same := func(x float64) float64 { return x }
	fixed := sampler.Langevin{StepSize: 0.05, Steps: 30}
	atLevel := sampler.Langevin{StepSize: 0.05, Steps: 30, Sigma: 0.6}
	start := newLine(10, func(x float64) float64 { return normal(x, 0, 1) })
	plain := start.advance(score(0), 0.05, math.Sqrt(0.1), 30)
	noised := start.advance(score(0.6), 0.05, math.Sqrt(0.1), 30)

	ladder := sampler.AnnealedLangevin{Sigmas: []float64{2, 0.8, 0.3}, StepsPerLevel: 10, StepSize: 0.02, Denoise: true}
	law := newLine(16, func(x float64) float64 { return normal(x, 0, 2) })
	for _, sigma := range ladder.Sigmas {
		alpha := 0.02 * sigma * sigma / (0.3 * 0.3)
		law = law.advance(score(sigma), alpha/2, math.Sqrt(alpha), 10)
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		compare(t, sample(t, b, p, fixed).X, plain, same)
		compare(t, sample(t, b, p, atLevel).X, noised, same)
		d := sample(t, b, p, ladder, scorekit.WithTrajectory(30))
		compare(t, d.Trajectory[0].X, newLine(16, func(x float64) float64 { return normal(x, 0, 2) }), same)
		compare(t, d.Trajectory[1].X, law, same)
		compare(t, d.X, law, func(x float64) float64 { return x + 0.3*0.3*score(0.3)(x) })
	})
}

// Langevin diverges from the step 2v on, v the smallest variance of the target, and not below it.
func TestDivergesFromTwiceTheVariance(t *testing.T) {
	p, err := density.Diagonal([]float64{0, 0}, []float64{0.5, 3})
	if err != nil {
		t.Fatal(err)
	}
	diverges := func(step float64) error {
		_, err := scorekit.Sample(context.Background(), testbackend.Go(t), p, sampler.Langevin{StepSize: step, Steps: 400}, 10, scorekit.WithLimit(1e6))
		return err
	}
	if err := diverges(0.95 * 2 * 0.25); err != nil {
		t.Errorf("below the threshold: %v", err)
	}
	var diverged *scorekit.DivergedError
	if err := diverges(1.05 * 2 * 0.25); !errors.As(err, &diverged) {
		t.Errorf("above the threshold: error %v", err)
	}
}
