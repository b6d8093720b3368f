package net

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/objective"
	"github.com/scorekit/lab/scorekit/random"
)

// allOf is data whose every batch is all the points.
type allOf [][]float64

func (a allOf) Shape() []int { return []int{len(a[0])} }

func (a allOf) Batch(_ *mlctx.Context, rng *random.Source, _ int) *Node {
	return graph.ConstAsDType(rng.Graph(), rng.DType(), [][]float64(a))
}

// On all points at once the implicit loss is a quadratic function of the weights with its minimum at A = −C⁻¹, P = C⁻¹
// and b = C⁻¹μ, μ and C the points' mean and covariance: 200 steps of rate ½ multiply the distance to it by
// (1 − λ/2)²⁰⁰ < 10⁻¹⁷, λ the least eigenvalue of the points' second moments with a 1 appended, here 0.377.
// The points, (±1½, 0) and (0, ±1) moved by a shear and by μ, have their C written out.
func TestClosedFormOptima(t *testing.T) {
	mean := []float64{0.3, -0.2}
	var points allOf
	for _, p := range [][2]float64{{1.5, 0}, {-1.5, 0}, {0, 1}, {0, -1}} {
		points = append(points, []float64{p[0] + 0.5*p[1] + mean[0], p[1] + mean[1]})
	}
	// C = M diag(1.125, 0.5) Mᵀ with M = [1 ½; 0 1]; C⁻¹ = M⁻ᵀ diag(8/9, 2) M⁻¹ with M⁻¹ = [1 −½; 0 1].
	precision := []float64{8. / 9, -4. / 9, -4. / 9, 2 + 2./9}
	b := []float64{precision[0]*mean[0] + precision[1]*mean[1], precision[2]*mean[0] + precision[3]*mean[1]}
	testbackend.Each(t, func(t *testing.T, be backends.Backend) {
		fit := func(m scorekit.Model) *scorekit.Fitted {
			f, err := scorekit.Fit(context.Background(), be, m, objective.Implicit{}, points, scorekit.WithSteps(200), scorekit.WithBatch(4),
				scorekit.WithDType(dtypes.Float64), scorekit.WithEMA(0), scorekit.WithOptimizer(scorekit.SGD{Rate: scorekit.Rate{Peak: 0.5}}))
			if err != nil {
				t.Fatal(err)
			}
			return f
		}
		a, ab, err := Linear{}.Coefficients(fit(Linear{}))
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range slices.Concat(a...) {
			testvalues.NearNumber(t, fmt.Sprintf("A[%d]", i), v, -precision[i], 1e-10)
		}
		testvalues.Near(t, "b", ab, b, 1e-10)
		p, pb, err := Quadratic{}.Coefficients(fit(Quadratic{}))
		if err != nil {
			t.Fatal(err)
		}
		testvalues.Near(t, "P", slices.Concat(p...), precision, 1e-10)
		testvalues.Near(t, "b of P", pb, b, 1e-10)
	})
}

// What Coefficients returns gives the score that Evaluate returns: rows of A belong to coordinates of the score.
func TestCoefficientsAreThoseOfTheScore(t *testing.T) {
	be := testbackend.Go(t)
	x := []float64{0.3, -1.1, 0.8}
	for _, m := range []scorekit.Model{Linear{}, Quadratic{}} {
		f := trained(t, m, scorekit.WithDType(dtypes.Float64), scorekit.WithSteps(3))
		a, b, err := Linear{}.Coefficients(f)
		sign := 1.0
		if m == (Quadratic{}) {
			a, b, err = Quadratic{}.Coefficients(f)
			sign = -1
		}
		if err != nil {
			t.Fatal(err)
		}
		if a[0][1] == a[1][0] != (sign < 0) {
			t.Errorf("%T: matrix %v", m, a)
		}
		scores, err := scorekit.Evaluate(context.Background(), be, f, [][]float64{x})
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range testvalues.Flat(t, scores) {
			want := b[i]
			for j, v := range x {
				want += sign * a[i][j] * v
			}
			if !(math.Abs(s-want) <= 1e-12) {
				t.Errorf("%T: score %d is %v, the coefficients give %v", m, i, s, want)
			}
		}
	}
}

func TestCoefficientsErrors(t *testing.T) {
	quadratic := trained(t, Quadratic{})
	path := filepath.Join(t.TempDir(), "quadratic")
	if err := quadratic.Save(path); err != nil {
		t.Fatal(err)
	}
	other, err := scorekit.LoadInto(path, Linear{})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		fitted *scorekit.Fitted
		want   string
	}{
		{nil, "linear score: Coefficients: model nil: must be a trained net.Linear"},
		{&scorekit.Fitted{}, "linear score: Coefficients: model <nil>: must be a trained net.Linear"},
		{quadratic, "linear score: Coefficients: model net.Quadratic: must be a trained net.Linear"},
		{other, "linear score: Coefficients: the model has no weights A"},
	} {
		if _, _, err := (Linear{}).Coefficients(test.fitted); fmt.Sprint(err) != test.want {
			t.Errorf("error %v, want %s", err, test.want)
		}
	}
	_, _, _, err = MixtureEnergy{}.Coefficients(quadratic)
	if want := "mixture energy: Coefficients: model net.Quadratic: must be a trained net.MixtureEnergy"; fmt.Sprint(err) != want {
		t.Errorf("error %v, want %s", err, want)
	}
	_, _, err = Quadratic{}.Coefficients(nil)
	if want := "quadratic energy: Coefficients: model nil: must be a trained net.Quadratic"; fmt.Sprint(err) != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
