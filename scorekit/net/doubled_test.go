package net

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
)

// doubledPlainly is what ConvolveDoubled is by definition.
func doubledPlainly(x, w *Node) *Node {
	d := x.Shape().Dimensions
	x = graph.BroadcastToDims(graph.Reshape(x, d[0], d[1], 1, d[2], 1, d[3]), d[0], d[1], 2, d[2], 2, d[3])
	return graph.Convolve(graph.Reshape(x, d[0], 2*d[1], 2*d[2], d[3]), w).PadSame().Strides(1).Done()
}

// Values, both gradients of their squares, and the gradient with respect to the kernel of a loss that holds the gradient with respect to the image (the
// second derivative that implicit and sliced losses take) are those of the doubled image: to 1e-12 of the largest in double
// precision, and to 2e-6 in single precision, of which 6e-8 is one rounding and a sum here has up to 27 terms, those of squares and
// products of sums some more. Images are of one pixel, of one column, and wider than high, with more channels
// coming out than going in, and fewer.
func TestConvolveDoubled(t *testing.T) {
	sizes := [][]int{{1, 1, 1, 2}, {3, 1, 3, 1}, {2, 4, 2, 3}} // height, width, in, out
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := run(t, b, mlctx.New(), func(_ *mlctx.Context, g *graph.Graph) (outputs []*Node) {
			for _, dtype := range []dtypes.DType{dtypes.Float64, dtypes.Float32} {
				for _, s := range sizes {
					wave := func(scale float64, dims ...int) *Node {
						return graph.ConvertDType(graph.Sin(graph.MulScalar(graph.AddScalar(graph.IotaFull(g, testvalues.Shape(dims...)), 1), scale)), dtype)
					}
					x, w, v := wave(1.7, 2, s[0], s[1], s[2]), wave(0.9, 3, 3, s[2], s[3]), wave(2.3, 2, 2*s[0], 2*s[1], s[3])
					for _, f := range []func(x, w *Node) *Node{ConvolveDoubled, doubledPlainly} {
						y := f(x, w)
						slopes := graph.Gradient(graph.ReduceAllSum(graph.Mul(graph.Square(y), v)), x, w)
						pull := graph.Gradient(graph.ReduceAllSum(graph.Mul(graph.Sin(y), v)), x)[0]
						second := graph.Gradient(graph.ReduceAllSum(graph.Square(pull)), w)[0]
						for _, out := range []*Node{y, slopes[0], slopes[1], second} {
							outputs = append(outputs, graph.ConvertDType(out, dtypes.Float64))
						}
					}
				}
			}
			return outputs
		})
		for i, precision := range []struct {
			name  string
			allow float64
		}{{"double", 1e-12}, {"single", 2e-6}} {
			for j, s := range sizes {
				at := 8 * (i*len(sizes) + j)
				for k, what := range []string{"values", "gradient of x", "gradient of w", "second derivative"} {
					if !slices.ContainsFunc(got[at+k], func(v float64) bool { return v != 0 }) {
						t.Errorf("%v, %s precision: %s are 0", s, precision.name, what)
					}
					testvalues.Near(t, fmt.Sprintf("%v, %s precision: %s", s, precision.name, what), got[at+k], got[at+4+k], precision.allow)
				}
			}
		}
	})
}

// Shapes that do not fit are refused by name.
func TestConvolveDoubledErrors(t *testing.T) {
	for _, c := range []struct {
		x, w []int
		want string
	}{
		{[]int{2, 3, 4}, []int{3, 3, 4, 1}, "doubled convolution: points of shape [2 3 4]: must be images, [batch, height, width, channels]"},
		{[]int{2, 3, 4, 5}, []int{3, 3, 4, 1}, "doubled convolution: kernel of shape [3 3 4 1]: must be [3, 3, 5, out] for images of 5 channels"},
		{[]int{2, 3, 4, 5}, []int{5, 3, 5, 1}, "doubled convolution: kernel of shape [5 3 5 1]: must be [3, 3, 5, out] for images of 5 channels"},
	} {
		exec, err := mlctx.NewExec(testbackend.Go(t), mlctx.New(), func(_ *mlctx.Context, g *graph.Graph) *Node {
			return ConvolveDoubled(graph.Zeros(g, testvalues.Shape(c.x...)), graph.Zeros(g, testvalues.Shape(c.w...)))
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err = exec.Exec(); err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("error %v, want …%s", err, c.want)
		}
		exec.Finalize()
	}
}
