package objective_test

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/net"
	"github.com/scorekit/lab/scorekit/objective"
)

// Points that leave a direction of their space empty are refused by the losses that fall without end there, and by no other; points
// that fill it, however thinly and in whatever units, are not.
func TestPointsInAPlane(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	points := func(n int, of func(z []float64) []float32) *tensors.Tensor {
		var rows [][]float32
		for range n {
			rows = append(rows, of([]float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}))
		}
		return tensors.FromValue(rows)
	}
	wide := func(n, d int) *tensors.Tensor {
		x := make([]float32, n*d)
		for i := range x {
			x[i] = float32(rng.NormFloat64())
		}
		return tensors.FromFlatDataAndDimensions(x, n, d)
	}
	rare := points(4000, func(z []float64) []float32 { return []float32{float32(z[0]), float32(z[1]), float32(z[0] + z[1])} })
	tensors.MutableFlatData(rare, func(x []float32) { x[3*1234] += 1 })
	for name, c := range map[string]struct {
		points *tensors.Tensor
		want   string // part of the error, or nothing
	}{
		"full":       {points(50, func(z []float64) []float32 { return []float32{float32(z[0]), float32(z[1])} }), ""},
		"constant":   {points(50, func(z []float64) []float32 { return []float32{float32(z[0]), 0.1} }), "number 1 of all 50 points is 0.1"},
		"one point":  {tensors.FromValue([][]float32{{1, 2}}), "number 0 of all 1 points is 1"},
		"duplicates": {points(9, func([]float64) []float32 { return []float32{3, -4} }), "number 0 of all 9 points is 3"},
		"few":        {points(3, func(z []float64) []float32 { return []float32{float32(z[0]), float32(z[1]), float32(z[2])} }), "3 points of 3 numbers fill no more than 2 directions"},
		"plane": {points(500, func(z []float64) []float32 {
			return []float32{float32(z[0]), float32(z[1]), float32(2*z[0] - z[1] + 5)}
		}), "lie in a plane"},
		"plane, far":      {points(500, func(z []float64) []float32 { return []float32{float32(z[0]), float32(1e8 * z[0])} }), "lie in a plane"},
		"a thousandth":    {points(500, func(z []float64) []float32 { return []float32{float32(z[0]), float32(z[0] + 1e-3*z[1])} }), ""},
		"units":           {points(500, func(z []float64) []float32 { return []float32{float32(1e-8 * z[0]), float32(1e8 * z[1])} }), ""},
		"one row of 4000": {rare, ""},
		"wide":            {wide(600, 300), ""},
		"images":          {tensors.FromFlatDataAndDimensions(make([]float32, 12*4), 12, 2, 2, 1), "number 0 of all 12 points is 0"},
	} {
		for who, o := range map[string]scorekit.PointsValidator{"implicit objective": objective.Implicit{}, "implicit Hutchinson objective": objective.ImplicitHutchinson{Probes: 1},
			"sliced objective": objective.Sliced{Projections: 1}, "sliced VR objective": objective.SlicedVR{Projections: 1}} {
			err := o.ValidatePoints(c.points)
			if c.want == "" && err != nil {
				t.Errorf("%s, %s: %v", name, who, err)
			}
			if c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), who+": ") || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "falls without end")) {
				t.Errorf("%s, %s: error %v, want one with %q", name, who, err, c.want)
			}
		}
	}

	constant, err := scorekit.LabelledExamples([][]float64{{1, 0}, {2, 0}, {5, 0}, {3, 0}}, []int{0, 1, 1, 0})
	if err != nil {
		t.Fatal(err)
	}
	fit := func(o scorekit.Objective) error {
		_, err := scorekit.Fit(context.Background(), testbackend.Go(t), net.Linear{}, o, constant, scorekit.WithSteps(2), scorekit.WithBatch(2))
		return err
	}
	if err := fit(objective.Implicit{}); err == nil || !strings.HasPrefix(err.Error(), "scorekit: Fit: implicit objective: number 1 of all 4 points is 0") {
		t.Errorf("error %v", err)
	}
	if err := fit(objective.Denoising{Sigma: 1}); err != nil {
		t.Error(err)
	}
}
