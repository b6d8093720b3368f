package metric

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/scorekit/lab/internal/testvalues"
)

// A shift by c is seen best along c, at the distance ‖c‖, for every order; random directions alone stay below it in 8
// dimensions.
func TestMaxSlicedOfShift(t *testing.T) {
	const d = 8
	c := []float64{1, -2, 0, 0.5, 0, 0, 3, 0}
	length := math.Sqrt(floats.Dot(c, c))
	x := normal(1, 50, d)
	for _, order := range []float64{1, 2, 3} {
		s := Sliced{Order: order, Projections: 20, Seed: 3}
		got, v, err := s.Max(t.Context(), x, moved(x, 1, c))
		if err != nil {
			t.Fatal(err)
		}
		testvalues.NearNumber(t, "distance", got, length, 1e-9)
		testvalues.NearNumber(t, "direction", math.Abs(floats.Dot(v, c)), length, 1e-6)
		testvalues.NearNumber(t, "length of the direction", floats.Dot(v, v), 1, 1e-12)
		if best, _, err := largest(t.Context(), x, moved(x, 1, c), s.directions(d), order); err != nil || best > 0.95*got {
			t.Errorf("order %v: the best random direction already has %v of %v", order, best, got)
		}
	}
}

// The direction upwards is the gradient: it agrees with central differences of the distance along every axis, up to its
// length and to what leaves the sphere.
func TestUphill(t *testing.T) {
	x, y := normal(1, 9, 3), moved(normal(2, 6, 3), 2, []float64{1, 0, 0})
	v := Sliced{Projections: 1}.directions(3)[0]
	for _, order := range []float64{1, 2, 3} {
		want := make([]float64, 3)
		for i := range want {
			const h = 1e-6
			shifted := func(by float64) float64 {
				w := []float64{v[0], v[1], v[2]}
				w[i] += by
				return onLine(project(x, w), project(y, w), order)
			}
			want[i] = (shifted(h) - shifted(-h)) / (2 * h)
		}
		along := floats.Dot(want, v)
		for i := range want {
			want[i] -= along * v[i]
		}
		length := math.Sqrt(floats.Dot(want, want))
		for i := range want {
			want[i] /= length
		}
		testvalues.Near(t, "gradient", uphill(x, y, v, order), want, 1e-6)
	}
}
