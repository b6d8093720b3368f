package benchmark

import (
	"encoding/binary"
	"errors"

	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/internal/atomicfile"
)

// writeFloat32 writes the values of a tensor of float32 one after the other, little-endian.
func writeFloat32(path string, t *tensors.Tensor) error {
	var out []byte
	var wrong error
	err := t.ConstFlatData(func(flat any) {
		out, wrong = binary.Append(nil, binary.LittleEndian, flat)
	})
	if err = errors.Join(err, wrong); err != nil {
		return err
	}
	return atomicfile.Write(path, out, 0o644)
}
