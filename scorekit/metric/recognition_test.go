package metric_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/backends"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/scorekit/metric"
)

// clusters draws n points of N(centre of its class, I) for each class in turn, far from 0 and in large units: neither
// should matter.
func clusters(rng *rand.Rand, n int, centres [][]float64, unit float64) (points [][]float64, classes []int) {
	for i := range n {
		k := i % len(centres)
		point := make([]float64, len(centres[k]))
		for j, c := range centres[k] {
			point[j] = unit * (1000 + c + rng.NormFloat64())
		}
		points, classes = append(points, point), append(classes, k)
	}
	return points, classes
}

// TestRecognition compares with the best that any classifier can do. Two classes N(±a e, I) are told apart by the sign of eᵀx, with
// the share Φ(a) of right answers; the classifier, with 3,200 examples, should be within 4 standard errors and a hundredth of that.
func TestRecognition(t *testing.T) {
	const a, n = 1.0, 4000
	best := 0.5 * math.Erfc(-a/math.Sqrt2)
	centres := [][]float64{{a, 0}, {-a, 0}}
	rng := rand.New(rand.NewPCG(1, 2))
	examples, labels := clusters(rng, n, centres, 1e6)
	samples, classes := clusters(rng, n, centres, 1e6)
	swapped := make([]int, n)
	for i, c := range classes {
		swapped[i] = 1 - c
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		test := metric.Recognition{Hidden: 16, Steps: 400, Seed: 3}
		good, err := test.Test(t.Context(), b, examples, labels, samples, classes)
		if err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string][3]float64{
			"samples": {good.Accuracy, good.StandardError, n},
			"real":    {good.Real, good.RealError, n / 5},
		} {
			if want := math.Sqrt(c[0] * (1 - c[0]) / c[2]); math.Abs(c[1]-want) > 1e-12 {
				t.Errorf("%s: standard error %v, want %v", name, c[1], want)
			}
			if math.Abs(c[0]-best) > 4*c[1]+0.01 {
				t.Errorf("%s: %v ± %v recognised, at best %v", name, c[0], c[1], best)
			}
		}
		right, all := 0, 0
		for class, row := range good.Table {
			right += row[class]
			all += row[0] + row[1]
		}
		if all != n || math.Abs(float64(right)/n-good.Accuracy) > 1e-12 || len(good.Table) != 2 {
			t.Errorf("table %v for a share of %v", good.Table, good.Accuracy)
		}
		// The same classifier, the other class asked for: everything that was right is wrong.
		bad, err := test.Test(t.Context(), b, examples, labels, samples, swapped)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(bad.Accuracy+good.Accuracy-1) > 1e-12 || bad.Real != good.Real || bad.Table[0][0] != good.Table[1][0] {
			t.Errorf("swapped: %+v after %+v", bad, good)
		}
	})
}

func TestRecognitionRefuses(t *testing.T) {
	points, labels := clusters(rand.New(rand.NewPCG(1, 2)), 20, [][]float64{{0}, {3}}, 1)
	ones := slices.Repeat([]int{1}, 20)
	b := testbackend.Go(t)
	for want, run := range map[string]func() (metric.RecognitionResult, error){
		"hidden -1": func() (metric.RecognitionResult, error) {
			return metric.Recognition{Hidden: -1}.Test(t.Context(), b, points, labels, points, labels)
		},
		"hold-out 1": func() (metric.RecognitionResult, error) {
			return metric.Recognition{HoldOut: 1}.Test(t.Context(), b, points, labels, points, labels)
		},
		"hold-out 0.05 of 20": func() (metric.RecognitionResult, error) {
			return metric.Recognition{HoldOut: 0.05}.Test(t.Context(), b, points, labels, points, labels)
		},
		"19 labels for 20": func() (metric.RecognitionResult, error) {
			return metric.Recognition{}.Test(t.Context(), b, points, labels[1:], points, labels)
		},
		"20 classes for 19": func() (metric.RecognitionResult, error) {
			return metric.Recognition{}.Test(t.Context(), b, points, labels, points[1:], labels)
		},
		"1 class: there must be": func() (metric.RecognitionResult, error) {
			return metric.Recognition{}.Test(t.Context(), b, points, ones, points, ones)
		},
		"class 7 of sample 2": func() (metric.RecognitionResult, error) {
			return metric.Recognition{}.Test(t.Context(), b, points, labels, points[:3], []int{0, 1, 7})
		},
		"label -1 of example 0": func() (metric.RecognitionResult, error) {
			return metric.Recognition{}.Test(t.Context(), b, points, append([]int{-1}, labels[1:]...), points, labels)
		},
		"dimension 1 and 2": func() (metric.RecognitionResult, error) {
			return metric.Recognition{}.Test(t.Context(), b, points, labels, [][]float64{{1, 2}, {3, 4}}, []int{0, 1})
		},
		"NaN": func() (metric.RecognitionResult, error) {
			return metric.Recognition{}.Test(t.Context(), b, points, labels, [][]float64{{1}, {math.NaN()}}, []int{0, 1})
		},
		"backend nil": func() (metric.RecognitionResult, error) {
			return metric.Recognition{}.Test(t.Context(), nil, points, labels, points, labels)
		},
	} {
		if _, err := run(); err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "metric: recognition: ") {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
