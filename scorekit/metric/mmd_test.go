package metric

import (
	"math"
	"testing"

	"github.com/scorekit/lab/internal/testvalues"
)

// Small sets with both estimates in closed form.
func TestMMDReference(t *testing.T) {
	var cases []struct {
		ID      string
		X, Y    [][]float64
		H, U, V float64
	}
	testvalues.Read(t, "mmd.json", &cases)
	for _, c := range cases {
		testvalues.Case(t, c.ID, func(t *testing.T) {
			got, err := MMD{Bandwidths: []float64{c.H}}.Squared(t.Context(), c.X, c.Y)
			if err != nil {
				t.Fatal(err)
			}
			testvalues.NearNumber(t, "U", got.U, c.U, 1e-9)
			testvalues.NearNumber(t, "V", got.V, c.V, 1e-9)
		})
	}
}

// U of draws from two normal distributions is within 5 of its standard errors of the closed form.
func TestMMDOfNormals(t *testing.T) {
	var cases []struct {
		ID                 string
		M1, M2             []float64
		S1, S2, H, Squared float64
	}
	testvalues.Read(t, "mmd_population.json", &cases)
	for i, c := range cases {
		testvalues.Case(t, c.ID, func(t *testing.T) {
			x, y := moved(normal(uint64(2*i), 1500, len(c.M1)), c.S1, c.M1), moved(normal(uint64(2*i+1), 2000, len(c.M2)), c.S2, c.M2)
			got, err := MMD{Bandwidths: []float64{c.H}}.Squared(t.Context(), x, y)
			if err != nil {
				t.Fatal(err)
			}
			if !(math.Abs(got.U-c.Squared) <= 5*got.StandardError) || !(got.StandardError < 0.15*c.Squared) {
				t.Errorf("U = %v ± %v, want %v, with an error below 0.15 of it", got.U, got.StandardError, c.Squared)
			}
		})
	}
}

// moved returns scale·x + shift of every row.
func moved(rows [][]float64, scale float64, shift []float64) [][]float64 {
	out := make([][]float64, len(rows))
	for i, r := range rows {
		out[i] = make([]float64, len(r))
		for j, v := range r {
			out[i][j] = scale*v + shift[j]
		}
	}
	return out
}

// The kernel of several bandwidths is their mean, and so is every estimate.
func TestSeveralBandwidths(t *testing.T) {
	x, y := normal(1, 9, 2), normal(2, 7, 2)
	var u, v float64
	widths := []float64{0.3, 1, 5}
	for _, h := range widths {
		one, err := MMD{Bandwidths: []float64{h}}.Squared(t.Context(), x, y)
		if err != nil {
			t.Fatal(err)
		}
		u, v = u+one.U/3, v+one.V/3
	}
	got, err := MMD{Bandwidths: widths}.Squared(t.Context(), x, y)
	if err != nil {
		t.Fatal(err)
	}
	testvalues.NearNumber(t, "U", got.U, u, 1e-12)
	testvalues.NearNumber(t, "V", got.V, v, 1e-12)
}

// Of 0, 1, 3 and 7 the distances are 1, 2, 3, 4, 6 and 7, with the median 3.5. Without a bandwidth it is the one taken.
func TestMedianDistance(t *testing.T) {
	x, y := [][]float64{{0}, {7}}, [][]float64{{3}, {1}}
	h, err := MedianDistance(x, y)
	if err != nil || h != 3.5 {
		t.Errorf("median %v, error %v, want 3.5", h, err)
	}
	a, b := normal(3, 10, 3), normal(4, 20, 3)
	if h, err = MedianDistance(a, b); err != nil {
		t.Fatal(err)
	}
	given, err := MMD{Bandwidths: []float64{h}}.Squared(t.Context(), a, b)
	if err != nil {
		t.Fatal(err)
	}
	if found, err := (MMD{}).Squared(t.Context(), a, b); err != nil || found != given {
		t.Errorf("%+v, error %v, want %+v", found, err, given)
	}
	// Of very many points 1000 stand for all: for draws from N(0, I) in two dimensions, ‖x−x′‖²/2 is exponential
	// with mean 2, and the median distance is √(4 log 2). That of n points varies by less than 1/√n of it.
	many := normal(5, 20000, 2)
	if h, err = MedianDistance(many); err != nil {
		t.Fatal(err)
	}
	testvalues.NearNumber(t, "median of many", h, math.Sqrt(4*math.Log(2)), 5/math.Sqrt(1000))
}
