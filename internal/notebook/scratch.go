package notebook

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// scratch is the temporary folder in which one notebook is executed.
type scratch struct {
	root string // all of it
	work string // the notebook's working folder
	temp string // for temporary files: the kernel's and the compiler's
}

// newScratch makes a scratch folder with what lies beside the notebooks, such as data files: all but notebooks, Go files
// and hidden files.
func newScratch(folder string) (scratch, error) {
	root, err := os.MkdirTemp("", "scorelab-")
	if err != nil {
		return scratch{}, err
	}
	s := scratch{root, filepath.Join(root, "work"), filepath.Join(root, "tmp")}
	if err := errors.Join(os.Mkdir(s.work, 0o755), os.Mkdir(s.temp, 0o755), copyBeside(folder, s.work)); err != nil {
		return scratch{}, errors.Join(err, s.remove())
	}
	return s, nil
}

// remove removes the folder.
func (s scratch) remove() error { return os.RemoveAll(s.root) }

func copyBeside(from, to string) error {
	return filepath.WalkDir(from, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == from {
			return err
		}
		if strings.HasPrefix(entry.Name(), ".") {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		relative, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, relative)
		switch extension := filepath.Ext(path); {
		case entry.IsDir():
			return os.Mkdir(target, 0o755)
		case !entry.Type().IsRegular() || extension == ".ipynb" || extension == ".go":
			return nil
		}
		return copyFile(path, target)
	})
}

func copyFile(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(target, source)
	return errors.Join(err, target.Close())
}
