package random_test

import (
	"fmt"
	"log"

	"github.com/gomlx/gomlx/backends/simplego"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/scorekit/random"
)

// A graph takes the random state, draws, and returns the state for the next call.
func Example() {
	backend, err := simplego.New("ops_sequential")
	if err != nil {
		log.Fatal(err)
	}
	exec, err := graph.NewExec(backend, func(state *graph.Node) (mean, next *graph.Node) {
		rng := random.New(state, dtypes.Float64, 1)
		return graph.ReduceAllMean(graph.Square(rng.Normal(1000, 100))), rng.State()
	})
	if err != nil {
		log.Fatal(err)
	}
	state, err := random.Seed(42)
	if err != nil {
		log.Fatal(err)
	}
	for range 2 {
		out, err := exec.Exec(state)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("mean of z²: %.1f\n", out[0].Value())
		state = out[1]
	}
	// Output:
	// mean of z²: 1.0
	// mean of z²: 1.0
}
