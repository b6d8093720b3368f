//go:build linux || darwin

package disktest

import (
	"os/signal"
	"testing"

	"golang.org/x/sys/unix"
)

const canLimit = true

// limit limits the size of the files that this process and its children write. The system answers with an error, and with a
// signal that would end the process.
func limit(t *testing.T, room int) (free func()) {
	t.Helper()
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &before); err != nil {
		t.Fatal(err)
	}
	signal.Ignore(unix.SIGXFSZ)
	now := before
	now.Cur = uint64(room)
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &now); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &before); err != nil {
			t.Error(err)
		}
		signal.Reset(unix.SIGXFSZ)
	}
}
