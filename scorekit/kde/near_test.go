package kde_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/scorekit/kde"
)

// TestFarAndNear puts points among centres that fill 40 × 40 bandwidths, beside them and far away in one call, so that blocks of
// centres are left out and points are done again, beside sums over all centres on the host. Rounded to float32 a log-density may be off
// by some 1e-6 of itself, a score, in units of 1/h, by that of the distance in units of h.
func TestFarAndNear(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	h := []float64{0.2, 0.5}
	var centres [][]float64
	var weights []float64
	total := 0.0
	for range 8192 {
		centres = append(centres, []float64{8 * rng.Float64(), 20 * rng.Float64()})
		w := math.Exp(2 * rng.NormFloat64())
		weights, total = append(weights, w), total+w
	}
	var points [][]float64
	for range 1500 {
		points = append(points, []float64{8 * rng.Float64(), 20 * rng.Float64()})
	}
	points = append(points, []float64{1e4, -1e4}, []float64{-1.2, 10}, []float64{10, 23}, []float64{4, 25})
	q := must(t)(kde.NewWeighted(centres, weights, kde.Gaussian, kde.PerCoordinate(h...)))
	wantLog, wantScore := make([]float64, len(points)), make([][]float64, len(points))
	for i, x := range points {
		logs, largest := make([]float64, len(centres)), math.Inf(-1)
		for j, c := range centres {
			u, v := (x[0]-c[0])/h[0], (x[1]-c[1])/h[1]
			logs[j] = math.Log(weights[j]/total) - 0.5*(u*u+v*v) - math.Log(2*math.Pi*h[0]*h[1])
			largest = max(largest, logs[j])
		}
		sum, pull := 0.0, []float64{0, 0}
		for j, c := range centres {
			e := math.Exp(logs[j] - largest)
			sum += e
			for k := range pull {
				pull[k] += e * (c[k] - x[k]) / (h[k] * h[k])
			}
		}
		wantLog[i], wantScore[i] = largest+math.Log(sum), []float64{pull[0] / sum, pull[1] / sum}
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		single := make([][]float32, len(points))
		for i, x := range points {
			single[i] = []float32{float32(x[0]), float32(x[1])}
		}
		for _, c := range []struct {
			points    any
			tolerance float64
		}{{points, 1e-11}, {single, 5e-6}} {
			logs, err := q.LogDensityAt(t.Context(), b, c.points)
			if err != nil {
				t.Fatal(err)
			}
			out, err := q.ScoreAt(t.Context(), b, c.points)
			if err != nil {
				t.Fatal(err)
			}
			var scores []float64
			if c.tolerance > 1e-9 {
				for _, v := range tensors.MustCopyFlatData[float32](out) {
					scores = append(scores, float64(v))
				}
			} else {
				scores = tensors.MustCopyFlatData[float64](out)
			}
			for i := range points {
				if !(math.Abs(logs[i]-wantLog[i]) <= c.tolerance*(10+math.Abs(wantLog[i]))) {
					t.Errorf("%T: log-density at %v is %v, want %v", c.points, points[i], logs[i], wantLog[i])
				}
				for k, h := range h {
					got, want := h*scores[2*i+k], h*wantScore[i][k]
					if !(math.Abs(got-want) <= 10*c.tolerance*(10+math.Sqrt(2*math.Abs(wantLog[i])))) {
						t.Errorf("%T: score at %v is %v along %d, want %v", c.points, points[i], got/h, k, want/h)
					}
				}
			}
		}
	})
}
