package metric

import (
	"context"
	"fmt"
	"math"

	"github.com/gomlx/gomlx/backends"
	"gonum.org/v1/gonum/floats"

	"github.com/scorekit/lab/scorekit"
)

// FiniteSetStein holds the settings of the finite-set Stein discrepancy.
type FiniteSetStein struct {
	Locations [][]float64 // v₁ … v_J where the two distributions are compared, one row each
	Kernel    Kernel      // zero value: IMQ
	Scale     float64     // c, in the units of the data; 0 means the median distance of the points (see [MedianDistance])
}

// Squared returns the squared finite-set Stein discrepancy of points, a tensor [n, dims...] or rows as for
// [scorekit.Examples], from the distribution with the score s of model:
//
//	FSSD² = 1/(dJ) Σⱼ ‖E ξ(x, vⱼ)‖²,  ξ(x, v) = s(x) k(x, v) + ∇ₓ k(x, v)
//
// (Jitkrittum et al. 2017, section 3). It is what [KernelStein] measures, seen at J places: for locations drawn from a
// density it is 0 for the distribution of the score and for no other, almost surely, and where ‖E ξ‖ is large the two
// differ most. U is the paper's unbiased estimate; its test statistic is nU.
//
// sigma is the noise level for the score: none, one, or one for each point. Time grows with n·J·d. ctx stops it.
//
// It returns an error for no locations or some of another dimension than the points, for an unknown kernel, a negative
// scale, fewer than 3 points, a score, a point or a location that is not finite, and those of [scorekit.Evaluate].
func (f FiniteSetStein) Squared(ctx context.Context, backend backends.Backend, model scorekit.Model, points any, sigma ...float64) (Statistic, error) {
	features, err := f.features(ctx, backend, model, points, sigma)
	if err != nil {
		return Statistic{}, fmt.Errorf("metric: finite-set Stein discrepancy: %w", err)
	}
	total := make([]float64, len(features[0]))
	for _, row := range features {
		floats.Add(total, row)
	}
	others, diagonal := make([]float64, len(features)), 0.0 // of each row with all others; of all rows with themselves
	for i, row := range features {
		own := floats.Dot(row, row)
		others[i] = floats.Dot(row, total) - own
		diagonal += own
	}
	out := ofPairs(others, diagonal)
	if err := out.check(); err != nil {
		return Statistic{}, fmt.Errorf("metric: finite-set Stein discrepancy: %w", err)
	}
	return out, nil
}

// features returns ξ(x, vⱼ)/√(dJ) for each point x, all j in one row: the statistic is a mean of products of rows.
func (f FiniteSetStein) features(ctx context.Context, backend backends.Backend, model scorekit.Model, points any, sigma []float64) ([][]float64, error) {
	locations, err := rowsOf(f.Locations)
	if err != nil {
		return nil, fmt.Errorf("locations: %w", err)
	}
	s, err := KernelStein{Kernel: f.Kernel, Scale: f.Scale}.prepare(ctx, backend, model, points, sigma)
	if err != nil {
		return nil, err
	}
	d := len(s.points[0])
	if len(locations[0]) != d {
		return nil, fmt.Errorf("locations of dimension %d, points of %d: must be equal", len(locations[0]), d)
	}
	share := 1 / math.Sqrt(float64(d*len(locations)))
	out := make([][]float64, len(s.points))
	for i, x := range s.points {
		if err := stopped(ctx, i, len(s.points)); err != nil {
			return nil, err
		}
		for _, v := range locations {
			k, slope := s.kernel.of(squaredDistance(x, v), s.scale)
			for l := range x {
				out[i] = append(out[i], share*(s.scores[i][l]*k+(x[l]-v[l])*slope))
			}
		}
	}
	return out, nil
}
