package autodiff_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/scorekit/autodiff"
)

// Step of the finite differences and the tolerance of the comparison. The four-point formula
// f′ ≈ [8(f₊₁ − f₋₁) − (f₊₂ − f₋₂)]/12h is off by h⁴f⁽⁵⁾/30 and by rounding, about ε/h for a first and ε/h² for a second
// derivative: with h = 0.004 and derivatives below 10³ that is 10⁻⁸ and 10⁻¹⁰. A wrong sign, factor or index is off
// by about 1.
const (
	step      = 0.004
	tolerance = 1e-6
)

var stencil = []struct {
	shift  float64
	weight float64
}{{1, 8}, {-1, -8}, {2, -1}, {-2, 1}}

// The points have rows rows of dim numbers, spread over the size numbers that an operation gets. They keep every
// comparison and rounding in the table at least 0.04 from its kink, several times the largest shift.
const (
	rows = 2
	dim  = 3
)

var points = [][]float64{{0.54, 1.48, 0.59}, {1.46, 1.21, -0.96}}

var parameter = []float64{0.21, -0.34, 0.57, -0.12, 0.43, -0.63}

// field wraps an operation so that the Jacobian is full and derivatives of every order differ from zero: a mixing
// matrix and the parameter before it, a sine and a mixing matrix after it. [rows, 3] → [rows, 3].
func (o op) field(x, w *graph.Node) *graph.Node {
	p := graph.Dot(x, mixing(x, dim, size, 1))
	p = graph.Mul(p, graph.AddScalar(graph.InsertAxes(w, 0), 1))
	y := o.f(p, w)
	y = graph.Reshape(y, x.Shape().Dimensions[0], -1)
	return graph.Dot(graph.Sin(y), mixing(x, y.Shape().Dimensions[1], dim, 2))
}

func mixing(x *graph.Node, n, columns, seed int) *graph.Node {
	m := make([][]float64, n)
	for i := range m {
		m[i] = make([]float64, columns)
		for j := range m[i] {
			m[i][j] = 0.6 * math.Sin(float64(7*i+3*j*j+5*seed*(i+1)*(j+2)))
		}
		m[i][i%columns] += 0.5
	}
	return graph.Const(x.Graph(), m)
}

// loss is the implicit score matching loss, tr(∂s/∂x) + ½|s|², summed over rows.
func loss(s, trace *graph.Node) *graph.Node {
	return graph.Add(graph.ReduceAllSum(trace), graph.MulScalar(graph.ReduceAllSum(graph.Square(s)), 0.5))
}

// direction weighs the components of s to make the scalar of the first-order test.
func direction(i, row int) float64 { return 1 + 0.3*float64(i) - 0.7*float64(row) }

// order returns the orders that an operation allows on a backend.
func (o op) order(b backends.Backend) int {
	if b.Capabilities().Operations[backends.OpTypePad] {
		return o.xla
	}
	return o.pure
}

// TestRules compares, for every operation, the gradient, the trace of the Jacobian and the parameter gradient of a loss
// holding the trace with finite differences of the forward function. All operations share two executables.
func TestRules(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		var list []op
		for _, o := range ops {
			if o.order(b) >= gradient {
				list = append(list, o)
			}
		}
		forwards, err := graph.NewExec(b, func(x, w *graph.Node) []*graph.Node {
			var out []*graph.Node
			for _, o := range list {
				out = append(out, o.field(x, w))
			}
			return out
		})
		if err != nil {
			t.Fatal(err)
		}
		derivatives, err := graph.NewExec(b, func(x, w *graph.Node) []*graph.Node {
			var out []*graph.Node
			for _, o := range list {
				s := o.field(x, w)
				weights := make([][]float64, rows)
				for row := range weights {
					for i := range dim {
						weights[row] = append(weights[row], direction(i, row))
					}
				}
				trace := autodiff.Divergence(s, x)
				out = append(out, graph.Gradient(graph.ReduceAllSum(graph.Mul(s, graph.Const(x.Graph(), weights))), x)[0], trace)
				if o.order(b) >= anyOrder {
					out = append(out, graph.Gradient(loss(s, trace), w)[0])
				} else {
					out = append(out, graph.ZerosLike(w))
				}
			}
			return out
		})
		if err != nil {
			t.Fatal(err)
		}

		base, err := differences(forwards, parameter, len(list))
		if err != nil {
			t.Fatal(err)
		}
		slopes := make([][size]float64, len(list)) // ∂loss/∂w by finite differences
		for k := range size {
			for _, p := range stencil {
				w := slices.Clone(parameter)
				w[k] += p.shift * step
				shifted, err := differences(forwards, w, len(list))
				if err != nil {
					t.Fatal(err)
				}
				for n := range list {
					slopes[n][k] += p.weight * shifted[n].loss / (12 * step)
				}
			}
		}
		got, err := derivatives.Exec(points, parameter)
		if err != nil {
			t.Fatal(err)
		}
		for n, o := range list {
			compare := func(what string, got *tensors.Tensor, want []float64) {
				t.Helper()
				values := tensors.MustCopyFlatData[float64](got)
				for i := range want {
					if d := math.Abs(values[i] - want[i]); !(d <= tolerance*(1+math.Abs(want[i]))) {
						t.Errorf("%s: %s[%d] = %.9g, finite difference %.9g", o.name, what, i, values[i], want[i])
					}
				}
			}
			compare("gradient", got[3*n], base[n].gradient)
			compare("trace", got[3*n+1], base[n].trace)
			if o.order(b) >= anyOrder {
				compare("gradient of the loss", got[3*n+2], slopes[n][:])
			}
		}
	})
}

// difference holds what finite differences in x say about one operation at one parameter.
type difference struct {
	gradient []float64 // [rows·dim]
	trace    []float64 // [rows]
	loss     float64
}

// differences evaluates all forward functions at all shifted points in one call.
func differences(forwards *graph.Exec, w []float64, n int) ([]difference, error) {
	var x [][]float64
	for _, point := range points {
		x = append(x, point)
		for i := range dim {
			for _, p := range stencil {
				shifted := slices.Clone(point)
				shifted[i] += p.shift * step
				x = append(x, shifted)
			}
		}
	}
	out, err := forwards.Exec(x, w)
	if err != nil {
		return nil, err
	}
	result := make([]difference, n)
	for k := range result {
		d := &result[k]
		values := tensors.MustCopyFlatData[float64](out[k])
		for row := range rows {
			at := row * (1 + dim*len(stencil)) * dim
			for j := range dim {
				d.loss += values[at+j] * values[at+j] / 2
			}
			trace := 0.0
			for i := range dim {
				g := 0.0
				for _, p := range stencil {
					at += dim
					for j := range dim {
						g += direction(j, row) * p.weight * values[at+j] / (12 * step)
					}
					trace += p.weight * values[at+i] / (12 * step)
				}
				d.gradient = append(d.gradient, g)
			}
			d.trace = append(d.trace, trace)
			d.loss += trace
		}
	}
	return result, nil
}

// TestRefusals checks that the order after the last allowed one is refused with an error that says what to use.
func TestRefusals(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for _, o := range ops {
			order := o.order(b)
			if order == anyOrder {
				continue
			}
			err := build(b, func(x, w *graph.Node) *graph.Node {
				s := o.field(x, w)
				if order == notAtAll {
					return s
				}
				trace := autodiff.Divergence(s, x)
				return graph.Gradient(loss(s, trace), w)[0]
			})
			if err == nil || !strings.Contains(err.Error(), o.refusal) {
				t.Errorf("%s: order %d: error %v: must hold %q", o.name, order+1, err, o.refusal)
			}
			if order == notAtAll {
				continue
			}
			if !strings.Contains(fmt.Sprint(err), "autodiff: ") {
				t.Errorf("%s: error %v: must name the package", o.name, err)
			}
			// The order before it is not refused.
			if err := build(b, func(x, w *graph.Node) *graph.Node {
				if s := o.field(x, w); order >= gradient {
					return autodiff.Divergence(s, x)
				} else {
					return s
				}
			}); err != nil {
				t.Errorf("%s: order %d: %v", o.name, order, err)
			}
		}
	})
}

// build builds a graph without compiling it and returns the error that building panicked with.
func build(b backends.Backend, f func(x, w *graph.Node) *graph.Node) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err, _ = r.(error)
			if err == nil {
				err = fmt.Errorf("panic with no error: %v", r)
			}
		}
	}()
	g := graph.NewGraph(b, "refusal")
	f(graph.Const(g, points), graph.Const(g, parameter))
	return nil
}
