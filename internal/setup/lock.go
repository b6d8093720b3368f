package setup

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

const lockName = "lock"

// lock waits until no other set-up works in the folder, and keeps others out until unlock or the end of the process,
// however it ends. Waiting is told to out and ends with ctx.
func lock(ctx context.Context, setup string, out io.Writer) (unlock func(), err error) {
	file, err := os.OpenFile(in(setup, lockName), os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, explain(err)
	}
	for told := false; ; told = true {
		ok, err := tryLock(file)
		if err != nil {
			file.Close()
			return nil, fmt.Errorf("locking %s: %w", file.Name(), err)
		}
		if ok {
			return sync.OnceFunc(func() { file.Close() }), nil
		}
		if !told {
			fmt.Fprintf(out, "Waiting for another set-up at work in %s …\n", setup)
		}
		select {
		case <-ctx.Done():
			file.Close()
			return nil, context.Cause(ctx)
		case <-time.After(200 * time.Millisecond):
		}
	}
}
