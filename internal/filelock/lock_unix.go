//go:build unix && !aix && !solaris

package filelock

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

func tryLock(file *os.File) (bool, error) {
	for {
		err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		switch {
		case errors.Is(err, unix.EINTR):
		case errors.Is(err, unix.EWOULDBLOCK):
			return false, nil
		case errors.Is(err, errors.ErrUnsupported), errors.Is(err, unix.ENOLCK):
			return true, nil
		default:
			return err == nil, err
		}
	}
}

// release removes the file while it is still locked, as another's file may be there once it is not.
func release(file *os.File) {
	os.Remove(file.Name())
	file.Close()
}
