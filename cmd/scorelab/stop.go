package main

import (
	"context"
	"time"
)

// patience is how long work that was told to stop may take over it where it has nothing to save.
const patience = 1500 * time.Millisecond

// stoppable returns what work returns, or ctx's cause soon after ctx has ended. A graph that is being compiled, or a long
// call of the device, cannot be stopped: when idle, asked then, says that nothing would be lost, the work is left behind, to
// end with the process.
func stoppable[T any](ctx context.Context, idle func() bool, work func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		value, err := work()
		done <- outcome{value, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
	}
	select {
	case o := <-done:
		return o.value, o.err
	case <-time.After(patience):
	}
	if idle() {
		var none T
		return none, context.Cause(ctx)
	}
	o := <-done
	return o.value, o.err
}

// always is for work that writes nothing before it is done.
func always() bool { return true }
