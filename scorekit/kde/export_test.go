package kde

import (
	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
)

var SizeOf = sizeOf

// Few says at which of the points, no more than a block, few centres are found to count; nil where the estimate is not tried so.
func (q Estimate) Few(backend backends.Backend, dtype dtypes.DType, points [][]float64) ([]bool, error) {
	f, err := q.newFew(kind{backend, dtype, len(points), false})
	if f == nil || err != nil {
		return nil, err
	}
	defer f.greatest.Finalize()
	_, did, err := f.run(points, func(done, of int) error { return nil })
	return did, err
}
