//go:build unix

package atomicfile

import (
	"errors"
	"os"
	"syscall"
)

// syncFolder flushes the folder's entries, and with them a rename, to the disk.
func syncFolder(folder string) error {
	dir, err := os.Open(folder)
	if errors.Is(err, os.ErrPermission) {
		// A folder may be writable and searchable without being readable: nothing to flush it by.
		return nil
	}
	if err != nil {
		return err
	}
	err = dir.Sync()
	// Some file systems cannot flush a folder and say so by these.
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	return errors.Join(err, dir.Close())
}
