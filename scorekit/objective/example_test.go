package objective_test

import (
	"fmt"
	"log"

	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/scorekit/backend"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/objective"
	"github.com/scorekit/lab/scorekit/random"
)

// The denoising loss of the exact score, at one point with three draws of the noise. It is not zero, because the noise
// cannot be told from the noised point: over all points and noise it averages to the floor, and no score does better.
func Example() {
	p, err := density.Isotropic([]float64{0}, 1)
	if err != nil {
		log.Fatal(err)
	}
	loss := objective.Denoising{Sigma: 0.5}
	b, err := backend.OpenConfig("go")
	if err != nil {
		log.Fatal(err)
	}
	losses, err := graph.ExecOnce(b, func(x, z *objective.Node) *objective.Node {
		return loss.Loss(nil, random.Listed(x.Graph(), z), p.Score, x)
	}, [][]float64{{1}, {1}, {1}}, [][]float64{{-1}, {0}, {1}})
	if err != nil {
		log.Fatal(err)
	}
	floor, err := loss.Floor(1, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("losses %.2f, floor %.2f\n", losses.Value(), floor)
	// Output:
	// losses [2.88 0.32 0.32], floor 1.60
}
