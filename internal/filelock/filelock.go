// Package filelock keeps two processes, or two users inside one, from working in the same folder.
//
// A lock belongs to an open file, and the system takes it back when the process ends, however it ends: nothing has to be
// tidied up after a crash, and a lock file that a killed process left lying about locks nobody out.
package filelock

import (
	"fmt"
	"os"
	"sync"
)

// Try locks the file at path, which it makes if need be; its folder must exist. It returns false, without waiting, when
// somebody else has the file locked, this process included. The lock is held until unlock, which removes the file and
// may be called more than once, or the end of the process. On a file system without locks everybody gets the lock.
func Try(path string) (unlock func(), locked bool, err error) {
	for {
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			return nil, false, err
		}
		locked, err := tryLock(file)
		if err != nil {
			file.Close()
			return nil, false, fmt.Errorf("locking %s: %w", path, err)
		}
		if !locked {
			file.Close()
			return nil, false, nil
		}
		// Whoever held the lock may have removed the file between the two calls: this lock would keep nobody out.
		if inPlace(file, path) {
			return sync.OnceFunc(func() { release(file) }), true, nil
		}
		file.Close()
	}
}

func inPlace(file *os.File, path string) bool {
	opened, err := file.Stat()
	if err != nil {
		return false
	}
	now, err := os.Stat(path)
	return err == nil && os.SameFile(opened, now)
}
