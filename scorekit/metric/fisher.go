package metric

import (
	"context"
	"fmt"
	"math"

	"github.com/gomlx/gomlx/backends"

	"github.com/scorekit/lab/scorekit"
)

// Fisher is an estimate of the Fisher divergence between two scores.
type Fisher struct {
	Divergence    float64 // D = ½ E_p‖s_p − s_q‖²
	StandardError float64 // of Divergence, the points being independent draws
	Relative      float64 // D / (½ E_p‖s_p‖²): 0 for equal scores, 1 for s_q = 0, +Inf if only s_p is 0 at every point
	RelativeError float64 // standard error of Relative, by the delta method; 0 where Relative is not finite
}

// FisherDivergence estimates the Fisher divergence
//
//	D_F(p‖q) = ½ E_{x∼p} ‖∇log p(x) − ∇log q(x)‖²
//
// from points drawn from p (a tensor [n, dims...], or rows as for [scorekit.Examples]); p is the score to compare with,
// q the one that is judged. sigma is the noise level given to both: none, one, or one for each point. For the
// score of noised data the points must be noised too. Texts without the ½ have twice this divergence, and the same
// relative one.
//
// ctx stops it between two blocks of points. It returns the errors of [scorekit.Evaluate], one for fewer than two points,
// and one when a score is not finite at a point or so large that its square is not.
func FisherDivergence(ctx context.Context, backend backends.Backend, p, q scorekit.Model, points any, sigma ...float64) (Fisher, error) {
	a, err := scoreRows(ctx, backend, p, points, sigma)
	if err != nil {
		return Fisher{}, fmt.Errorf("metric: Fisher divergence: first score: %w", err)
	}
	if len(a) < 2 {
		return Fisher{}, fmt.Errorf("metric: Fisher divergence: %d point: must be at least 2, for the standard error", len(a))
	}
	b, err := scoreRows(ctx, backend, q, points, sigma)
	if err != nil {
		return Fisher{}, fmt.Errorf("metric: Fisher divergence: second score: %w", err)
	}
	f := compare(a, b)
	if err := results(f.Divergence, f.StandardError, f.RelativeError); err != nil {
		return Fisher{}, fmt.Errorf("metric: Fisher divergence: %w", err)
	}
	return f, nil
}

// compare takes the mean of ½‖a−b‖² over rows, with the standard error of a mean of independent numbers.
func compare(a, b [][]float64) Fisher {
	gaps, sizes := make([]float64, len(a)), make([]float64, len(a))
	var sum, size float64
	for i := range a {
		for j := range a[i] {
			gaps[i] += (a[i][j] - b[i][j]) * (a[i][j] - b[i][j]) / 2
			sizes[i] += a[i][j] * a[i][j] / 2
		}
		sum += gaps[i]
		size += sizes[i]
	}
	var f Fisher
	f.Divergence, f.StandardError = meanAndError(gaps)
	if size > 0 {
		f.Relative = sum / size
		off := make([]float64, len(a)) // of the gap from what Relative says it is, with the mean 0
		for i := range off {
			off[i] = gaps[i] - f.Relative*sizes[i]
		}
		_, standardError := meanAndError(off)
		f.RelativeError = standardError * float64(len(a)) / size
	} else if sum > 0 {
		f.Relative = math.Inf(1)
	}
	return f
}

func scoreRows(ctx context.Context, backend backends.Backend, m scorekit.Model, points any, sigma []float64) ([][]float64, error) {
	t, err := scorekit.Evaluate(ctx, backend, m, points, sigma...)
	if err != nil {
		return nil, err
	}
	rows, err := scorekit.Rows(t)
	if err != nil {
		return nil, err
	}
	return rows, allFinite("score", rows, 0)
}
