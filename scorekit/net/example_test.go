package net_test

import (
	"context"
	"fmt"
	"log"

	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/backend"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/net"
	"github.com/scorekit/lab/scorekit/objective"
)

// A small network learns the score of N(2, 1) noised with σ = 1, which is (2 − x)/2: it points to the mean from
// both sides.
func Example() {
	b, err := backend.OpenConfig("go")
	if err != nil {
		log.Fatal(err)
	}
	p, err := density.Isotropic([]float64{2}, 1)
	if err != nil {
		log.Fatal(err)
	}
	model := net.MLP{Hidden: []int{16}, Activation: net.Tanh}
	fitted, err := scorekit.Fit(context.Background(), b, model, objective.Denoising{Sigma: 1}, p,
		scorekit.WithSteps(300), scorekit.WithOptimizer(scorekit.Adam{Rate: scorekit.Rate{Peak: 0.02, Cosine: true}}))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(fitted.NumParameters(), "weights")
	scores, err := scorekit.Evaluate(context.Background(), b, fitted, [][]float64{{0}, {1}, {4}})
	if err != nil {
		log.Fatal(err)
	}
	rows, err := scorekit.Rows(scores)
	if err != nil {
		log.Fatal(err)
	}
	for i, x := range []float64{0, 1, 4} {
		fmt.Printf("x = %g  score about %.1f, exact %g\n", x, rows[i][0], (2-x)/2)
	}
	// Output:
	// 49 weights
	// x = 0  score about 1.0, exact 1
	// x = 1  score about 0.5, exact 0.5
	// x = 4  score about -1.0, exact -1
}

// A quadratic energy finds the precision matrix of a Gaussian from draws alone: P is read in one line.
func ExampleQuadratic_Coefficients() {
	b, err := backend.OpenConfig("go")
	if err != nil {
		log.Fatal(err)
	}
	p, err := density.NewGaussian([]float64{1, -1}, [][]float64{{2, 1}, {1, 1}}) // its precision is [1 -1; -1 2]
	if err != nil {
		log.Fatal(err)
	}
	fitted, err := scorekit.Fit(context.Background(), b, net.Quadratic{}, objective.Implicit{}, p, scorekit.WithSteps(1000),
		scorekit.WithBatch(512), scorekit.WithOptimizer(scorekit.Adam{Rate: scorekit.Rate{Peak: 0.02, Cosine: true}}))
	if err != nil {
		log.Fatal(err)
	}
	precision, _, err := net.Quadratic{}.Coefficients(fitted)
	if err != nil {
		log.Fatal(err)
	}
	for _, row := range precision {
		fmt.Printf("%.1f\n", row)
	}
	// Output:
	// [1.0 -1.0]
	// [-1.0 2.0]
}

// A mixture finds the two humps of a density from draws alone, and is a density itself.
func ExampleMixtureEnergy_Coefficients() {
	b, err := backend.OpenConfig("go")
	if err != nil {
		log.Fatal(err)
	}
	left, err := density.Isotropic([]float64{-1}, 1)
	if err != nil {
		log.Fatal(err)
	}
	right, err := density.Isotropic([]float64{2}, 0.5)
	if err != nil {
		log.Fatal(err)
	}
	p, err := density.NewMixture([]float64{0.7, 0.3}, left, right)
	if err != nil {
		log.Fatal(err)
	}
	fitted, err := scorekit.Fit(context.Background(), b, net.MixtureEnergy{Components: 2, Spread: 2}, objective.Implicit{}, p, scorekit.WithSteps(2000),
		scorekit.WithBatch(512), scorekit.WithOptimizer(scorekit.Adam{Rate: scorekit.Rate{Peak: 0.05, Cosine: true}}))
	if err != nil {
		log.Fatal(err)
	}
	weights, means, stds, err := net.MixtureEnergy{}.Coefficients(fitted)
	if err != nil {
		log.Fatal(err)
	}
	for k, w := range weights {
		fmt.Printf("weight %.1f  mean %.1f  standard deviation %.1f\n", w, means[k][0], stds[k][0])
	}
	// Unordered output:
	// weight 0.7  mean -1.0  standard deviation 1.0
	// weight 0.3  mean 2.0  standard deviation 0.5
}
