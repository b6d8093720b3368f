package likelihood_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/autodiff"
	"github.com/scorekit/lab/scorekit/likelihood"
	"github.com/scorekit/lab/scorekit/net"
	"github.com/scorekit/lab/scorekit/objective"
	"github.com/scorekit/lab/scorekit/sde"
)

// Hutchinson's estimate for a correlated Gaussian, whose Jacobian is not diagonal, of one point many times with its own
// probes each: its mean is the exact log-density within 5 standard errors, the reported standard errors are those of the
// results to 10 % (their mean square is good to about 5 %), and Rademacher's differ from Gaussian's as they should.
func TestHutchinson(t *testing.T) {
	const copies = 600
	model := gaussian(t, []float64{1, -1, 0}, [][]float64{{1, 0.7, 0.2}, {0.7, 1, 0.4}, {0.2, 0.4, 0.8}})
	points := make([][]float64, copies)
	for i := range points {
		points[i] = []float64{0.3, 0.2, -0.5}
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		exact := logDensity(t, b, model, points[:1], likelihood.Settings{SDE: sde.VP{}})
		if exact.StandardError != nil {
			t.Errorf("a standard error of the exact divergence: %v", exact.StandardError)
		}
		spread := map[autodiff.Probe]float64{}
		for _, kind := range []autodiff.Probe{autodiff.Rademacher, autodiff.Gaussian, autodiff.Sphere} {
			r := logDensity(t, b, model, points, likelihood.Settings{SDE: sde.VP{}, Probes: 4, Probe: kind, Seed: 5, Chunk: copies, RTol: 1e-5, ATol: 1e-5})
			testvalues.MeanWithin(t, kind.String(), r.LogDensity, exact.LogDensity[0])
			mean, variance, reported := testvalues.Mean(r.LogDensity), 0.0, 0.0
			for i, v := range r.LogDensity {
				variance += (v - mean) * (v - mean) / (copies - 1)
				reported += r.StandardError[i] * r.StandardError[i] / copies
			}
			// The variance of 600 near-normal numbers has a relative standard error of √(2/599), 6 %; the mean of 600
			// variances of 4 each one of √(2/3/600), 3 %, or twice that for the tails of products. 5 of these together.
			if ratio := reported / variance; !(math.Abs(ratio-1) < 0.4) {
				t.Errorf("%v: reported variance is %v of that of the results", kind, ratio)
			}
			spread[kind] = variance
		}
		if spread[autodiff.Rademacher] > 0.5*spread[autodiff.Gaussian] {
			t.Errorf("variances %v: Rademacher's probes do not see the diagonal", spread)
		}
		one := logDensity(t, b, model, points[:1], likelihood.Settings{SDE: sde.VP{}, Probes: 1, Seed: 5})
		if one.StandardError != nil {
			t.Errorf("a standard error of one probe: %v", one.StandardError)
		}
	})
}

// The log-density of any score in one dimension, a network's included, is that of a density: the ODE maps the line onto
// itself, and the integral over x is that of the prior, 1. The sum is over the range that nearly all of the prior comes from.
func TestNetwork(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		ctx := context.Background()
		data, err := scorekit.Examples([][]float64{{-1}, {-0.8}, {0.9}, {1.2}})
		if err != nil {
			t.Fatal(err)
		}
		fitted, err := scorekit.Fit(ctx, b, net.NoiseMLP{Hidden: []int{16}, DataStd: 1}, objective.MultiNoise{Min: 0.05, Max: 20}, data,
			scorekit.WithSteps(50), scorekit.WithBatch(32), scorekit.WithSeed(1), scorekit.WithDType(dtypes.Float64))
		if err != nil {
			t.Fatal(err)
		}
		const n, low, high = 801, -9.0, 9.0
		x := make([][]float64, n)
		for i := range x {
			x[i] = []float64{low + (high-low)*float64(i)/(n-1)}
		}
		r := logDensity(t, b, fitted, x, likelihood.Settings{SDE: sde.VE{SigmaMin: 0.05, SigmaMax: 20}, Chunk: n})
		sum := 0.0
		for i, p := range r.LogDensity {
			if i > 0 && !(r.Latent[i][0] > r.Latent[i-1][0]) {
				t.Fatalf("the ends of the paths are not in the order of the points: %v, %v", r.Latent[i-1], r.Latent[i])
			}
			sum += math.Exp(p) * (high - low) / (n - 1)
		}
		inside := 0.5 * (math.Erf(r.Latent[n-1][0]/20/math.Sqrt2) - math.Erf(r.Latent[0][0]/20/math.Sqrt2))
		testvalues.NearNumber(t, "integral", sum, inside, 1e-3)
		if inside < 0.5 {
			t.Errorf("only %v of the prior is reached", inside)
		}
		if _, err := likelihood.LogDensity(ctx, b, fitted.Model(), x, likelihood.Settings{SDE: sde.VE{}}); err == nil || !strings.Contains(err.Error(), "has weights that were not given") {
			t.Errorf("without weights: %v", err)
		}
	})
}

// One point, one number, images, float32, chunks that do not divide the points: the same results.
func TestShapes(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		s := likelihood.Settings{SDE: sde.VP{}}
		p := diagonal(t, []float64{0.5}, []float64{0.8})
		points := [][]float64{{0.1}, {-2}, {0.7}, {1.5}, {3}}
		whole := logDensity(t, b, p, points, s)
		s.Chunk = 2
		var reports []scorekit.Report
		s.Report = func(r scorekit.Report) { reports = append(reports, r) }
		parts := logDensity(t, b, p, points, s)
		testvalues.NearOne(t, "in chunks", parts.LogDensity, whole.LogDensity, 1e-5)
		if len(parts.LogDensity) != 5 || len(parts.Latent) != 5 {
			t.Errorf("%d log-densities and %d ends of 5 points", len(parts.LogDensity), len(parts.Latent))
		}
		if parts.Evaluations <= whole.Evaluations || whole.Evaluations != 1+6*(whole.Steps+whole.Rejected) {
			t.Errorf("%d evaluations in three chunks, %d in one of %d steps and %d rejected", parts.Evaluations, whole.Evaluations, whole.Steps, whole.Rejected)
		}
		var done []string
		for _, r := range reports {
			done = append(done, fmt.Sprintf("%s %d/%d %v", r.Verb, r.Step, r.Total, r.Done))
		}
		if got := strings.Join(done, ", "); got != "log-density 0/5 false, log-density 2/5 false, log-density 4/5 false, log-density 5/5 true" {
			t.Errorf("reports: %s", got)
		}
		one := logDensity(t, b, p, points[:1], likelihood.Settings{SDE: sde.VP{}})
		testvalues.NearOne(t, "one point", one.LogDensity, whole.LogDensity[:1], 1e-5)

		// Independent numbers in any shape: the log-densities add up. In float32.
		wide := make([]float32, 3*35)
		for i := range wide {
			wide[i] = float32(points[i%5][0])
		}
		score := scorekit.Score(func(_ *mlctx.Context, x, sigma *likelihood.Node) *likelihood.Node {
			v := graph.AddScalar(graph.Square(graph.Reshape(sigma, -1, 1, 1, 1)), 0.64)
			return graph.Div(graph.AddScalar(graph.Neg(x), 0.5), v)
		})
		image := logDensity(t, b, score, tensors.FromFlatDataAndDimensions(wide, 3, 1, 5, 7), likelihood.Settings{SDE: sde.VP{}})
		want := 0.0
		for _, v := range whole.LogDensity {
			want += 7 * v
		}
		testvalues.Near(t, "images", image.LogDensity, []float64{want, want, want}, 1e-4)
	})
}

// A run stops at once when its ctx does, with its cause.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cause := errors.New("enough")
	p := diagonal(t, []float64{0}, []float64{1})
	s := likelihood.Settings{SDE: sde.VP{}, Chunk: 1, Report: func(r scorekit.Report) {
		if r.Step == 2 {
			cancel(cause)
		}
	}}
	r, err := likelihood.LogDensity(ctx, testbackend.Go(t), p, [][]float64{{0}, {1}, {2}, {3}}, s)
	if r != nil || !errors.Is(err, cause) || err.Error() != "likelihood: LogDensity: stopped at time 0.001 of 1: enough" {
		t.Errorf("%v, %v", r, err)
	}
}

func TestErrors(t *testing.T) {
	b := testbackend.Go(t)
	p := diagonal(t, []float64{0, 0}, []float64{0.5, 0.5})
	points := [][]float64{{0, 1}}
	broken := scorekit.Score(func(_ *mlctx.Context, x, _ *likelihood.Node) *likelihood.Node {
		return graph.Mul(x, graph.Log(graph.AddScalar(graph.Neg(graph.Abs(x)), 2))) // NaN beyond 2
	})
	narrow := scorekit.Score(func(_ *mlctx.Context, x, _ *likelihood.Node) *likelihood.Node {
		return graph.Slice(x, graph.AxisRange(), graph.AxisRange(0, 1))
	})
	for _, test := range []struct {
		name   string
		model  scorekit.Model
		points any
		s      likelihood.Settings
		want   string
	}{
		{"no SDE", p, points, likelihood.Settings{}, "SDE nil: must be given"},
		{"impossible SDE", p, points, likelihood.Settings{SDE: sde.VE{SigmaMin: -1, SigmaMax: 2}}, "sde: VE: SigmaMin -1: must be positive and finite"},
		{"from", p, points, likelihood.Settings{SDE: sde.VP{}, From: 1}, "from time 1: must be above 0 and below the last time of the SDE, 1"},
		{"from", p, points, likelihood.Settings{SDE: sde.VP{}, From: -1}, "from time -1: must be above 0 and below the last time of the SDE, 1"},
		{"from", p, points, likelihood.Settings{SDE: sde.VP{}, From: math.NaN()}, "from time NaN: must be above 0 and below the last time of the SDE, 1"},
		{"probes", p, points, likelihood.Settings{SDE: sde.VP{}, Probes: -1}, "-1 probes: must be positive, or 0 for the exact divergence"},
		{"probe", p, points, likelihood.Settings{SDE: sde.VP{}, Probe: 3}, "probe kind Probe(3): must be Rademacher, Gaussian or Sphere"},
		{"RTol", p, points, likelihood.Settings{SDE: sde.VP{}, RTol: -1}, "RTol -1: must be positive and finite, or 0 for the default"},
		{"ATol", p, points, likelihood.Settings{SDE: sde.VP{}, ATol: math.Inf(1)}, "ATol +Inf: must be positive and finite, or 0 for the default"},
		{"chunk", p, points, likelihood.Settings{SDE: sde.VP{}, Chunk: -2}, "chunks of -2 points: must be positive, or 0 for 512"},
		{"no points", p, [][]float64{}, likelihood.Settings{SDE: sde.VP{}}, "points: there must be at least one, with at least one column"},
		{"NaN", p, [][]float64{{0, math.NaN()}}, likelihood.Settings{SDE: sde.VP{}}, "points: row 0, column 1 is NaN: every value must be finite (rows and columns count from 0)"},
		{"shape", p, [][]float64{{0}}, likelihood.Settings{SDE: sde.VP{}}, "points of shape [1] for a model of points of shape [2]"},
		{"no model", nil, points, likelihood.Settings{SDE: sde.VP{}}, "model nil: must be given"},
		{"score's shape", narrow, points, likelihood.Settings{SDE: sde.VP{}}, "the two must be equal"},
		{"not finite at the start", broken, [][]float64{{0, 3}}, likelihood.Settings{SDE: sde.VP{}}, "at time 0.001: the score is not finite at a point"},
		{"not finite on the way", broken, [][]float64{{0, 1.9}}, likelihood.Settings{SDE: sde.VE{SigmaMin: 0.01, SigmaMax: 100}}, "near a point's path the score is not finite or not smooth, or the tolerances, RTol 1e-07 and ATol 1e-07, are too small for Float64"},
		{"tolerances", p, points, likelihood.Settings{SDE: sde.VP{}, RTol: 1e-30, ATol: 1e-30}, "RTol 1e-30 and ATol 1e-30, are too small for Float64"},
	} {
		r, err := likelihood.LogDensity(context.Background(), b, test.model, test.points, test.s)
		if r != nil || err == nil || !strings.HasPrefix(err.Error(), "likelihood: LogDensity: ") || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", test.name, err, test.want)
		}
	}
}
