package sde

import (
	"math"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
)

// The arctangent of graphs is math's to the rounding of a dozen operations, over 20 powers of ten.
func TestArctangent(t *testing.T) {
	x := []float64{0, 0.5, 1, 1.5, 3}
	for e := -10.0; e <= 10; e += 0.37 {
		x = append(x, math.Pow(10, e))
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.Run(t, b, func(g *graph.Graph) []*Node { return []*Node{node{graph.Const(g, x)}.atan().Node} })
		for i, x := range x {
			testvalues.NearNumber(t, "arctangent", got[0][i], math.Atan(x), 3e-15)
		}
	})
}
