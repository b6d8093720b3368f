package metric

import (
	"runtime"
	"testing"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/scorekit/density"
)

// What takes pairs of points stores none of them: for 6,000 points, whose pairs would fill 288 MB, all that is allocated from
// first to last is a small part of it, and twice as many points allocate about twice as much. So 50,000 fit.
func TestMemoryOfPairs(t *testing.T) {
	b := testbackend.Go(t)
	p, err := density.Isotropic([]float64{0, 0}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for name, run := range map[string]func(x, y [][]float64) error{
		"MMD": func(x, y [][]float64) error {
			_, err := MMD{Bandwidths: []float64{1}}.Squared(t.Context(), x, y)
			return err
		},
		"energy distance": func(x, y [][]float64) error { _, err := Energy{}.Distance(t.Context(), x, y); return err },
		"KSD": func(x, y [][]float64) error {
			_, err := KernelStein{Scale: 1}.Squared(t.Context(), b, p, append(x, y...))
			return err
		},
		"MMD test": func(x, y [][]float64) error {
			_, err := MMD{Bandwidths: []float64{1}, Permutations: 19}.Test(t.Context(), x, y)
			return err
		},
		"classifier": func(x, y [][]float64) error { _, err := ClassifierTest{}.Test(t.Context(), x, y); return err },
		"sliced":     func(x, y [][]float64) error { _, err := Sliced{Projections: 4}.Distance(t.Context(), x, y); return err },
	} {
		var used [2]float64
		for i, n := range []int{1500, 3000} {
			x, y := normal(1, n, 2), normal(2, n, 2)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if err := run(x, y); err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			used[i] = float64(after.TotalAlloc-before.TotalAlloc) / 1e6
		}
		t.Logf("%-15s  %5.1f MB for 3,000 points, %5.1f MB for 6,000", name, used[0], used[1])
		if used[1] > 20 {
			t.Errorf("%s: %v MB for 6,000 points", name, used[1])
		}
	}
}
