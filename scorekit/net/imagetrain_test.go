package net

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/objective"
)

// Two classes of 8×8 images, N(m, 0.3²I) and N(−m, 0.3²I) with m ±0.8 in a half of the image each, at noise levels σ from 4 to 20, where an
// image seldom tells its class: the score given a class is −(x ∓ m)/v, v = 0.3² + σ², and the two differ by 2m/v.
//
// A network that learnt nothing has, with the weighting EDM, the loss ½·64 at every level. The exact score given the class has (σ² + D²)/D² · 0.3²/v
// of it, D² = 0.8² + 0.3²: 0.13 at all these levels. Without the class, (σ² + D²)/D² · (0.3²/v + (0.8/v)² σ² E[1 − tanh²]) of it, 0.47 or more from
// σ = 7 on. Less than 32·0.35 is asked for over the last steps, and a difference off by less than a third.
func TestImageNetLearns(t *testing.T) {
	const n, spread, bright = 256, 0.3, 0.8
	noise := rand.New(rand.NewPCG(1, 2))
	x, labels := make([]float32, n*64), make([]int, n)
	mean := func(class, pixel int) float64 {
		if (pixel%8 < 4) == (class == 0) {
			return bright
		}
		return -bright
	}
	for i := range x {
		labels[i/64] = i / 64 % 2
		x[i] = float32(mean(labels[i/64], i%64) + spread*noise.NormFloat64())
	}
	data, err := scorekit.LabelledExamples(tensors.FromFlatDataAndDimensions(x, n, 8, 8, 1), labels)
	if err != nil {
		t.Fatal(err)
	}
	std := math.Sqrt(spread*spread + bright*bright)
	loss := objective.MultiNoise{Min: 4, Max: 20, Weighting: objective.EDM, DataStd: std}
	m := UNet{Channels: []int{8, 8}, Embedding: 16, Classes: 2, DataStd: std}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		f, err := scorekit.Fit(context.Background(), b, m, loss, data, scorekit.WithSteps(200), scorekit.WithBatch(16), scorekit.WithUnroll(1), scorekit.WithClassDropout(0),
			scorekit.WithEMA(0.95), scorekit.WithOptimizer(scorekit.Adam{Rate: scorekit.Rate{Peak: 0.01, Cosine: true, Final: 0.05}}))
		if err != nil {
			t.Fatal(err)
		}
		var last []float64
		for _, s := range f.History()[150:] {
			last = append(last, s.Loss)
		}
		if first := f.History()[0].Loss; !(first > 20) || !(testvalues.Mean(last) < 32*0.35) {
			t.Errorf("loss %v at first and %v in the end: want about 32 and less than %v", first, testvalues.Mean(last), 32*0.35)
		}
		for _, sigma := range []float64{5, 15} {
			left, right := imageScores(t, b, f, 0, sigma), imageScores(t, b, f, 1, sigma)
			off, size := 0.0, 0.0
			for i := range left {
				exact := 2 * mean(0, i%64) / (spread*spread + sigma*sigma)
				size += exact * exact
				off += (left[i] - right[i] - exact) * (left[i] - right[i] - exact)
			}
			if share := math.Sqrt(off / size); !(share < 1.0/3) {
				t.Errorf("σ = %v: the scores given the two classes differ by what is off by %v of its size", sigma, share)
			}
		}
	})
}
