package data

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"

	"codeberg.org/sbinet/npyio/npy"
)

// maxNPYHeader bounds the header of an NPY, which its reader takes into memory.
const maxNPYHeader = 1 << 20

// npyHeader reads the header of an NPY and returns the array it announces and the header's length.
func npyHeader(r *bufio.Reader) (a *array, fortran bool, length int64, err error) {
	defer func() {
		if broken := recover(); broken != nil { // npyio takes the layout of the header for granted
			err = fmt.Errorf("damaged header: save it again with numpy.save")
		}
	}()
	start, err := r.Peek(12)
	if err != nil {
		return nil, false, 0, fmt.Errorf("cut off in the header: copy or save it again")
	}
	length = 10 + int64(binary.LittleEndian.Uint16(start[8:]))
	if start[6] >= 2 {
		length = 12 + int64(binary.LittleEndian.Uint32(start[8:]))
	}
	if length > maxNPYHeader {
		return nil, false, 0, fmt.Errorf("a header of %d bytes: must be at most %d: save a plain array", length, maxNPYHeader)
	}
	head := make([]byte, length)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, false, 0, fmt.Errorf("cut off in the header: copy or save it again")
	}
	header, err := npy.NewReader(bytes.NewReader(head))
	if err != nil {
		return nil, false, 0, fmt.Errorf("damaged header (%w): save it again with numpy.save", err)
	}
	a = &array{dims: header.Header.Descr.Shape, offset: length}
	if a.kind, err = numberKind(header.Header.Descr.Type); err != nil {
		return nil, false, 0, err
	}
	if _, err := volume(a.dims); err != nil {
		return nil, false, 0, err
	}
	// With one axis the two orders are the same.
	return a, header.Header.Descr.Fortran && len(a.dims) > 1, length, nil
}

// bytes returns the room that the numbers take.
func (a *array) bytes() int64 {
	n, _ := volume(a.dims)
	return int64(n) * int64(a.kind.size)
}

func (f *File) openNPY() error {
	file, err := os.Open(f.Path)
	if err != nil {
		return plainError(err)
	}
	defer file.Close()
	r := bufio.NewReader(file)
	a, fortran, offset, err := npyHeader(r)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return plainError(err)
	}
	if have := info.Size() - offset; have < a.bytes() {
		return fmt.Errorf("cut off: shape %v of %s takes %d bytes, there are %d: copy or save it again", a.dims, a.kind.name, a.bytes(), have)
	}
	a.path = f.Path
	if fortran { // the values of a row lie far apart
		if a.memory, err = readWhole(r, a.bytes()); err != nil {
			return err
		}
	}
	return f.setArray(a, fortran)
}
