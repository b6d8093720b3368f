package testvalues

import (
	"context"
	"sync/atomic"
)

// ending is a context that ends when it has been asked so often.
type ending struct {
	context.Context
	asked *atomic.Int64
	end   int64
}

// EndingAt returns a context that ends when it is asked for the end-th time whether it has: what looks at it before each of
// its blocks is stopped before block number end, counted from 1, on any machine.
func EndingAt(end int64) context.Context {
	return ending{context.Background(), new(atomic.Int64), end}
}

func (e ending) Err() error {
	if e.asked.Add(1) >= e.end {
		return context.Canceled
	}
	return nil
}
