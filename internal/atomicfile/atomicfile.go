// Package atomicfile writes a file so that a reader, or a crash at any moment, meets either the old content or the new
// one, never a part of it.
//
// The content goes to a temporary file in the same folder, is flushed to the disk, and takes the final name in one
// rename; the folder is flushed too where the system can do that, so that the rename itself survives a power cut.
package atomicfile

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Write replaces the file at path by data, with the permissions perm. See [WriteFunc].
func Write(path string, data []byte, perm fs.FileMode) error {
	return WriteFunc(path, perm, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// WriteFunc replaces the file at path by what write writes, with the permissions perm (of which the umask takes nothing
// away). The folder must exist.
//
// When anything before the rename fails, write included, the old file is as it was, the temporary file is removed, and
// the error says which file could not be written. If only the folder cannot be flushed afterwards, the new file is in
// place and the error says that it may not last. A process that is killed leaves its temporary file, .NAME.*.tmp.
// Writers of the same path do not disturb one another: the last rename wins.
func WriteFunc(path string, perm fs.FileMode, write func(io.Writer) error) (err error) {
	folder := filepath.Dir(path)
	temp, err := os.CreateTemp(folder, "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	renamed := false
	// Deferred, so that a panic in write leaves no temporary file behind either.
	defer func() {
		if !renamed {
			closeErr := temp.Close()
			if errors.Is(closeErr, os.ErrClosed) {
				closeErr = nil
			}
			err = errors.Join(err, closeErr, os.Remove(temp.Name()))
		}
		if err != nil {
			err = fmt.Errorf("writing %s: %w", path, err)
		}
	}()

	buffered := bufio.NewWriter(temp)
	if err := write(buffered); err != nil {
		return err
	}
	if err := buffered.Flush(); err != nil {
		return err
	}
	if err := temp.Chmod(perm); err != nil {
		return err
	}
	if err := temp.Sync(); err != nil {
		return err
	}
	// A full or networked disk may report its failure only here.
	if err := temp.Close(); err != nil {
		return err
	}
	if err := os.Rename(temp.Name(), path); err != nil {
		return err
	}
	renamed = true
	if err := syncFolder(folder); err != nil {
		return fmt.Errorf("in place, but may not outlast a power cut: %w", err)
	}
	return nil
}
