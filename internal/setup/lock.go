package setup

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/scorekit/lab/internal/filelock"
)

const lockName = "lock"

// lock waits until no other set-up works in the folder, and keeps others out until unlock or the end of the process,
// however it ends. Waiting is told to out and ends with ctx.
func lock(ctx context.Context, setup string, out io.Writer) (unlock func(), err error) {
	for told := false; ; told = true {
		unlock, locked, err := filelock.Try(in(setup, lockName))
		if err != nil {
			return nil, explain(err)
		}
		if locked {
			return unlock, nil
		}
		if !told {
			fmt.Fprintf(out, "Waiting for another set-up at work in %s …\n", setup)
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(200 * time.Millisecond):
		}
	}
}
