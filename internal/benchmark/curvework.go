package benchmark

import (
	"context"

	"github.com/gomlx/gomlx/backends"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit/autodiff"
	"github.com/scorekit/lab/scorekit/net"
	"github.com/scorekit/lab/scorekit/objective"
	"github.com/scorekit/lab/scorekit/random"
)

// curveWidth is that of the two hidden layers of the curves' network.
const curveWidth = 128

// normals are draws from N(0, I) in so many dimensions: data that cost next to nothing, however many they are.
type normals int

func (d normals) Shape() []int { return []int{int(d)} }

func (d normals) Batch(_ *mlctx.Context, rng *random.Source, n int) *Node {
	return rng.Normal(n, int(d))
}

// begin starts the work of a point.
func (p point) begin(ctx context.Context, b backends.Backend, r Request) (work, error) {
	switch p.work {
	case "langevin":
		n := p.numbers["chains"]
		return beginLangevin(ctx, b, r, n, 100_000, chunkOf(1e6, float64(n), 1000))
	case "kde":
		return beginKernels(ctx, b, r, 2, p.numbers["centres"], p.numbers["points"])
	}
	d := p.numbers["d"]
	t := training{
		model: net.MLP{Hidden: []int{curveWidth, curveWidth}, Activation: net.Tanh}, data: toy(normals(d)),
		batch: p.numbers["batch"], flops: p.flops() / float64(p.numbers["batch"]), chunk: chunkOf(4e9, p.flops(), 96),
	}
	switch p.work {
	case "exact":
		t.objective = objective.Implicit{MaxDim: d}
		// Directions go through the layers in groups, and each group of each step in a call must be compiled.
		t.unroll = min(max(16/d, 1), 5)
	case "hutchinson":
		t.objective = probes(1)
	case "sliced":
		t.objective = objective.Sliced{Projections: 1, Kind: autodiff.Gaussian}
	default:
		t.objective = objective.Denoising{Sigma: 0.5, Weighted: true}
	}
	return t.begin(ctx, b, r)
}

// chunkOf is how many steps are done between two waits for the device: as many as take about a tenth of a second, by
// their cost, and not more than most.
func chunkOf(total, cost float64, most int) int {
	return min(max(int(total/cost), 1), most)
}
