package scorekit_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/shapes"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/random"
)

type Node = graph.Node

var background = context.Background()

// linear is the score s(x) = a·x + b with one a for all coordinates and a b for each: the exact form of a Gaussian's
// score, with few enough weights that its training can be followed by hand.
func linear(vars *mlctx.Context, x, _ *Node) *Node {
	g := x.Graph()
	zero := vars.WithInitializer(func(g *graph.Graph, shape shapes.Shape) *Node { return graph.Zeros(g, shape) })
	d := x.Shape().Dimensions[1]
	a := zero.VariableWithShape("a", shapes.Make(x.DType(), 1, 1)).ValueGraph(g)
	b := zero.VariableWithShape("b", shapes.Make(x.DType(), 1, d)).ValueGraph(g)
	return graph.Add(graph.Mul(x, a), b)
}

// linearModel is linear as a type of its own, which can be registered.
type linearModel struct {
	Name string `json:"name"`
}

func (linearModel) Score(vars *mlctx.Context, x, sigma *Node) *Node { return linear(vars, x, sigma) }

func init() { scorekit.RegisterModel("scorekit_test.linear", linearModel{}) }

// weights returns a and b of a fitted linear model.
func weights(t *testing.T, f *scorekit.Fitted) (a float64, b []float64) {
	t.Helper()
	read := func(name string) []float64 {
		v := f.Vars().GetVariableByScopeAndName("/", name)
		if v == nil {
			t.Fatalf("no weight %q", name)
		}
		rows, err := scorekit.Rows(v.MustValue())
		if err != nil {
			t.Fatal(err)
		}
		return rows[0]
	}
	return read("a")[0], read("b")
}

// regression is the objective ½‖s(x) − c‖² without any noise: its gradient is known exactly.
type regression struct{ target float64 }

func (r regression) Loss(vars *mlctx.Context, _ *random.Source, score scorekit.Score, x *Node) *Node {
	return graph.MulScalar(graph.ReduceSum(graph.Square(graph.SubScalar(score(vars, x, nil), r.target)), 1), 0.5)
}

func examples(t *testing.T, points any) scorekit.Data {
	t.Helper()
	d, err := scorekit.Examples(points)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func gaussian(t *testing.T, std float64, mean ...float64) density.Gaussian {
	t.Helper()
	g, err := density.Isotropic(mean, std)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// meanAndVariance returns the moments over all values of a tensor and how many there are.
func meanAndVariance(t *testing.T, x *tensors.Tensor) (mean, variance, n float64) {
	t.Helper()
	rows, err := scorekit.Rows(x)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		for _, v := range r {
			mean += v
			n++
		}
	}
	mean /= n
	for _, r := range rows {
		for _, v := range r {
			variance += (v - mean) * (v - mean) / n
		}
	}
	return mean, variance, n
}

func within(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s: got %v, want %v ± %.3g", what, got, want, tolerance)
	}
}

// wantError fails unless err's text holds every part.
func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Errorf("no error, want one with %q", parts)
		return
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("error %q lacks %q", err, p)
		}
	}
}

func equalTensors(t *testing.T, what string, a, b *tensors.Tensor) {
	t.Helper()
	if !a.Equal(b) {
		t.Errorf("%s: %s and %s differ", what, fmt.Sprint(a), fmt.Sprint(b))
	}
}
