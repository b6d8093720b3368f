package benchmark

import (
	"math"
	"math/rand/v2"

	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/shapes"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit/random"
)

// blobs are images of three spots that run into one another, [28, 28, 1]: with centres cₖ ~ U[6, 22]² and radii rₖ ~ U[2, 4]
// a pixel p is sigmoid(10 (Σₖ exp(−‖p − cₖ‖²/2rₖ²) − ½)).
type blobs struct{}

const blobSide = 28

func (blobs) Shape() []int { return []int{blobSide, blobSide, 1} }

func (blobs) Batch(_ *mlctx.Context, rng *random.Source, n int) *Node {
	between := func(low, high float64, dims ...int) *Node {
		return graph.AddScalar(graph.MulScalar(rng.Uniform(dims...), high-low), low)
	}
	centres, radii := between(6, 22, 2, n, 3, 1), between(2, 4, n, 3, 1)
	grid := graph.Reshape(graph.IotaFull(rng.Graph(), shapes.Make(rng.DType(), blobSide)), 1, 1, 1, blobSide)
	scale := graph.InsertAxes(graph.MulScalar(graph.Reciprocal(graph.Square(radii)), -0.5), 0)
	spots := graph.Exp(graph.Mul(graph.Square(graph.Sub(grid, centres)), scale)) // [2, n, 3, side]
	axis := func(i int) *Node {
		return graph.Reshape(graph.Slice(spots, graph.AxisElem(i)), n, 3, blobSide)
	}
	sum := graph.Einsum("nky,nkx->nyx", axis(0), axis(1))
	image := graph.Sigmoid(graph.MulScalar(graph.AddScalar(sum, -0.5), 10))
	return graph.StopGradient(graph.Reshape(image, n, blobSide, blobSide, 1))
}

// drawBlobs draws n of them on the host.
func drawBlobs(rng *rand.Rand, n int) *tensors.Tensor {
	values := make([]float32, 0, n*blobSide*blobSide)
	for range n {
		var c [3][2]float64
		var r [3]float64
		for k := range c {
			c[k] = [2]float64{6 + 16*rng.Float64(), 6 + 16*rng.Float64()}
			r[k] = 2 + 2*rng.Float64()
		}
		for y := range blobSide {
			for x := range blobSide {
				sum := 0.0
				for k := range c {
					dy, dx := float64(y)-c[k][0], float64(x)-c[k][1]
					sum += math.Exp(-(dy*dy + dx*dx) / (2 * r[k] * r[k]))
				}
				values = append(values, float32(1/(1+math.Exp(-10*(sum-0.5)))))
			}
		}
	}
	return tensors.FromFlatDataAndDimensions(values, n, blobSide, blobSide, 1)
}
