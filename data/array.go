package data

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"codeberg.org/sbinet/npyio/npy/float16"
)

// maxInMemory bounds what is read into memory whole, in bytes.
const maxInMemory = 2 << 30

// byteLevels are the values of pixels as they are stored.
var byteLevels = Levels{Count: 256, Low: 0, High: 255}

// array is a table of numbers of one kind that lie one after another, in a file or in memory. npyio reads an array from
// front to back, a number at a time; training takes rows in mixed order, so rows are decoded here.
type array struct {
	path    string  // of the file, if it is not in memory
	memory  []byte  // what follows the header, if it is
	offset  int64   // of the first number in the file
	kind    number  // of each number
	dims    []int   // [rows, dims...]
	pick    []int   // the columns that hold the values
	between int64   // numbers from a row to the next
	at      []int64 // numbers from the start of a row to each column
}

// number is how a number is stored.
type number struct {
	name    string
	size    int
	decode  func([]byte) float64
	mayMiss bool // floats can be NaN
	bytes   bool // from 0 to 255
}

// numberKinds are the kinds that become a float64, with byte order apart.
func numberKind(dtype string) (number, error) {
	bare := strings.Trim(dtype, "'\"")
	var order binary.ByteOrder = binary.LittleEndian
	if strings.HasPrefix(bare, ">") {
		order = binary.BigEndian
	}
	bare = strings.TrimLeft(bare, "<>|=")
	kind := number{name: dtype}
	if len(bare) > 1 {
		kind.size, _ = strconv.Atoi(bare[1:])
	}
	kind.mayMiss, kind.bytes = strings.HasPrefix(bare, "f"), bare == "u1"
	switch bare {
	case "b1":
		kind.decode = func(b []byte) float64 {
			if b[0] != 0 {
				return 1
			}
			return 0
		}
	case "u1":
		kind.decode = func(b []byte) float64 { return float64(b[0]) }
	case "i1":
		kind.decode = func(b []byte) float64 { return float64(int8(b[0])) }
	case "u2":
		kind.decode = func(b []byte) float64 { return float64(order.Uint16(b)) }
	case "i2":
		kind.decode = func(b []byte) float64 { return float64(int16(order.Uint16(b))) }
	case "u4":
		kind.decode = func(b []byte) float64 { return float64(order.Uint32(b)) }
	case "i4":
		kind.decode = func(b []byte) float64 { return float64(int32(order.Uint32(b))) }
	case "u8":
		kind.decode = func(b []byte) float64 { return float64(order.Uint64(b)) }
	case "i8":
		kind.decode = func(b []byte) float64 { return float64(int64(order.Uint64(b))) }
	case "f2":
		kind.decode = func(b []byte) float64 { return float64(float16.Float16Frombits(order.Uint16(b)).Float32()) }
	case "f4":
		kind.decode = func(b []byte) float64 { return float64(math.Float32frombits(order.Uint32(b))) }
	case "f8":
		kind.decode = func(b []byte) float64 { return math.Float64frombits(order.Uint64(b)) }
	default:
		return number{}, fmt.Errorf("numbers of type %s: %s", dtype, cureFor(bare))
	}
	return kind, nil
}

// cureFor says what to do about an element type that cannot be read.
func cureFor(bare string) string {
	const allowed = "must be integers, floats of 16, 32 or 64 bits, or truth values: "
	switch {
	case strings.HasPrefix(bare, "c"):
		return allowed + "save the real and the imaginary part as columns"
	case strings.HasPrefix(bare, "U"), strings.HasPrefix(bare, "S"):
		return allowed + "text has to be turned into numbers"
	case strings.HasPrefix(bare, "M"), strings.HasPrefix(bare, "m"):
		return allowed + "save times as numbers"
	case strings.HasPrefix(bare, "["), strings.HasPrefix(bare, "V"):
		return allowed + "save the fields of a record as columns of one type"
	}
	return allowed + "convert it with astype(float)"
}

// volume returns the number of elements of an array, or an error if it has no rows or no room.
func volume(dims []int) (int, error) {
	if len(dims) == 0 {
		return 0, fmt.Errorf("a single number: must be an array whose first axis counts the rows")
	}
	n := 1
	for _, d := range dims {
		if d < 0 || d > 0 && n > math.MaxInt/16/d {
			return 0, fmt.Errorf("shape %v: impossible", dims)
		}
		n *= d
	}
	if dims[0] == 0 {
		return 0, errNoRows
	}
	if n == 0 {
		return 0, fmt.Errorf("shape %v: rows hold no values: must be at least one", dims)
	}
	return n, limitRows(dims[0])
}

// setArray makes the file one of an array: shape, images, columns, labels.
func (f *File) setArray(a *array, fortran bool) error {
	rows, width := a.dims[0], 1
	for _, d := range a.dims[1:] {
		width *= d
	}
	a.between = int64(width)
	offsets := make([]int64, width)
	for j := range offsets {
		offsets[j] = int64(j)
	}
	if fortran {
		a.between = 1
		for j := range offsets {
			offsets[j] = int64(rows) * fortranIndex(j, a.dims[1:])
		}
	}
	var label int
	var err error
	if a.pick, label, err = f.settings.pickColumns(nil, width); err != nil {
		return err
	}
	a.at = make([]int64, len(a.pick))
	for k, j := range a.pick {
		a.at[k] = offsets[j]
	}
	f.table, f.fileRows, f.width = a, rows, len(a.pick)
	if a.kind.bytes {
		f.Levels = byteLevels
	}
	if label >= 0 {
		one := *a
		one.pick, one.at = []int{label}, []int64{offsets[label]}
		if err := f.setLabels(&one); err != nil {
			return err
		}
	}
	whole := len(a.pick) == width && slices.IsSorted(a.pick)
	switch shape := a.dims[1:]; {
	case f.settings.images != nil || !whole || len(shape) < 2:
	case len(shape) == 2:
		f.Height, f.Width, f.Channels = shape[0], shape[1], 1
	case len(shape) == 3 && (shape[2] == 1 || shape[2] == 3):
		f.Height, f.Width, f.Channels = shape[0], shape[1], shape[2]
	case len(shape) == 3 && (shape[0] == 1 || shape[0] == 3):
		return fmt.Errorf("shape %v has the channels before the sides: move them to the end, [rows, height, width, channels]", a.dims)
	default:
		return fmt.Errorf("shape %v: must be [rows, columns], [rows, height, width] or [rows, height, width, 1 or 3]", a.dims)
	}
	return nil
}

// setLabels takes the only column of an array as the classes.
func (f *File) setLabels(a *array) error {
	rows := make([]int32, a.dims[0])
	for i := range rows {
		rows[i] = int32(i)
	}
	labels := make([]float64, len(rows))
	if err := a.read(context.Background(), rows, labels); err != nil {
		return err
	}
	var err error
	f.ClassNames, f.labels, err = f.settings.classesOf(labels)
	return err
}

// fortranIndex returns where the element that is j-th in C order comes in Fortran order.
func fortranIndex(j int, dims []int) int64 {
	index, stride := int64(0), int64(1)
	digits := make([]int, len(dims))
	for k := len(dims) - 1; k >= 0; k-- {
		digits[k] = j % dims[k]
		j /= dims[k]
	}
	for k, d := range dims {
		index += int64(digits[k]) * stride
		stride *= int64(d)
	}
	return index
}

func (a *array) mayMiss() bool { return a.kind.mayMiss }

// scattered is false for short rows in a file: each takes a read of its own, of a whole page of the disk.
func (a *array) scattered() bool {
	const long = 1024
	return a.memory != nil || a.between*int64(a.kind.size) >= long
}

func (a *array) place(row int32, k int) string {
	index := []string{strconv.Itoa(int(row))}
	if k < 0 {
		return fmt.Sprintf("row %d", row+1)
	}
	j, rest := a.pick[k], a.dims[1:]
	digits := make([]string, len(rest))
	for axis := len(rest) - 1; axis >= 0; axis-- {
		digits[axis] = strconv.Itoa(j % rest[axis])
		j /= rest[axis]
	}
	return fmt.Sprintf("element [%s]", strings.Join(append(index, digits...), ", "))
}

func (a *array) read(_ context.Context, rows []int32, x []float64) error {
	if a.memory != nil {
		for i, row := range rows {
			a.decode(a.memory[int64(row)*a.between*int64(a.kind.size):], x[i*len(a.at):(i+1)*len(a.at)])
		}
		return nil
	}
	file, err := os.Open(a.path)
	if err != nil {
		return plainError(err)
	}
	defer file.Close()
	width := int(a.between) * a.kind.size
	var bytes []byte
	for start := 0; start < len(rows); {
		end := start + 1 // rows that follow each other are read at once
		for end < len(rows) && rows[end] == rows[end-1]+1 {
			end++
		}
		bytes = slices.Grow(bytes[:0], (end-start)*width)[:(end-start)*width]
		if _, err := file.ReadAt(bytes, a.offset+int64(rows[start])*int64(width)); err != nil {
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return fmt.Errorf("row %d: %w: the file has changed since it was opened", rows[start]+1, plainError(err))
		}
		for i := start; i < end; i++ {
			a.decode(bytes[(i-start)*width:], x[i*len(a.at):(i+1)*len(a.at)])
		}
		start = end
	}
	return nil
}

// decode takes the picked columns of the row that begins the bytes.
func (a *array) decode(row []byte, x []float64) {
	size := int64(a.kind.size)
	for k, at := range a.at {
		x[k] = a.kind.decode(row[at*size : (at+1)*size])
	}
}

// readWhole reads size bytes into memory, which is taken as they come: a header can claim more than there is.
func readWhole(r io.Reader, size int64) ([]byte, error) {
	if size > maxInMemory {
		return nil, fmt.Errorf("%d bytes: must be at most %d to be read into memory: save it as a plain NPY in C order", size, int64(maxInMemory))
	}
	const step = 16 << 20
	bytes := make([]byte, 0, min(size, step))
	for int64(len(bytes)) < size {
		have := len(bytes)
		more := int(min(size-int64(have), max(step, int64(have))))
		bytes = slices.Grow(bytes, more)[:have+more]
		n, err := io.ReadFull(r, bytes[have:])
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return nil, fmt.Errorf("cut off: %d bytes of numbers instead of %d: copy or save it again", have+n, size)
		}
		if err != nil {
			return nil, err
		}
	}
	return bytes, nil
}
