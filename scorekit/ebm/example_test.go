package ebm_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/gomlx/gomlx/pkg/core/graph"

	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/backend"
	"github.com/scorekit/lab/scorekit/ebm"
)

// E(x) = ½x² − 1000 is the energy of N(0, 1), as ½x² is. Its e^{−E} is +Inf at every point, and so is their sum; in
// logarithms the partition function is 1000 + ½ log 2π, and the density is that of N(0, 1). Annealed importance sampling
// finds the same, up to its standard error, and would in a hundred dimensions.
func Example() {
	b, err := backend.OpenConfig("go")
	if err != nil {
		log.Fatal(err)
	}
	energy := scorekit.Energy(func(_ *mlctx.Context, x, _ *ebm.Node) *ebm.Node {
		return graph.AddScalar(graph.MulScalar(graph.ReduceSum(graph.Square(x), 1), 0.5), -1000)
	})
	ctx := context.Background()

	sum := 0.0
	for i := range 2000 {
		x := -10 + 0.01*float64(i)
		sum += 0.01 * math.Exp(-(0.5*x*x - 1000))
	}
	fmt.Printf("e^{−E} summed: Z = %v\n", sum)

	p, err := ebm.LogPartition(ctx, b, energy, ebm.Box{Low: []float64{-10}, High: []float64{10}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("by quadrature: log Z = %.6f\n", p.LogZ)

	a, err := ebm.AnnealedImportance(ctx, b, energy, 1000, ebm.Annealing{Mean: []float64{0}, Std: 2, Levels: 50, StepSize: 0.5, Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("by annealing:  within 3 standard errors: %v\n", math.Abs(a.LogZ-p.LogZ) < 3*a.StandardError)

	logs, err := ebm.LogDensity(context.Background(), b, energy, [][]float64{{0}, {1}}, p.LogZ)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("log p at 0 and 1: %.4f\n", logs)
	// Output:
	// e^{−E} summed: Z = +Inf
	// by quadrature: log Z = 1000.918939
	// by annealing:  within 3 standard errors: true
	// log p at 0 and 1: [-0.9189 -1.4189]
}
