package density_test

import (
	"fmt"
	"log"

	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/scorekit/backend"
	"github.com/scorekit/lab/scorekit/density"
)

// A mixture of two modes, 3 apart on either side of the origin, and its score at three points: it points to the mode
// that is near, and nowhere (but back to the axis) half-way.
func Example() {
	left, err := density.Isotropic([]float64{-3, 0}, 1)
	if err != nil {
		log.Fatal(err)
	}
	right, err := density.Isotropic([]float64{3, 0}, 1)
	if err != nil {
		log.Fatal(err)
	}
	p, err := density.NewMixture([]float64{1, 1}, left, right)
	if err != nil {
		log.Fatal(err)
	}

	b, err := backend.OpenConfig("go")
	if err != nil {
		log.Fatal(err)
	}
	at := [][]float64{{-2, 0}, {0, 1}, {4, 1}}
	logs, err := graph.ExecOnce(b, p.LogDensity, at)
	if err != nil {
		log.Fatal(err)
	}
	scores, err := graph.ExecOnce(b, func(x *density.Node) *density.Node { return p.Score(nil, x, nil) }, at)
	if err != nil {
		log.Fatal(err)
	}
	for i, x := range at {
		fmt.Printf("x %v  log p %.3f  score %.3f\n", x, logs.Value().([]float64)[i], scores.Value().([][]float64)[i])
	}
	// Output:
	// x [-2 0]  log p -3.031  score [-1.000 0.000]
	// x [0 1]  log p -6.838  score [0.000 -1.000]
	// x [4 1]  log p -3.531  score [-1.000 -1.000]
}
