package autodiff

import (
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/shapes"

	"github.com/scorekit/lab/internal/testbackend"
)

// BenchmarkDotRule times forward and backward of a network 2-128-128-128-2 on 512 points in float32 with this package's
// rule for a matrix product and with GoMLX's.
func BenchmarkDotRule(b *testing.B) {
	ours := graph.VJPRegistration[graph.NodeTypeDot]
	defer func() { graph.VJPRegistration[graph.NodeTypeDot] = ours }()
	open := map[string]backends.Backend{"go": testbackend.Go(b)}
	if x, ok := testbackend.XLA(b); ok {
		open["xla"] = x
	}
	for name, backend := range open {
		for _, rule := range []struct {
			name string
			vjp  graph.VJP
		}{{"matrix products", ours}, {"GoMLX", stock[graph.NodeTypeDot]}} {
			b.Run(name+"/"+rule.name, func(b *testing.B) {
				graph.VJPRegistration[graph.NodeTypeDot] = rule.vjp
				exec, err := graph.NewExec(backend, network)
				if err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					if _, err := exec.Exec(float32(0.2)); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// network returns the sum of the squared slopes with respect to all weights, so that none can be left out. Its points
// and weights depend on the input, so that they are not constants either.
func network(scale *Node) *Node {
	wave := func(n, m int) *Node {
		k := graph.IotaFull(scale.Graph(), shapes.Make(dtypes.Float32, n, m))
		return graph.Mul(graph.Sin(graph.MulScalar(k, 1.7)), scale)
	}
	sizes := []int{2, 128, 128, 128, 2}
	var weights []*Node
	y := wave(512, 2)
	for i := range len(sizes) - 1 {
		w := wave(sizes[i], sizes[i+1])
		weights = append(weights, w)
		y = graph.Dot(y, w)
		if i < len(sizes)-2 {
			y = graph.Mul(y, graph.Sigmoid(y))
		}
	}
	total := graph.ScalarZero(scale.Graph(), dtypes.Float32)
	for _, slope := range graph.Gradient(graph.ReduceAllSum(graph.Square(y)), weights...) {
		total = graph.Add(total, graph.ReduceAllSum(graph.Square(slope)))
	}
	return total
}
