package benchmark

import (
	"context"
	"math/rand/v2"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
)

// product is the product of two matrices of float32: what the machine can do at its best.
type product struct {
	exec *graph.Exec
	a, b *tensors.Tensor
}

const productSize = 2048

func beginProduct(b backends.Backend) (work, error) {
	exec, err := graph.NewExec(b, func(x, y *graph.Node) *graph.Node {

		return graph.Dot(x, y)
	})
	if err != nil {
		return nil, err
	}
	rng := rand.New(rand.NewPCG(1, 2))
	matrix := func() *tensors.Tensor {
		values := make([]float32, productSize*productSize)
		for i := range values {
			values[i] = float32(rng.NormFloat64())
		}
		return tensors.FromFlatDataAndDimensions(values, productSize, productSize)
	}
	return &product{exec, matrix(), matrix()}, nil
}

func (p *product) size() (items, flops float64) {
	return 1, 2 * productSize * productSize * productSize
}

func (p *product) close() { p.exec.Finalize() }

func (p *product) advance() (int, error) {
	out, err := p.exec.Exec1(p.a, p.b)
	if err != nil {
		return 0, err
	}
	if err := out.ConstFlatData(func(any) {}); err != nil { // waits for the device
		return 0, err
	}
	return 1, out.FinalizeAll()
}

func (p *product) judge(context.Context) (map[string]float64, error) { return nil, nil }
