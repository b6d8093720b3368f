package backend_test

import (
	"fmt"

	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/scorekit/backend"
)

// Most programs call Open, which takes the best backend of the machine; this one asks for pure Go.
func Example() {
	b, err := backend.OpenConfig("go")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(backend.Describe(b))
	norm, err := graph.ExecOnce(b, func(x *graph.Node) *graph.Node { return graph.L2Norm(x, 0) }, []float64{3, 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(norm.Value())
	// Output:
	// pure Go, as asked for
	// [5]
}
