package autodiff_test

import (
	"math"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/scorekit/autodiff"
)

// TestLogSumExp checks values and gradients (the softmax) far from zero and with infinities.
func TestLogSumExp(t *testing.T) {
	inf := math.Inf(1)
	rows := [][]float64{{0, 0, 0}, {-1e8, -1e8 - 1, -2e8}, {1e300, 0, -1e300}, {-inf, 2, -inf}, {-inf, -inf, -inf}, {700, 800, 900}}
	want := []float64{math.Log(3), -1e8 + math.Log1p(math.Exp(-1)), 1e300, 2, -inf, 900}
	third, p := 1.0/3, 1/(1+math.Exp(-1))
	slopes := [][]float64{{third, third, third}, {p, 1 - p, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 0}, {0, math.Exp(-100), 1}}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		exec, err := graph.NewExec(b, func(x *graph.Node) []*graph.Node {
			y := autodiff.LogSumExp(x, -1)
			all := autodiff.LogSumExp(x)
			return []*graph.Node{y, graph.Gradient(graph.ReduceAllSum(y), x)[0], all, autodiff.StableMax(x, 1)}
		})
		if err != nil {
			t.Fatal(err)
		}
		got, err := exec.Exec(rows)
		if err != nil {
			t.Fatal(err)
		}
		values, gradients := tensors.MustCopyFlatData[float64](got[0]), tensors.MustCopyFlatData[float64](got[1])
		for i := range rows {
			if !(values[i] == want[i] || math.Abs(values[i]-want[i]) <= 1e-15*math.Abs(want[i])) {
				t.Errorf("LogSumExp%v = %.17g, want %.17g", rows[i], values[i], want[i])
			}
			for j, slope := range slopes[i] {
				// 10⁻⁸: numbers near 10⁸ have a spacing of 1.5·10⁻⁸.
				if d := math.Abs(gradients[3*i+j] - slope); !(d <= 1e-8) {
					t.Errorf("gradient of LogSumExp%v[%d] = %.9g, want %.9g", rows[i], j, gradients[3*i+j], slope)
				}
			}
		}
		if all := tensors.MustCopyFlatData[float64](got[2]); got[2].Shape().Rank() != 0 || all[0] != 1e300 {
			t.Errorf("LogSumExp of all: %v of shape %s, want the scalar 1e300", all, got[2].Shape())
		}
		if m := tensors.MustCopyFlatData[float64](got[3]); m[4] != 0 || m[5] != 900 || got[3].Shape().Rank() != 2 {
			t.Errorf("StableMax: %v of shape %s, want 0 for a row of −Inf, 900 for the last, rank 2", m, got[3].Shape())
		}
	})
}
