package ebm_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/data"
	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/ebm"
	"github.com/scorekit/lab/scorekit/net"
	"github.com/scorekit/lab/scorekit/objective"
)

// One energy, a network with a Gaussian's tails, learns two moons by implicit, sliced and denoising score matching and by
// contrastive divergence with chains that begin at the data and with persistent ones. The mean log-density of 4,000
// held-out points, normalised by quadrature (of one network by annealing, too), is for each within 0.3 nats of the best, and none beats the truth by more than
// 4 standard errors of the difference, which would be a partition function that is too small.
//
// The walls of the moons are 0.1 wide, so that steps of Langevin's chains must be well below 0.1² and many: with 5 of them for
// each step of training persistent chains lag behind the weights, which costs a quarter of a nat. The last row of the table
// shows it; it is not one of those compared.
func TestTwoMoons(t *testing.T) {
	b, ok := testbackend.XLA(t)
	if !ok {
		return
	}
	ctx := context.Background()
	moons := data.TwoMoons{}
	truth, err := moons.Density()
	if err != nil {
		t.Fatal(err)
	}
	mlp := net.EnergyMLP{Hidden: []int{48, 48}}
	energy := scorekit.Energy(func(vars *mlctx.Context, x, sigma *ebm.Node) *ebm.Node {
		middle := graph.ConvertDType(graph.Const(x.Graph(), [][]float64{{0.5, 0.25}}), x.DType())
		tails := graph.MulScalar(graph.ReduceSum(graph.Square(graph.Sub(x, middle)), 1), 0.5)
		return graph.Add(mlp.Energy(vars, x, sigma), tails)
	})
	held, err := scorekit.Draw(t.Context(), b, moons, 4000, 99)
	if err != nil {
		t.Fatal(err)
	}
	exact, err := ebm.LogDensity(t.Context(), b, truth, held, 0)
	if err != nil {
		t.Fatal(err)
	}
	lines := []string{"", "objective   log p   log Z", fmt.Sprintf("the truth  %6.3f", testvalues.Mean(exact))}
	means, best := map[string]float64{}, math.Inf(-1)
	for _, m := range []struct {
		name      string
		objective scorekit.Objective
		steps     int
	}{
		{"ISM", objective.Implicit{}, 1500},
		{"SSM", objective.Sliced{Projections: 1}, 1500},
		{"DSM", objective.Denoising{Sigma: 0.05}, 1500},
		{"CD", objective.Contrastive{Energy: energy, StepSize: 0.0025, Steps: 20}, 1000},
		{"PCD", objective.Contrastive{Energy: energy, StepSize: 0.0025, Steps: 20, Buffer: 1024, Restart: 0.02, Spread: 1}, 2000},
		{"PCD-5", objective.Contrastive{Energy: energy, StepSize: 0.0025, Steps: 5, Buffer: 1024, Restart: 0.02, Spread: 1}, 1500},
	} {
		f, err := scorekit.Fit(ctx, b, energy, m.objective, moons, scorekit.WithSteps(m.steps), scorekit.WithBatch(256), scorekit.WithUnroll(1),
			scorekit.WithSeed(1), scorekit.WithEMA(0.99), scorekit.WithOptimizer(scorekit.Adam{Rate: scorekit.Rate{Peak: 3e-3}}))
		if err != nil {
			t.Fatalf("%s: %v", m.name, err)
		}
		z, err := ebm.LogPartition(ctx, b, f, ebm.Box{Low: []float64{-5.5, -5.75}, High: []float64{6.5, 6.25}, Tolerance: 1e-3})
		if err != nil {
			t.Fatalf("%s: %v", m.name, err)
		}
		if z.Outer > 1e-6 {
			t.Errorf("%s: a share of %v of the mass is in the outer sixteenth of the box", m.name, z.Outer)
		}
		if m.name == "ISM" { // one of them by the second route, too
			a, err := ebm.AnnealedImportance(ctx, b, f, 1000, ebm.Annealing{Mean: []float64{0.5, 0.25}, Std: 1, Levels: 200, StepSize: 0.03})
			if err != nil {
				t.Fatal(err)
			}
			if !(math.Abs(a.LogZ-z.LogZ) <= 5*a.StandardError && a.StandardError < 0.05) {
				t.Errorf("%s: log Z = %v by quadrature, %v ± %v by annealing", m.name, z.LogZ, a.LogZ, a.StandardError)
			}
		}
		logs, err := ebm.LogDensity(t.Context(), b, f, held, z.LogZ)
		if err != nil {
			t.Fatal(err)
		}
		gains := make([]float64, len(logs))
		for i := range logs {
			gains[i] = logs[i] - exact[i]
		}
		mean, squares, n := testvalues.Mean(gains), 0.0, float64(len(gains))
		for _, v := range gains {
			squares += (v - mean) * (v - mean)
		}
		if se := math.Sqrt(squares / (n - 1) / n); !(mean <= 4*se) {
			t.Errorf("%s: better than the truth by %v ± %v", m.name, mean, se)
		}
		means[m.name] = testvalues.Mean(logs)
		best = max(best, means[m.name])
		lines = append(lines, fmt.Sprintf("%-9s  %6.3f  %6.3f", m.name, means[m.name], z.LogZ))
	}
	for name, mean := range means {
		if name != "PCD-5" && !(mean > best-0.3) {
			t.Errorf("%s: %v nats, more than 0.3 below the best, %v", name, mean, best)
		}
	}
	lines = append(lines, "PCD-5 is not compared: five steps of 0.0025 move a chain by about 0.16 in a training step, too little to follow an energy that",
		"changes as fast, and nothing then keeps it down where no chain has come; the 20 steps of PCD, twice as far, are enough.")
	t.Log(strings.Join(lines, "\n"))
}
