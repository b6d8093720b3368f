package data

import (
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
)

// MinMax brings each column's range to the same one, and back:
//
//	z = Low + (x − Min)·(High − Low)/(Max − Min),  log|det ∂z/∂x| = Σ log((High − Low)/(Max − Min))
//
// Values beyond Min and Max are carried along. Min and Max have one entry for each column, or a single one for all
// columns together (Joint), which suits pixels and serves rows of any length.
type MinMax struct {
	Low   float64   `json:"low"`
	High  float64   `json:"high"` // Low and High both 0 mean 0 and 1
	Joint bool      `json:"joint,omitempty"`
	Min   []float64 `json:"min"`
	Max   []float64 `json:"max"`
}

var _ Transform = MinMax{}

// settled puts the range in words that need no default.
func (m MinMax) settled() MinMax {
	if m.Low == 0 && m.High == 0 {
		m.High = 1
	}
	return m
}

// Fit takes Min and Max from the rows, in one pass. Columns that do not vary are a [FlatColumnsError], unless all columns
// are taken jointly and another one varies.
func (m MinMax) Fit(rows iter.Seq2[[]float64, error]) (Transform, error) {
	seen, err := measure(rows)
	if err != nil {
		return nil, fitError{"MinMax", err}
	}
	m = m.settled()
	m.Min, m.Max = seen.smallest, seen.larger
	flat := seen.flat()
	if m.Joint {
		m.Min, m.Max = []float64{slices.Min(m.Min)}, []float64{slices.Max(m.Max)}
		if m.Min[0] < m.Max[0] {
			flat = nil
		}
	}
	if flat != nil {
		return nil, fitError{"MinMax", flat}
	}
	return m, m.Validate()
}

// Validate returns an error when Low and High or Min and Max are not finite and rising, or not as many.
func (m MinMax) Validate() error {
	m = m.settled()
	if r := m.High - m.Low; !(r > 0) || math.IsInf(r, 0) {
		return fmt.Errorf("data: MinMax: range from %v to %v: must be finite and rising", m.Low, m.High)
	}
	if len(m.Min) == 0 || len(m.Min) != len(m.Max) || (m.Joint && len(m.Min) != 1) {
		return fmt.Errorf("data: MinMax: %d minima and %d maxima: must be as many, and at least one; one if joint", len(m.Min), len(m.Max))
	}
	for j := range m.Min {
		if r := m.Max[j] - m.Min[j]; !(r > 0) || math.IsInf(r, 0) {
			return fmt.Errorf("data: MinMax: column %d from %v to %v: must be finite and rising", j, m.Min[j], m.Max[j])
		}
	}
	return nil
}

// Apply returns the points in the new range.
func (m MinMax) Apply(x *tensors.Tensor) (*tensors.Tensor, error) { return apply(m, x) }

// Invert returns Min + (z − Low)·(Max − Min)/(High − Low).
func (m MinMax) Invert(z *tensors.Tensor) (*tensors.Tensor, error) { return invert(m, z) }

// LogDet returns Σ log((High − Low)/(Max − Min)) for each row.
func (m MinMax) LogDet(x *tensors.Tensor) ([]float64, error) { return logDets(m, x) }

// PullBack returns score·(High − Low)/(Max − Min).
func (m MinMax) PullBack(x, score *tensors.Tensor) (*tensors.Tensor, error) {
	return pulledBack(m, x, score)
}

// ApplyGraph adds the points in the new range to the graph of x.
func (m MinMax) ApplyGraph(x *Node) *Node {
	return onColumns(m, x, func(x *Node) *Node {
		m := m.settled()
		span := make([]float64, len(m.Min))
		for j := range span {
			span[j] = m.Max[j] - m.Min[j]
		}
		share := graph.Div(graph.Sub(x, row(x, m.Min)), row(x, span))
		return graph.AddScalar(graph.MulScalar(share, m.High-m.Low), m.Low)
	})
}

func (MinMax) kind() string { return "minmax" }

func (m MinMax) columns() int {
	if m.Joint {
		return 0
	}
	return len(m.Min)
}

func (m MinMax) isFitted() bool { return m.Min != nil || m.Max != nil }

// at is the entry of Min and Max that is column j's.
func (m MinMax) at(j int) int {
	if m.Joint {
		return 0
	}
	return j
}

// scale returns ∂z/∂x of column j.
func (m MinMax) scale(j int) float64 {
	k := m.at(j)
	return (m.High - m.Low) / (m.Max[k] - m.Min[k])
}

func (m MinMax) forward(row []float64) error {
	m = m.settled()
	for j := range row {
		k := m.at(j)
		row[j] = m.Low + (row[j]-m.Min[k])/(m.Max[k]-m.Min[k])*(m.High-m.Low) // High exactly at Max
	}
	return nil
}

func (m MinMax) backward(row []float64) {
	m = m.settled()
	for j := range row {
		row[j] = m.Min[m.at(j)] + (row[j]-m.Low)/m.scale(j)
	}
}

func (m MinMax) logDet(row []float64) float64 {
	m = m.settled()
	sum := 0.0
	for j := range row {
		sum += math.Log(m.scale(j))
	}
	return sum
}

func (m MinMax) pullBack(_, score []float64) {
	m = m.settled()
	for j := range score {
		score[j] *= m.scale(j)
	}
}
