package data

import (
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/internal/numbers"
	"github.com/scorekit/lab/scorekit"
)

// Transform is an invertible change z = f(x) of each example, a row of d numbers: [Standardizer], [Whitener], [MinMax],
// [Logit], or several of them one after the other, a [Chain]. A model of z is a model of x,
//
//	log p(x) = log p(z) + log|det ∂z/∂x|,  ∇ₓ log p(x) = (∂z/∂x)ᵀ ∇_z log p(z) + ∇ₓ log|det ∂z/∂x|
//
// for which a transform has LogDet and PullBack. Tensors are float32 or float64, [n, dims...] with dims that multiply to
// d, such as [n, d] and [n, height, width, channels], and results have their shape and dtype; all is computed in float64
// inside. A transform is plain data, stored as JSON by [Chain] and [Pipeline] under the name of its kind, which is why
// there are no others than those of this package.
type Transform interface {
	// Fit returns the transform with the numbers that it takes from data: it goes through the rows once (a Chain once for
	// each of its transforms) and keeps none.
	Fit(rows iter.Seq2[[]float64, error]) (Transform, error)
	// Apply returns f(x). It returns an error, as all methods do, when x has not the columns that the transform was
	// fitted to, holds a NaN or an infinity or a value that f has no image of, named by row and column counted from 0,
	// or a result is too large for the dtype.
	Apply(x *tensors.Tensor) (*tensors.Tensor, error)
	// Invert returns the x with f(x) = z.
	Invert(z *tensors.Tensor) (*tensors.Tensor, error)
	// LogDet returns log|det ∂z/∂x| at each row of x.
	LogDet(x *tensors.Tensor) ([]float64, error)
	// PullBack returns the score in the units of x: for the score ∇_z log p(z) at z = f(x) it is ∇ₓ log p(x).
	PullBack(x, score *tensors.Tensor) (*tensors.Tensor, error)
	// ApplyGraph adds f(x) to the graph of x, [batch, dims...]. It panics, as graph functions do, when the transform is
	// not valid or not fitted to as many columns. Values that f has no image of come out as NaN.
	ApplyGraph(x *Node) *Node
	// Validate returns an error when the transform is not fitted, or its numbers are impossible.
	Validate() error

	// kind names the transform in JSON and messages.
	kind() string
	// columns is the number of columns that it was fitted to, 0 for any.
	columns() int
	isFitted() bool
	// forward and backward replace a row by its image.
	forward(row []float64) error
	backward(row []float64)
	logDet(row []float64) float64
	// pullBack replaces the score at f(row).
	pullBack(row, score []float64)
}

// apply, invert, logDets and pulledBack are the methods that all transforms have alike.

func apply(t Transform, x *tensors.Tensor) (*tensors.Tensor, error) {
	return onRows(t, "Apply", x, t.forward)
}

func invert(t Transform, z *tensors.Tensor) (*tensors.Tensor, error) {
	return onRows(t, "Invert", z, func(row []float64) error { t.backward(row); return nil })
}

func logDets(t Transform, x *tensors.Tensor) ([]float64, error) {
	rows, err := rowsFor(t, x)
	if err != nil {
		return nil, fmt.Errorf("data: %s: LogDet: %w", title(t), err)
	}
	dets := make([]float64, len(rows))
	for i, row := range rows {
		dets[i] = t.logDet(row)
		if err := t.forward(slices.Clone(row)); err != nil {
			return nil, fmt.Errorf("data: %s: LogDet: row %d, %w", title(t), i, err)
		}
	}
	return dets, nil
}

func pulledBack(t Transform, x, score *tensors.Tensor) (*tensors.Tensor, error) {
	rows, err := rowsFor(t, x)
	if err != nil {
		return nil, fmt.Errorf("data: %s: PullBack: %w", title(t), err)
	}
	if score == nil || !score.Shape().Equal(x.Shape()) {
		return nil, fmt.Errorf("data: %s: PullBack: a score that is not of the points' shape %s: must be of the same", title(t), x.Shape())
	}
	for i, row := range rows {
		if err := t.forward(slices.Clone(row)); err != nil {
			return nil, fmt.Errorf("data: %s: PullBack: row %d, %w", title(t), i, err)
		}
	}
	i := -1
	return onRows(t, "PullBack", score, func(s []float64) error { i++; t.pullBack(rows[i], s); return nil })
}

// onRows returns x with each row changed by f, whose error begins with the column.
func onRows(t Transform, verb string, x *tensors.Tensor, f func(row []float64) error) (*tensors.Tensor, error) {
	rows, err := rowsFor(t, x)
	if err != nil {
		return nil, fmt.Errorf("data: %s: %s: %w", title(t), verb, err)
	}
	for i, row := range rows {
		if err := f(row); err != nil {
			return nil, fmt.Errorf("data: %s: %s: row %d, %w", title(t), verb, i, err)
		}
	}
	changed, err := like(x, rows)
	if err != nil {
		return nil, fmt.Errorf("data: %s: %s: %w", title(t), verb, err)
	}
	return changed, nil
}

func title(t Transform) string {
	switch t.(type) {
	case Standardizer:
		return "Standardizer"
	case Whitener:
		return "Whitener"
	case MinMax:
		return "MinMax"
	case Logit:
		return "Logit"
	}
	return "Chain"
}

// rowsFor returns a copy of the rows of x, checked.
func rowsFor(t Transform, x *tensors.Tensor) ([][]float64, error) {
	if err := t.Validate(); err != nil {
		return nil, err
	}
	rows, err := finiteRows(x)
	if err != nil {
		return nil, err
	}
	if d := t.columns(); d != 0 && len(rows[0]) != d {
		return nil, fmt.Errorf("rows of %d for %d columns: must be as many", len(rows[0]), d)
	}
	return rows, nil
}

// finiteRows returns a copy of the rows of a tensor [n, dims...].
func finiteRows(x *tensors.Tensor) ([][]float64, error) {
	if x == nil || x.Size() == 0 {
		return nil, fmt.Errorf("no examples: must have at least one")
	}
	if x.Rank() < 2 {
		return nil, fmt.Errorf("examples of shape %s: must be [n, dims...]", x.Shape())
	}
	if x.DType() != dtypes.Float32 && x.DType() != dtypes.Float64 {
		return nil, fmt.Errorf("examples of dtype %s: must be float32 or float64", x.DType())
	}
	rows, err := scorekit.Rows(x)
	if err != nil {
		return nil, err
	}
	return rows, checkFinite(rows)
}

// like makes a tensor of the shape and dtype of x, unless a value is beyond them.
func like(x *tensors.Tensor, rows [][]float64) (*tensors.Tensor, error) {
	flat := make([]float64, 0, x.Size())
	for i, row := range rows {
		for j, v := range row {
			if math.IsNaN(v) || math.Abs(v) > largest(x.DType()) {
				return nil, fmt.Errorf("row %d, column %d becomes %v: must be finite in %s", i, j, v, x.DType())
			}
		}
		flat = append(flat, row...)
	}
	return numbers.Tensor(flat, x.DType(), x.Shape().Dimensions...), nil
}

func largest(dtype dtypes.DType) float64 {
	if dtype == dtypes.Float32 {
		return math.MaxFloat32
	}
	return math.MaxFloat64
}

// onColumns adds f(x) to a graph for an f that works on [batch, d].
func onColumns(t Transform, x *Node, f func(x *Node) *Node) *Node {
	if err := t.Validate(); err != nil {
		panic(err)
	}
	if x.Rank() < 2 || !x.DType().IsFloat() {
		panic(fmt.Errorf("data: %s: points of shape %s: must be floats [batch, dims...]", title(t), x.Shape()))
	}
	n := x.Shape().Dimensions[0]
	d := x.Shape().Size() / n
	if c := t.columns(); c != 0 && c != d {
		panic(fmt.Errorf("data: %s: points of shape %s: must have %d columns", title(t), x.Shape(), c))
	}
	if x.Rank() == 2 {
		return f(x)
	}
	return graph.Reshape(f(graph.Reshape(x, n, d)), x.Shape().Dimensions...)
}

// row makes a constant [1, d] of x's dtype.
func row(x *Node, values []float64) *Node {
	return graph.Reshape(graph.ConvertDType(graph.Const(x.Graph(), values), x.DType()), 1, len(values))
}

// Chain is several transforms, the first first. The empty one changes nothing.
type Chain []Transform

var _ Transform = Chain{}

// Fit fits the transforms that have no numbers yet, each to what those before it make of the rows: it goes through them
// once for each. A fitted transform is kept as it is.
func (c Chain) Fit(rows iter.Seq2[[]float64, error]) (Transform, error) {
	fitted, err := c.fit(rows)
	if err != nil {
		return nil, err
	}
	return fitted, nil
}

func (c Chain) fit(rows iter.Seq2[[]float64, error]) (Chain, error) {
	c = slices.Clone(c)
	for k, t := range c {
		if t == nil {
			return nil, fmt.Errorf("data: Chain: transform %d: nil", k)
		}
		if t.isFitted() {
			if err := t.Validate(); err != nil {
				return nil, err
			}
			continue
		}
		fitted, err := t.Fit(changed(rows, c[:k].forward))
		if err != nil {
			return nil, err
		}
		c[k] = fitted
	}
	return c, nil
}

// changed gives the rows changed by f, in one buffer.
func changed(rows iter.Seq2[[]float64, error], f func(row []float64) error) iter.Seq2[[]float64, error] {
	return func(yield func([]float64, error) bool) {
		var buffer []float64
		n := 0
		for row, err := range rows {
			if err == nil {
				buffer = append(buffer[:0], row...)
				if err = f(buffer); err != nil {
					err = fmt.Errorf("row %d, %w", n, err)
				}
			}
			if !yield(buffer, err) || err != nil {
				return
			}
			n++
		}
	}
}

// Apply returns the points after all transforms.
func (c Chain) Apply(x *tensors.Tensor) (*tensors.Tensor, error) { return apply(c, x) }

// Invert undoes the transforms, the last first.
func (c Chain) Invert(z *tensors.Tensor) (*tensors.Tensor, error) { return invert(c, z) }

// LogDet returns the sum of the transforms' log|det ∂z/∂x|, each at what those before it make of x.
func (c Chain) LogDet(x *tensors.Tensor) ([]float64, error) { return logDets(c, x) }

// PullBack returns the score in the units of x.
func (c Chain) PullBack(x, score *tensors.Tensor) (*tensors.Tensor, error) {
	return pulledBack(c, x, score)
}

// ApplyGraph adds all transforms to the graph of x.
func (c Chain) ApplyGraph(x *Node) *Node {
	for _, t := range c {
		x = t.ApplyGraph(x)
	}
	return x
}

// Validate returns the error of the first transform that has one, or one that says which two are fitted to different
// numbers of columns.
func (c Chain) Validate() error {
	d := 0
	for k, t := range c {
		if t == nil {
			return fmt.Errorf("data: Chain: transform %d: nil", k)
		}
		if err := t.Validate(); err != nil {
			return err
		}
		if n := t.columns(); n != 0 {
			if d != 0 && n != d {
				return fmt.Errorf("data: Chain: transform %d of %d columns after one of %d: must be as many", k, n, d)
			}
			d = n
		}
	}
	return nil
}

func (Chain) kind() string { return "chain" }

func (c Chain) columns() int {
	for _, t := range c {
		if d := t.columns(); d != 0 {
			return d
		}
	}
	return 0
}

func (c Chain) isFitted() bool {
	return !slices.ContainsFunc(c, func(t Transform) bool { return t == nil || !t.isFitted() })
}

func (c Chain) forward(row []float64) error {
	for _, t := range c {
		if err := t.forward(row); err != nil {
			return err
		}
	}
	return nil
}

func (c Chain) backward(row []float64) {
	for _, t := range slices.Backward(c) {
		t.backward(row)
	}
}

func (c Chain) logDet(row []float64) float64 {
	sum, at := 0.0, slices.Clone(row)
	for _, t := range c {
		sum += t.logDet(at)
		if t.forward(at) != nil {
			return math.NaN()
		}
	}
	return sum
}

func (c Chain) pullBack(row, score []float64) {
	if len(c) == 0 {
		return
	}
	at := slices.Clone(row)
	if c[0].forward(at) != nil {
		return
	}
	c[1:].pullBack(at, score)
	c[0].pullBack(row, score)
}

// MarshalJSON writes a list of objects with one entry each, the kind of the transform and its numbers.
func (c Chain) MarshalJSON() ([]byte, error) {
	list := make([]map[string]Transform, len(c))
	for k, t := range c {
		if t == nil {
			return nil, fmt.Errorf("data: Chain: transform %d: nil", k)
		}
		list[k] = map[string]Transform{t.kind(): t}
	}
	return json.Marshal(list)
}

// UnmarshalJSON reads what MarshalJSON writes. It returns an error for a kind that is not known and for numbers that
// Validate refuses.
func (c *Chain) UnmarshalJSON(text []byte) error {
	var list []map[string]json.RawMessage
	if err := json.Unmarshal(text, &list); err != nil {
		return fmt.Errorf("data: Chain: %w", err)
	}
	read := make(Chain, 0, len(list))
	for k, object := range list {
		if len(object) != 1 {
			return fmt.Errorf("data: Chain: transform %d with %d kinds: must have one", k, len(object))
		}
		for kind, numbers := range object {
			t, err := readTransform(kind, numbers)
			if err != nil {
				return fmt.Errorf("data: Chain: transform %d: %w", k, err)
			}
			read = append(read, t)
		}
	}
	if read.isFitted() {
		if err := read.Validate(); err != nil {
			return err
		}
	}
	*c = read
	return nil
}

func readTransform(kind string, numbers []byte) (Transform, error) {
	switch kind {
	case Standardizer{}.kind():
		return decode[Standardizer](numbers)
	case Whitener{}.kind():
		return decode[Whitener](numbers)
	case MinMax{}.kind():
		return decode[MinMax](numbers)
	case Logit{}.kind():
		return decode[Logit](numbers)
	case Chain{}.kind():
		return decode[Chain](numbers)
	}
	return nil, fmt.Errorf("kind %q: is none that is known", kind)
}

func decode[T Transform](text []byte) (Transform, error) {
	var t T
	err := json.Unmarshal(text, &t)
	return t, err
}
