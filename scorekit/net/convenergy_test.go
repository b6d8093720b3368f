package net

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/autodiff"
	"github.com/scorekit/lab/scorekit/objective"
)

// One set of weights takes images of every size, to second order: a single pixel, one row, one column, smaller and
// larger than the kernel. Energies are [batch], scores have the shape of the image.
func TestConvEnergySizes(t *testing.T) {
	const k, c0, c1, c2 = 5, 2, 4, 3
	m := ConvEnergy{Channels: []int{c1, c2}, Kernel: k}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		vars, got := fresh(t, b, 6, func(vars *mlctx.Context, g *graph.Graph) (out []*Node) {
			for _, size := range [][]int{{1, 1}, {1, 7}, {6, 1}, {2, 3}} {
				x := graph.Sin(graph.IotaFull(g, testvalues.Shape(2, size[0], size[1], c0)))
				e, s := m.Energy(vars, x, nil), m.Score(vars, x, nil)
				if !s.Shape().Equal(x.Shape()) || e.Rank() != 1 || e.Shape().Dimensions[0] != 2 {
					t.Errorf("energies and scores of shapes %s and %s for images of shape %s", e.Shape(), s.Shape(), x.Shape())
				}
				w := vars.In("layer_0").GetVariable("weights").ValueGraph(g)
				slope := graph.Gradient(graph.ReduceAllSum(graph.Square(s)), w)[0]
				out = append(out, e, graph.Reshape(s, -1), graph.ReduceAllSum(graph.Square(slope)))
			}
			return out
		})
		for i, values := range got {
			for _, v := range values {
				if math.IsNaN(v) || math.IsInf(v, 0) || v == 0 {
					t.Errorf("output %d is %v", i, values)
					break
				}
			}
		}
		n := 0
		for v := range vars.IterVariables() {
			if v.Trainable {
				n += v.Shape().Size()
			}
		}
		if want := k*k*c0*c1 + c1 + k*k*c1*c2 + c2 + c2; n != want {
			t.Errorf("%d weights, want %d", n, want)
		}
	})
}

// E is a sum over places of a potential of 2·(3−1)+1 = 5 pixels along each axis: pixels 4 apart act on one another, pixels 5
// apart do not; and a pattern has the same energy wherever it lies, if its surroundings end before the edge.
func TestConvEnergyIsASumOverPlaces(t *testing.T) {
	const size = 14
	m := ConvEnergy{Channels: []int{4, 4}}
	pattern := func(row, column int) [][][][]float64 {
		image := make([][][]float64, size)
		for i := range image {
			image[i] = make([][]float64, size)
			for j := range image[i] {
				image[i][j] = []float64{0}
				if i >= row && i < row+3 && j >= column && j < column+2 {
					image[i][j][0] = math.Cos(float64(3*(i-row) + 2*(j-column)))
				}
			}
		}
		return [][][][]float64{image}
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		_, got := fresh(t, b, 8, func(vars *mlctx.Context, g *graph.Graph) []*Node {
			x := graph.Const(g, pattern(5, 6))
			change := autodiff.JVP(m.Score(vars, x, nil), x, graph.StopGradient(x))
			return []*Node{m.Energy(vars, x, nil), m.Energy(vars, graph.Const(g, pattern(4, 8)), nil), graph.Reshape(change, -1)}
		})
		testvalues.Near(t, "energy of the moved pattern", got[1], got[0], 1e-13)
		for i, v := range got[2] {
			row, column := i/size, i%size
			near := row >= 5-4 && row <= 7+4 && column >= 6-4 && column <= 7+4
			if near != (v != 0) {
				t.Errorf("the pattern changes the score of pixel (%d, %d) by %v", row, column, v)
			}
		}
	})
}

// Weights and images rounded to single precision give the energies and scores of double precision, to some tens of 10⁻⁷ of the
// largest.
func TestConvEnergySinglePrecision(t *testing.T) {
	m := models["Conv"].(ConvEnergy)
	f := trained(t, m)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		vars := together(t, map[string]*scorekit.Fitted{"single": f})
		for v := range f.Vars().IterVariables() {
			value, err := v.Value()
			if err != nil {
				t.Fatal(err)
			}
			single, err := tensors.CopyFlatData[float32](value)
			if err != nil {
				continue // the state of the random draws
			}
			double := make([]float64, len(single))
			for i, w := range single {
				double[i] = float64(w)
			}
			vars.InAbsPath("/double"+v.Scope()).VariableWithValue(v.Name(), tensors.FromFlatDataAndDimensions(double, v.Shape().Dimensions...))
		}
		got := run(t, b, vars, func(vars *mlctx.Context, g *graph.Graph) (out []*Node) {
			x := graph.ConvertDType(graph.ConstTensor(g, pointsFor(m, [][]float64{{0.3, -1.1, 0.8}, {2, 0, -0.4}})), dtypes.Float32)
			double := graph.ConvertDType(x, dtypes.Float64)
			for _, y := range []*Node{m.Energy(vars.In("single"), x, nil), m.Energy(vars.In("double"), double, nil),
				m.Score(vars.In("single"), x, nil), m.Score(vars.In("double"), double, nil)} {
				out = append(out, graph.ConvertDType(y, dtypes.Float64))
			}
			return out
		})
		testvalues.Near(t, "energy", got[0], got[1], 3e-6)
		testvalues.Near(t, "score", got[2], got[3], 3e-6)
	})
}

// Points that are not images are refused by name.
func TestConvEnergyErrors(t *testing.T) {
	_, err := scorekit.Fit(context.Background(), testbackend.Go(t), ConvEnergy{}, objective.Implicit{}, allOf{{1, 2, 3}}, scorekit.WithBatch(1))
	if want := "conv energy: points of shape [1 3]: must be images, [batch, height, width, channels]"; err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("error %v, want …%s", err, want)
	}
}
