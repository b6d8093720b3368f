package metric

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/density"
)

// mistaken has a score that is twice that of its density.
type mistaken struct{ density.Gaussian }

func (m mistaken) Score(vars *mlctx.Context, x, sigma *scorekit.Node) *scorekit.Node {
	return graph.MulScalar(m.Gaussian.Score(vars, x, sigma), 2)
}

// Every bad input is an error that names the metric, the argument, its value and what is allowed.
func TestErrors(t *testing.T) {
	ctx, b := t.Context(), testbackend.Go(t)
	good, other := normal(1, 10, 2), normal(2, 12, 2)
	wide, line := normal(3, 10, 3), normal(4, 10, 1)
	holed := normal(5, 10, 2)
	holed[3][1] = math.NaN()
	huge := [][]float64{{1e200, 0}, {0, 1e200}, {-1e200, 1}, {3, 3}}
	left, right := slices.Repeat([][]float64{{-1.5e308, -1.5e308}}, 4), slices.Repeat([][]float64{{1.5e308, 1.5e308}}, 4)
	same := [][]float64{{1, 2}, {1, 2}, {1, 2}, {1, 2}}
	two := good[:2]
	p, err := density.Isotropic([]float64{0, 0}, 1)
	if err != nil {
		t.Fatal(err)
	}
	q, err := density.Isotropic([]float64{0}, 1)
	if err != nil {
		t.Fatal(err)
	}
	cauchy, err := density.NewStudentT(1, []float64{0}, [][]float64{{1}})
	if err != nil {
		t.Fatal(err)
	}
	steep := scorekit.Score(func(_ *mlctx.Context, x, _ *scorekit.Node) *scorekit.Node { return graph.Reciprocal(x) })
	unit := [][]float64{{1, 0}, {0, 1}}
	whole := Support{math.Inf(-1), math.Inf(1)}
	for _, test := range []struct {
		run  func() error
		want string
	}{
		{func() error { _, err := MMD{}.Squared(ctx, good, holed); return err }, "metric: MMD: second set: points: row 3, column 1 is NaN: every value must be finite (rows and columns count from 0)"},
		{func() error { _, err := MMD{}.Squared(ctx, good, wide); return err }, "metric: MMD: points of dimension 2 and 3: must be equal"},
		{func() error { _, err := MMD{}.Squared(ctx, good, two); return err }, "metric: MMD: sets of 10 and 2 points: must have at least 3, for the standard error"},
		{func() error { _, err := MMD{Bandwidths: []float64{1, 0}}.Squared(ctx, good, other); return err }, "metric: MMD: bandwidth 1 is 0: must be positive and its square finite"},
		{func() error { _, err := MMD{}.Squared(ctx, same, same); return err }, "metric: MMD: the median of the distances between points is 0: must be positive and its square finite; give a bandwidth"},
		{func() error { _, err := MMD{}.Squared(ctx, 3, good); return err }, "metric: MMD: first set: points of type int: must be *tensors.Tensor, [][]float64 or [][]float32"},
		{func() error { _, err := MMD{}.Squared(ctx, [][]float64{{1, 2}, {3}}, good); return err }, "metric: MMD: first set: points: row 1 has 1 columns but row 0 has 2"},
		{func() error { _, err := MMD{}.Squared(ctx, [][]float32{}, good); return err }, "metric: MMD: first set: points: there must be at least one, with at least one column"},
		{func() error { _, err := MMD{Permutations: -1}.Test(ctx, good, other); return err }, "metric: MMD test: -1 permutations: must be positive, or 0 for 499"},
		{func() error { _, err := MMD{}.Test(ctx, holed, good); return err }, "metric: MMD test: first set: points: row 3, column 1 is NaN: every value must be finite (rows and columns count from 0)"},
		{func() error { _, err := MedianDistance(two[:1]); return err }, "metric: median distance: 1 points: must be at least 2"},
		{func() error { _, err := MedianDistance(good, line); return err }, "metric: median distance: points of dimension 2 and 1: must be equal"},
		{func() error { _, err := MedianDistance(good, holed); return err }, "metric: median distance: set 1: points: row 3, column 1 is NaN: every value must be finite (rows and columns count from 0)"},
		{func() error { _, err := Energy{}.Distance(ctx, good, two); return err }, "metric: energy distance: sets of 10 and 2 points: must have at least 3, for the standard error"},
		{func() error { _, err := Energy{}.Distance(ctx, left, right); return err }, "metric: energy distance: statistic U = +Inf, V = +Inf with standard error 0: must be finite; the points or scores are too large"},
		{func() error { _, err := Energy{}.Test(ctx, left, right); return err }, "metric: energy test: statistic U = +Inf, V = +Inf with standard error 0: must be finite; the points or scores are too large"},
		{func() error { _, err := KernelStein{Kernel: 7}.Squared(ctx, b, p, good); return err }, "metric: kernel Stein discrepancy: kernel 7: must be IMQ or RBF"},
		{func() error { _, err := KernelStein{Scale: -1}.Squared(ctx, b, p, good); return err }, "metric: kernel Stein discrepancy: scale -1: must be positive and its square finite, or 0 for the median distance"},
		{func() error { _, err := KernelStein{}.Squared(ctx, b, p, two); return err }, "metric: kernel Stein discrepancy: 2 points: must be at least 3, for the standard error"},
		{func() error { _, err := KernelStein{}.Squared(ctx, b, p, holed); return err }, "metric: kernel Stein discrepancy: points: row 3, column 1 is NaN: every value must be finite (rows and columns count from 0)"},
		{func() error { _, err := KernelStein{}.Squared(ctx, b, p, wide); return err }, "metric: kernel Stein discrepancy: scorekit: Evaluate: points of shape [3] for a model of points of shape [2]"},
		{func() error { _, err := KernelStein{}.Test(ctx, b, steep, unit[:1]); return err }, "metric: kernel Stein test: 1 points: must be at least 3, for the standard error"},
		{func() error {
			_, err := KernelStein{}.Test(ctx, b, steep, [][]float64{{1, 0}, {2, 1}, {1, 1}})
			return err
		}, "metric: kernel Stein test: the score at point 0, coordinate 1 is +Inf: every value must be finite"},
		{func() error { _, err := KernelStein{Draws: -2}.Test(ctx, b, p, good); return err }, "metric: kernel Stein test: -2 draws: must be positive, or 0 for 499"},
		{func() error { _, err := KernelStein{Scale: 1}.Squared(ctx, b, p, huge); return err }, "metric: kernel Stein discrepancy: statistic U = NaN, V = NaN with standard error NaN: must be finite; the points or scores are too large"},
		{func() error { _, err := Sliced{Order: 0.5}.Distance(ctx, good, other); return err }, "metric: sliced Wasserstein: order 0.5: must be at least 1, or 0 for 2"},
		{func() error { _, err := Sliced{}.Distance(ctx, left, right); return err }, "metric: sliced Wasserstein: the result is +Inf: must be finite; the points or scores are too large"},
		{func() error { _, _, err := Sliced{}.Max(ctx, good, wide); return err }, "metric: max-sliced Wasserstein: points of dimension 2 and 3: must be equal"},
		{func() error { _, err := Wasserstein{Order: math.NaN()}.Distance(ctx, good, other); return err }, "metric: Wasserstein: order NaN: must be at least 1, or 0 for 2"},
		{func() error { _, err := Wasserstein{}.Distance(ctx, good, line); return err }, "metric: Wasserstein: points of dimension 2 and 1: must be equal"},
		{func() error { _, err := Wasserstein{}.Distance(ctx, left, right); return err }, "metric: Wasserstein: the result is +Inf: must be finite; the points or scores are too large"},
		{func() error { _, err := GaussianOf(ctx, two[:1]); return err }, "metric: moments: 1 point: must be at least 2, for a covariance"},
		{func() error {
			_, err := Gaussian{[]float64{0}, unit[:1]}.W2(ctx, Gaussian{[]float64{0, 1}, unit})
			return err
		}, "metric: Gaussian W2: means of 1 and 2 numbers: must be as many, at least 1"},
		{func() error {
			_, err := Gaussian{[]float64{0, 0}, unit}.W2(ctx, Gaussian{[]float64{0, 0}, [][]float64{{1, 0.5}, {0.2, 1}}})
			return err
		}, "metric: Gaussian W2: second distribution: covariance[1][0] is 0.2 and [0][1] is 0.5: must be equal"},
		{func() error {
			_, err := Gaussian{[]float64{0, 0}, [][]float64{{1, 2}, {2, 1}}}.W2(ctx, Gaussian{[]float64{0, 0}, unit})
			return err
		}, "metric: Gaussian W2: first distribution: covariance has the eigenvalue -1: must not be negative"},
		{func() error {
			_, err := Gaussian{[]float64{0, 0}, [][]float64{{1, 0}, {0, 0}}}.ByParts(ctx, Gaussian{[]float64{0, 0}, unit})
			return err
		}, "metric: Gaussian Fisher divergence: covariance 1 has the eigenvalue 0: must be positive"},
		{func() error {
			_, err := Gaussian{[]float64{0, 0}, unit[:1]}.W2(ctx, Gaussian{[]float64{0, 0}, unit})
			return err
		}, "metric: Gaussian W2: first distribution: covariance of 1 rows for 2 means: must be as many"},
		{func() error {
			_, err := Gaussian{[]float64{0}, unit[:1]}.W2(ctx, Gaussian{[]float64{0}, unit[:1]})
			return err
		}, "metric: Gaussian W2: first distribution: row 0 of the covariance has 2 numbers: must be 1"},
		{func() error {
			_, err := Gaussian{[]float64{math.Inf(1)}, [][]float64{{1}}}.W2(ctx, Gaussian{[]float64{0}, [][]float64{{1}}})
			return err
		}, "metric: Gaussian W2: first distribution: mean 0 is +Inf: must be finite"},
		{func() error { _, err := Support{}.ByParts(ctx, b, q, q); return err }, "metric: integration by parts: support from 0 to 0: must go from a smaller to a larger number"},
		{func() error { _, err := Support{0, math.NaN()}.ByParts(ctx, b, q, q); return err }, "metric: integration by parts: support from 0 to NaN: must go from a smaller to a larger number"},
		{func() error { _, err := whole.ByParts(ctx, b, flat{}, q); return err }, "metric: integration by parts: the density has no finite integral: far out it still grows"},
		{func() error { _, err := whole.ByParts(ctx, b, cauchy, q); return err }, "metric: integration by parts: the scores have no finite mean square: far out the integrals still grow"},
		{func() error { _, err := whole.ByParts(ctx, b, mistaken{q}, q); return err }, "do not add up: the quadrature misses a part of the density, the judged score jumps, or the first is not that of the density"},
		{func() error { _, err := Support{0, 1}.Boundary(ctx, b, q, [][]float64{{0.5}, {1.5}}); return err }, "metric: boundary term: point 1 is 1.5: must be in the support, from 0 to 1"},
		{func() error { _, err := Support{0, 1}.Boundary(ctx, b, q, good); return err }, "metric: boundary term: 10 points of dimension 2: must be at least 2, of dimension 1"},
		{func() error { _, err := Support{0, 1}.Boundary(ctx, b, q, [][]float64{{0}, {0}, {0.5}}); return err }, "metric: boundary term: half of the points are at 0, the end of the support: there is no density"},
		{func() error { _, _, err := ImplicitFisher{Probes: -1}.Estimate(ctx, b, p, good); return err }, "metric: implicit Fisher divergence: -1 probes: must be positive, or 0 for the exact divergence"},
		{func() error { _, _, err := ImplicitFisher{Kind: 9}.Estimate(ctx, b, p, good); return err }, "metric: implicit Fisher divergence: probe kind 9: must be Rademacher, Gaussian or Sphere"},
		{func() error { _, _, err := ImplicitFisher{}.Estimate(ctx, b, p, two[:1]); return err }, "metric: implicit Fisher divergence: 1 point: must be at least 2, for the standard error"},
		{func() error {
			_, _, err := ImplicitFisher{}.Estimate(ctx, b, steep, normal(1, 2, 257))
			return err
		}, "metric: implicit Fisher divergence: points of 257 dimensions: the exact divergence takes a pass for each, up to 256: set Probes"},
		{func() error { _, err := ImplicitFisher{}.ByParts(ctx, b, steep, p, unit); return err }, "metric: integration by parts: first score: the score at point 0, coordinate 1 is +Inf: every value must be finite"},
		{func() error { _, err := ClassifierTest{}.Test(ctx, good, good[:3]); return err }, "metric: classifier test: sets of 10 and 3 points: must have at least 4, two to learn from and two to judge"},
		{func() error { _, err := ClassifierTest{Neighbours: 12}.Test(ctx, good, other); return err }, "metric: classifier test: 12 neighbours: must be from 1 to 11, the number of points to learn from, or 0 for its root"},
		{func() error { _, err := Modes{Centres: unit, Radius: 0}.Coverage(good); return err }, "metric: mode coverage: radius 0: must be positive and its square finite"},
		{func() error { _, err := Modes{Centres: unit, Radius: 1, Least: 2}.Coverage(good); return err }, "metric: mode coverage: least share 2: must be from 0 to 1"},
		{func() error { _, err := Modes{Radius: 1}.Coverage(good); return err }, "metric: mode coverage: centres: points: there must be at least one, with at least one column"},
		{func() error { _, err := Modes{Centres: unit, Radius: 1}.Coverage(wide); return err }, "metric: mode coverage: centres of dimension 2, points of 3: must be equal"},
	} {
		if err := test.run(); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("error %v,\nwant %s", err, test.want)
		}
	}
}

// Points may be tensors of any shape, and rows of float32.
func TestKindsOfPoints(t *testing.T) {
	x, y := normal(1, 6, 4), normal(2, 8, 4)
	want, err := MMD{}.Squared(t.Context(), x, y)
	if err != nil {
		t.Fatal(err)
	}
	var flat []float64
	var narrow [][]float32
	for _, r := range x {
		flat = append(flat, r...)
		narrow = append(narrow, []float32{float32(r[0]), float32(r[1]), float32(r[2]), float32(r[3])})
	}
	images := tensors.FromFlatDataAndDimensions(flat, 6, 2, 2, 1)
	if got, err := (MMD{}).Squared(t.Context(), images, y); err != nil || got != want {
		t.Errorf("images: %+v, error %v, want %+v", got, err, want)
	}
	if got, err := (MMD{}).Squared(t.Context(), narrow, y); err != nil || math.Abs(got.U-want.U) > 1e-6 || got == want {
		t.Errorf("float32: %+v, error %v, want about %+v", got, err, want)
	}
}

// Numbers whose squares are beyond float64 are an error and no NaN; so is a missing context, in every metric that takes one.
func TestNoNaNAndNoCrash(t *testing.T) {
	b := testbackend.Go(t)
	p, err := density.Isotropic([]float64{0, 0}, 1)
	if err != nil {
		t.Fatal(err)
	}
	line, err := density.Isotropic([]float64{0}, 1)
	if err != nil {
		t.Fatal(err)
	}
	same := scorekit.Score(func(_ *mlctx.Context, x, _ *scorekit.Node) *scorekit.Node { return graph.Identity(x) })
	far := [][]float64{{1e200, 1}, {-1e200, 2}, {2, 3}}
	near := [][]float64{{1, 1}, {-1, 2}, {2, 3}, {0, 1}, {4, 4}, {3, 1}}
	fisher := func() error { _, err := FisherDivergence(t.Context(), b, p, same, far); return err }
	implicit := func() error { _, _, err := ImplicitFisher{}.Estimate(t.Context(), b, same, far); return err }
	parts := func() error { _, err := ImplicitFisher{}.ByParts(t.Context(), b, p, same, far); return err }
	moments := func() error { _, err := GaussianOf(t.Context(), far); return err }
	unit := [][]float64{{1}}
	one, two := Gaussian{Mean: []float64{1e200}, Cov: unit}, Gaussian{Mean: []float64{-1e200}, Cov: unit}
	w2 := func() error { _, err := one.W2(t.Context(), two); return err }
	closed := func() error { _, err := one.ByParts(t.Context(), two); return err }
	for want, err := range map[string]error{
		"metric: Fisher divergence: the result is +Inf": fisher(), "metric: implicit Fisher divergence: the result is +Inf": implicit(),
		"metric: integration by parts: the result is +Inf": parts(), "metric: moments: the result is +Inf": moments(),
		"metric: Gaussian W2: the result is +Inf": w2(), "metric: Gaussian Fisher divergence: the result is +Inf": closed(),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if _, err := (Support{Low: 0, High: 1}).ByParts(t.Context(), b, nil, line); err == nil || !strings.Contains(err.Error(), "density nil: must be given") {
		t.Errorf("without a density: %v", err)
	}

	var none context.Context
	mmd := func() error { _, err := MMD{}.Squared(none, near, near[:4]); return err }
	mmdTest := func() error { _, err := MMD{}.Test(none, near, near[:4]); return err }
	energy := func() error { _, err := Energy{}.Distance(none, near, near[:4]); return err }
	energyTest := func() error { _, err := Energy{}.Test(none, near, near[:4]); return err }
	stein := func() error { _, err := KernelStein{}.Squared(none, b, p, near); return err }
	steinTest := func() error { _, err := KernelStein{}.Test(none, b, p, near); return err }
	classifier := func() error { _, err := ClassifierTest{}.Test(none, near, near[:4]); return err }
	transport := func() error { _, err := Wasserstein{}.Distance(none, near, near[:4]); return err }
	onLine := func() error { _, err := Wasserstein{}.Distance(none, unit, unit); return err }
	for what, err := range map[string]error{
		"MMD": mmd(), "MMD test": mmdTest(), "energy distance": energy(), "energy test": energyTest(), "Stein discrepancy": stein(),
		"Stein test": steinTest(), "classifier": classifier(), "Wasserstein": transport(), "Wasserstein on a line": onLine(),
	} {
		if err == nil || !strings.Contains(err.Error(), "ctx nil: must be given") {
			t.Errorf("%s without a context: error %v", what, err)
		}
	}
	stopped, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	cancel(cause)
	if _, err := (Wasserstein{}).Distance(stopped, unit, unit); !errors.Is(err, cause) {
		t.Errorf("stopped on a line: error %v", err)
	}
}
