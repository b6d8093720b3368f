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
)

func schedule(t *testing.T, s scorekit.Sampler) scorekit.Schedule {
	t.Helper()
	got, err := s.Schedule()
	if err != nil {
		t.Fatal(err)
	}
	return got
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
		got := schedule(t, sampler.AnnealedLangevin{Max: c.First, Min: c.Last, Levels: c.Levels, StepsPerLevel: 1, StepSize: c.Eps})
		if !slices.Equal(got.Columns, []string{"sigma", "step", "noise"}) {
			t.Errorf("columns %v", got.Columns)
		}
		if len(got.Rows) != c.Levels {
			t.Fatalf("%s: %d rows, want %d", c.ID, len(got.Rows), c.Levels)
		}
		var sigmas []float64
		for i, row := range got.Rows {
			sigmas = append(sigmas, row[0])
			if i < len(c.Alpha) {
				testvalues.NearNumber(t, c.ID+": half of α", row[1], c.Alpha[i]/2, 1e-9)
				testvalues.NearNumber(t, c.ID+": √α", row[2], math.Sqrt(c.Alpha[i]), 1e-9)
			}
			if i > 0 {
				testvalues.NearNumber(t, c.ID+": ratio", sigmas[i-1]/row[0], c.Gamma, 1e-9)
			}
		}
		if sigmas[0] != c.First || sigmas[c.Levels-1] != c.Last {
			t.Errorf("%s: ends %v and %v, want %v and %v exactly", c.ID, sigmas[0], sigmas[c.Levels-1], c.First, c.Last)
		}
		for i, want := range c.First3 {
			testvalues.NearNumber(t, c.ID+": level", sigmas[i], want, 1e-9)
		}
		for i, want := range c.Last3 {
			testvalues.NearNumber(t, c.ID+": level from the end", sigmas[c.Levels-len(c.Last3)+i], want, 1e-9)
		}
		for i, want := range c.Sigmas {
			testvalues.NearNumber(t, c.ID+": level", sigmas[i], want, 1e-9)
		}
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
	type annealed = sampler.AnnealedLangevin
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
