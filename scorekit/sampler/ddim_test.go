package sampler_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/sampler"
	"github.com/scorekit/lab/scorekit/sde"
)

// DDIM with η = 1 is DDPM with the small variance: on the whole chain, where it is what Ho et al. write with β̃_t, and on
// any grid.
func TestEtaOneIsDDPM(t *testing.T) {
	chain := chainOf(t, "linear", 200, 1e-3, 0.05)
	for _, timesteps := range [][]int{nil, {199, 120, 119, 3}} {
		ddim := schedule(t, sampler.DDIM{Chain: chain, Timesteps: timesteps, Eta: 1})
		ddpm := schedule(t, sampler.DDPM{Chain: chain, Timesteps: timesteps})
		if !slices.Equal(ddim.Columns, ddpm.Columns) || len(ddim.Rows) != len(ddpm.Rows) {
			t.Fatalf("%v, %d rows and %v, %d rows", ddim.Columns, len(ddim.Rows), ddpm.Columns, len(ddpm.Rows))
		}
		for i, row := range ddim.Rows {
			testvalues.NearOne(t, fmt.Sprintf("row %d", i), row, ddpm.Rows[i], 1e-12)
		}
	}
	betas, small, bars := chain.Betas(), chain.PosteriorVariances(), chain.AlphaBars()
	rows, large := schedule(t, sampler.DDPM{Chain: chain}).Rows, schedule(t, sampler.DDPM{Chain: chain, Large: true}).Rows
	for i, row := range rows {
		at := len(rows) - 1 - i // the index that the step starts from
		before := 1.0
		if at > 0 {
			before = bars[at-1]
		}
		testvalues.NearOne(t, "mean and noise level", row[:2], []float64{math.Sqrt(bars[at]), math.Sqrt((1 - bars[at]) / bars[at])}, 1e-12)
		testvalues.NearOne(t, "factor of x̂₀", row[2:3], []float64{math.Sqrt(before) * betas[at] / (1 - bars[at])}, 1e-12)
		testvalues.NearOne(t, "factor of x", row[3:4], []float64{math.Sqrt(1-betas[at]) * (1 - before) / (1 - bars[at])}, 1e-12)
		testvalues.NearOne(t, "small variance", []float64{row[4] * row[4]}, small[at:at+1], 1e-12)
		if at > 0 {
			testvalues.NearNumber(t, "large variance", large[i][4]*large[i][4], betas[at], 1e-12)
		} else if large[i][4] != 0 {
			t.Errorf("noise %v in the step to the data", large[i][4])
		}
	}
}

// Each step goes to the next point of its own grid, whatever the grid is, and the last to the data.
func TestGrid(t *testing.T) {
	chain := chainOf(t, "linear", 1000, 1e-4, 0.02)
	for _, spacing := range []sde.Spacing{sde.Leading, sde.Trailing, sde.Linspace} {
		for _, n := range []int{1, 2, 7, 10, 1000} {
			timesteps, err := sde.Timesteps(1000, n, spacing)
			if err != nil {
				t.Fatal(err)
			}
			if n > 1 || spacing == sde.Trailing {
				checkGrid(t, chain, timesteps, sampler.DDIM{Chain: chain, Steps: n, Spacing: spacing})
			}
			checkGrid(t, chain, timesteps, sampler.DDPM{Chain: chain, Timesteps: timesteps})
		}
	}
	checkGrid(t, chain, []int{999, 31, 30, 7}, sampler.DDIM{Chain: chain, Timesteps: []int{999, 31, 30, 7}, Eta: 0.3})
	if n := len(schedule(t, sampler.DDPM{Chain: chain}).Rows); n != 1000 {
		t.Errorf("%d steps, want all 1000", n)
	}
}

func checkGrid(t *testing.T, chain sde.Discrete, timesteps []int, s sampler.Noised) {
	t.Helper()
	levels, err := s.NoiseLevels()
	if err != nil {
		t.Fatal(err)
	}
	rows := schedule(t, s).Rows
	if len(rows) != len(timesteps) || len(levels) != len(rows)+1 {
		t.Fatalf("%d rows and %d levels for %d timesteps", len(rows), len(levels), len(timesteps))
	}
	all, sigmas := chain.Levels(), chain.Sigmas()
	for i, at := range timesteps {
		sigma := sigmas[at]
		if rows[i][1] != all[at].Sigma() || levels[i] != all[at] {
			t.Errorf("step %d starts from noise %v and level %+v, want index %d", i, rows[i][1], levels[i], at)
		}
		testvalues.NearNumber(t, "noise", rows[i][1], sigma, 1e-12)
		if i > 0 && (rows[i-1][5] != rows[i][0] || rows[i-1][6] != rows[i][1]) {
			t.Errorf("step %d ends at %v, the next starts at %v", i-1, rows[i-1][5:], rows[i][:2])
		}
	}
	last := rows[len(rows)-1]
	if levels[len(rows)] != (sde.Level{Mean: 1}) || !slices.Equal(last[2:], []float64{1, 0, 0, 1, 0}) {
		t.Errorf("the last step is %v, to %+v: want to the data", last, levels[len(rows)])
	}
}

// Clipping keeps x̂₀ within its bounds, and ε̂ is computed from the clipped one: x_s = a_s x̂₀ + b_s (x − a_t x̂₀)/b_t. So do
// predictions. With ε̂ left as it was the result would be another.
func TestClip(t *testing.T) {
	const clip, eps = 0.5, 0.3
	later, earlier := sde.Level{Mean: 0.6, Std: 0.8}, sde.Level{Mean: 0.8, Std: 0.6}
	x := []float64{2, -1.5, 0.3}
	score := scorekit.Score(func(_ *mlctx.Context, x, sigma *sampler.Node) *sampler.Node {
		return graph.Neg(graph.Div(graph.MulScalar(graph.OnesLike(x), eps), graph.InsertAxes(sigma, -1)))
	})
	var want, clipped []float64
	for _, v := range x {
		x0 := min(clip, max(-clip, (v-later.Std*eps)/later.Mean))
		want = append(want, earlier.Mean*x0+earlier.Std*(v-later.Mean*x0)/later.Std)
		clipped = append(clipped, x0)
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.Run(t, b, func(g *graph.Graph) []*sampler.Node {
			start := graph.Const(g, [][]float64{x})
			var out []*sampler.Node
			for _, s := range []scorekit.Sampler{
				sampler.DDIM{Levels: []sde.Level{later, earlier}, Clip: clip},
				sampler.DDPM{Levels: []sde.Level{later, {Mean: 1}}, Clip: clip},
			} {
				out = append(out, step(s, score, start, graph.ZerosLike(start), schedule(t, s).Rows[0]))
			}
			var row []*sampler.Node
			s := sampler.DDIM{Levels: []sde.Level{{Mean: 0.5, Std: 1}, later}, Clip: clip}
			for _, v := range schedule(t, s).Rows[0] {
				row = append(row, graph.Scalar(g, start.DType(), v))
			}
			return append(out, s.Predict(nil, score, start, row))
		})
		testvalues.NearOne(t, "DDIM", got[0], want, 1e-14)
		testvalues.NearOne(t, "to the data", got[1], clipped, 1e-14)
		testvalues.NearOne(t, "prediction", got[2], clipped, 1e-14)
	})
}

// Whole runs on a correlated Gaussian: DDPM with both variances and DDIM have the mean and covariance that their steps,
// linear here, give exactly, within 5 standard errors. DDIM with η = 0 draws nothing.
func TestDenoisingMoments(t *testing.T) {
	mean, cov := [2]float64{1, -0.5}, [2][2]float64{{1.2, 0.5}, {0.5, 0.7}}
	p, err := density.NewGaussian(mean[:], [][]float64{cov[0][:], cov[1][:]})
	if err != nil {
		t.Fatal(err)
	}
	chain := chainOf(t, "linear", 1000, 1e-4, 0.02)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for _, s := range []sampler.Noised{
			sampler.DDPM{Chain: chain, Steps: 20, Spacing: sde.Trailing},
			sampler.DDPM{Chain: chain, Steps: 20, Spacing: sde.Trailing, Large: true},
			sampler.DDIM{Chain: chain, Steps: 20, Spacing: sde.Trailing, Eta: 0.5},
		} {
			d := sample(t, b, p, s)
			law := newLinearRun(t, s, mean, cov)
			for _, row := range schedule(t, s).Rows {
				law.step(row)
			}
			law.compare(t, fmt.Sprintf("%T", s), d.X)
		}
	})
	// Chains start as draws from N(0, I) would at the first level.
	exploding := sample(t, testbackend.Go(t), p, sampler.DDIM{Levels: []sde.Level{{Mean: 1, Std: 2}, {Mean: 1}}}, scorekit.WithTrajectory(1))
	testvalues.MeanWithin(t, "variance at the start", column(t, exploding.Trajectory[0].X, func(x []float64) float64 { return x[0] * x[0] }), 5)

	s := sampler.DDIM{Chain: chain, Steps: 5}
	run := func(seed int64) *tensors.Tensor {
		d, err := scorekit.Sample(context.Background(), testbackend.Go(t), p, s, 2, scorekit.WithStart([][]float64{{1, 2}, {0, -1}}), scorekit.WithSeed(seed))
		if err != nil {
			t.Fatal(err)
		}
		return d.X
	}
	if !run(1).Equal(run(2)) {
		t.Error("DDIM with η = 0 depends on the seed")
	}
}

// linearRun is the exact mean and covariance of chains whose score is that of N(m, C) in the plane.
type linearRun struct {
	m    [2]float64
	c    [2][2]float64
	mean [2]float64
	cov  [2][2]float64
}

// newLinearRun starts at N(0, Mean² + Std²).
func newLinearRun(t *testing.T, s sampler.Noised, m [2]float64, c [2][2]float64) *linearRun {
	t.Helper()
	levels, err := s.NoiseLevels()
	if err != nil {
		t.Fatal(err)
	}
	v := levels[0].Mean*levels[0].Mean + levels[0].Std*levels[0].Std
	return &linearRun{m: m, c: c, cov: [2][2]float64{{v, 0}, {0, v}}}
}

// step is x ← data·x̂₀ + state·x + noise·z with x̂₀ = y + σ²(C+σ²)⁻¹(m − y), y = x/mean.
func (l *linearRun) step(row []float64) {
	a, sigma, data, state, noise := row[0], row[1], row[2], row[3], row[4]
	p, q, r := l.c[0][0]+sigma*sigma, l.c[0][1], l.c[1][1]+sigma*sigma
	det := p*r - q*q
	inverse := [2][2]float64{{r / det, -q / det}, {-q / det, p / det}}
	var k [2][2]float64
	var shift [2]float64
	for i := range 2 {
		for j := range 2 {
			w := sigma * sigma * inverse[i][j]
			k[i][j] = -data * w / a
			shift[i] += data * w * l.m[j]
		}
		k[i][i] += data/a + state
	}
	l.apply(k, shift, noise*noise)
}

// apply is x ← k·x + shift + N(0, variance·I).
func (l *linearRun) apply(k [2][2]float64, shift [2]float64, variance float64) {
	var mean [2]float64
	var cov [2][2]float64
	for i := range 2 {
		mean[i] = shift[i] + k[i][0]*l.mean[0] + k[i][1]*l.mean[1]
		for j := range 2 {
			for u := range 2 {
				for v := range 2 {
					cov[i][j] += k[i][u] * l.cov[u][v] * k[j][v]
				}
			}
		}
		cov[i][i] += variance
	}
	l.mean, l.cov = mean, cov
}

// compare compares averages over chains, within 5 standard errors.
func (l *linearRun) compare(t *testing.T, what string, x *tensors.Tensor) {
	t.Helper()
	for i := range 2 {
		testvalues.MeanWithin(t, fmt.Sprintf("%s: mean %d", what, i), column(t, x, func(x []float64) float64 { return x[i] }), l.mean[i])
		for j := range i + 1 {
			testvalues.MeanWithin(t, fmt.Sprintf("%s: covariance %d, %d", what, i, j),
				column(t, x, func(x []float64) float64 { return (x[i] - l.mean[i]) * (x[j] - l.mean[j]) }), l.cov[i][j])
		}
	}
}

// One chain, one step, one coordinate, odd shapes; 3 and then 2 from one object; predictions; float32.
func TestDenoisingShapes(t *testing.T) {
	chain := chainOf(t, "linear", 30, 1e-3, 0.3)
	samplers := func(steps, numbers int) []sampler.Noised {
		spacing := sde.Leading
		if steps == 1 {
			spacing = sde.Trailing
		}
		ddpm := sampler.DDPM{Chain: chain, Steps: steps, Spacing: spacing, Clip: 3}
		return []sampler.Noised{
			ddpm,
			sampler.DDPM{Chain: chain, Steps: steps, Spacing: sde.Trailing, Large: true},
			sampler.DDIM{Chain: chain, Steps: steps, Spacing: spacing},
			sampler.DDIM{Chain: chain, Steps: steps, Spacing: spacing, Eta: 0.5},
			sampler.Inpaint{Sampler: ddpm, Known: make([]float64, numbers), Mask: make([]bool, numbers), Repeats: 2},
		}
	}
	check := func(t *testing.T, b backends.Backend, steps, n int, shape ...int) {
		numbers := 1
		for _, d := range shape {
			numbers *= d
		}
		for _, s := range samplers(steps, numbers) {
			d := drawFrom(t, b, s, n, shape...)
			if want := append([]int{n}, shape...); !slices.Equal(d.X.Shape().Dimensions, want) {
				t.Errorf("%T: shape %v, want %v", s, d.X.Shape().Dimensions, want)
			}
			for _, v := range slices.Concat(rowsOf(t, d.X)...) {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Errorf("%T: a value of %v", s, v)
				}
			}
		}
	}
	check(t, testbackend.Go(t), 1, 1, 1)
	check(t, testbackend.Go(t), 3, 2, 3)
	check(t, testbackend.Go(t), 2, 2, 1, 5, 7)
	if b, ok := testbackend.XLA(t); ok {
		check(t, b, 1, 1, 1, 5, 7)
	}
	for _, s := range samplers(4, 2) {
		b := testbackend.Go(t)
		drawFrom(t, b, s, 3, 2)
		if two := drawFrom(t, b, s, 2, 2); !two.X.Equal(drawFrom(t, b, s, 2, 2).X) {
			t.Errorf("%T: draws depend on what was drawn before", s)
		}
		d, err := scorekit.Sample(context.Background(), b, scorekit.Energy(bowl), s, 3, scorekit.WithShape(2), scorekit.WithTrajectory(1), scorekit.WithPredictions())
		if err != nil {
			t.Fatal(err)
		}
		if !d.Predicted.Equal(d.X) {
			t.Errorf("%T: at the data the prediction %v is not where the chains are, %v", s, d.Predicted, d.X)
		}
		for _, snap := range d.Trajectory[1:] {
			for _, v := range slices.Concat(rowsOf(t, snap.Predicted)...) {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Errorf("%T: a prediction of %v", s, v)
				}
			}
		}
	}
}

func rowsOf(t *testing.T, x *tensors.Tensor) [][]float64 {
	t.Helper()
	rows, err := scorekit.Rows(x)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func TestDenoisingErrors(t *testing.T) {
	chain := chainOf(t, "linear", 10, 0.01, 0.3)
	two := []sde.Level{{Mean: 0.6, Std: 0.8}, {Mean: 1}}
	nan := math.NaN()
	for _, test := range []struct {
		s    scorekit.Sampler
		want string
	}{
		{sampler.DDPM{}, "DDPM: one of Chain and Levels, and not both, must be given"},
		{sampler.DDIM{}, "DDIM: one of Chain and Levels, and not both, must be given"},
		{sampler.DDPM{Chain: chain, Levels: two}, "DDPM: one of Chain and Levels, and not both, must be given"},
		{sampler.DDPM{Levels: two, Steps: 3}, "DDPM: with Levels, none of Steps, Spacing and Timesteps may be given: they choose from a Chain"},
		{sampler.DDPM{Chain: chain, Steps: 11}, "DDPM: sde: Timesteps: 11 timesteps of a chain of 10: must be from 1 to as many"},
		{sampler.DDPM{Chain: chain, Steps: -1}, "DDPM: sde: Timesteps: -1 timesteps of a chain of 10: must be from 1 to as many"},
		{sampler.DDPM{Chain: chain, Spacing: 9}, "DDPM: sde: Timesteps: spacing 9: must be Leading, Trailing or Linspace"},
		{sampler.DDPM{Chain: chain, Steps: 2, Timesteps: []int{9, 1}}, "DDPM: with Timesteps, neither Steps nor Spacing may be given"},
		{sampler.DDPM{Chain: chain, Steps: 1}, "DDPM: 1 step with Spacing Leading or Linspace: it would start at index 0, which has hardly any noise to take off: must be Trailing, or at least 2 steps"},
		{sampler.DDIM{Chain: chain, Steps: 1, Spacing: sde.Linspace}, "DDIM: 1 step with Spacing Leading or Linspace: it would start at index 0, which has hardly any noise to take off: must be Trailing, or at least 2 steps"},
		{sampler.DDIM{Chain: chain, Timesteps: []int{10}}, "DDIM: sde: timesteps[0] = 10: must be from 0 to 9"},
		{sampler.DDIM{Chain: chain, Timesteps: []int{5, 5}}, "DDIM: sde: timesteps[1] = 5: must be below the one before it, 5"},
		{sampler.DDIM{Chain: chain, Timesteps: []int{}}, "DDIM: sde: timesteps: there must be at least one"},
		{sampler.DDIM{Levels: two[:1]}, "DDIM: 1 levels: must be at least 2, from where chains start to where they end"},
		{sampler.DDIM{Levels: []sde.Level{{Mean: 0, Std: 1}, {Mean: 1}}}, "DDIM: level 0, {Mean:0 Std:1}: Mean must be positive, and so must Std except at the last"},
		{sampler.DDIM{Levels: []sde.Level{{Mean: 1}, {Mean: 1}}}, "DDIM: level 0, {Mean:1 Std:0}: Mean must be positive, and so must Std except at the last"},
		{sampler.DDIM{Levels: []sde.Level{{Mean: nan, Std: 1}, {Mean: 1}}}, "DDIM: level 0: sde: level: Mean NaN: must be finite and not negative"},
		{sampler.DDPM{Levels: []sde.Level{{Mean: 1, Std: 1}, {Mean: 1, Std: 2}}}, "DDPM: levels 0 and 1: sde: Posterior: from level {Mean:1 Std:2} to level {Mean:1 Std:1}: the later one must not have less noise than it inherits, 2"},
		{sampler.DDIM{Chain: chain, Eta: -0.1}, "DDIM: eta -0.1: must be from 0 to 1"},
		{sampler.DDIM{Chain: chain, Eta: 1.1}, "DDIM: eta 1.1: must be from 0 to 1"},
		{sampler.DDIM{Chain: chain, Eta: nan}, "DDIM: eta NaN: must be from 0 to 1"},
		{sampler.DDIM{Chain: chain, Clip: -1}, "DDIM: clip -1: must be positive and finite, or 0 for none"},
		{sampler.DDPM{Chain: chain, Clip: nan}, "DDPM: clip NaN: must be positive and finite, or 0 for none"},
		{sampler.Inpaint{}, "Inpaint: Sampler nil: must be given"},
		{sampler.Inpaint{Sampler: sampler.DDIM{Chain: chain}}, "Inpaint: 0 known numbers for a mask of 0: must be as many, one for each number of a point"},
		{sampler.Inpaint{Sampler: sampler.DDIM{Chain: chain}, Known: []float64{1}, Mask: []bool{true, false}}, "Inpaint: 1 known numbers for a mask of 2: must be as many, one for each number of a point"},
		{sampler.Inpaint{Sampler: sampler.DDIM{Chain: chain}, Known: []float64{nan, nan}, Mask: []bool{false, true}}, "Inpaint: known number 1 is NaN: must be finite"},
		{sampler.Inpaint{Sampler: sampler.DDIM{Chain: chain}, Known: []float64{1}, Mask: []bool{true}, Repeats: -1}, "Inpaint: -1 repeats: must be positive, or 0 for 1"},
		{sampler.Inpaint{Sampler: sampler.ProbabilityFlow{SDE: sde.VP{}, Solver: sampler.DPMSolver2M}, Known: []float64{1}, Mask: []bool{true}, Repeats: 2}, "Inpaint: 2 repeats with the solver DPMSolver2M: it remembers earlier steps, and cannot go back"},
		{sampler.Inpaint{Sampler: sampler.DDIM{}, Known: []float64{1}, Mask: []bool{true}}, "DDIM: one of Chain and Levels, and not both, must be given"},
	} {
		if _, err := test.s.Schedule(); err == nil || err.Error() != test.want {
			t.Errorf("%+v: error %v, want %s", test.s, err, test.want)
		}
	}
	if _, err := (sampler.Inpaint{}).NoiseLevels(); err == nil || err.Error() != "Inpaint: Sampler nil: must be given" {
		t.Errorf("levels without a sampler: error %v", err)
	}
	_, err := scorekit.Sample(context.Background(), testbackend.Go(t), scorekit.Energy(bowl),
		sampler.Inpaint{Sampler: sampler.DDIM{Chain: chain}, Known: []float64{1}, Mask: []bool{true}}, 2, scorekit.WithShape(2))
	if want := "a mask of 1 numbers for points of shape [2]: must be 2"; err == nil || !contains(err, want) {
		t.Errorf("error %v, want %s", err, want)
	}
}
