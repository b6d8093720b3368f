package metric

import (
	"math"
	"testing"

	"github.com/scorekit/lab/internal/testvalues"
)

func TestGaussianW2Reference(t *testing.T) {
	var cases []struct {
		ID         string
		M1, M2     []float64
		S1, S2     [][]float64
		Squared, W float64
	}
	testvalues.Read(t, "gaussian_w2.json", &cases)
	for _, c := range cases {
		testvalues.Case(t, c.ID, func(t *testing.T) {
			p, q := Gaussian{c.M1, c.S1}, Gaussian{c.M2, c.S2}
			for _, way := range [][2]Gaussian{{p, q}, {q, p}} {
				got, err := way[0].W2(t.Context(), way[1])
				if err != nil {
					t.Fatal(err)
				}
				testvalues.NearNumber(t, "squared distance", got*got, c.Squared, 1e-9)
			}
			self, err := p.W2(t.Context(), p)
			if err != nil || self > 1e-6 {
				t.Errorf("distance from itself %v, error %v", self, err)
			}
		})
	}
}

// A distribution on a point, and one on a line of the plane, have distances too: that of 0 from N(m, S) is
// √(‖m‖² + tr S).
func TestGaussianW2WithoutWidth(t *testing.T) {
	point := Gaussian{[]float64{0, 0}, [][]float64{{0, 0}, {0, 0}}}
	line := Gaussian{[]float64{3, 1}, [][]float64{{1, 2}, {2, 4}}}
	for _, way := range [][2]Gaussian{{point, line}, {line, point}} {
		got, err := way[0].W2(t.Context(), way[1])
		if err != nil {
			t.Fatal(err)
		}
		testvalues.NearNumber(t, "distance", got, math.Sqrt(10+5), 1e-9)
	}
}

func TestGaussianByPartsReference(t *testing.T) {
	var cases []pair
	testvalues.Read(t, "fisher.json", &cases)
	for _, c := range cases {
		testvalues.Case(t, c.ID, func(t *testing.T) {
			got, err := Gaussian{c.M1, c.S1}.ByParts(t.Context(), Gaussian{c.M2, c.S2})
			if err != nil {
				t.Fatal(err)
			}
			testvalues.NearNumber(t, "explicit", got.Explicit, c.Divergence, 1e-9)
			testvalues.NearNumber(t, "implicit", got.Implicit, c.Implicit, 1e-9)
			testvalues.NearNumber(t, "constant", got.Constant, c.HalfNorm, 1e-9)
			if err := got.Boundary.Check(); err != nil || got.Boundary.Value != 0 {
				t.Errorf("boundary %v: %v", got.Boundary.Value, err)
			}
		})
	}
}

// Of (0, 0), (2, 0) and (1, 3) the mean is (1, 1) and the covariance is that of (−1, −1), (1, −1) and (0, 2), over 2.
func TestGaussianOf(t *testing.T) {
	g, err := GaussianOf(t.Context(), [][]float64{{0, 0}, {2, 0}, {1, 3}})
	if err != nil {
		t.Fatal(err)
	}
	testvalues.Near(t, "mean", g.Mean, []float64{1, 1}, 1e-15)
	testvalues.Near(t, "first row", g.Cov[0], []float64{1, 0}, 1e-15)
	testvalues.Near(t, "second row", g.Cov[1], []float64{0, 3}, 1e-15)
}
