package metric

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/scorekit/density"
)

// On draws the boundary term is within 5 of its standard errors of the closed form, and warned of where it is not 0:
// exponential (p(0) = λ = 2 against the score −0.5 of another), uniform on [0, 1] against N(0.4, 0.7²), and x e^{−x},
// which vanishes at 0.
func TestBoundaryOfDraws(t *testing.T) {
	const n = 20000
	rng := rand.New(rand.NewPCG(1, 9))
	draw := func(f func() float64) [][]float64 {
		rows := make([][]float64, n)
		for i := range rows {
			rows[i] = []float64{f()}
		}
		return rows
	}
	slow, err := density.NewExponential([]float64{0.5})
	if err != nil {
		t.Fatal(err)
	}
	narrow, err := density.Isotropic([]float64{0.4}, 0.7)
	if err != nil {
		t.Fatal(err)
	}
	b := testbackend.Go(t)
	for _, test := range []struct {
		name    string
		support Support
		q       LogDensity
		points  [][]float64
		want    float64
	}{
		{"exponential", Support{0, math.Inf(1)}, slow, draw(func() float64 { return rng.ExpFloat64() / 2 }), -1},
		{"uniform", Support{0, 1}, narrow, draw(rng.Float64), 1 / 0.49},
		{"negative exponential", Support{math.Inf(-1), 0}, narrow, draw(func() float64 { return -rng.ExpFloat64() }), -0.4 / 0.49},
		{"gamma", Support{0, math.Inf(1)}, slow, draw(func() float64 { return rng.ExpFloat64() + rng.ExpFloat64() }), 0},
		{"whole line", Support{math.Inf(-1), math.Inf(1)}, narrow, draw(rng.NormFloat64), 0},
	} {
		got, err := test.support.Boundary(t.Context(), b, test.q, test.points)
		if err != nil {
			t.Fatal(err)
		}
		if !(math.Abs(got.Value-test.want) <= 5*got.StandardError) || !(got.StandardError < 0.1) {
			t.Errorf("%s: boundary term %v ± %v, want %v", test.name, got.Value, got.StandardError, test.want)
		}
		switch warning := got.Check(); {
		case test.want == 0 && warning != nil:
			t.Errorf("%s: %v", test.name, warning)
		case test.want != 0 && (warning == nil || !strings.Contains(warning.Error(), "±")):
			t.Errorf("%s: warning %v", test.name, warning)
		}
	}
}
