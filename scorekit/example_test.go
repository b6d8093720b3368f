package scorekit_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"
	"github.com/gomlx/gomlx/pkg/ml/layers"

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
	scores, err := scorekit.Evaluate(ctx, b, fitted, [][]float64{{1}, {2}, {3}})
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

// A function of one's own that builds a GoMLX graph is a model as it is: trained, evaluated, saved, and loaded by giving
// the function again, since a file cannot hold it. Here it is a network of GoMLX's own layers, which learns the score of
// N(0, 1), −x, from draws alone.
func ExampleScore() {
	own := scorekit.Score(func(vars *mlctx.Context, x, _ *scorekit.Node) *scorekit.Node {
		h := graph.Tanh(layers.Dense(vars.In("hidden"), x, true, 16))
		return layers.Dense(vars.In("out"), h, true, 1)
	})

	b, err := backend.OpenConfig("go")
	if err != nil {
		log.Fatal(err)
	}
	p, err := density.Isotropic([]float64{0}, 1)
	if err != nil {
		log.Fatal(err)
	}
	fitted, err := scorekit.Fit(context.Background(), b, own, objective.Implicit{}, p,
		scorekit.WithSteps(600), scorekit.WithOptimizer(scorekit.Adam{Rate: scorekit.Rate{Peak: 0.01, Cosine: true}}))
	if err != nil {
		log.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "example")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "own.safetensors")
	if err := fitted.Save(path); err != nil {
		log.Fatal(err)
	}
	loaded, err := scorekit.LoadInto(path, own)
	if err != nil {
		log.Fatal(err)
	}
	scores, err := scorekit.Evaluate(context.Background(), b, loaded, [][]float64{{-1}, {0}, {1}})
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
	fmt.Println("learned to within 0.1:", largest < 0.1)
	// Output:
	// learned to within 0.1: true
}
