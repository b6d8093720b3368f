package autodiff_test

import (
	. "github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/shapes"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"
	"github.com/gomlx/gomlx/pkg/ml/layers"
	"github.com/gomlx/gomlx/pkg/ml/layers/activations"

	"github.com/scorekit/lab/scorekit/autodiff"
)

// size is the numbers of a row in the table test.
const size = 6

// Orders of differentiation that an operation allows.
const (
	forward  = iota + 1 // none: it can only be computed
	gradient            // gradient and trace of the Jacobian
	anyOrder            // also the gradient of a loss that holds the trace
)

// notAtAll marks an operation that a backend does not implement.
const notAtAll = 0

// op is one row of the table: an operation on p, [rows, 6], that may use the parameter w, [6].
type op struct {
	name      string
	f         func(p, w *Node) *Node
	xla, pure int    // orders allowed on each backend
	refusal   string // what the error for the next order says
}

func both(name string, f func(p, w *Node) *Node) op {
	return op{name: name, f: f, xla: anyOrder, pure: anyOrder}
}

func one(name string, f func(p *Node) *Node) op {
	return both(name, func(p, _ *Node) *Node { return f(p) })
}

// positive maps numbers to numbers above ½ without a kink.
func positive(p *Node) *Node { return AddScalar(Square(p), 0.5) }

// apart adds a different constant to each column so that comparisons are decided by more than a finite difference.
func apart(p *Node) *Node {
	return Add(MulScalar(p, 0.3), Const(p.Graph(), [][]float64{{0.1, 1.9, -0.8, 2.7, -1.7, 0.95}}))
}

// shaped gives each row of p the dimensions dims.
func shaped(p *Node, dims ...int) *Node { return Reshape(p, append([]int{-1}, dims...)...) }

// kernel makes an array that depends on the parameter w.
func kernel(w *Node, dims ...int) *Node {
	n := 1
	for _, d := range dims {
		n *= d
	}
	k := IotaFull(w.Graph(), shapes.Make(w.DType(), n))
	index := ConvertDType(Mod(k, Scalar(w.Graph(), w.DType(), size)), dtypes.Int32)
	base := Sin(AddScalar(MulScalar(k, 1.3), 0.4))
	return Reshape(Mul(base, AddScalar(Gather(w, InsertAxes(index, -1)), 1)), dims...)
}

// conv1 convolves p as 6 positions of one channel with a kernel of k positions, 1 → 2 channels.
func conv1(k int, set func(c *ConvolutionBuilder) *ConvolutionBuilder) func(p, w *Node) *Node {
	return func(p, w *Node) *Node { return set(Convolve(shaped(p, 6, 1), kernel(w, k, 1, 2))).Done() }
}

const useMean = "use mean pooling"

var ops = []op{
	// Products.
	both("Dot", func(p, w *Node) *Node { return Dot(p, kernel(w, 6, 4)) }),
	both("Dot by a vector", func(p, w *Node) *Node { return InsertAxes(Dot(p, w), -1) }),
	both("Dot of vectors", func(p, w *Node) *Node { return Mul(p, Dot(w, w)) }),
	both("Einsum bi,bi->b", func(p, w *Node) *Node { return InsertAxes(Einsum("bi,bi->b", p, Mul(Sin(p), InsertAxes(w, 0))), -1) }),
	both("Einsum bij,jk->bik", func(p, w *Node) *Node { return Einsum("bij,jk->bik", shaped(p, 2, 3), kernel(w, 3, 4)) }),
	both("Einsum bij,bkj->bki", func(p, w *Node) *Node { return Einsum("bij,bkj->bki", shaped(p, 3, 2), shaped(Sin(p), 3, 2)) }),
	both("MatMul batched", func(p, w *Node) *Node { return MatMul(shaped(p, 2, 3), shaped(Cos(p), 3, 2)) }),
	both("DotGeneral, axes out of order", func(p, w *Node) *Node {
		return DotGeneral(shaped(p, 1, 3, 2), []int{3, 2}, nil, kernel(w, 5, 3, 2), []int{2, 1}, nil)
	}),
	both("DotGeneral, axes crossed, batch last", func(p, w *Node) *Node {
		l, r := shaped(p, 3, 2, 1), TransposeAllAxes(shaped(Sin(p), 2, 3, 1), 1, 2, 3, 0)
		return DotGeneral(l, []int{1, 2}, []int{0}, r, []int{1, 0}, []int{3})
	}),
	one("Transpose", func(p *Node) *Node { return Transpose(shaped(p, 2, 3), 1, 2) }),
	// Elementwise.
	one("Tanh", Tanh), one("Swish", activations.Swish), one("Gelu", activations.Gelu),
	one("GeluApproximate", activations.GeluApproximate), one("Sigmoid", Sigmoid), one("Relu", activations.Relu),
	one("Selu", activations.Selu), one("Sin", Sin), one("Cos", Cos), one("Exp", Exp), one("Erf", Erf), one("Abs", Abs),
	one("Log", func(p *Node) *Node { return Log(positive(p)) }),
	one("Log1p", func(p *Node) *Node { return Log1p(positive(p)) }),
	one("Softplus", func(p *Node) *Node { return Log1p(Exp(p)) }),
	one("Sqrt", func(p *Node) *Node { return Sqrt(positive(p)) }),
	one("Rsqrt", func(p *Node) *Node { return Rsqrt(positive(p)) }),
	one("Expm1", Expm1), one("Identity", Identity),
	both("Pow", func(p, w *Node) *Node { return Pow(positive(p), InsertAxes(w, 0)) }),
	both("Div", func(p, w *Node) *Node { return Div(Sin(p), AddScalar(InsertAxes(Square(w), 0), 1)) }),
	both("Max", func(p, w *Node) *Node { return Max(p, InsertAxes(w, 0)) }),
	both("Min", func(p, w *Node) *Node { return Min(p, InsertAxes(w, 0)) }),
	both("Where", func(p, w *Node) *Node { return Where(GreaterThan(p, InsertAxes(w, 0)), Square(p), Sin(p)) }),
	one("ClipScalar", func(p *Node) *Node { return ClipScalar(p, -0.4, 0.5) }),
	one("Clip", func(p *Node) *Node { return Clip(p, Const(p.Graph(), -0.4), Const(p.Graph(), 0.5)) }),
	both("Clip by a parameter", func(p, w *Node) *Node {
		low := BroadcastToShape(InsertAxes(AddScalar(w, -0.4), 0), p.Shape())
		return Clip(p, low, AddScalar(low, 0.7))
	}),
	both("Mod", func(p, w *Node) *Node { return Mod(MulScalar(p, 3), AddScalar(InsertAxes(Square(w), 0), 1)) }),
	one("LogAddExp", func(p *Node) *Node { return LogAddExp(p, Sin(p)) }),
	one("Floor", func(p *Node) *Node { return Mul(p, Floor(MulScalar(p, 2))) }),
	one("Ceil", func(p *Node) *Node { return Mul(p, Ceil(MulScalar(p, 2))) }),
	one("Round", func(p *Node) *Node { return Mul(p, Round(MulScalar(p, 2))) }),
	one("ConvertDType to an integer", func(p *Node) *Node {
		return Mul(p, ConvertDType(ConvertDType(MulScalar(p, 3), dtypes.Int32), p.DType()))
	}),
	one("ConvertDType of a comparison", func(p *Node) *Node {
		return Mul(p, ConvertDType(LessThan(p, ScalarZero(p.Graph(), p.DType())), p.DType()))
	}),
	// Reductions and norms.
	one("L2Norm", func(p *Node) *Node { return Div(p, L2Norm(p, -1)) }),
	one("ReduceVariance", func(p *Node) *Node { return InsertAxes(ReduceVariance(p, 1), -1) }),
	one("LayerNormalization", func(p *Node) *Node {
		return layers.LayerNormalization(mlctx.New(), p, -1).LearnedGain(false).LearnedOffset(false).Done()
	}),
	one("RMSNorm", func(p *Node) *Node { return layers.RMSNorm(mlctx.New(), p).WithScale(false).Done() }),
	one("Softmax", func(p *Node) *Node { return Softmax(p) }),
	one("LogSoftmax", func(p *Node) *Node { return LogSoftmax(p) }),
	one("LogSumExp", func(p *Node) *Node { return autodiff.LogSumExp(shaped(p, 2, 3), 2) }),
	one("LogSumExp over two axes", func(p *Node) *Node { return InsertAxes(autodiff.LogSumExp(shaped(p, 2, 3), 1, 2), -1) }),
	one("StableMax", func(p *Node) *Node { return Exp(Sub(p, autodiff.StableMax(Mul(p, Const(p.Graph(), 0.0)), 1))) }),
	one("ReduceMax", func(p *Node) *Node { return ReduceMax(shaped(apart(p), 2, 3), -1) }),
	one("ReduceMax over two axes", func(p *Node) *Node { return ReduceMax(shaped(apart(p), 3, 2, 1), 1, 3) }),
	one("ReduceMin", func(p *Node) *Node { return ReduceMin(shaped(apart(p), 2, 3), -1) }),
	one("ReduceMultiply", func(p *Node) *Node { return ReduceMultiply(shaped(p, 2, 3), 1) }),
	one("ReduceMultiply with a zero", func(p *Node) *Node {
		return ReduceMultiply(shaped(Mul(p, Const(p.Graph(), [][]float64{{0, 1, 1, 1, 1, 1}})), 2, 3), 2)
	}),
	both("attention", func(p, w *Node) *Node {
		q, k := shaped(p, 3, 2), Einsum("bij,jk->bik", shaped(p, 3, 2), kernel(w, 2, 2))
		return Einsum("bij,bjk->bik", Softmax(Einsum("bik,bjk->bij", q, k)), Sin(q))
	}),
	// Shapes.
	both("Gather of parameter rows", func(p, w *Node) *Node {
		return Add(p, InsertAxes(Gather(w, Const(w.Graph(), [][]int32{{5}, {0}, {0}, {3}, {1}, {2}})), 0))
	}),
	one("Concatenate", func(p *Node) *Node { return Concatenate([]*Node{p, Sin(p), Square(p)}, 1) }),
	one("Stack", func(p *Node) *Node { return Stack([]*Node{p, Sin(p)}, 1) }),
	one("Slice", func(p *Node) *Node { return Slice(p, AxisRange(), AxisRange(1, 5)) }),
	one("Slice with a stride", func(p *Node) *Node { return Slice(p, AxisRange(), AxisRange(1, 5).Stride(3)) }),
	one("Split", func(p *Node) *Node { parts := Split(p, 1, 3); return Mul(parts[0], parts[2]) }),
	one("MeanPool", func(p *Node) *Node { return MeanPool(shaped(p, 6, 1)).Window(2).Done() }),
	one("SumPool, stride 2, padded", func(p *Node) *Node { return SumPool(shaped(p, 6, 1)).Window(3).Strides(2).PadSame().Done() }),
	one("CumSum", func(p *Node) *Node { return CumSum(p, 1) }),
	{"MaxPool", func(p, _ *Node) *Node { return MaxPool(shaped(apart(p), 6, 1)).Window(2).Done() }, gradient, forward, useMean},
	{"Pad", func(p, _ *Node) *Node {
		return Pad(p, Const(p.Graph(), 0.7), PadAxis{}, PadAxis{Start: 1, End: 2, Interior: 1})
	}, anyOrder, notAtAll, "not implemented"},
	{"Pad that cuts, with a fill that has a gradient", func(p, w *Node) *Node {
		return Pad(p, ReduceAllSum(w), PadAxis{}, PadAxis{Start: -1, End: 2, Interior: 2})
	}, anyOrder, notAtAll, "not implemented"},
	{"Reverse", func(p, _ *Node) *Node { return Reverse(shaped(p, 2, 3), 1, 2) }, anyOrder, notAtAll, "not implemented"},
	{"DynamicSlice", func(p, _ *Node) *Node {
		return DynamicSlice(p, []*Node{Const(p.Graph(), int32(0)), Const(p.Graph(), int32(2))}, []int{p.Shape().Dimensions[0], 3})
	}, anyOrder, notAtAll, "not implemented"},
	{"Interpolate", func(p, _ *Node) *Node {
		return Interpolate(shaped(p, 3, 2), NoInterpolation, 6, NoInterpolation).Nearest().Done()
	}, gradient, forward, "nearest upsampling"},
	one("nearest upsampling by Broadcast", func(p *Node) *Node {
		return Reshape(BroadcastToDims(InsertAxes(shaped(p, 3, 2), 2), p.Shape().Dimensions[0], 3, 2, 2), -1, 6, 2)
	}),
	// Convolutions.
	both("Convolve 3", conv1(3, func(c *ConvolutionBuilder) *ConvolutionBuilder { return c.PadSame().Strides(1) })),
	both("Convolve 2", conv1(2, func(c *ConvolutionBuilder) *ConvolutionBuilder { return c.PadSame().Strides(1) })),
	both("Convolve 4, no padding", conv1(4, func(c *ConvolutionBuilder) *ConvolutionBuilder { return c.NoPadding().Strides(1) })),
	both("Convolve 2, stride 3", conv1(2, func(c *ConvolutionBuilder) *ConvolutionBuilder { return c.NoPadding().Strides(3) })),
	both("Convolve 3, stride 2, unequal padding", conv1(3, func(c *ConvolutionBuilder) *ConvolutionBuilder {
		return c.PaddingPerDim([][2]int{{0, 3}}).Strides(2)
	})),
	both("Convolve 2, dilation 2", conv1(2, func(c *ConvolutionBuilder) *ConvolutionBuilder { return c.PadSame().Strides(1).Dilations(2) })),
	both("Convolve 1, padding beyond the kernel", conv1(1, func(c *ConvolutionBuilder) *ConvolutionBuilder {
		return c.PaddingPerDim([][2]int{{1, 2}}).Strides(1)
	})),
	both("Convolve 2×2", func(p, w *Node) *Node {
		return Convolve(shaped(p, 3, 2, 1), kernel(w, 2, 2, 1, 2)).PadSame().Strides(1).Done()
	}),
	both("Convolve 2, fewer channels, unequal padding", func(p, w *Node) *Node {
		return Convolve(shaped(p, 3, 2), kernel(w, 2, 2, 1)).PaddingPerDim([][2]int{{0, 2}}).Strides(1).Done()
	}),
	both("Convolve 2, fewer channels, no padding", func(p, w *Node) *Node {
		return Convolve(shaped(p, 3, 2), kernel(w, 2, 2, 1)).NoPadding().Strides(1).Done()
	}),
	both("Convolve 2×2, longer than the image", func(p, w *Node) *Node {
		return Convolve(shaped(p, 3, 2, 1), kernel(w, 2, 2, 1, 2)).PaddingPerDim([][2]int{{1, 1}, {1, 0}}).Strides(1).Done()
	}),
	both("Convolve 1, stride 2, longer than the image", func(p, w *Node) *Node {
		return Convolve(shaped(p, 6, 1), kernel(w, 1, 1, 2)).PaddingPerDim([][2]int{{4, 2}}).Strides(2).Done()
	}),
	both("ConvGeneral, dilated input", func(p, w *Node) *Node {
		axes := ConvolveAxesConfig{
			InputChannels: 2, InputSpatial: []int{1},
			KernelInputChannels: 1, KernelOutputChannels: 2, KernelSpatial: []int{0},
			OutputChannels: 2, OutputSpatial: []int{1},
		}
		return ConvGeneral(shaped(p, 3, 2), kernel(w, 2, 2, 3), axes, []int{2}, [][2]int{{1, 0}}, []int{2}, []int{3}, 1, 1)
	}),
	both("Convolve, channel groups", func(p, w *Node) *Node {
		return Convolve(shaped(p, 3, 2), kernel(w, 2, 1, 4)).ChannelGroupCount(2).PadSame().Strides(1).Dilations(1).Done()
	}),
}
