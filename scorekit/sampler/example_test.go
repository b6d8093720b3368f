package sampler_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/backend"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/metric"
	"github.com/scorekit/lab/scorekit/sampler"
)

// Langevin chains on N(3, 0.5²). The step makes their standard deviation a little too large: √(v/(1 − ε/(2v))) = 0.53
// for v = 0.25 and ε = 0.05.
func Example() {
	b, err := backend.OpenConfig("go")
	if err != nil {
		log.Fatal(err)
	}
	p, err := density.Isotropic([]float64{3}, 0.5)
	if err != nil {
		log.Fatal(err)
	}
	draws, err := scorekit.Sample(context.Background(), b, p, sampler.Langevin{StepSize: 0.05, Steps: 100}, 5000)
	if err != nil {
		log.Fatal(err)
	}
	rows, err := scorekit.Rows(draws.X)
	if err != nil {
		log.Fatal(err)
	}
	var sum, squares float64
	for _, x := range rows {
		sum += x[0]
		squares += x[0] * x[0]
	}
	mean := sum / float64(len(rows))
	fmt.Printf("mean %.1f, standard deviation %.1f\n", mean, math.Sqrt(squares/float64(len(rows))-mean*mean))
	// Output:
	// mean 3.0, standard deviation 0.5
}

// MALA draws from a law that is known up to a constant without error of the step. The first 200 steps tune it; what is
// kept after them tells whether the chains agree.
func ExampleMALA() {
	b, err := backend.OpenConfig("go")
	if err != nil {
		log.Fatal(err)
	}
	p, err := density.NewGaussian([]float64{1, -2}, [][]float64{{1, 0.5}, {0.5, 2}})
	if err != nil {
		log.Fatal(err)
	}
	mala := sampler.MALA{LogDensity: p.LogDensity, StepSize: 0.01, Adapt: 200, Steps: 700}
	draws, err := scorekit.Sample(context.Background(), b, p, mala, 20, scorekit.WithBurnIn(200), scorekit.WithThinning(1))
	if err != nil {
		log.Fatal(err)
	}
	trace, err := metric.Trace(draws.Kept, 1)
	if err != nil {
		log.Fatal(err)
	}
	agree, err := metric.RHat(context.Background(), trace)
	if err != nil {
		log.Fatal(err)
	}
	size, err := metric.EffectiveSampleSize(context.Background(), trace)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("acceptance %.1f, R̂ %.1f, enough draws: %t\n", draws.Info["acceptance"], agree, size > 1000)
	// Output:
	// acceptance 0.6, R̂ 1.0, enough draws: true
}
