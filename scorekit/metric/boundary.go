package metric

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/gomlx/gomlx/backends"

	"github.com/scorekit/lab/scorekit"
)

// Boundary estimates the boundary term of [ByParts] on a line, p(Low)s_q(Low) − p(High)s_q(High), from points drawn
// from p, [n, 1] or rows as for [scorekit.Examples], of whose density only the support is known. q is the judged score.
// An infinite end counts as 0.
//
// The density at an end is estimated from the points within h of it,
//
//	p̂ = 1/(nh) Σ (4 − 6|x−end|/h),  h = n^(−1/5) times the median distance of the points from the end
//
// the boundary kernel (Gasser and Müller 1979) that a slope of p does not mislead; its bias, −h²p″/12, is far below its
// standard error for smooth densities.
//
// The scores at the ends are all that is computed on the device, and ctx stops it before that. It returns an error for an
// empty support, for fewer than two points, for points that are outside the support, not on a line or not finite, and
// those of [scorekit.Evaluate].
func (s Support) Boundary(ctx context.Context, backend backends.Backend, q scorekit.Model, points any) (BoundaryTerm, error) {
	out, err := s.boundary(ctx, backend, q, points)
	if err != nil {
		return BoundaryTerm{}, fmt.Errorf("metric: boundary term: %w", err)
	}
	return out, nil
}

func (s Support) boundary(ctx context.Context, backend backends.Backend, q scorekit.Model, points any) (BoundaryTerm, error) {
	if ctx == nil {
		return BoundaryTerm{}, errNoContext
	}
	if err := s.check(); err != nil {
		return BoundaryTerm{}, err
	}
	rows, err := rowsOf(points)
	if err != nil {
		return BoundaryTerm{}, err
	}
	if len(rows[0]) != 1 || len(rows) < 2 {
		return BoundaryTerm{}, fmt.Errorf("%d points of dimension %d: must be at least 2, of dimension 1", len(rows), len(rows[0]))
	}
	for i, r := range rows {
		if r[0] < s.Low || r[0] > s.High {
			return BoundaryTerm{}, fmt.Errorf("point %d is %v: must be in the support, from %v to %v", i, r[0], s.Low, s.High)
		}
	}
	var ends [][]float64
	for _, end := range []float64{s.Low, s.High} {
		if finite(end) {
			ends = append(ends, []float64{end})
		}
	}
	if len(ends) == 0 {
		return BoundaryTerm{}, nil
	}
	scores, err := scoreRows(ctx, backend, q, ends, nil)
	if err != nil {
		return BoundaryTerm{}, err
	}
	var out BoundaryTerm
	variance := 0.0
	for i, end := range ends {
		density, standardError, err := densityAt(end[0], rows)
		if err != nil {
			return BoundaryTerm{}, err
		}
		score := scores[i][0]
		if end[0] == s.High {
			score = -score
		}
		out.Value += density * score
		variance += standardError * standardError * score * score
	}
	out.StandardError = math.Sqrt(variance)
	return out, nil
}

// densityAt estimates the density of points at an end of their support.
func densityAt(end float64, rows [][]float64) (density, standardError float64, err error) {
	away := make([]float64, len(rows))
	for i, r := range rows {
		away[i] = math.Abs(r[0] - end)
	}
	h := median(slices.Clone(away)) * math.Pow(float64(len(rows)), -0.2)
	if !usable(h) {
		return 0, 0, fmt.Errorf("half of the points are at %v, the end of the support: there is no density", end)
	}
	each := make([]float64, len(rows))
	for i, a := range away {
		if u := a / h; u <= 1 {
			each[i] = (4 - 6*u) / h
		}
	}
	density, standardError = meanAndError(each)
	return density, standardError, nil
}
