package scorekit_test

import (
	"context"
	"fmt"
	"iter"
	"log"
	"math/rand/v2"

	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/backend"
	"github.com/scorekit/lab/scorekit/objective"
)

// meter is a source that makes up its numbers: in place of it a program of one's own may read a file or ask an instrument.
// Each batch has a generator of its own, so that a resumed run can begin anywhere.
type meter struct{}

func (meter) Shape() []int { return []int{1} }

func (meter) Batches(ctx context.Context, seed int64, n int, from int) iter.Seq2[scorekit.SourceBatch, error] {
	return func(yield func(scorekit.SourceBatch, error) bool) {
		for batch := from; ctx.Err() == nil; batch++ {
			rng := rand.New(rand.NewPCG(uint64(seed), uint64(batch)))
			values := make([]float64, n)
			for i := range values {
				values[i] = 3 + rng.NormFloat64()
			}
			if !yield(scorekit.SourceBatch{X: tensors.FromFlatDataAndDimensions(values, n, 1)}, nil) {
				return
			}
		}
		yield(scorekit.SourceBatch{}, ctx.Err())
	}
}

// A straight line, trained on numbers that come as the training goes on: those of N(3, 1), whose score with noise of level 1
// is (3 − x)/2.
func ExampleStream() {
	b, err := backend.OpenConfig("go")
	if err != nil {
		log.Fatal(err)
	}
	data, err := scorekit.Stream(meter{})
	if err != nil {
		log.Fatal(err)
	}
	fitted, err := scorekit.Fit(context.Background(), b, scorekit.Score(linear), objective.Denoising{Sigma: 1}, data,
		scorekit.WithSteps(500), scorekit.WithBatch(512), scorekit.WithOptimizer(scorekit.Adam{Rate: scorekit.Rate{Peak: 0.05, Cosine: true}}))
	if err != nil {
		log.Fatal(err)
	}
	scores, err := scorekit.Evaluate(context.Background(), b, fitted, [][]float64{{1}, {5}})
	if err != nil {
		log.Fatal(err)
	}
	rows, err := scorekit.Rows(scores)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("s(1) = %.1f, s(5) = %.1f\n", rows[0][0], rows[1][0])
	// Output:
	// s(1) = 1.0, s(5) = -1.0
}
