package ebm_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/ebm"
)

// log Z of a Gaussian in ten dimensions, of a mixture in five, each with a constant added, of a Gaussian and of a double
// well on a line, within 5 of the standard errors that are returned with it, and these small enough to tell a factor of
// 1.1 in Z. That they are right, and not only large, is seen over 40 seeds: the spread of the estimates is the standard
// error to the 30 % that their number allows (a standard deviation of 40 values has itself a relative one of 0.11).
func TestAnnealedImportance(t *testing.T) {
	const d = 10
	mean, cov := make([]float64, d), make([][]float64, d)
	for i := range d {
		mean[i] = math.Sin(float64(i))
		cov[i] = make([]float64, d)
		for j := range d {
			cov[i][j] = math.Pow(0.5, math.Abs(float64(i-j)))
		}
	}
	g, err := density.NewGaussian(mean, cov)
	if err != nil {
		t.Fatal(err)
	}
	right, err := density.Isotropic([]float64{2, 0, 0, 0, 0}, 0.7)
	if err != nil {
		t.Fatal(err)
	}
	left, err := density.Isotropic([]float64{-2, 0, 1, 0, 0}, 0.7)
	if err != nil {
		t.Fatal(err)
	}
	m, err := density.NewMixture([]float64{0.3, 0.7}, right, left)
	if err != nil {
		t.Fatal(err)
	}
	plus := func(p density.Density, c float64) scorekit.Energy {
		return testvalues.Ignoring(func(x *ebm.Node) *ebm.Node { return graph.AddScalar(p.Energy(x), c) })
	}
	well := onALine(func(x *ebm.Node) *ebm.Node {
		return graph.Sub(graph.Square(graph.Square(x)), graph.MulScalar(graph.Square(x), 2))
	})
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		logs := testvalues.Run(t, b, func(gr *graph.Graph) []*ebm.Node {
			x, y := graph.Zeros(gr, testvalues.Shape(1, d)), graph.Zeros(gr, testvalues.Shape(1, 5))
			return []*ebm.Node{g.LogDensity(x), g.Energy(x), m.LogDensity(y), m.Energy(y)}
		})
		for _, c := range []struct {
			name   string
			energy scorekit.Energy
			want   float64
			how    ebm.Annealing
		}{
			{"Gaussian", plus(g, 1000), -logs[0][0] - logs[1][0] - 1000, ebm.Annealing{Mean: slices.Repeat([]float64{1}, d), Std: 1.5, Levels: 150, StepSize: 0.3}},
			{"mixture", plus(m, -5), -logs[2][0] - logs[3][0] + 5, ebm.Annealing{Mean: make([]float64, 5), Std: 2, Levels: 200, Moves: 2, StepSize: 0.4}},
			// One level is plain importance sampling: no move can hide what is wrong with the Gaussian.
			{"one level", testvalues.Ignoring(parabola), 0.5 * math.Log(2*math.Pi), ebm.Annealing{Mean: []float64{1.5}, Std: 1.6, Levels: 1, StepSize: 0.5}},
			{"double well", well, 1.6799262428937864, ebm.Annealing{Mean: []float64{0.3}, Std: 1, Levels: 60, StepSize: 0.1}},
		} {
			c.how.Seed = 3
			e, err := ebm.AnnealedImportance(context.Background(), b, c.energy, 1000, c.how)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s: log Z = %.4f ± %.4f, want %.4f; effective size %.0f, acceptance %.2f", c.name, e.LogZ, e.StandardError, c.want, e.EffectiveSize, e.Acceptance)
			if !(math.Abs(e.LogZ-c.want) <= 5*e.StandardError) || !(e.StandardError < 0.05) {
				t.Errorf("%s: log Z = %v ± %v, want %v", c.name, e.LogZ, e.StandardError, c.want)
			}
			// (Σw)²/Σw² = n/(1 + (n−1)/n · n·se²)
			n := float64(len(e.LogWeights))
			testvalues.NearNumber(t, "effective size", e.EffectiveSize, n/(1+(n-1)*e.StandardError*e.StandardError), 1e-9)
			if !(e.Acceptance > 0.4 && e.Acceptance < 1) {
				t.Errorf("%s: acceptance %v", c.name, e.Acceptance)
			}
		}
	})
	b := testbackend.Go(t)
	const seeds = 40
	var values []float64
	squares := 0.0
	for seed := range seeds {
		e, err := ebm.AnnealedImportance(context.Background(), b, well, 200, ebm.Annealing{Mean: []float64{0.3}, Std: 1, Levels: 20, StepSize: 0.1, Seed: int64(seed)})
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, e.LogZ)
		squares += e.StandardError * e.StandardError / seeds
	}
	testvalues.MeanWithin(t, "log Z over seeds", values, 1.6799262428937864-squares/2)
	mean40, spread := testvalues.Mean(values), 0.0
	for _, v := range values {
		spread += (v - mean40) * (v - mean40) / (seeds - 1)
	}
	if ratio := math.Sqrt(spread / squares); !(math.Abs(ratio-1) < 0.3) {
		t.Errorf("the estimates spread %v times as much as the standard error says", ratio)
	}
}

// A constant of the energy takes itself off log Z, a large one too, as long as the precision leaves a hundredth of it; then
// there is an error that says so. An energy that is steep for where chains begin is no error: the weights tell that they are
// worth one chain.
func TestAnnealedImportanceOfLargeEnergies(t *testing.T) {
	b, ctx := testbackend.Go(t), context.Background()
	plus := func(constant float64) scorekit.Energy {
		return testvalues.Ignoring(func(x *ebm.Node) *ebm.Node { return graph.AddScalar(parabola(x), constant) })
	}
	settings := ebm.Annealing{Mean: []float64{0.5, 0}, Std: 1.5, Levels: 50, StepSize: 0.5}
	for _, constant := range []float64{0, 1e12, -1e12} {
		e, err := ebm.AnnealedImportance(ctx, b, plus(constant), 500, settings)
		if err != nil {
			t.Fatalf("constant %v: %v", constant, err)
		}
		if want := math.Log(2 * math.Pi); !(math.Abs(e.LogZ+constant-want) <= 5*e.StandardError+0.001) || !(e.StandardError < 0.05) || !(e.EffectiveSize > 100) {
			t.Errorf("constant %v: log Z = %v ± %v, want %v", constant, e.LogZ, e.StandardError, want-constant)
		}
	}
	const want = "ebm: AnnealedImportance: the energy at the mean is 4e+15, which Float64 knows to 0.44, and so log Z: must be to a hundredth (take a constant out of the energy, or train it in float64)"
	if e, err := ebm.AnnealedImportance(ctx, b, plus(4e15), 9, settings); err == nil || err.Error() != want {
		t.Errorf("%+v, error %v, want %s", e, err, want)
	}
	steep := scorekit.Energy(testvalues.Ignoring(func(x *ebm.Node) *ebm.Node { return graph.MulScalar(parabola(x), 1e12) }))
	e, err := ebm.AnnealedImportance(ctx, b, steep, 50, ebm.Annealing{Mean: []float64{0}, Std: 1, Levels: 20, StepSize: 1e-12})
	if err != nil || !(e.EffectiveSize < 1.5) {
		t.Errorf("a steep energy from afar: %+v, error %v", e, err)
	}
	if e, err = ebm.AnnealedImportance(ctx, b, steep, 500, ebm.Annealing{Mean: []float64{0}, Std: 2e-6, Levels: 50, StepSize: 1e-12}); err != nil {
		t.Fatal(err)
	}
	if want := 0.5 * math.Log(2*math.Pi/1e12); !(math.Abs(e.LogZ-want) <= 5*e.StandardError && e.StandardError < 0.05) {
		t.Errorf("a steep energy: log Z = %v ± %v, want %v", e.LogZ, e.StandardError, want)
	}
}
