package likelihood_test

import (
	"context"
	"fmt"
	"log"

	"github.com/scorekit/lab/scorekit/backend"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/likelihood"
	"github.com/scorekit/lab/scorekit/sde"
)

// The log-density of two points of N(0, I) in three dimensions, from its score alone: −‖x‖²/2 − 3 ln √(2π) is −2.7568 and
// −4.2568. Data of variance 1 keep it on their way through sde.VP, so that its prior is exact here.
func Example() {
	b, err := backend.OpenConfig("go")
	if err != nil {
		log.Fatal(err)
	}
	p, err := density.Isotropic([]float64{0, 0, 0}, 1)
	if err != nil {
		log.Fatal(err)
	}
	points := [][]float64{{0, 0, 0}, {1, 1, -1}}
	r, err := likelihood.LogDensity(context.Background(), b, p, points, likelihood.Settings{SDE: sde.VP{}})
	if err != nil {
		log.Fatal(err)
	}
	for i, nats := range r.LogDensity {
		fmt.Printf("%v: %.4f nats, %.4f bits per dimension\n", points[i], nats, likelihood.BitsPerDim(nats, 3))
	}
	// Output:
	// [0 0 0]: -2.7568 nats, 1.3257 bits per dimension
	// [1 1 -1]: -4.2568 nats, 2.0471 bits per dimension
}
