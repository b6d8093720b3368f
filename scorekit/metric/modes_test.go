package metric

import (
	"math"
	"testing"

	"github.com/scorekit/lab/internal/testvalues"
)

// Ten points at four centres on a line, by hand: three within 1 of 0, five within 1 of 5, one of 10 (at the radius), none
// of 15, and one between the modes.
func TestCoverage(t *testing.T) {
	points := [][]float64{{0}, {0.5}, {-1}, {4.1}, {5}, {5}, {5.9}, {6}, {11}, {2.5}}
	m := Modes{Centres: [][]float64{{0}, {5}, {10}, {15}}, Radius: 1}
	got, err := m.Coverage(points)
	if err != nil {
		t.Fatal(err)
	}
	testvalues.Near(t, "mass", got.Mass, []float64{0.3, 0.5, 0.1, 0}, 1e-12)
	testvalues.Near(t, "errors", got.Errors, []float64{math.Sqrt(0.021), math.Sqrt(0.025), math.Sqrt(0.009), 0}, 1e-12)
	testvalues.NearNumber(t, "outside", got.Outside, 0.1, 1e-12)
	for least, want := range map[float64]int{0: 3, 0.1: 3, 0.2: 2, 0.5: 1, 0.6: 0} {
		m.Least = least
		if got, err := m.Coverage(points); err != nil || got.Reached != want {
			t.Errorf("least share %v: %d modes, error %v, want %d", least, got.Reached, err, want)
		}
	}
	// A point within the radius of two centres is at the nearer one.
	got, err = Modes{Centres: [][]float64{{0}, {1}}, Radius: 2}.Coverage([][]float64{{0.9}})
	if err != nil || got.Mass[0] != 0 || got.Mass[1] != 1 {
		t.Errorf("%+v, error %v", got, err)
	}
	got, err = Modes{Centres: [][]float64{{0}}, Radius: 2}.Coverage([][]float64{{1.9}, {-1.9}, {2.1}, {5}})
	if err != nil || got.Mass[0] != 0.5 || got.Outside != 0.5 {
		t.Errorf("%+v, error %v: half of the points are within 2 of 0", got, err)
	}
}
