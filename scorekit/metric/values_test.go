package metric

import (
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/gomlx/gomlx/pkg/core/tensors"
)

// read fills cases from a file of testdata.
func read(t *testing.T, name string, cases any) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, cases); err != nil {
		t.Fatal(err)
	}
}

// near fails the test unless |got−want| ≤ rtol·|want|: NaN fails.
func near(t *testing.T, what string, got, want, rtol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= rtol*math.Abs(want)) {
		t.Errorf("%s = %v, want %v within %v of it", what, got, want, rtol)
	}
}

func tensor(rows [][]float64) *tensors.Tensor {
	var flat []float64
	for _, r := range rows {
		flat = append(flat, r...)
	}
	return tensors.FromFlatDataAndDimensions(flat, len(rows), len(flat)/len(rows))
}
