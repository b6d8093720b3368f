package metric_test

import (
	"context"
	"fmt"
	"log"
	"math"

	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/scorekit/backend"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/metric"
)

// The score of N(0, 1) is −x, that of N(0, 4) is −x/4: they differ by ¾x. On points with a mean square of 1 the Fisher
// divergence is ½(¾)², and relative to ½E‖s_p‖² = ½ it is (¾)².
//
// Two sets of points on a line, one 3 to the right of the other, are 3 apart.
func Example() {
	b, err := backend.OpenConfig("go")
	if err != nil {
		log.Fatal(err)
	}
	p, err := density.Isotropic([]float64{0}, 1)
	if err != nil {
		log.Fatal(err)
	}
	q, err := density.Isotropic([]float64{0}, 2)
	if err != nil {
		log.Fatal(err)
	}
	f, err := metric.FisherDivergence(context.Background(), b, p, q, [][]float64{{-1}, {1}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("Fisher divergence %.5f, relative %.4f\n", f.Divergence, f.Relative)

	here := tensors.FromValue([][]float64{{0}, {1}, {2}})
	there := tensors.FromValue([][]float64{{4}, {5}, {3}})
	d, err := metric.Sliced{}.Distance(context.Background(), here, there)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("sliced Wasserstein %.3f\n", d)
	// Output:
	// Fisher divergence 0.28125, relative 0.5625
	// sliced Wasserstein 3.000
}

// Two sets of 60 points on a circle, the second turned by half a step: the same distribution. Squeezed to an ellipse it
// is another, with the same mean. The energy distance is estimated without bias, and the test says which difference is
// one.
func ExampleEnergy_Test() {
	ring := func(turn, width float64) (points [][]float64) {
		for i := range 60 {
			a := 2 * math.Pi * (float64(i) + turn) / 60
			points = append(points, []float64{math.Cos(a), width * math.Sin(a)})
		}
		return points
	}
	for _, width := range []float64{1, 0.3} {
		r, err := metric.Energy{}.Test(context.Background(), ring(0, 1), ring(0.5, width))
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("width %v: different at the level 0.05: %v\n", width, r.P <= 0.05)
	}
	// Output:
	// width 1: different at the level 0.05: false
	// width 0.3: different at the level 0.05: true
}
