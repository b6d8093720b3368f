package data

import (
	"fmt"
	"iter"
	"math"
	"strings"

	"github.com/gomlx/gomlx/pkg/core/tensors"
)

// moments are the numbers of rows that go by once. Means and squares are updated row by row (B. P. Welford 1962, Note on
// a method for calculating corrected sums of squares and products), relative to the first row, so that the same values
// give exactly themselves and no spread.
type moments struct {
	n                int
	first            []float64
	mean, square     []float64 // of row − first
	smallest, larger []float64
}

// measure takes the moments of the rows. It returns an error when there are none, for one of another length, and for a
// NaN or an infinity, named by row and column.
func measure(rows iter.Seq2[[]float64, error]) (*moments, error) {
	m := &moments{}
	err := m.each(rows, func([]float64) {})
	return m, err
}

// each calls also with every row, after it has gone into the moments.
func (m *moments) each(rows iter.Seq2[[]float64, error], also func(row []float64)) error {
	for row, err := range rows {
		if err != nil {
			return err
		}
		if m.n == 0 {
			m.first = append([]float64(nil), row...)
			m.mean, m.square = make([]float64, len(row)), make([]float64, len(row))
			m.smallest, m.larger = append([]float64(nil), row...), append([]float64(nil), row...)
		}
		if len(row) != len(m.first) || len(row) == 0 {
			return fmt.Errorf("row %d of %d columns, row 0 of %d: must be as many, and at least one", m.n, len(row), len(m.first))
		}
		for j, v := range row {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("value %v in row %d, column %d: must be finite", v, m.n, j)
			}
			m.smallest[j], m.larger[j] = min(m.smallest[j], v), max(m.larger[j], v)
			away := v - m.first[j]
			before := away - m.mean[j]
			m.mean[j] += before / float64(m.n+1)
			m.square[j] += before * (away - m.mean[j])
		}
		m.n++
		also(row)
	}
	if m.n == 0 {
		return fmt.Errorf("no examples: must have at least one")
	}
	for j := range m.first {
		if s := m.square[j]; math.IsInf(s, 0) || math.IsNaN(s) || math.IsInf(m.means()[j], 0) {
			return fmt.Errorf("column %d: its spread overflows: must be finite", j)
		}
		if m.square[j] < smallestSquare && m.smallest[j] < m.larger[j] {
			return fmt.Errorf("column %d: its spread vanishes beside its values: must be at least 1e-150", j)
		}
	}
	return nil
}

// smallestSquare is above the range where squares lose digits.
const smallestSquare = 1e-300

func (m *moments) means() []float64 {
	means := make([]float64, len(m.first))
	for j := range means {
		means[j] = m.first[j] + m.mean[j]
	}
	return means
}

// deviations returns the standard deviations, with divisor n.
func (m *moments) deviations() []float64 {
	std := make([]float64, len(m.first))
	for j := range std {
		std[j] = math.Sqrt(m.square[j] / float64(m.n))
	}
	return std
}

// flat returns an error that names the columns that do not vary, if there are any.
func (m *moments) flat() error {
	var e FlatColumnsError
	for j, v := range m.smallest {
		if v == m.larger[j] {
			e.Columns, e.Values = append(e.Columns, j), append(e.Values, v)
		}
	}
	if len(e.Columns) == 0 {
		return nil
	}
	e.Rows = m.n
	return &e
}

// FlatColumnsError says that columns hold the same number in every row, where something is to be divided by their spread.
type FlatColumnsError struct {
	Columns []int     // counted from 0
	Names   []string  // of the columns in Columns, where they are known
	Values  []float64 // what each of them holds
	Rows    int       // how many rows there are
}

// Error names the columns and says what to do about them.
func (e *FlatColumnsError) Error() string {
	if e.Rows == 1 {
		return "one row: must have at least two, as a single one has no spread"
	}
	const most = 5
	var b strings.Builder
	for k, j := range e.Columns {
		if k == most {
			fmt.Fprintf(&b, " and %d more", len(e.Columns)-most)
			break
		}
		if k > 0 {
			b.WriteString(", ")
		}
		if k < len(e.Names) { // the name alone: elsewhere numbers of columns may count from 1
			fmt.Fprintf(&b, "column %q", e.Names[k])
		} else {
			fmt.Fprintf(&b, "column %d", j)
		}
		fmt.Fprintf(&b, ": %v in every row", e.Values[k])
	}
	if e.Names == nil {
		b.WriteString(" (columns count from 0)")
	}
	b.WriteString(": must vary; leave out what is constant, or scale all columns jointly if they have one unit, as pixels do")
	return b.String()
}

// fitError says which transform was not fitted. It is put into words when it is read: the names of columns come in later.
type fitError struct {
	who string
	err error
}

func (e fitError) Error() string { return "data: " + e.who + ": Fit: " + e.err.Error() }
func (e fitError) Unwrap() error { return e.err }

// TensorRows gives the rows of a tensor [n, dims...], each with its dims flattened, as [Transform.Fit] takes them. A
// tensor that is not one of finite float32 or float64 gives an error.
func TensorRows(x *tensors.Tensor) iter.Seq2[[]float64, error] {
	return func(yield func([]float64, error) bool) {
		rows, err := finiteRows(x)
		if err != nil {
			yield(nil, err)
			return
		}
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}
