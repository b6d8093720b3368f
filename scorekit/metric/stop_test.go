package metric

import (
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/gomlx/gomlx/backends"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit/density"
)

// stop is a place at which a metric is stopped: when it asks its context for the end-th time.
type stop struct {
	end  int64
	want string // none: it comes to its end
}

// stops runs do until each of the places. Beside an error there must be no result.
func stops(t *testing.T, do func(ctx context.Context) (result any, err error), places ...stop) {
	t.Helper()
	for _, at := range places {
		result, err := do(testvalues.EndingAt(at.end))
		if at.want == "" && err != nil || at.want != "" && (fmt.Sprint(err) != at.want || !errors.Is(err, context.Canceled)) {
			t.Errorf("asked %d times: error %v, want %q", at.end, err, at.want)
		}
		if err != nil && !reflect.ValueOf(result).IsZero() {
			t.Errorf("asked %d times: %+v beside the error %v", at.end, result, err)
		}
	}
	reason := errors.New("enough")
	over, cancel := context.WithCancelCause(t.Context())
	cancel(reason)
	if _, err := do(over); !errors.Is(err, reason) {
		t.Errorf("stopped before it began: error %v, want one that wraps the cause", err)
	}
}

// What asks a model is stopped before the first block of points, between two of them, and between the two scores. 10,000
// points are three blocks of 3,334.
func TestStopsBetweenBlocks(t *testing.T) {
	line, err := density.Isotropic([]float64{0}, 1)
	if err != nil {
		t.Fatal(err)
	}
	other, err := density.Isotropic([]float64{1}, 2)
	if err != nil {
		t.Fatal(err)
	}
	points := normal(1, 10_000, 1)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		stops(t, func(ctx context.Context) (any, error) { return FisherDivergence(ctx, b, line, other, points) },
			stop{1, "metric: Fisher divergence: first score: scorekit: Evaluate: stopped after 0 of 10000 points: context canceled"},
			stop{3, "metric: Fisher divergence: first score: scorekit: Evaluate: stopped after 6668 of 10000 points: context canceled"},
			stop{4, "metric: Fisher divergence: second score: scorekit: Evaluate: stopped after 0 of 10000 points: context canceled"},
			stop{6, "metric: Fisher divergence: second score: scorekit: Evaluate: stopped after 6668 of 10000 points: context canceled"},
			stop{7, ""})
		stops(t, func(ctx context.Context) (any, error) {
			mean, se, err := ImplicitFisher{}.Estimate(ctx, b, other, points)
			return [2]float64{mean, se}, err
		},
			stop{1, "metric: implicit Fisher divergence: stopped after 0 of 10000 points: context canceled"},
			stop{3, "metric: implicit Fisher divergence: stopped after 6668 of 10000 points: context canceled"},
			stop{4, ""})
		stops(t, func(ctx context.Context) (any, error) {
			return ImplicitFisher{}.ByParts(ctx, b, line, other, points)
		},
			stop{2, "metric: integration by parts: second score: stopped after 3334 of 10000 points: context canceled"},
			stop{6, "metric: integration by parts: first score: scorekit: Evaluate: stopped after 6668 of 10000 points: context canceled"},
			stop{7, ""})
		// The density is evaluated twice on the whole line, the second time around its mean, on 513 points to each side.
		stops(t, func(ctx context.Context) (any, error) {
			return Support{math.Inf(-1), math.Inf(1)}.ByParts(ctx, b, line, other)
		},
			stop{1, "metric: integration by parts: scorekit: Evaluate: stopped after 0 of 1026 points: context canceled"},
			stop{2, "metric: integration by parts: scorekit: Evaluate: stopped after 0 of 1026 points: context canceled"},
			stop{5, ""})
		stops(t, func(ctx context.Context) (any, error) {
			return Support{-9, 9}.Boundary(ctx, b, other, points)
		},
			stop{1, "metric: boundary term: scorekit: Evaluate: stopped after 0 of 2 points: context canceled"},
			stop{2, ""})
		places := FiniteSetStein{Locations: [][]float64{{0}, {2}}, Scale: 1}
		stops(t, func(ctx context.Context) (any, error) { return places.Squared(ctx, b, other, points) },
			stop{2, "metric: finite-set Stein discrepancy: scorekit: Evaluate: stopped after 3334 of 10000 points: context canceled"},
			stop{4, "metric: finite-set Stein discrepancy: stopped after 0 of 10000 points: context canceled"},
			stop{1003, "metric: finite-set Stein discrepancy: stopped after 999 of 10000 points: context canceled"},
			stop{10_004, ""})
	})
}

// What works on the host alone is stopped in its middle, too.
func TestStopsOnTheHost(t *testing.T) {
	x, y := normal(1, 40, 3), normal(2, 50, 3)
	stops(t, func(ctx context.Context) (any, error) { return Sliced{}.Distance(ctx, x, y) },
		stop{1, "metric: sliced Wasserstein: context canceled"}, stop{100, "metric: sliced Wasserstein: context canceled"}, stop{1e6, ""})
	stops(t, func(ctx context.Context) (any, error) {
		distance, _, err := Sliced{Projections: 2}.Max(ctx, x, y)
		return distance, err
	},
		stop{1, "metric: max-sliced Wasserstein: context canceled"}, stop{40, "metric: max-sliced Wasserstein: context canceled"}, stop{1e6, ""})
	stops(t, func(ctx context.Context) (any, error) { return GaussianOf(ctx, x) },
		stop{1, "metric: moments: stopped after 0 of 40 points: context canceled"},
		stop{40, "metric: moments: stopped after 39 of 40 points: context canceled"},
		stop{41, ""})
	one := Gaussian{[]float64{0, 1}, [][]float64{{2, 1}, {1, 3}}}
	stops(t, func(ctx context.Context) (any, error) { return one.W2(ctx, one) },
		stop{1, "metric: Gaussian W2: context canceled"}, stop{2, "metric: Gaussian W2: context canceled"},
		stop{3, "metric: Gaussian W2: context canceled"}, stop{4, ""})
	stops(t, func(ctx context.Context) (any, error) { return one.ByParts(ctx, one) },
		stop{1, "metric: Gaussian Fisher divergence: context canceled"}, stop{2, "metric: Gaussian Fisher divergence: context canceled"},
		stop{3, ""})
	stops(t, func(ctx context.Context) (any, error) { return RHat(ctx, x) }, // of six halves, once as they are and once folded
		stop{1, "metric: R̂: context canceled"}, stop{7, "metric: R̂: context canceled"}, stop{8, "metric: R̂: context canceled"},
		stop{14, "metric: R̂: context canceled"}, stop{15, ""})
	// A straight line never forgets: the sum goes on to the end of the halves of 20 draws.
	var apart [][]float64
	for i := range 40 {
		apart = append(apart, []float64{float64(i), float64(i)})
	}
	stops(t, func(ctx context.Context) (any, error) { return EffectiveSampleSize(ctx, apart) },
		stop{1, "metric: effective sample size: stopped at distance 0 of 20: context canceled"},
		stop{3, "metric: effective sample size: stopped at distance 4 of 20: context canceled"}, stop{100, ""})
}
