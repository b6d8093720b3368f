package data

import (
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// Whitener brings the columns to mean 0 and covariance I, and back. With D the standard deviations of the columns and
// V Λ Vᵀ their correlation matrix, the columns of V its eigenvectors,
//
//	z = Λ^{−½} Vᵀ D⁻¹ (x − Mean),  x = Mean + D V Λ^½ z,  log|det ∂z/∂x| = −Σ log D − ½ Σ log Λ
//
// so that the columns of z are the principal components, the widest first, each divided by its deviation. With ZCA they
// are turned back, z = V Λ^{−½} Vᵀ D⁻¹ (x − Mean), which of all such z is the closest to the standardised x: column j
// of z is still mostly column j of x, and a white image is still an image. Taking the correlations makes both
// independent of the columns' units (Kessy, Lewin and Strimmer 2018, Optimal whitening and decorrelation: PCA-cor and
// ZCA-cor).
type Whitener struct {
	ZCA    bool        `json:"zca,omitempty"`
	Mean   []float64   `json:"mean"`
	Std    []float64   `json:"std"`    // D
	Axes   [][]float64 `json:"axes"`   // V: one eigenvector after the other
	Spread []float64   `json:"spread"` // Λ^½
}

var _ Transform = Whitener{}

// flattest is the smallest eigenvalue of a correlation matrix that is more than rounding: a standard deviation of 10⁻⁶
// beside those of the columns, which are 1.
const flattest = 1e-12

// Fit takes the means and the covariance from the rows, in one pass that holds d² numbers. It returns a
// [FlatColumnsError] for columns that do not vary, and a [DependentColumnsError] when the columns are linearly
// dependent, to 10⁻⁶ of their deviations, or there are not more rows than columns.
func (w Whitener) Fit(rows iter.Seq2[[]float64, error]) (Transform, error) {
	seen := &products{}
	if err := seen.measure(rows); err != nil {
		return nil, fitError{"Whitener", err}
	}
	if err := seen.flat(); err != nil {
		return nil, fitError{"Whitener", err}
	}
	d := len(seen.first)
	w.Mean, w.Std = seen.means(), make([]float64, d)
	correlation := mat.NewSymDense(d, nil)
	for i := range d {
		w.Std[i] = math.Sqrt(seen.sum.At(i, i) / float64(seen.n))
		for j := i; j < d; j++ {
			correlation.SetSym(i, j, seen.sum.At(i, j)/math.Sqrt(seen.sum.At(i, i))/math.Sqrt(seen.sum.At(j, j)))
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(correlation, true) {
		return nil, fmt.Errorf("data: Whitener: Fit: the eigenvalues of the %d×%d correlations were not found: must be fewer columns", d, d)
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	values := eigen.Values(nil) // rising
	w.Axes, w.Spread = nil, nil
	for k := d - 1; k >= 0; k-- {
		if !(values[k] > flattest) {
			return nil, fitError{"Whitener", dependent(d-1-k, d, seen.n, mat.Col(nil, 0, &vectors))}
		}
		w.Axes = append(w.Axes, mat.Col(nil, k, &vectors))
		w.Spread = append(w.Spread, math.Sqrt(values[k]))
	}
	return w, nil
}

// DependentColumnsError says that some columns follow from others, so that the columns have no volume to be whitened.
type DependentColumnsError struct {
	Rank    int      // how many columns are independent
	Of      int      // how many there are
	Rows    int      // how many rows they were seen in
	Columns []int    // columns of which each follows from the others, counted from 0
	Names   []string // of the columns in Columns, where they are known
}

// dependent makes the error of a null vector of the correlations: the columns with a share in it determine one another.
func dependent(rank, of, rows int, null []float64) *DependentColumnsError {
	e := &DependentColumnsError{Rank: rank, Of: of, Rows: rows}
	most := 0.0
	for _, v := range null {
		most = max(most, math.Abs(v))
	}
	for j, v := range null {
		if math.Abs(v) > 1e-3*most {
			e.Columns = append(e.Columns, j)
		}
	}
	return e
}

// Error names the rank and the columns and says what to do about them.
func (e *DependentColumnsError) Error() string {
	if e.Rows <= e.Of {
		return fmt.Sprintf("%d rows of %d columns: must be more rows than columns; standardise instead, which needs no more than two", e.Rows, e.Of)
	}
	const most = 8
	var b strings.Builder
	fmt.Fprintf(&b, "columns of rank %d of %d: columns", e.Rank, e.Of)
	for k, j := range e.Columns[:min(most, len(e.Columns))] {
		if k < len(e.Names) {
			fmt.Fprintf(&b, " %q", e.Names[k])
		} else {
			fmt.Fprintf(&b, " %d", j)
		}
	}
	if more := len(e.Columns) - most; more > 0 {
		fmt.Fprintf(&b, " and %d more", more)
	}
	if e.Names == nil {
		b.WriteString(" (counted from 0)")
	}
	b.WriteString(" follow from one another: must be linearly independent; leave one of them out, or standardise instead")
	return b.String()
}

// Validate returns an error when w is not fitted, its numbers are not as many as they must be, not finite or not
// positive, or the axes are not at right angles.
func (w Whitener) Validate() error {
	d := len(w.Mean)
	if d == 0 || len(w.Std) != d || len(w.Axes) != d || len(w.Spread) != d {
		return fmt.Errorf("data: Whitener: %d means, %d deviations, %d axes and %d spreads: must be as many, and at least one",
			d, len(w.Std), len(w.Axes), len(w.Spread))
	}
	for j := range d {
		for what, v := range map[string]float64{"std": w.Std[j], "spread": w.Spread[j]} {
			if !(v > 0) || math.IsInf(v, 0) {
				return fmt.Errorf("data: Whitener: %s[%d] = %v: must be positive and finite", what, j, v)
			}
		}
		if math.IsNaN(w.Mean[j]) || math.IsInf(w.Mean[j], 0) {
			return fmt.Errorf("data: Whitener: mean[%d] = %v: must be finite", j, w.Mean[j])
		}
		if len(w.Axes[j]) != d {
			return fmt.Errorf("data: Whitener: axis %d of %d numbers: must have %d", j, len(w.Axes[j]), d)
		}
	}
	// VVᵀ is I if it leaves a vector as it is; all pairs of axes would take d³ products.
	probe := make([]float64, d)
	for j := range probe {
		probe[j] = math.Cos(float64(j * j))
	}
	back := w.fromAxes(w.toAxes(probe))
	if !(floats.Distance(back, probe, 2) <= 1e-6*floats.Norm(probe, 2)) {
		return fmt.Errorf("data: Whitener: axes that are not at right angles and of length 1: must be an orthogonal matrix")
	}
	return nil
}

// Apply returns the whitened points.
func (w Whitener) Apply(x *tensors.Tensor) (*tensors.Tensor, error) { return apply(w, x) }

// Invert returns the points in the units of the data.
func (w Whitener) Invert(z *tensors.Tensor) (*tensors.Tensor, error) { return invert(w, z) }

// LogDet returns −Σ log D − ½ Σ log Λ for each row.
func (w Whitener) LogDet(x *tensors.Tensor) ([]float64, error) { return logDets(w, x) }

// PullBack returns D⁻¹ V Λ^{−½} s for the score s, turned first if ZCA.
func (w Whitener) PullBack(x, score *tensors.Tensor) (*tensors.Tensor, error) {
	return pulledBack(w, x, score)
}

// ApplyGraph adds the whitened points to the graph of x.
func (w Whitener) ApplyGraph(x *Node) *Node {
	return onColumns(w, x, func(x *Node) *Node {
		axes := graph.ConvertDType(graph.Const(x.Graph(), w.Axes), x.DType()) // [axis, column]
		unit := graph.Div(graph.Sub(x, row(x, w.Mean)), row(x, w.Std))
		z := graph.Div(graph.MatMul(unit, graph.Transpose(axes, 0, 1)), row(x, w.Spread))
		if w.ZCA {
			z = graph.MatMul(z, axes)
		}
		return z
	})
}

func (Whitener) kind() string     { return "whiten" }
func (w Whitener) columns() int   { return len(w.Mean) }
func (w Whitener) isFitted() bool { return w.Mean != nil || w.Axes != nil }

// toAxes returns Vᵀ row.
func (w Whitener) toAxes(row []float64) []float64 {
	turned := make([]float64, len(row))
	for k, axis := range w.Axes {
		turned[k] = floats.Dot(axis, row)
	}
	return turned
}

// fromAxes returns V row.
func (w Whitener) fromAxes(row []float64) []float64 {
	turned := make([]float64, len(row))
	for k, axis := range w.Axes {
		floats.AddScaled(turned, row[k], axis)
	}
	return turned
}

func (w Whitener) forward(row []float64) error {
	floats.Sub(row, w.Mean)
	floats.Div(row, w.Std)
	z := w.toAxes(row)
	floats.Div(z, w.Spread)
	if w.ZCA {
		z = w.fromAxes(z)
	}
	copy(row, z)
	return nil
}

func (w Whitener) backward(row []float64) {
	z := slices.Clone(row)
	if w.ZCA {
		z = w.toAxes(z)
	}
	floats.Mul(z, w.Spread)
	z = w.fromAxes(z)
	floats.Mul(z, w.Std)
	floats.AddTo(row, z, w.Mean)
}

func (w Whitener) logDet([]float64) float64 {
	sum := 0.0
	for j := range w.Std {
		sum -= math.Log(w.Std[j]) + math.Log(w.Spread[j])
	}
	return sum
}

func (w Whitener) pullBack(_, score []float64) {
	s := slices.Clone(score)
	if w.ZCA {
		s = w.toAxes(s)
	}
	floats.Div(s, w.Spread)
	s = w.fromAxes(s)
	floats.DivTo(score, s, w.Std)
}
