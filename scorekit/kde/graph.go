package kde

import (
	"fmt"
	"math"
	"slices"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
)

// Node is a GoMLX graph node.
type Node = scorekit.Node

// LogDensity returns log q(x), [batch], −Inf where no point of a compact kernel is near. x is [batch, dims...]. It
// panics, as graph functions do, when x has another shape. The points are part of the graph, in at most 64 chunks: with
// very many of them [Estimate.LogDensityAt] compiles faster and, from 2²⁶ pairs of a point and a centre, takes less memory.
func (q Estimate) LogDensity(x *Node) *Node { return q.LogDensityNoised(x, nil) }

// LogDensityNoised returns log q_σ(x), the log-density at x of q convolved with N(0, σ²I), where sigma holds the σ of each
// point, [batch], or is nil for none. It panics, as graph functions do, when the shapes do not fit, and for another
// kernel than the Gaussian.
func (q Estimate) LogDensityNoised(x, sigma *Node) *Node {
	f := q.form(x, sigma)
	centres, logWeights := q.stored(nil, x.Graph(), x.DType())
	return f.logDensity(f.over(f.prepare(centres, logWeights), false))
}

// Score returns ∇log q(x), of x's shape [batch, dims...], or with noise levels sigma, [batch], the score of q convolved
// with N(0, σ²I): ∇log q_σ(x) = (E[y | x] − x)/σ² for y drawn from q, so that of all denoisers x + σ²s(x, σ) is the best
// on these points. The score is 0 where no point of a compact kernel is near. vars keeps the points on the device; it
// may be nil. It panics, as graph functions do, when the shapes do not fit, and for noise levels with another kernel
// than the Gaussian.
func (q Estimate) Score(vars *mlctx.Context, x, sigma *Node) *Node {
	q.check(x, sigma)
	centres, logWeights := q.stored(vars, x.Graph(), x.DType())
	return q.scoreOn(centres, logWeights, x, sigma)
}

func (q Estimate) scoreOn(centres, logWeights, x, sigma *Node) *Node {
	f := q.form(x, sigma)
	return q.turnBack(f.score(f.over(f.prepare(centres, logWeights), true)), x.Shape().Dimensions)
}

// turnBack returns vectors along the axes, [batch, d], in coordinates and in the shape of the points.
func (q Estimate) turnBack(v *Node, dims []int) *Node {
	if q.smoothing.axes != nil {
		v = graph.Dot(v, graph.Transpose(constant(v.Graph(), v.DType(), q.smoothing.axes, q.Dim(), q.Dim()), 0, 1))
	}
	return graph.Reshape(v, dims...)
}

// form prepares points for sums over centres.
func (q Estimate) form(x, sigma *Node) form {
	q.check(x, sigma)
	g, dtype, d := x.Graph(), x.DType(), q.Dim()
	f := form{kernel: q.kernel, products: q.products(dtype)}
	x = graph.Reshape(x, x.Shape().Dimensions[0], d)
	f.middle = constant(g, dtype, q.centre, 1, d)
	if q.isCentred(dtype) {
		x, f.middle = graph.Sub(x, f.middle), graph.ZerosLike(f.middle)
	}
	if q.smoothing.axes != nil {
		x = graph.Dot(x, constant(g, dtype, q.smoothing.axes, d, d))
	}
	widths, err := q.widths(dtype)
	if err != nil {
		panic(fmt.Errorf("kde: %w", err))
	}
	width := constant(g, dtype, widths, 1, d)
	if sigma != nil {
		squares := graph.Add(graph.Square(width), graph.InsertAxes(graph.Square(sigma), -1))
		width = graph.Sqrt(squares)
	}
	f.inverse = graph.Reciprocal(width)
	far := graph.MulScalar(width, reach(dtype, d))
	f.x = graph.Min(graph.Max(x, graph.Sub(f.middle, far)), graph.Add(f.middle, far))
	return f
}

// widths are the units of u, one for each coordinate or axis. It returns an error where their squares overflow.
func (q Estimate) widths(dtype dtypes.DType) ([]float64, error) {
	widths := make([]float64, q.Dim())
	for k, h := range q.smoothing.h {
		widths[k] = h * q.kernel.width()
		if dtype == dtypes.Float32 && !(widths[k] > 1e-18 && widths[k] < 1e18) {
			return nil, fmt.Errorf("bandwidth %v: must be from 1e-18 to 1e18 in float32", h)
		}
	}
	return widths, nil
}

// isCentred says whether the centres are stored less their mean, along the axes. Where differences are taken in the
// coordinates themselves they are not: a difference of close numbers is exact, that of their rounded distances from the
// mean is not.
func (q Estimate) isCentred(dtype dtypes.DType) bool {
	return q.products(dtype).squares || q.smoothing.axes != nil
}

// place returns the points as they are stored, [M, d] row-major.
func (q Estimate) place(dtype dtypes.DType) []float64 {
	if !q.isCentred(dtype) {
		return q.points
	}
	d := q.Dim()
	placed := make([]float64, len(q.points))
	for i := 0; i < len(placed); i += d {
		q.smoothing.along(q.points[i:i+d], q.centre, placed[i:i+d])
	}
	return placed
}

// stored returns the centres, [M, d], and the logarithms of their weights, [1, M].
func (q Estimate) stored(vars *mlctx.Context, g *graph.Graph, dtype dtypes.DType) (centres, logWeights *Node) {
	centres = q.keep(vars, g, dtype, "centres", func() []float64 { return q.place(dtype) }, q.Len(), q.Dim())
	return centres, q.keep(vars, g, dtype, "weights", q.logWeights, 1, q.Len())
}

func (q Estimate) logWeights() []float64 {
	logs := make([]float64, len(q.weights))
	for i, w := range q.weights {
		logs[i] = math.Log(w)
	}
	return logs
}

// scope holds what estimates keep on the device: it is no part of a model's weights, and not saved with them.
const scope = "/kde"

// keep returns values as a node: a variable of vars, made by the first who asks for it, or a constant without vars.
func (q Estimate) keep(vars *mlctx.Context, g *graph.Graph, dtype dtypes.DType, what string, values func() []float64, dims ...int) *Node {
	if vars == nil {
		return constant(g, dtype, values(), dims...)
	}
	name := fmt.Sprintf("%s_%s_%s", q.id, what, dtype)
	vars = vars.InAbsPath(scope).Checked(false)
	kept := vars.GetVariable(name)
	if kept == nil {
		kept = vars.VariableWithValue(name, tensorOf(dtype, values(), dims...)).SetTrainable(false)
	}
	return graph.StopGradient(kept.ValueGraph(g))
}

func constant(g *graph.Graph, dtype dtypes.DType, values []float64, dims ...int) *Node {
	return graph.ConstTensor(g, tensorOf(dtype, values, dims...))
}

// tensorOf panics, as graph functions do, where newTensor returns an error.
func tensorOf(dtype dtypes.DType, values []float64, dims ...int) *tensors.Tensor {
	t, err := newTensor(dtype, values, dims...)
	if err != nil {
		panic(fmt.Errorf("kde: %w", err))
	}
	return t
}

// newTensor returns an error for a value beyond the range of float32.
func newTensor(dtype dtypes.DType, values []float64, dims ...int) (*tensors.Tensor, error) {
	if dtype == dtypes.Float64 {
		return tensors.FromFlatDataAndDimensions(values, dims...), nil
	}
	narrow := make([]float32, len(values))
	for i, v := range values {
		if narrow[i] = float32(v); narrow[i]-narrow[i] != 0 && !math.IsInf(v, 0) && !math.IsNaN(v) {
			return nil, fmt.Errorf("value %v does not fit in float32: use float64", v)
		}
	}
	return tensors.FromFlatDataAndDimensions(narrow, dims...), nil
}

// check panics, as graph functions do, unless x is [batch, dims...] of float32 or float64 and sigma is nil or [batch] of
// the same dtype.
func (q Estimate) check(x, sigma *Node) {
	if err := q.Validate(); err != nil {
		panic(err)
	}
	shape := x.Shape()
	if shape.Rank() < 2 || !slices.Equal(shape.Dimensions[1:], q.dims) || (x.DType() != dtypes.Float32 && x.DType() != dtypes.Float64) {
		panic(fmt.Errorf("kde: points of shape %s: must be [batch, %v] of float32 or float64", shape, q.dims))
	}
	if sigma == nil {
		return
	}
	if err := q.canNoise(); err != nil {
		panic(err)
	}
	if sigma.Rank() != 1 || sigma.Shape().Dimensions[0] != shape.Dimensions[0] || sigma.DType() != x.DType() {
		panic(fmt.Errorf("kde: noise levels of shape %s for points of shape %s: must be [batch] of the same dtype", sigma.Shape(), shape))
	}
}
