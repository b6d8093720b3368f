package scorekit

import (
	"fmt"
	"math"
	"slices"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit/random"
)

// Examples makes training data of points held in memory: a tensor [n, dims...] of float32 or float64, or a
// [][]float64 or [][]float32 with rows of one length. They are kept on the device; each batch draws its rows from
// them independently and uniformly, with replacement.
//
// It returns an error for no examples, for rows of different lengths, and for a value that is NaN or Inf, named by
// its row and column.
func Examples(points any) (Data, error) {
	t, err := ownTensor(points)
	if err != nil {
		return nil, fmt.Errorf("scorekit: Examples: %w", err)
	}
	return examples{t}, nil
}

// ownTensor is toTensor with a tensor that nobody else has: the caller may change or free one of theirs.
func ownTensor(points any) (*tensors.Tensor, error) {
	t, err := toTensor(points)
	if err == nil && t == points {
		return t.LocalClone()
	}
	return t, err
}

// examples is Data held in one tensor on the host, which nobody else has. Each run takes its own copy to the device.
type examples struct{ points *tensors.Tensor }

func (e examples) Shape() []int { return slices.Clone(e.points.Shape().Dimensions[1:]) }

// held is what [Fit] shows a [PointsValidator].
func (e examples) held() *tensors.Tensor { return e.points }

const (
	examplesScope = "examples" // of what they keep on the device
	pointsName    = "points"
)

var _ placed = examples{}

// graphOf writes out what the graph knows of examples.
func (e examples) graphOf() string { return fmt.Sprintf("examples %v", e.points.Shape().Dimensions) }

// place puts the examples on the device, in place of others if there are some.
func (e examples) place(vars *mlctx.Context, dtype dtypes.DType) error {
	points, err := convert(e.points, dtype)
	if err != nil {
		return err
	}
	return placeAs(vars, pointsName, points)
}

// onDevice returns what is held on the device under a name. It is placed there by the first of the steps of a run.
func onDevice(vars *mlctx.Context, name string, place func() error) *mlctx.Variable {
	vars = vars.In(examplesScope)
	if v := vars.GetVariable(name); v != nil {
		return v
	}
	if err := place(); err != nil {
		panic(err)
	}
	return vars.GetVariable(name)
}

func placeAs(vars *mlctx.Context, name string, value *tensors.Tensor) error {
	vars = vars.In(examplesScope)
	if v := vars.GetVariable(name); v != nil {
		return v.SetValue(value)
	}
	vars.VariableWithValue(name, value).SetTrainable(false)
	return nil
}

func (e examples) Batch(vars *mlctx.Context, rng *random.Source, n int) *Node {
	x, _ := e.draw(vars, rng, n)
	return x
}

// draw returns n examples and their rows, [n, 1].
func (e examples) draw(vars *mlctx.Context, rng *random.Source, n int) (x, rows *Node) {
	stored := onDevice(vars, pointsName, func() error { return e.place(vars, rng.DType()) })
	all := stored.ValueGraph(rng.Graph())
	rows = rng.Int(all.Shape().Dimensions[0], n, 1)
	return graph.StopGradient(graph.Gather(all, rows)), rows
}

// toTensor makes a tensor [n, dims...] from points and checks it.
func toTensor(points any) (*tensors.Tensor, error) {
	var t *tensors.Tensor
	switch p := points.(type) {
	case *tensors.Tensor:
		t = p
	case [][]float64:
		flat, cols, err := flatten(p)
		if err != nil {
			return nil, err
		}
		t = tensors.FromFlatDataAndDimensions(flat, len(p), cols)
	case [][]float32:
		flat, cols, err := flatten(p)
		if err != nil {
			return nil, err
		}
		t = tensors.FromFlatDataAndDimensions(flat, len(p), cols)
	default:
		return nil, fmt.Errorf("points of type %T: must be *tensors.Tensor, [][]float64 or [][]float32", points)
	}
	if t == nil || t.CheckValid() != nil {
		return nil, fmt.Errorf("points: the tensor is nil or was finalized")
	}
	if d := t.DType(); d != dtypes.Float32 && d != dtypes.Float64 {
		return nil, fmt.Errorf("points of dtype %s: must be Float32 or Float64", d)
	}
	if t.Rank() < 2 {
		return nil, fmt.Errorf("points of shape %v: must be [examples, dims...]", t.Shape().Dimensions)
	}
	if t.Size() == 0 {
		return nil, fmt.Errorf("points of shape %v: there must be at least one", t.Shape().Dimensions)
	}
	flat, err := floats(t)
	if err != nil {
		return nil, err
	}
	width := t.Size() / t.Shape().Dimensions[0]
	for i, v := range flat {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("points: row %d, column %d is %v: every value must be finite (rows and columns count from 0)", i/width, i%width, v)
		}
	}
	return t, nil
}

func flatten[T float32 | float64](rows [][]T) ([]T, int, error) {
	if len(rows) == 0 || len(rows[0]) == 0 {
		return nil, 0, fmt.Errorf("points: there must be at least one, with at least one column")
	}
	cols := len(rows[0])
	flat := make([]T, 0, len(rows)*cols)
	for i, r := range rows {
		if len(r) != cols {
			return nil, 0, fmt.Errorf("points: row %d has %d columns but row 0 has %d", i, len(r), cols)
		}
		flat = append(flat, r...)
	}
	return flat, cols, nil
}

// floats copies the values of a float tensor, in row order.
func floats(t *tensors.Tensor) ([]float64, error) {
	out := make([]float64, t.Size())
	err := t.ConstFlatData(func(flat any) {
		switch f := flat.(type) {
		case []float64:
			copy(out, f)
		case []float32:
			for i, v := range f {
				out[i] = float64(v)
			}
		}
	})
	return out, err
}

// convert copies a float tensor as another dtype. A float64 beyond the range of float32 is an error.
func convert(t *tensors.Tensor, dtype dtypes.DType) (*tensors.Tensor, error) {
	flat, err := floats(t)
	if err != nil {
		return nil, err
	}
	if dtype == dtypes.Float64 {
		return tensors.FromFlatDataAndDimensions(flat, t.Shape().Dimensions...), nil
	}
	narrow, width := make([]float32, len(flat)), max(1, len(flat)/max(1, t.Shape().Dimensions[0]))
	for i, v := range flat {
		narrow[i] = float32(v)
		if math.IsInf(float64(narrow[i]), 0) && !math.IsInf(v, 0) {
			return nil, fmt.Errorf("row %d, column %d: value %v does not fit in float32: use WithDType(dtypes.Float64)", i/width, i%width, v)
		}
	}
	return tensors.FromFlatDataAndDimensions(narrow, t.Shape().Dimensions...), nil
}

// Rows returns the values of a float tensor [n, dims...] as n rows of float64, each row with its dims flattened.
// It returns an error for another dtype or a rank below 2.
func Rows(t *tensors.Tensor) ([][]float64, error) {
	if t == nil || t.CheckValid() != nil {
		return nil, fmt.Errorf("scorekit: Rows: the tensor is nil or was finalized")
	}
	if d := t.DType(); (d != dtypes.Float32 && d != dtypes.Float64) || t.Rank() < 2 {
		return nil, fmt.Errorf("scorekit: Rows: tensor of shape %s: must be [n, dims...] of Float32 or Float64", t.Shape())
	}
	flat, err := floats(t)
	if err != nil {
		return nil, fmt.Errorf("scorekit: Rows: %w", err)
	}
	n := t.Shape().Dimensions[0]
	rows := make([][]float64, n)
	for i := range rows {
		w := len(flat) / n
		rows[i] = flat[i*w : (i+1)*w : (i+1)*w]
	}
	return rows, nil
}
