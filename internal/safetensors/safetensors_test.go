package safetensors

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/shapes"
	"github.com/gomlx/gomlx/pkg/core/tensors"
)

func written(t testing.TB, list []Tensor, metadata map[string]string) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, list, metadata); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestRoundTrip(t *testing.T) {
	list := []Tensor{
		{"/z/last name, first place", tensors.FromValue([][]float32{{1, 2, 3}, {4, 5, 6}})},
		{"/scalar", tensors.FromScalar(2.5)},
		{"/a", tensors.FromValue([]uint64{1 << 63, 7})},
		{"/flag", tensors.FromScalar(true)},
		{"/small", tensors.FromValue([]uint8{255, 2, 3})}, // of odd size: what follows is not aligned
		{"/long", tensors.FromValue([]int64{-5})},
	}
	texts := map[string]string{"key": "ünïcode \"quoted\" \n", "": "empty key"}
	back, metadata, err := Read(bytes.NewReader(written(t, list, texts)))
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(metadata, texts) {
		t.Errorf("metadata %q, want %q", metadata, texts)
	}
	if len(back) != len(list) {
		t.Fatalf("%d tensors, want %d", len(back), len(list))
	}
	for i := range list {
		if back[i].Name != list[i].Name || !back[i].Value.Equal(list[i].Value) {
			t.Errorf("tensor %d: %q %s, want %q %s", i, back[i].Name, back[i].Value, list[i].Name, list[i].Value)
		}
	}
	if _, _, err := Read(bytes.NewReader(written(t, nil, nil))); err != nil {
		t.Error("a file without tensors:", err)
	}
}

// A file may be read back and yet be none that others can open. Files of the form that is asked for here were opened
// by the format's own Python package, 0.8.0, with every value as it was.
func TestLayout(t *testing.T) {
	got := written(t, []Tensor{{"b", tensors.FromValue([][]float32{{1, 2}})}, {"a", tensors.FromScalar(int32(3))}}, nil)
	length := binary.LittleEndian.Uint64(got)
	if length%8 != 0 || got[8] != '{' {
		t.Errorf("header of %d bytes beginning with %q: must begin with { and be padded to a multiple of 8", length, got[8])
	}
	var header map[string]json.RawMessage
	if err := json.Unmarshal(got[8:8+length], &header); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"a": `{"dtype":"I32","shape":[],"data_offsets":[8,12]}`,
		"b": `{"dtype":"F32","shape":[1,2],"data_offsets":[0,8]}`,
	} {
		if string(header[name]) != want {
			t.Errorf("%s: %s, want %s", name, header[name], want)
		}
	}
	if want := "\x00\x00\x80\x3f\x00\x00\x00\x40\x03\x00\x00\x00"; string(got[8+length:]) != want {
		t.Errorf("data %x, want %x", got[8+length:], want)
	}
}

func TestWriteRefuses(t *testing.T) {
	one := tensors.FromScalar(float32(1))
	for name, c := range map[string]struct {
		list []Tensor
		want string
	}{
		"name twice":    {[]Tensor{{"a", one}, {"a", one}}, `tensor "a": the name is taken`},
		"reserved name": {[]Tensor{{metadataKey, one}}, "the name is taken"},
		"dtype":         {[]Tensor{{"a", tensors.FromScalar(complex64(1))}}, "dtype Complex64 cannot be stored"},
		"empty":         {[]Tensor{{"a", tensors.FromShape(shapes.Make(dtypes.Float32, 3, 0))}}, "shape [3 0]: dimensions must be at least 1"},
	} {
		err := Write(&bytes.Buffer{}, c.list, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
	}
}

// signed makes a file of any header with the checksum that belongs to it, so that what lies behind the check is
// reached. It returns nil for a header that cannot have one.
func signed(table map[string]entry, data []byte) []byte {
	sum, err := newSum(table, nil)
	if err != nil {
		return nil
	}
	sum.Write(data)
	header := map[string]any{metadataKey: map[string]string{sumKey: hex.EncodeToString(sum.Sum(nil))}}
	for name, e := range table {
		header[name] = e
	}
	text, err := json.Marshal(header)
	if err != nil {
		return nil
	}
	return append(append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...), data...)
}

func TestReadRefusesImpossibleTables(t *testing.T) {
	for name, e := range map[string]entry{
		"overflow to 0":      {"F32", []int{1 << 62}, [2]int64{0, 0}},
		"overflow to 8":      {"F32", []int{1<<62 + 2}, [2]int64{0, 8}},
		"overflow in two":    {"U8", []int{1 << 32, 1 << 32}, [2]int64{0, 0}},
		"negative":           {"F32", []int{-2, -1}, [2]int64{0, 8}},
		"empty":              {"F32", []int{0}, [2]int64{0, 0}},
		"empty, then huge":   {"F32", []int{0, 1 << 62}, [2]int64{0, 0}},
		"backward":           {"F32", []int{2}, [2]int64{8, 0}},
		"before the data":    {"F32", []int{2}, [2]int64{-8, 0}},
		"beyond the data":    {"F32", []int{2}, [2]int64{4, 12}},
		"shorter than shape": {"F32", []int{2}, [2]int64{0, 4}},
		"dtype":              {"F33", []int{2}, [2]int64{0, 8}},
	} {
		_, _, err := Read(bytes.NewReader(signed(map[string]entry{"x": e}, make([]byte, 8))))
		if !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), `tensor "x"`) {
			t.Errorf("%s: error %v, want one that is ErrDamaged and names the tensor", name, err)
		}
	}
	if _, _, err := Read(bytes.NewReader(signed(map[string]entry{"x": {"F32", []int{2}, [2]int64{0, 8}}}, make([]byte, 8)))); err != nil {
		t.Error("a good table was refused:", err)
	}
}

// FuzzRead gives any bytes to Read, as they are and as a table with a good checksum: it must not panic, must say
// ErrDamaged, and what it accepts must come back from Write the same.
func FuzzRead(f *testing.F) {
	good := written(f, []Tensor{{"/w", tensors.FromValue([][]float32{{1, 2}, {3, 4}})}, {"/n", tensors.FromScalar(int64(3))}}, map[string]string{"k": "v"})
	f.Add(good)
	f.Add(good[:len(good)/2])
	f.Add([]byte(`{"x":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}` + "\x00" + "12345678"))
	f.Add([]byte(`{"x":{"dtype":"F32","shape":[4611686018427387904],"data_offsets":[0,0]}}` + "\x00"))
	f.Add([]byte(`{"x":{"dtype":"U8","shape":[0,9],"data_offsets":[0,0]},"y":null}` + "\x00"))
	f.Add([]byte("\x02\x00\x00\x00\x00\x00\x00\x00{}"))
	f.Fuzz(func(t *testing.T, content []byte) {
		files := [][]byte{content}
		text, data, _ := bytes.Cut(content, []byte{0})
		var table map[string]entry
		if json.Unmarshal(text, &table) == nil {
			delete(table, metadataKey)
			files = append(files, signed(table, data))
		}
		for _, file := range files {
			list, metadata, err := Read(bytes.NewReader(file))
			if err != nil {
				if !errors.Is(err, ErrDamaged) {
					t.Errorf("error %v is not ErrDamaged", err)
				}
				continue
			}
			again, texts, err := Read(bytes.NewReader(written(t, list, metadata)))
			if err != nil || len(again) != len(list) || !maps.Equal(texts, metadata) {
				t.Errorf("read again: %v", err)
			}
		}
	})
}
