package data

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/csv"
	"fmt"
	"strconv"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
)

//go:embed digits.csv.gz
var digitsFile []byte

// Digits returns 1,797 handwritten digits of 8×8 pixels, line by line from the top left, and their labels 0 to 9. X is
// float32 [1797, 64] with values from 0 (paper) to 1 (ink) in steps of 1/16, its Levels. Every call makes a new set.
//
// They are the test part of E. Alpaydin and C. Kaynak, Optical Recognition of Handwritten Digits, UCI Machine
// Learning Repository (1998), licensed CC BY 4.0.
func Digits() (Set, error) {
	set, err := readDigits(digitsFile)
	if err != nil {
		return Set{}, fmt.Errorf("data: Digits: %w", err)
	}
	return set, nil
}

// readDigits reads compressed CSV: 64 whole numbers from 0 to 16 and the label on each line.
func readDigits(file []byte) (Set, error) {
	const side, ink = 8, 16
	unpacked, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		return Set{}, err
	}
	reader := csv.NewReader(unpacked)
	reader.FieldsPerRecord = side*side + 1
	lines, err := reader.ReadAll()
	if err != nil {
		return Set{}, err
	}
	var values []float64
	set := Set{Name: "digits", Height: side, Width: side, Levels: Levels{Count: ink + 1, Low: 0, High: 1}}
	for i, line := range lines {
		for j, field := range line {
			v, err := strconv.Atoi(field)
			switch {
			case err != nil:
				return Set{}, fmt.Errorf("line %d, column %d: %w", i+1, j+1, err)
			case j < side*side && 0 <= v && v <= ink:
				values = append(values, float64(v)/ink)
			case j == side*side && 0 <= v && v <= 9:
				set.Labels = append(set.Labels, v)
			default:
				return Set{}, fmt.Errorf("line %d, column %d: value %d: out of range", i+1, j+1, v)
			}
		}
	}
	set.X = tensor(values, side*side, dtypes.Float32)
	return set, set.Validate()
}
