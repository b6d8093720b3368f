package benchmark

import (
	"context"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/data"
	"github.com/scorekit/lab/scorekit/kde"
)

// kernels is the score of a kernel density estimate at many points. A step is all pairs of a point and a centre.
type kernels struct {
	ctx      context.Context
	backend  backends.Backend
	estimate kde.Estimate
	centres  [][]float64
	points   data.Set
	d        int
	scores   *tensors.Tensor
}

const kernelWidth = 0.2

func beginKernels(ctx context.Context, b backends.Backend, r Request, d, nCentres, nPoints int) (work, error) {
	draw := ring.Sample
	if d > 2 {
		draw = gauss(d).Sample
	}
	centres, err := draw(nCentres, 2*r.Seed)
	if err != nil {
		return nil, err
	}
	points, err := draw(nPoints, 2*r.Seed+1)
	if err != nil {
		return nil, err
	}
	estimate, err := kde.New(centres.X, kde.Gaussian, kde.Fixed(kernelWidth))
	if err != nil {
		return nil, err
	}
	return &kernels{ctx: ctx, backend: b, estimate: estimate, centres: centres.Rows(), points: points, d: d}, nil
}

func (k *kernels) size() (items, flops float64) {
	pairs := float64(len(k.centres)) * float64(k.points.X.Shape().Dimensions[0])
	return pairs, 4 * pairs * float64(k.d)
}

func (k *kernels) close() {}

func (k *kernels) advance() (steps int, err error) {
	k.scores, err = k.estimate.ScoreAt(k.ctx, k.backend, k.points.X)
	return 1, err
}

func (k *kernels) judge(context.Context) (map[string]float64, error) {
	return judgeKernels(k.centres, k.points.Rows(), k.scores)
}
