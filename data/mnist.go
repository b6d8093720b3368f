package data

import (
	"bytes"
	_ "embed"
	"fmt"
	"slices"

	"github.com/gomlx/gomlx/pkg/core/tensors"
)

//go:embed mnist-images.idx.gz
var mnistImages []byte

//go:embed mnist-labels.idx.gz
var mnistLabels []byte

// MNIST returns 5,000 handwritten digits of 28×28 pixels, line by line from the top left, 500 of each of the digits 0 to
// 9, which are the labels and the order of the set. X is float32 [5000, 784] with values from 0 (paper) to 1 (ink) in
// steps of 1/255, which are its Levels. Every call makes a new set.
//
// They are a part of Y. LeCun, C. Cortes and C. Burges, The MNIST database of handwritten digits, licensed CC BY-SA 3.0.
func MNIST() (Set, error) {
	set, err := readMNIST(mnistImages, mnistLabels)
	if err != nil {
		return Set{}, fmt.Errorf("data: MNIST: %w", err)
	}
	return set, nil
}

func readMNIST(images, labels []byte) (Set, error) {
	const side, most = 28, 255
	dims, pixels, err := readIDX(bytes.NewReader(images))
	if err != nil {
		return Set{}, fmt.Errorf("images: %w", err)
	}
	if len(dims) != 3 || dims[1] != side || dims[2] != side {
		return Set{}, fmt.Errorf("images of dimensions %v: must be [n %d %d]", dims, side, side)
	}
	_, classes, err := readIDX(bytes.NewReader(labels))
	if err != nil {
		return Set{}, fmt.Errorf("labels: %w", err)
	}
	if slices.ContainsFunc(classes, func(c byte) bool { return c > 9 }) {
		return Set{}, fmt.Errorf("labels: %d: must be from 0 to 9", slices.Max(classes))
	}
	values := make([]float32, len(pixels))
	for i, v := range pixels {
		values[i] = float32(v) / most
	}
	set := Set{Name: "MNIST", Height: side, Width: side, Levels: Levels{Count: most + 1, Low: 0, High: 1}}
	set.X = tensors.FromFlatDataAndDimensions(values, dims[0], side*side)
	for _, c := range classes {
		set.Labels = append(set.Labels, int(c))
	}
	return set, set.Validate()
}
