package implicit_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/backend"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/implicit"
	"github.com/scorekit/lab/scorekit/net"
	"github.com/scorekit/lab/scorekit/objective"
)

// A linear generator is trained towards N(1, 2²), whose score is all that is asked of it. With the entropy it finds mean
// and width; without it all of its points meet at the mean.
func Example() {
	b, err := backend.OpenConfig("go")
	if err != nil {
		log.Fatal(err)
	}
	target, err := density.Isotropic([]float64{1}, 2)
	if err != nil {
		log.Fatal(err)
	}
	for _, weight := range []float64{1, 0} {
		fitted, err := implicit.Fit(context.Background(), b, implicit.ReverseKL{
			Generator: implicit.Linear{Inputs: 1, Outputs: 1},
			Target:    target,
			Law:       implicit.Learned{Network: net.Linear{}, Objective: objective.Implicit{}, Steps: 3, Rate: 0.02},
			Entropy:   weight,
		}, scorekit.WithSteps(800), scorekit.WithEMA(0.98),
			scorekit.WithOptimizer(scorekit.Adam{Rate: scorekit.Rate{Peak: 0.02, Cosine: true}}))
		if err != nil {
			log.Fatal(err)
		}
		points, err := implicit.Draws(fitted)
		if err != nil {
			log.Fatal(err)
		}
		x, err := scorekit.Draw(context.Background(), b, points, 10_000, 1)
		if err != nil {
			log.Fatal(err)
		}
		rows, err := scorekit.Rows(x)
		if err != nil {
			log.Fatal(err)
		}
		var mean, square float64
		for _, r := range rows {
			mean += r[0] / float64(len(rows))
			square += r[0] * r[0] / float64(len(rows))
		}
		std := math.Sqrt(max(0, square-mean*mean))
		fmt.Printf("entropy weighed by %g: mean %.1f, standard deviation %.1f\n", weight, mean, std)
	}
	// Output:
	// entropy weighed by 1: mean 1.0, standard deviation 2.0
	// entropy weighed by 0: mean 1.0, standard deviation 0.0
}
