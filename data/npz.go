package data

import (
	"archive/zip"
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"

	"codeberg.org/sbinet/npyio/npz"
)

func (f *File) openNPZ() (err error) {
	defer func() {
		if broken := recover(); broken != nil {
			err = fmt.Errorf("damaged NPZ (%v): save it again with numpy.savez", broken)
		}
	}()
	file, err := os.Open(f.Path)
	if err != nil {
		return plainError(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return plainError(err)
	}
	archive, err := npz.NewReader(file, info.Size())
	if err != nil {
		return fmt.Errorf("damaged or cut off zip (%w): copy or save it again", err)
	}
	var names []string
	for _, key := range archive.Keys() {
		if name, is := strings.CutSuffix(key, ".npy"); is {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return fmt.Errorf("a zip without arrays: must be saved with numpy.savez (an .xlsx: save it as CSV)")
	}
	labels := f.settings.label
	if !slices.Contains(names, labels) {
		labels = "" // a column, then
	}
	name := f.settings.array
	if name == "" {
		others := slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n == labels })
		if len(others) != 1 {
			return fmt.Errorf("arrays %s: choose one with WithArray", listed(names))
		}
		name = others[0]
	}
	if !slices.Contains(names, name) {
		return fmt.Errorf("WithArray: no array %q: there are %s", name, listed(names))
	}
	a, fortran, err := arrayOf(archive, name)
	if err != nil {
		return err
	}
	if labels == "" {
		return f.setArray(a, fortran)
	}
	f.settings.label = "" // not a column
	err = f.setArray(a, fortran)
	f.settings.label = labels
	if err != nil {
		return err
	}
	classes, _, err := arrayOf(archive, labels)
	if err != nil {
		return err
	}
	if n, _ := volume(classes.dims); n != f.fileRows || classes.dims[0] != n {
		return fmt.Errorf("array %q of shape %v for %d rows: must be one label a row", labels, classes.dims, f.fileRows)
	}
	classes.pick, classes.at, classes.between = []int{0}, []int64{0}, 1
	return f.setLabels(classes)
}

// arrayOf reads one array of an archive into memory.
func arrayOf(archive *npz.Reader, name string) (a *array, fortran bool, err error) {
	packed, err := archive.Open(name + ".npy")
	if err != nil {
		return nil, false, fmt.Errorf("array %q: %w", name, err)
	}
	defer packed.Close()
	r := bufio.NewReader(packed)
	if a, fortran, _, err = npyHeader(r); err == nil {
		a.memory, err = readWhole(r, a.bytes())
	}
	if err == zip.ErrChecksum || err == zip.ErrFormat {
		err = fmt.Errorf("%w: copy or save it again", err)
	}
	if err != nil {
		return nil, false, fmt.Errorf("array %q: %w", name, err)
	}
	return a, fortran, nil
}
