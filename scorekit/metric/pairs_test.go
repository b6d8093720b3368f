package metric

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"runtime"
	"testing"

	"github.com/scorekit/lab/internal/testvalues"
)

// All sums equal those taken pair by pair, for numbers of points around those of a block and of all blocks.
func TestSumPairs(t *testing.T) {
	k := func(i, j int) float64 { return math.Sin(float64(i*j)) + float64(i+j)/100 }
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{1, 2, 127, 128, 129, 300} {
		split := n / 3
		weights := make([][]int8, n)
		for i := range weights {
			weights[i] = []int8{int8(rng.IntN(2)), int8(2*rng.IntN(2) - 1), 1}
		}
		got, err := sumPairs(t.Context(), n, split, func(i, from, to int, out []float64) {
			if len(out) != to-from {
				t.Errorf("room for %d values from %d to %d", len(out), from, to)
			}
			for j := from; j < to; j++ {
				out[j-from] = k(i, j)
			}
		}, weights)
		if err != nil {
			t.Fatal(err)
		}
		want := newPairSums(n, 3)
		for i := range n {
			for j := range n {
				if i == j {
					continue
				}
				if j < split {
					want.first[i] += k(i, j)
				} else {
					want.second[i] += k(i, j)
				}
				for c := range want.forms {
					want.forms[c] += k(i, j) * float64(weights[i][c]) * float64(weights[j][c])
				}
			}
		}
		testvalues.NearOne(t, "first", got.first, want.first, 1e-12)
		testvalues.NearOne(t, "second", got.second, want.second, 1e-12)
		testvalues.NearOne(t, "forms", got.forms, want.forms, 1e-12)
	}
}

// What takes long stops when it is told to, with the reason.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("enough")
	cancel(reason)
	x, y := normal(1, 300, 2), normal(2, 300, 2)
	for name, run := range map[string]func() error{
		"MMD":         func() error { _, err := MMD{}.Squared(ctx, x, y); return err },
		"MMD test":    func() error { _, err := MMD{}.Test(ctx, x, y); return err },
		"energy":      func() error { _, err := Energy{}.Distance(ctx, x, y); return err },
		"energy test": func() error { _, err := Energy{}.Test(ctx, x, y); return err },
		"classifier":  func() error { _, err := ClassifierTest{}.Test(ctx, x, y); return err },
		"Wasserstein": func() error { _, err := Wasserstein{}.Distance(ctx, x, y); return err },
		"Stein": func() error {
			_, err := stein{points: x, scores: y, scale: 1}.test(ctx, 0, 0)
			return err
		},
	} {
		if err := run(); !errors.Is(err, reason) {
			t.Errorf("%s: error %v, want %v", name, err, reason)
		}
	}
}

// The number of processors changes no bit of a result.
func TestAnyNumberOfProcessors(t *testing.T) {
	x, y := normal(1, 400, 3), normal(2, 300, 3)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var results []TestResult
	for _, processors := range []int{1, 2, 5} {
		runtime.GOMAXPROCS(processors)
		got, err := MMD{Permutations: 150}.Test(t.Context(), x, y)
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, got)
	}
	for _, r := range results[1:] {
		if !reflect.DeepEqual(r, results[0]) {
			t.Errorf("%+v differs from %+v", r, results[0])
		}
	}
}
