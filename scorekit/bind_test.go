package scorekit_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/net"
	"github.com/scorekit/lab/scorekit/objective"
)

// What Bind returns can be used in a graph of one's own, and gives what Evaluate does; a trained model brings its weights
// and its precision.
func TestBind(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		p, err := density.Isotropic([]float64{0, 0}, 1)
		if err != nil {
			t.Fatal(err)
		}
		fitted, err := scorekit.Fit(background, b, net.MLP{Hidden: []int{4}}, objective.Implicit{}, p, scorekit.WithSteps(3))
		if err != nil {
			t.Fatal(err)
		}
		at := [][]float64{{0.5, -1}, {2, 0.1}, {0, 3}}
		for _, model := range []scorekit.Model{p, fitted} {
			bound, err := scorekit.Bind(model, at)
			if err != nil {
				t.Fatal(err)
			}
			want := dtypes.Float64
			if _, ok := model.(*scorekit.Fitted); ok {
				want = dtypes.Float32
			}
			if bound.Points.DType() != want {
				t.Errorf("%T: points of dtype %s, want %s", model, bound.Points.DType(), want)
			}
			exec, err := mlctx.NewExec(b, bound.Vars, func(vars *mlctx.Context, x *graph.Node) *graph.Node {
				return graph.ConvertDType(bound.Score(vars, x, nil), dtypes.Float64)
			})
			if err != nil {
				t.Fatal(err)
			}
			got, err := exec.Exec1(bound.Points)
			if err != nil {
				t.Fatal(err)
			}
			exec.Finalize()
			scores, err := scorekit.Evaluate(background, b, model, at)
			if err != nil {
				t.Fatal(err)
			}
			rows, err := scorekit.Rows(scores)
			if err != nil {
				t.Fatal(err)
			}
			testvalues.Near(t, fmt.Sprintf("%T", model), testvalues.Flat(t, got), append(append(rows[0], rows[1]...), rows[2]...), 1e-6)
		}
	})
}

func TestBindErrors(t *testing.T) {
	p, err := density.Isotropic([]float64{0, 0}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		model  scorekit.Model
		points any
		want   string
	}{
		{nil, [][]float64{{1, 2}}, "model nil: must be given"},
		{density.Gaussian{}, [][]float64{{1, 2}}, "density: Gaussian: zero value: must be made by a constructor"},
		{p, nil, "points of type <nil>: must be *tensors.Tensor, [][]float64 or [][]float32"},
		{p, [][]float64{}, "points: there must be at least one, with at least one column"},
		{p, [][]float64{{1, 2}, {1}}, "points: row 1 has 1 columns but row 0 has 2"},
		{p, [][]float32{{1, float32(math.Inf(1))}}, "points: row 0, column 1 is +Inf: every value must be finite (rows and columns count from 0)"},
		{p, [][]float64{{1, 2, 3}}, "points of shape [3] for a model of points of shape [2]"},
		{p, tensors.FromValue([]float64{1, 2}), "points of shape [2]: must be [examples, dims...]"},
	} {
		if _, err := scorekit.Bind(test.model, test.points); fmt.Sprint(err) != test.want {
			t.Errorf("error %v, want %s", err, test.want)
		}
	}
	if _, err := scorekit.Points([][]float64{{1, 2}, {1, math.NaN()}}); fmt.Sprint(err) != "points: row 1, column 1 is NaN: every value must be finite (rows and columns count from 0)" {
		t.Errorf("Points: error %v", err)
	}
	x := tensors.FromValue([][]float64{{1, 2}})
	if got, err := scorekit.Points(x); err != nil || got != x {
		t.Errorf("Points of a tensor: %v, %v", got, err)
	}
}
