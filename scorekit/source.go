package scorekit

import (
	"context"
	"iter"

	"github.com/gomlx/gomlx/pkg/core/tensors"
)

// Source gives examples from outside the graph, a batch at a time: a file larger than memory, a folder of images, a program
// of one's own. [Stream] makes training data of it.
type Source interface {
	// Shape returns the dimensions of one example, without the batch axis.
	Shape() []int
	// Batches gives the examples in the order that training takes them, n at a time, for ever: pass after pass over
	// what there is. The order follows from seed alone. from is the number of batches to leave out first, so that a
	// resumed run goes on where it was. An error, a cancelled ctx included, is given as the last pair.
	Batches(ctx context.Context, seed int64, n int, from int) iter.Seq2[SourceBatch, error]
}

// SourceBatch is a batch of examples on the host.
type SourceBatch struct {
	X       *tensors.Tensor // [n, dims...], float32 or float64; it belongs to the taker
	Classes []int32         // the class of each, or nil where there are none
}
