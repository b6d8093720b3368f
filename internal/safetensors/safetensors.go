// Package safetensors reads and writes tensors in the safetensors format: eight bytes with the length of a JSON
// header, the header (dtype, shape and place of each tensor, and texts under "__metadata__"), then the tensors' bytes,
// little endian, in row order. Files written here can be opened by any reader of that format.
//
// Beside what the format asks for, the metadata hold a SHA-256 sum over everything else, so that a file that was cut
// short, changed or mixed up is refused and not read as if nothing had happened.
package safetensors

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"slices"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/shapes"
	"github.com/gomlx/gomlx/pkg/core/tensors"
)

// ErrDamaged is wrapped by every error of Read that says that the content, not the reading of it, is at fault.
var ErrDamaged = errors.New("damaged file")

const (
	metadataKey = "__metadata__"
	sumKey      = "sha256"
	maxHeader   = 100 << 20 // the limit of the format's own readers
)

// Tensor is a tensor with its name in the file.
type Tensor struct {
	Name  string
	Value *tensors.Tensor
}

// entry describes one tensor in the header.
type entry struct {
	DType   string   `json:"dtype"`
	Shape   []int    `json:"shape"`
	Offsets [2]int64 `json:"data_offsets"`
}

var names = map[dtypes.DType]string{
	dtypes.Bool: "BOOL", dtypes.Uint8: "U8", dtypes.Int8: "I8", dtypes.Uint16: "U16", dtypes.Int16: "I16",
	dtypes.Uint32: "U32", dtypes.Int32: "I32", dtypes.Uint64: "U64", dtypes.Int64: "I64",
	dtypes.BFloat16: "BF16", dtypes.Float16: "F16", dtypes.Float32: "F32", dtypes.Float64: "F64",
}

// Write writes the tensors and the metadata, a set of texts. It returns an error for a name used twice, a dtype that the
// format lacks, an empty tensor (whose bytes GoMLX cannot reach), or when w fails.
func Write(w io.Writer, list []Tensor, metadata map[string]string) error {
	table := map[string]entry{}
	var at int64
	for _, t := range list {
		name, ok := names[t.Value.DType()]
		if !ok {
			return fmt.Errorf("tensor %q: dtype %s cannot be stored", t.Name, t.Value.DType())
		}
		if t.Value.Size() == 0 {
			return fmt.Errorf("tensor %q: shape %v: dimensions must be at least 1", t.Name, t.Value.Shape().Dimensions)
		}
		if _, again := table[t.Name]; again || t.Name == metadataKey {
			return fmt.Errorf("tensor %q: the name is taken", t.Name)
		}
		size := int64(t.Value.Memory())
		shape := append([]int{}, t.Value.Shape().Dimensions...) // not nil: a scalar's shape is [], not null
		table[t.Name] = entry{name, shape, [2]int64{at, at + size}}
		at += size
	}
	sum, err := newSum(table, metadata)
	if err != nil {
		return err
	}
	if err := each(list, func(data []byte) error { _, err := sum.Write(data); return err }); err != nil {
		return err
	}
	header := map[string]any{}
	for name, e := range table {
		header[name] = e
	}
	texts := maps.Clone(metadata)
	if texts == nil {
		texts = map[string]string{}
	}
	texts[sumKey] = hex.EncodeToString(sum.Sum(nil))
	header[metadataKey] = texts
	text, err := json.Marshal(header)
	if err != nil {
		return err
	}
	for len(text)%8 != 0 {
		text = append(text, ' ')
	}
	if err := binary.Write(w, binary.LittleEndian, uint64(len(text))); err != nil {
		return err
	}
	if _, err := w.Write(text); err != nil {
		return err
	}
	return each(list, func(data []byte) error { _, err := w.Write(data); return err })
}

func each(list []Tensor, f func(data []byte) error) error {
	for _, t := range list {
		var inner error
		if err := t.Value.ConstBytes(func(data []byte) { inner = f(data) }); err != nil {
			return fmt.Errorf("tensor %q: %w", t.Name, err)
		}
		if inner != nil {
			return inner
		}
	}
	return nil
}

// newSum starts the sum with the table and the metadata; the tensors' bytes follow in the order of their offsets.
func newSum(table map[string]entry, metadata map[string]string) (hash.Hash, error) {
	sum := sha256.New()
	encoder := json.NewEncoder(sum) // maps are written in the order of their keys
	if err := encoder.Encode(table); err != nil {
		return nil, err
	}
	texts := maps.Clone(metadata)
	delete(texts, sumKey)
	if texts == nil {
		texts = map[string]string{}
	}
	return sum, encoder.Encode(texts)
}

// Read reads a file written by Write, tensors in the order they were written. Content that is not what Write wrote
// gives an error that wraps [ErrDamaged].
func Read(r io.Reader) ([]Tensor, map[string]string, error) {
	damaged := func(format string, args ...any) ([]Tensor, map[string]string, error) {
		return nil, nil, fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
	}
	all, err := io.ReadAll(r)
	if err != nil {
		return nil, nil, err
	}
	if len(all) < 8 {
		return damaged("it has %d bytes", len(all))
	}
	length := binary.LittleEndian.Uint64(all)
	if length > maxHeader || length > uint64(len(all)-8) {
		return damaged("a header of %d bytes in a file of %d", length, len(all))
	}
	var header map[string]json.RawMessage
	if err := json.Unmarshal(all[8:8+length], &header); err != nil {
		return damaged("its header: %v", err)
	}
	data := all[8+length:]
	var metadata map[string]string
	if err := json.Unmarshal(header[metadataKey], &metadata); err != nil {
		return damaged("its metadata: %v", err)
	}
	delete(header, metadataKey)
	table := make(map[string]entry, len(header))
	for name, raw := range header {
		var e entry
		if err := json.Unmarshal(raw, &e); err != nil {
			return damaged("tensor %q: %v", name, err)
		}
		table[name] = e
	}
	sum, err := newSum(table, metadata)
	if err != nil {
		return nil, nil, err
	}
	sum.Write(data)
	if got := hex.EncodeToString(sum.Sum(nil)); got != metadata[sumKey] {
		return damaged("its checksum does not match its content")
	}
	delete(metadata, sumKey)
	order := slices.SortedFunc(maps.Keys(table), func(a, b string) int {
		return cmp.Or(cmp.Compare(table[a].Offsets[0], table[b].Offsets[0]), cmp.Compare(table[a].Offsets[1], table[b].Offsets[1]), cmp.Compare(a, b))
	})
	list := make([]Tensor, 0, len(order))
	for _, name := range order {
		t, err := decode(table[name], data)
		if err != nil {
			return damaged("tensor %q: %v", name, err)
		}
		list = append(list, Tensor{name, t})
	}
	return list, metadata, nil
}

func decode(e entry, data []byte) (*tensors.Tensor, error) {
	dtype := dtypes.InvalidDType
	for d, name := range names {
		if name == e.DType {
			dtype = d
		}
	}
	if dtype == dtypes.InvalidDType {
		return nil, fmt.Errorf("unknown dtype %q", e.DType)
	}
	size := int64(dtype.Size())
	for _, d := range e.Shape {
		// The division keeps the product from overflowing.
		if d < 1 || size > int64(len(data))/int64(d) {
			return nil, fmt.Errorf("shape %v: dimensions must be at least 1 and fit in the file", e.Shape)
		}
		size *= int64(d)
	}
	from, to := e.Offsets[0], e.Offsets[1]
	if from < 0 || to < from || to > int64(len(data)) || to-from != size {
		return nil, fmt.Errorf("bytes %d to %d of %d for shape %v", from, to, len(data), e.Shape)
	}
	t := tensors.FromShape(shapes.Make(dtype, e.Shape...))
	err := t.MutableBytes(func(dst []byte) { copy(dst, data[from:to]) })
	return t, err
}
