package metric_test

import (
	"fmt"
	"log"

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
	f, err := metric.FisherDivergence(b, p, q, [][]float64{{-1}, {1}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("Fisher divergence %.5f, relative %.4f\n", f.Divergence, f.Relative)

	here := tensors.FromValue([][]float64{{0}, {1}, {2}})
	there := tensors.FromValue([][]float64{{4}, {5}, {3}})
	d, err := metric.Sliced{}.Distance(here, there)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("sliced Wasserstein %.3f\n", d)
	// Output:
	// Fisher divergence 0.28125, relative 0.5625
	// sliced Wasserstein 3.000
}
