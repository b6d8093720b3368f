package data

import (
	"bytes"
	_ "embed"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
)

//go:embed wine.csv
var wineFile []byte

// Wine returns 13 chemical measures of 178 wines, named by Columns, and the cultivar of the grapes, 0 to 2, as label. X
// is float64 [178, 13]. Every call makes a new set.
//
// They are S. Aeberhard and M. Forina, Wine, UCI Machine Learning Repository (1992), licensed CC BY 4.0.
func Wine() (Set, error) {
	set, err := readWine(bytes.NewReader(wineFile))
	if err != nil {
		return Set{}, fmt.Errorf("data: Wine: %w", err)
	}
	return set, nil
}

// readWine reads CSV: a line of names, then 13 numbers and the label on each line.
func readWine(file io.Reader) (Set, error) {
	const measures = 13
	reader := csv.NewReader(file)
	reader.FieldsPerRecord = measures + 1
	lines, err := reader.ReadAll()
	if err != nil {
		return Set{}, err
	}
	if len(lines) == 0 {
		return Set{}, fmt.Errorf("no line of names")
	}
	set := Set{Name: "wine", Columns: lines[0][:measures]}
	var values []float64
	for i, line := range lines[1:] {
		for j, field := range line {
			v, err := strconv.ParseFloat(field, 64)
			switch {
			case err != nil:
				return Set{}, fmt.Errorf("line %d, column %d: %w", i+2, j+1, err)
			case j < measures:
				values = append(values, v)
			case v == math.Trunc(v) && 0 <= v && v <= 2:
				set.Labels = append(set.Labels, int(v))
			default:
				return Set{}, fmt.Errorf("line %d, column %d: cultivar %v: out of range", i+2, j+1, v)
			}
		}
	}
	set.X = tensor(values, measures, dtypes.Float64)
	return set, set.Validate()
}
