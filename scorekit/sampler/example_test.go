package sampler_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/backend"
	"github.com/scorekit/lab/scorekit/density"
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
