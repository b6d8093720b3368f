package autodiff

import (
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit/random"
)

// waves are numbers without a pattern.
func waves(in testvalues.Inputs, k float64, dims ...int) *Node {
	return graph.Sin(graph.MulScalar(graph.AddScalar(graph.IotaFull(in.Graph, testvalues.Shape(dims...)), k), 1.3+k))
}

// pushed are fields through which directions can be pushed; together they use every operation that forward knows, and each
// place in which a product has one factor without x, or both with it, or of another shape.
var pushed = map[string]func(x, a, b *Node) *Node{
	"layers": func(x, a, b *Node) *Node { return graph.Dot(graph.Tanh(graph.Dot(x, a)), b) },
	"silu": func(x, a, b *Node) *Node {
		h := graph.Dot(x, a)
		return graph.Neg(graph.Dot(graph.Mul(h, graph.Sigmoid(h)), b))
	},
	"preconditioned": func(x, a, b *Node) *Node {
		scale := graph.AddScalar(graph.Square(graph.Slice(graph.StopGradient(x), graph.AxisRange(), graph.AxisElem(0))), 1)
		h := graph.Dot(graph.Div(x, scale), a)
		f := graph.Dot(graph.Add(graph.Sin(h), graph.Cos(graph.MulScalar(h, 2))), b)
		return graph.Sub(graph.Div(f, scale), graph.Mul(scale, x))
	},
	"features": func(x, a, b *Node) *Node {
		both := graph.Concatenate([]*Node{x, graph.Sin(x), graph.OnesLike(x)}, 1)
		return graph.Dot(both, graph.Concatenate([]*Node{graph.Transpose(graph.Dot(a, b), 0, 1), graph.Dot(a, b), graph.Dot(a, b)}, 0))
	},
	"functions": func(x, a, b *Node) *Node {
		h := graph.Square(graph.Dot(x, a))
		sum := graph.Add(graph.Log(graph.AddScalar(h, 1)), graph.Sqrt(graph.AddScalar(h, 2)))
		sum = graph.Add(sum, graph.Rsqrt(graph.AddScalar(h, 3)))
		sum = graph.Sub(sum, graph.Add(graph.Expm1(graph.Neg(h)), graph.Exp(graph.MulScalar(h, -0.3))))
		sum = graph.Sub(graph.Log1p(h), graph.Mul(graph.Erf(sum), graph.Abs(graph.AddScalar(h, 0.1))))
		return graph.Dot(graph.Identity(sum), b)
	},
	"norms": func(x, a, b *Node) *Node {
		norm := graph.Sqrt(graph.AddScalar(graph.ReduceAndKeep(graph.Square(x), graph.ReduceSum, 1), 1))
		return graph.Add(graph.Div(x, norm), graph.Div(graph.Mul(norm, graph.Exp(graph.MulScalar(x, 0.1))), graph.AddScalar(graph.Square(norm), 1)))
	},
	"softmax": func(x, a, b *Node) *Node { return graph.Dot(graph.Softmax(graph.Dot(x, a), -1), b) },
	"a part without x": func(x, a, b *Node) *Node {
		fixed := graph.StopGradient(x)
		return graph.Add(graph.Mul(fixed, x), graph.Sub(graph.Square(fixed), graph.Dot(graph.Sub(graph.Dot(fixed, a), graph.Tanh(graph.Dot(x, a))), b)))
	},
	"no x": func(x, a, b *Node) *Node { return graph.StopGradient(x) },
}

// unpushed are fields with an operation that forward does not know: two products of activations, and a gradient of their own.
var unpushed = map[string]func(x, a, b *Node) *Node{
	"attention": func(x, a, b *Node) *Node {
		return graph.Dot(graph.Dot(x, graph.Transpose(graph.StopGradient(x), 0, 1)), graph.Dot(graph.Tanh(graph.Dot(x, a)), b))
	},
	"own gradient": func(x, a, b *Node) *Node {
		return graph.IdentityWithCustomGradient(x, func(_, v *Node) *Node { return graph.MulScalar(v, 3) })
	},
}

// Pushing directions forward gives what reverse passes give: the divergence, the slopes, products with probes, and gradients
// of each for the weights; in one group of directions and in several.
func TestForwardAgreesWithReverse(t *testing.T) {
	const d, width = 3, 5
	for _, rows := range []int{4, pushRows / 2} { // all directions in a group, two in a group
		for name, field := range pushed {
			if rows > 4 && name != "preconditioned" {
				continue
			}
			testbackend.Each(t, func(t *testing.T, backend backends.Backend) {
				got := testvalues.RunIn(t, backend, dtypes.Float64, func(in testvalues.Inputs) []*Node {
					a, b, x := waves(in, 0.1, d, width), waves(in, 0.2, width, d), waves(in, 0.4, rows, d)
					s := field(x, a, b)
					if newForward(s, x) == nil {
						t.Fatalf("%s: not pushed", name)
					}
					weights := waves(in, 0.5, rows, d)
					probes := waves(in, 0.6, 3, rows, d)
					single := func(j int) *Node { return graph.Reshape(graph.Slice(probes, graph.AxisElem(j)), rows, d) }
					listed := func() *random.Source { return random.Listed(in.Graph, probes) }

					var slopes []*Node
					for i := range d {
						axis := graph.Reshape(graph.OneHot(graph.Scalar(in.Graph, dtypes.Int32, i), d, dtypes.Float64), 1, d)
						axis = graph.BroadcastToDims(axis, rows, d)
						slopes = append(slopes, graph.ReduceAndKeep(graph.Mul(VJP(s, x, axis), axis), graph.ReduceSum, 1))
					}
					wantDiagonal := graph.Concatenate(slopes, 1)
					var each []*Node
					for j := range 3 {
						each = append(each, perRow(graph.Mul(VJP(s, x, single(j)), single(j))))
					}
					wantProbes := graph.Stack(each, 0)
					others := waves(in, 0.7, 3, rows, d)
					var mixed []*Node
					for j := range 3 {
						mixed = append(mixed, perRow(graph.Mul(VJP(s, x, single(j)), graph.Reshape(graph.Slice(others, graph.AxisElem(j)), rows, d))))
					}
					pairs := [][2]*Node{
						{Divergence(s, x), graph.ReduceSum(wantDiagonal, 1)},
						{Diagonal(s, x), wantDiagonal},
						{HutchinsonProbes(listed(), s, x, 3, Gaussian), wantProbes},
						{Hutchinson(listed(), s, x, 3, Gaussian), graph.ReduceMean(wantProbes, 0)},
						{Bilinear(s, x, probes, others), graph.Stack(mixed, 0)},
					}
					var out []*Node
					for _, p := range pairs {
						out = append(out, p[0], p[1])
						if name == "no x" || name == "norms" { // no weights
							continue
						}
						for i := range p {
							weighted := p[i]
							if weighted.Rank() == 2 && weighted.Shape().Dimensions[0] == rows {
								weighted = graph.Mul(weighted, weights)
							}
							g := graph.Gradient(graph.ReduceAllSum(graph.Sin(weighted)), a, b)
							out = append(out, graph.Concatenate([]*Node{graph.Reshape(g[0], d*width), graph.Reshape(g[1], d*width)}, 0))
						}
					}
					return out
				})
				for i := 0; i < len(got); i += 2 {
					testvalues.Near(t, name, got[i], got[i+1], 1e-9)
				}
			})
		}
	}
}

// Where an operation is not known the answer comes from reverse passes.
func TestForwardLeavesTheRest(t *testing.T) {
	testvalues.RunIn(t, testbackend.Go(t), dtypes.Float64, func(in testvalues.Inputs) []*Node {
		a, b, x := waves(in, 0.1, 3, 5), waves(in, 0.2, 5, 3), waves(in, 0.4, 4, 3)
		for name, field := range unpushed {
			if newForward(field(x, a, b), x) != nil {
				t.Errorf("%s: pushed", name)
			}
		}
		return []*Node{x}
	})
	got := testvalues.RunIn(t, testbackend.Go(t), dtypes.Float64, func(in testvalues.Inputs) []*Node {
		x := waves(in, 0.4, 4, 3)
		return []*Node{Divergence(unpushed["own gradient"](x, nil, nil), x)}
	})
	testvalues.Near(t, "own gradient", got[0], []float64{9, 9, 9, 9}, 1e-12)
}

// The gradient of x·sigmoid(x), for which the sigmoid is computed anew on XLA, and its derivative, by the formulas
// s + x s (1−s) and s (1−s) (2 + x (1−2s)).
func TestSiLU(t *testing.T) {
	points := []float64{-30, -5, -1.3, -0.2, 0, 0.4, 1.7, 6, 30}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.RunIn(t, b, dtypes.Float64, func(in testvalues.Inputs) []*Node {
			x := in.Of(points)
			first := graph.Gradient(graph.ReduceAllSum(graph.Mul(x, graph.Sigmoid(x))), x)[0]
			other := graph.Gradient(graph.ReduceAllSum(graph.Mul(graph.Sigmoid(x), x)), x)[0]
			second := graph.Gradient(graph.ReduceAllSum(first), x)[0]
			s := graph.Reciprocal(graph.OnePlus(graph.Exp(graph.Neg(x))))
			slope := graph.Mul(s, graph.OneMinus(s))
			return []*Node{first, graph.Add(s, graph.Mul(x, slope)), other, graph.Add(s, graph.Mul(x, slope)),
				second, graph.Mul(slope, graph.AddScalar(graph.Mul(x, graph.OneMinus(graph.MulScalar(s, 2))), 2))}
		})
		for i := 0; i < len(got); i += 2 {
			testvalues.Near(t, "SiLU", got[i], got[i+1], 1e-14)
		}
	})
}
