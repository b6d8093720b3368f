package sampler_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/sampler"
	"github.com/scorekit/lab/scorekit/sde"
)

func schedule(t *testing.T, s scorekit.Sampler) scorekit.Schedule {
	t.Helper()
	got, err := s.Schedule()
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// A schedule of one row, however many steps it is for, holds that row once; the steps that differ have rows of their own.
func TestRowsAreShared(t *testing.T) {
	for name, s := range map[string]scorekit.Sampler{
		"Langevin": sampler.Langevin{StepSize: 0.1, Steps: 9}, "gradient ascent": sampler.GradientAscent{StepSize: 0.1, Steps: 9},
		"underdamped": sampler.Underdamped{StepSize: 0.1, Steps: 9}, "Stein variational": sampler.SVGD{StepSize: 0.1, Bandwidth: 1, Steps: 9},
	} {
		if rows := schedule(t, s).Rows; len(rows) != 9 || &rows[0][0] != &rows[8][0] {
			t.Errorf("%s: %d rows, not one in common: %v", name, len(rows), rows)
		}
	}
	for want, s := range map[string]scorekit.Sampler{
		"[[0] [1] [0] [1] [0]]": sampler.ParallelTempering{Energy: bowl, Betas: []float64{1, 0.5, 0.2}, StepSize: 0.1, Steps: 5},
		"[[0] [0] [0]]":         sampler.ParallelTempering{Energy: bowl, Betas: []float64{1, 0.5}, StepSize: 0.1, Steps: 3},
		fmt.Sprintf("[[1] [%v] [0] [0]]", math.Pow(2, -0.6)): sampler.MALA{Energy: bowl, StepSize: 0.1, Steps: 4, Adapt: 2},
		"[[1] [2] [3]]": sampler.DormandPrince{SDE: sde.VP{}, MaxSteps: 3},
	} {
		if got := fmt.Sprint(schedule(t, s).Rows); got != want {
			t.Errorf("%T: rows %s, want %s", s, got, want)
		}
	}
}

// Levels, steps αᵢ = ε σᵢ²/σ_L² and their ratio are the listed ones; the ends of the ladder are exactly as given.
func TestLadder(t *testing.T) {
	var cases []struct {
		ID            string
		First, Last   float64
		Levels        int
		Eps           float64
		First3, Last3 []float64
		Gamma         float64
		Sigmas, Alpha []float64
	}
	testvalues.Read(t, "geometric.json", &cases)
	for _, c := range cases {
		testvalues.Case(t, c.ID, func(t *testing.T) {
			got := schedule(t, sampler.AnnealedLangevin{Max: c.First, Min: c.Last, Levels: c.Levels, StepsPerLevel: 1, StepSize: c.Eps})
			if !slices.Equal(got.Columns, []string{"sigma", "step", "noise"}) {
				t.Errorf("columns %v", got.Columns)
			}
			if len(got.Rows) != c.Levels {
				t.Fatalf("%d rows, want %d", len(got.Rows), c.Levels)
			}
			var sigmas []float64
			for i, row := range got.Rows {
				sigmas = append(sigmas, row[0])
				if i < len(c.Alpha) {
					testvalues.NearNumber(t, "half of α", row[1], c.Alpha[i]/2, 1e-9)
					testvalues.NearNumber(t, "√α", row[2], math.Sqrt(c.Alpha[i]), 1e-9)
				}
				if i > 0 {
					testvalues.NearNumber(t, "ratio", sigmas[i-1]/row[0], c.Gamma, 1e-9)
				}
			}
			if sigmas[0] != c.First || sigmas[c.Levels-1] != c.Last {
				t.Errorf("ends %v and %v, want %v and %v exactly", sigmas[0], sigmas[c.Levels-1], c.First, c.Last)
			}
			for i, want := range c.First3 {
				testvalues.NearNumber(t, "level", sigmas[i], want, 1e-9)
			}
			for i, want := range c.Last3 {
				testvalues.NearNumber(t, "level from the end", sigmas[c.Levels-len(c.Last3)+i], want, 1e-9)
			}
			for i, want := range c.Sigmas {
				testvalues.NearNumber(t, "level", sigmas[i], want, 1e-9)
			}
		})
	}
	// For these Max·(Min/Max) is off Min by a rounding.
	for _, top := range []float64{2.9, 5.5, 11, 19} {
		rows := schedule(t, sampler.AnnealedLangevin{Max: top, Min: 0.1, Levels: 7, StepsPerLevel: 1, StepSize: 1}).Rows
		if rows[0][0] != top || rows[6][0] != 0.1 {
			t.Errorf("ends %v and %v, want %v and 0.1 exactly", rows[0][0], rows[6][0], top)
		}
	}
}

func TestScheduleRows(t *testing.T) {
	constant := schedule(t, sampler.Langevin{StepSize: 0.02})
	if !slices.Equal(constant.Columns, []string{"step", "noise"}) || len(constant.Rows) != 1000 {
		t.Errorf("columns %v, %d rows, want 1000", constant.Columns, len(constant.Rows))
	}
	for _, row := range constant.Rows {
		if !slices.Equal(row, []float64{0.02, 0.2}) {
			t.Fatalf("row %v, want ε = 0.02 and √(2ε) = 0.2", row)
		}
	}
	if n := len(schedule(t, sampler.Langevin{StepSize: 1, Steps: 3}).Rows); n != 3 {
		t.Errorf("%d rows, want 3", n)
	}
	alpha := schedule(t, sampler.Langevin{Alpha: 0.04, Temperature: 4, Steps: 2}).Rows
	if want := [][]float64{{0.02, 0.4}, {0.02, 0.4}}; !slices.EqualFunc(alpha, want, slices.Equal[[]float64]) {
		t.Errorf("rows %v, want %v: α/2 and √(αT)", alpha, want)
	}
	// Adaptation by t^{−0.6}, and then none; pairs of rungs in turn, and the only pair always.
	if rows := schedule(t, sampler.MALA{Energy: bowl, StepSize: 1, Adapt: 2, Steps: 4}).Rows; rows[0][0] != 1 || rows[1][0] != math.Pow(2, -0.6) || rows[2][0] != 0 || rows[3][0] != 0 {
		t.Errorf("tuning %v", rows)
	}
	for rungs, want := range map[int][][]float64{2: {{0}, {0}, {0}}, 3: {{0}, {1}, {0}}} {
		rows := schedule(t, sampler.ParallelTempering{Energy: bowl, Betas: []float64{1, 0.5, 0.25}[:rungs], StepSize: 1, Steps: 3}).Rows
		if !slices.EqualFunc(rows, want, slices.Equal[[]float64]) {
			t.Errorf("%d rungs: pairs %v, want %v", rungs, rows, want)
		}
	}
	// The levels of Sigmas, each held for StepsPerLevel steps, and one row more to denoise.
	listed := schedule(t, sampler.AnnealedLangevin{Sigmas: []float64{2, 0.5}, StepsPerLevel: 2, StepSize: 0.25, Denoise: true}).Rows
	want := [][]float64{{2, 2, 2}, {2, 2, 2}, {0.5, 0.125, 0.5}, {0.5, 0.125, 0.5}, {0.5, 0.25, 0}}
	if !slices.EqualFunc(listed, want, slices.Equal[[]float64]) {
		t.Errorf("rows %v, want %v", listed, want)
	}
	// 10 levels of 100 steps by default.
	if n := len(schedule(t, sampler.AnnealedLangevin{Max: 1, Min: 0.1, StepSize: 1}).Rows); n != 1000 {
		t.Errorf("%d rows, want 1000", n)
	}
}

func TestImpossibleSettings(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	type (
		annealed  = sampler.AnnealedLangevin
		mala      = sampler.MALA
		tempering = sampler.ParallelTempering
	)
	flat := func(x *sampler.Node) *sampler.Node { return x }
	for _, test := range []struct {
		s    scorekit.Sampler
		want string
	}{
		{sampler.Langevin{}, "Langevin: step 0: must be positive and finite"},
		{sampler.Langevin{StepSize: -0.1}, "Langevin: step -0.1: must be positive and finite"},
		{sampler.Langevin{StepSize: nan}, "Langevin: step NaN: must be positive and finite"},
		{sampler.Langevin{StepSize: inf}, "Langevin: step +Inf: must be positive and finite"},
		{sampler.Langevin{StepSize: 1, Steps: -1}, "Langevin: -1 steps: must be positive, or 0 for 1,000"},
		{sampler.Langevin{StepSize: 1, Sigma: -2}, "Langevin: noise level -2: must be positive and finite, or 0 for none"},
		{sampler.Langevin{StepSize: 1, Sigma: nan}, "Langevin: noise level NaN: must be positive and finite, or 0 for none"},
		{sampler.Langevin{StepSize: 1, Alpha: 2}, "Langevin: step 1 and alpha 2: only one may be given"},
		{sampler.Langevin{Alpha: -2}, "Langevin: alpha -2: must be positive and finite"},
		{sampler.Langevin{Alpha: nan}, "Langevin: alpha NaN: must be positive and finite"},
		{sampler.Langevin{StepSize: 1, Temperature: -1}, "Langevin: temperature -1: must be positive and finite"},
		{sampler.GradientAscent{}, "gradient ascent: step 0: must be positive and finite"},
		{sampler.GradientAscent{StepSize: 1, Steps: -1}, "gradient ascent: -1 steps: must be positive, or 0 for 1,000"},
		{sampler.GradientAscent{StepSize: 1, Sigma: -2}, "gradient ascent: noise level -2: must be positive and finite, or 0 for none"},
		{sampler.Underdamped{StepSize: inf}, "underdamped Langevin: step +Inf: must be positive and finite"},
		{sampler.Underdamped{StepSize: 1, Friction: -1}, "underdamped Langevin: friction -1: must be positive and finite"},
		{sampler.Underdamped{StepSize: 1, Steps: -1}, "underdamped Langevin: -1 steps: must be positive, or 0 for 1,000"},
		{sampler.Underdamped{StepSize: 1, Sigma: nan}, "underdamped Langevin: noise level NaN: must be positive and finite, or 0 for none"},
		{mala{StepSize: 1}, "MALA: Energy and LogDensity: exactly one must be given"},
		{mala{Energy: bowl, LogDensity: flat, StepSize: 1}, "MALA: Energy and LogDensity: exactly one must be given"},
		{mala{Energy: bowl}, "MALA: step 0: must be positive and finite"},
		{mala{Energy: bowl, StepSize: 1, Sigma: -1}, "MALA: noise level -1: must be positive and finite, or 0 for none"},
		{mala{Energy: bowl, StepSize: 1, Steps: -1}, "MALA: -1 steps: must be positive, or 0 for 1,000"},
		{mala{Energy: bowl, StepSize: 1, Steps: 5, Adapt: 5}, "MALA: 5 steps of adaptation: must be from 0 to 4, less than all steps"},
		{mala{Energy: bowl, StepSize: 1, Adapt: -1}, "MALA: -1 steps of adaptation: must be from 0 to 999, less than all steps"},
		{tempering{Betas: []float64{1, 0.5}, StepSize: 1}, "parallel tempering: Energy and LogDensity: exactly one must be given"},
		{tempering{Energy: bowl, StepSize: 1}, "parallel tempering: 0 inverse temperatures: must be at least 2"},
		{tempering{Energy: bowl, Betas: []float64{2, 1}, StepSize: 1}, "parallel tempering: first inverse temperature 2: must be 1"},
		{tempering{Energy: bowl, Betas: []float64{1, 1}, StepSize: 1}, "parallel tempering: inverse temperature 2, 1: must be positive and below the one before it, 1"},
		{tempering{Energy: bowl, Betas: []float64{1, 0.5, 0}, StepSize: 1}, "parallel tempering: inverse temperature 3, 0: must be positive and below the one before it, 0.5"},
		{tempering{Energy: bowl, Betas: []float64{1, nan}, StepSize: 1}, "parallel tempering: inverse temperature 2, NaN: must be positive and below the one before it, 1"},
		{tempering{Energy: bowl, Betas: []float64{1, 0.5}}, "parallel tempering: step 0: must be positive and finite"},
		{tempering{Energy: bowl, Betas: []float64{1, 0.5}, StepSize: 1, Steps: -1}, "parallel tempering: -1 steps: must be positive, or 0 for 1,000"},
		{annealed{Max: 1, Min: 0.1}, "annealed Langevin: step 0: must be positive and finite"},
		{annealed{Max: 1, Min: 0.1, StepSize: -0.1}, "annealed Langevin: step -0.1: must be positive and finite"},
		{annealed{Max: 1, Min: 0.1, StepSize: inf}, "annealed Langevin: step +Inf: must be positive and finite"},
		{annealed{Max: 1, StepSize: 1}, "annealed Langevin: lowest noise level 0: must be positive and finite"},
		{annealed{Max: 1, Min: nan, StepSize: 1}, "annealed Langevin: lowest noise level NaN: must be positive and finite"},
		{annealed{Max: 0.1, Min: 0.1, StepSize: 1}, "annealed Langevin: highest noise level 0.1: must be finite and above the lowest, 0.1"},
		{annealed{Max: inf, Min: 0.1, StepSize: 1}, "annealed Langevin: highest noise level +Inf: must be finite and above the lowest, 0.1"},
		{annealed{Max: 1, Min: 0.1, Levels: 1, StepSize: 1}, "annealed Langevin: 1 levels: must be at least 2, or 0 for 10"},
		{annealed{Max: 1, Min: 0.1, Levels: -3, StepSize: 1}, "annealed Langevin: -3 levels: must be at least 2, or 0 for 10"},
		{annealed{Max: 1, Min: 0.1, StepsPerLevel: -1, StepSize: 1}, "annealed Langevin: -1 steps a level: must be positive, or 0 for 100"},
		{annealed{Sigmas: []float64{2, 1}, Max: 3, StepSize: 1}, "annealed Langevin: Sigmas and Max, Min or Levels: only one of the two may be given"},
		{annealed{Sigmas: []float64{2, 1}, Min: 1, StepSize: 1}, "annealed Langevin: Sigmas and Max, Min or Levels: only one of the two may be given"},
		{annealed{Sigmas: []float64{2, 1}, Levels: 2, StepSize: 1}, "annealed Langevin: Sigmas and Max, Min or Levels: only one of the two may be given"},
		{annealed{Sigmas: []float64{}, StepSize: 1}, "annealed Langevin: no noise levels: there must be at least one"},
		{annealed{Sigmas: []float64{1, -1}, StepSize: 1}, "annealed Langevin: noise level 1, -1: must be positive and finite"},
		{annealed{Sigmas: []float64{nan}, StepSize: 1}, "annealed Langevin: noise level 0, NaN: must be positive and finite"},
		{annealed{Sigmas: []float64{1, 1}, StepSize: 1}, "annealed Langevin: noise level 1, 1: must be below the one before it, 1"},
		{annealed{Sigmas: []float64{1, 2}, StepSize: 1}, "annealed Langevin: noise level 1, 2: must be below the one before it, 1"},
	} {
		if _, err := test.s.Schedule(); err == nil || err.Error() != test.want {
			t.Errorf("%+v: error %v, want %s", test.s, err, test.want)
		}
	}
	p, err := density.Isotropic([]float64{0}, 1)
	if err != nil {
		t.Fatal(err)
	}
	_, err = scorekit.Sample(context.Background(), testbackend.Go(t), p, annealed{Max: 1, Min: 0.1, StepSize: -0.1}, 5)
	if want := "scorekit: Sample: annealed Langevin: step -0.1: must be positive and finite"; fmt.Sprint(err) != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
