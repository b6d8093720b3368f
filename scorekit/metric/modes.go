package metric

import (
	"fmt"
	"math"
)

// Modes holds what [Modes.Coverage] looks for.
type Modes struct {
	Centres [][]float64 // one row for each mode
	Radius  float64     // how far from its centre a mode reaches, in the units of the data; often 3 standard deviations of a mode
	Least   float64     // share of the points from which on a mode counts as reached; 0 means one point
}

// Coverage tells which modes a set of points reaches.
type Coverage struct {
	Reached int       // number of modes reached
	Mass    []float64 // share of the points at each mode
	Errors  []float64 // standard error of each Mass, √(Mass(1−Mass)/n)
	Outside float64   // share of the points at no mode
}

// Coverage counts the points, a tensor [n, dims...] or rows as for [scorekit.Examples], at each mode: a point is at the
// mode with the nearest centre if that is within Radius. A generator that has lost modes reaches fewer of them than
// there are, even if every one of its points is good.
//
// It returns an error for no centre, a centre that is not finite or of another dimension than the points, a radius that
// is not positive, and a least share outside [0, 1].
func (m Modes) Coverage(points any) (Coverage, error) {
	centres, err := rowsOf(m.Centres)
	if err != nil {
		return Coverage{}, fmt.Errorf("metric: mode coverage: centres: %w", err)
	}
	rows, err := rowsOf(points)
	if err != nil {
		return Coverage{}, fmt.Errorf("metric: mode coverage: %w", err)
	}
	if len(centres[0]) != len(rows[0]) {
		return Coverage{}, fmt.Errorf("metric: mode coverage: centres of dimension %d, points of %d: must be equal", len(centres[0]), len(rows[0]))
	}
	if !usable(m.Radius) {
		return Coverage{}, fmt.Errorf("metric: mode coverage: radius %v: must be positive and its square finite", m.Radius)
	}
	if !(m.Least >= 0) || m.Least > 1 {
		return Coverage{}, fmt.Errorf("metric: mode coverage: least share %v: must be from 0 to 1", m.Least)
	}
	n := float64(len(rows))
	counts := make([]int, len(centres))
	inside := 0
	for _, r := range rows {
		nearest, best := 0, math.Inf(1)
		for i, c := range centres {
			if d := squaredDistance(r, c); d < best {
				nearest, best = i, d
			}
		}
		if best <= m.Radius*m.Radius {
			counts[nearest]++
			inside++
		}
	}
	out := Coverage{Outside: float64(len(rows)-inside) / n}
	for _, count := range counts {
		mass := float64(count) / n
		if count > 0 && mass >= m.Least {
			out.Reached++
		}
		out.Mass = append(out.Mass, mass)
		out.Errors = append(out.Errors, math.Sqrt(mass*(1-mass)/n))
	}
	return out, nil
}
