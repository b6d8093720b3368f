package sampler_test

import (
	"math"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/pkg/core/dtypes"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/sampler"
	"github.com/scorekit/lab/scorekit/sde"
)

// Settings at whose very ends a formula changes, and numbers of schedules that a slip of an index would shift.

// Churn adds noise at Min and at Max themselves, and at no other level outside of them.
func TestChurnAtItsEnds(t *testing.T) {
	s := sampler.Churn{Sigmas: []float64{8, 4, 2, 1}, Amount: 1.2, Min: 2, Max: 4}
	var fresh []float64
	for _, row := range schedule(t, s).Rows {
		fresh = append(fresh, row[len(row)-1])
	}
	noise := math.Sqrt(1.4*1.4 - 1) // γ = 1.2/3
	testvalues.NearOne(t, "noise", fresh, []float64{0, 4 * noise, 2 * noise}, 1e-14)
}

// MALA's tuning falls as t^−0.6 from t = 1 on, and tempering's pairs take turns from the first on.
func TestTurnsBegin(t *testing.T) {
	var tuning, pairs []float64
	for _, row := range schedule(t, sampler.MALA{Energy: bowl, StepSize: 1, Adapt: 3, Steps: 5}).Rows {
		tuning = append(tuning, row[0])
	}
	testvalues.NearOne(t, "tuning", tuning, []float64{1, math.Pow(2, -0.6), math.Pow(3, -0.6), 0, 0}, 1e-14)
	for _, row := range schedule(t, sampler.ParallelTempering{Energy: bowl, StepSize: 1, Betas: []float64{1, 0.5, 0.2}, Steps: 4}).Rows {
		pairs = append(pairs, row[0])
	}
	testvalues.NearOne(t, "pairs", pairs, []float64{0, 1, 0, 1}, 0)
}

// On a Gaussian p^β is the same law β^−½ times as wide, which a step of ε/β meets as ε meets p: each rung accepts as many
// moves. 2,000 chains over 40 steps know an acceptance to some thousandths; 0.02 are allowed, and a step of ε, or of εβ, on
// the last rung would be off by 0.1 and more.
func TestRungsAcceptAlike(t *testing.T) {
	s := sampler.ParallelTempering{Energy: bowl, StepSize: 1, Betas: []float64{1, 0.5, 0.25}, Steps: 60}
	d, err := scorekit.Sample(t.Context(), testbackend.Go(t), scorekit.Energy(bowl), s, 2000, scorekit.WithShape(2), scorekit.WithSeed(4), scorekit.WithBurnIn(20))
	if err != nil {
		t.Fatal(err)
	}
	for _, rung := range []string{"acceptance 2", "acceptance 3"} {
		if !(math.Abs(d.Info[rung]-d.Info["acceptance"]) < 0.02) {
			t.Errorf("%s: %v, and %v on the first rung", rung, d.Info[rung], d.Info["acceptance"])
		}
	}
}

// Chains of DDPM and DDIM start as what draws from N(0, I) become at the first level {a, b}, with the variance a² + b², and
// those of annealed Langevin dynamics as noise of the first level.
func TestStarts(t *testing.T) {
	levels := []sde.Level{{Mean: 0.9, Std: 1.2}, {Mean: 1, Std: 0.5}, {Mean: 1}}
	for _, c := range []struct {
		s        scorekit.Sampler
		variance float64
	}{
		{sampler.DDPM{Levels: levels}, 0.9*0.9 + 1.2*1.2},
		{sampler.DDIM{Levels: levels}, 0.9*0.9 + 1.2*1.2},
		{sampler.AnnealedLangevin{Sigmas: []float64{3, 1}, StepsPerLevel: 1, StepSize: 0.1}, 9},
	} {
		d, err := scorekit.Sample(t.Context(), testbackend.Go(t), scorekit.Energy(bowl), c.s, 20_000, scorekit.WithShape(1), scorekit.WithSeed(8), scorekit.WithTrajectory(1))
		if err != nil {
			t.Fatal(err)
		}
		squares := column(t, d.Trajectory[0].X, func(x []float64) float64 { return x[0] * x[0] })
		testvalues.MeanWithin(t, "variance at the start", squares, c.variance)
	}
}

// On noise levels the reverse SDE takes twice the step of the flow, and noise of the variance by which σ² falls.
func TestReverseSDEOnLevels(t *testing.T) {
	for k, row := range schedule(t, sampler.ReverseSDE{Sigmas: []float64{5, 4, 1}}).Rows {
		want := [][]float64{{1, 10, 3}, {1, 24, math.Sqrt(15)}}[k]
		testvalues.NearOne(t, "factors of x, score and noise", row[len(row)-3:], want, 1e-14)
	}
}

// The error of a step of Dormand and Prince is a mean over coordinates: points of four equal ones take the steps that points of one
// take, and end where they do.
func TestEqualCoordinatesTakeTheSameSteps(t *testing.T) {
	run := func(numbers int) *scorekit.Draws {
		start := [][]float64{slices.Repeat([]float64{30}, numbers), slices.Repeat([]float64{-4}, numbers)}
		d, err := scorekit.Sample(t.Context(), testbackend.Go(t), scorekit.Energy(bowl), sampler.DormandPrince{From: 20, To: 0.1}, 2,
			scorekit.WithStart(start), scorekit.WithDType(dtypes.Float64))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	one, four := run(1), run(4)
	for name, v := range one.Info {
		testvalues.NearNumber(t, name, four.Info[name], v, 1e-12)
	}
	ends := testvalues.Flat(t, one.X)
	testvalues.NearOne(t, "ends", testvalues.Flat(t, four.X), slices.Concat(slices.Repeat(ends[:1], 4), slices.Repeat(ends[1:], 4)), 1e-12)
}
