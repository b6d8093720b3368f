package autodiff_test

import (
	"fmt"
	"log"

	"github.com/gomlx/gomlx/backends/simplego"
	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/scorekit/autodiff"
)

// The score of a Gaussian with standard deviations 1 and 2 is s(x) = (−x₁, −x₂/4). Its divergence is −1 − ¼
// wherever it is taken.
func ExampleDivergence() {
	backend, err := simplego.New("ops_sequential")
	if err != nil {
		log.Fatal(err)
	}
	exec, err := graph.NewExec(backend, func(x *graph.Node) *graph.Node {
		score := graph.Neg(graph.Div(x, graph.Const(x.Graph(), [][]float64{{1, 4}})))
		return autodiff.Divergence(score, x)
	})
	if err != nil {
		log.Fatal(err)
	}
	out, err := exec.Exec([][]float64{{0, 0}, {3, -1}})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(out[0].Value())
	// Output: [-1.25 -1.25]
}
