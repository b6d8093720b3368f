//go:build unix

package setup

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// tryLock locks the file, or returns false when another process has it locked.
func tryLock(file *os.File) (bool, error) {
	err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, unix.EINTR) {
		return false, nil
	}
	return err == nil, err
}
