package scorekit_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/backend"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/net"
	"github.com/scorekit/lab/scorekit/objective"
	"github.com/scorekit/lab/scorekit/sampler"
)

// The score of N(2, 0.6²), learned from draws of it, and new draws made with what was learned. What is learned is the
// score of the draws blurred with σ = 0.8, N(2, 0.6² + 0.8²) = N(2, 1), which is 2 − x.
func Example() {
	ctx := context.Background()
	b, err := backend.OpenConfig("go")
	if err != nil {
		log.Fatal(err)
	}
	p, err := density.Isotropic([]float64{2}, 0.6)
	if err != nil {
		log.Fatal(err)
	}
	fitted, err := scorekit.Fit(ctx, b, net.MLP{Hidden: []int{32}}, objective.Denoising{Sigma: 0.8}, p,
		scorekit.WithSteps(500), scorekit.WithOptimizer(scorekit.Adam{Rate: scorekit.Rate{Peak: 0.01, Cosine: true}}))
	if err != nil {
		log.Fatal(err)
	}
	scores, err := scorekit.Evaluate(b, fitted, [][]float64{{1}, {2}, {3}})
	if err != nil {
		log.Fatal(err)
	}
	learned, err := scorekit.Rows(scores)
	if err != nil {
		log.Fatal(err)
	}
	largest := 0.0
	for i, exact := range []float64{1, 0, -1} {
		largest = max(largest, math.Abs(learned[i][0]-exact))
	}
	fmt.Println("learned to within 0.05:", largest < 0.05)

	draws, err := scorekit.Sample(ctx, b, fitted, sampler.Langevin{StepSize: 0.05, Steps: 200}, 4000)
	if err != nil {
		log.Fatal(err)
	}
	rows, err := scorekit.Rows(draws.X)
	if err != nil {
		log.Fatal(err)
	}
	mean := 0.0
	for _, x := range rows {
		mean += x[0] / float64(len(rows))
	}
	fmt.Println("mean of the draws within 0.1 of 2:", math.Abs(mean-2) < 0.1)
	// Output:
	// learned to within 0.05: true
	// mean of the draws within 0.1 of 2: true
}
