package metric

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
)

var errNoContext = errors.New("ctx nil: must be given")

// stopped returns an error once ctx has ended.
func stopped(ctx context.Context, done, points int) error {
	if ctx.Err() == nil {
		return nil
	}
	return fmt.Errorf("stopped after %d of %d points: %w", done, points, context.Cause(ctx))
}

// parallel calls f for the tasks 0, …, n−1 from as many goroutines as there are processors. What a task computes must
// not depend on which goroutine it is in: results are then the same on any machine. It stops early if ctx ends, with
// its cause as the error; a task that takes long should ask ctx too.
func parallel(ctx context.Context, n int, f func(task int)) error {
	if ctx == nil {
		return errNoContext
	}
	var next atomic.Int64
	var running sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		running.Go(func() {
			for ctx.Err() == nil {
				task := int(next.Add(1)) - 1
				if task >= n {
					return
				}
				f(task)
			}
		})
	}
	running.Wait()
	return context.Cause(ctx)
}
