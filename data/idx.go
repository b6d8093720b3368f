package data

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"os"
)

// IDX is so short that no module is kept for it: two zero bytes, a byte for the kind of number, a byte for how many axes
// there are, the length of each axis in four bytes, and the numbers, the most significant byte first.
var idxKinds = map[byte]string{0x08: "u1", 0x09: "i1", 0x0b: ">i2", 0x0c: ">i4", 0x0d: ">f4", 0x0e: ">f8"}

// checkIDXMagic tells whether the first four bytes are those of an IDX.
func checkIDXMagic(head []byte) error {
	if len(head) < 4 {
		return fmt.Errorf("cut off in the header: copy it again")
	}
	if kind := idxKinds[head[2]]; head[0] != 0 || head[1] != 0 || kind == "" || head[3] == 0 {
		return fmt.Errorf("wrong magic number % x: an IDX starts with 00 00, a kind (08, 09, 0b, 0c, 0d or 0e) and the number of axes: copy it again, or convert it", head[:4])
	}
	return nil
}

// readIDXHeader reads the header and returns the array that it announces.
func readIDXHeader(r io.Reader) (*array, error) {
	head := make([]byte, 4)
	if _, err := io.ReadFull(r, head); err != nil {
		return nil, fmt.Errorf("cut off in the header: copy it again")
	}
	if err := checkIDXMagic(head); err != nil {
		return nil, err
	}
	lengths := make([]byte, 4*int(head[3]))
	if _, err := io.ReadFull(r, lengths); err != nil {
		return nil, fmt.Errorf("cut off in the header: copy it again")
	}
	a := &array{offset: int64(len(head) + len(lengths))}
	for i := range int(head[3]) {
		a.dims = append(a.dims, int(binary.BigEndian.Uint32(lengths[4*i:])))
	}
	var err error
	if a.kind, err = numberKind(idxKinds[head[2]]); err != nil {
		return nil, err
	}
	_, err = volume(a.dims)
	return a, err
}

func (f *File) openIDX(packed bool) error {
	file, err := os.Open(f.Path)
	if err != nil {
		return plainError(err)
	}
	defer file.Close()
	if packed {
		unpacked, err := gzip.NewReader(bufio.NewReader(file))
		if err != nil {
			return fmt.Errorf("damaged gzip (%w): copy it again", err)
		}
		a, err := readIDXWhole(unpacked)
		if err != nil {
			return err
		}
		return f.setArray(a, false)
	}
	a, err := readIDXHeader(file)
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return plainError(err)
	}
	if have := info.Size() - a.offset; have != a.bytes() {
		return fmt.Errorf("shape %v takes %d bytes, there are %d: it is cut off or not an IDX: copy it again", a.dims, a.bytes(), have)
	}
	a.path = f.Path
	return f.setArray(a, false)
}

// readIDX reads a compressed IDX of bytes into memory.
func readIDX(packed io.Reader) (dims []int, values []byte, err error) {
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		return nil, nil, fmt.Errorf("damaged gzip (%w): copy it again", err)
	}
	a, err := readIDXWhole(unpacked)
	if err != nil {
		return nil, nil, err
	}
	if a.kind.size != 1 {
		return nil, nil, fmt.Errorf("numbers of %d bytes: must be of one", a.kind.size)
	}
	return a.dims, a.memory, nil
}

// readIDXWhole reads an IDX into memory, to its last byte.
func readIDXWhole(r io.Reader) (*array, error) {
	a, err := readIDXHeader(r)
	if err != nil {
		return nil, err
	}
	if a.memory, err = readWhole(r, a.bytes()); err != nil {
		return nil, err
	}
	if n, err := io.CopyN(io.Discard, r, 1); n != 0 {
		return nil, fmt.Errorf("shape %v takes %d bytes, there are more: not an IDX", a.dims, a.bytes())
	} else if err != io.EOF {
		return nil, fmt.Errorf("damaged gzip (%w): copy it again", err)
	}
	return a, nil
}
