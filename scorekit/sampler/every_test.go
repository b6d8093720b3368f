package sampler_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/sampler"
)

// bowl is ½‖x‖²/(1 + σ²) for points of any shape, the energy of N(0, (1 + σ²)I).
func bowl(_ *mlctx.Context, x, sigma *sampler.Node) *sampler.Node {
	energy := graph.MulScalar(graph.ReduceSum(graph.Reshape(graph.Square(x), x.Shape().Dimensions[0], -1), 1), 0.5)
	if sigma != nil {
		energy = graph.Div(energy, graph.AddScalar(graph.Square(sigma), 1))
	}
	return energy
}

// every is the samplers of this file's tests, with a number of steps.
func every(steps int) map[string]scorekit.Sampler {
	logDensity := func(x *sampler.Node) *sampler.Node { return graph.Neg(bowl(nil, x, nil)) }
	return map[string]scorekit.Sampler{
		"Langevin":             sampler.Langevin{StepSize: 0.1, Steps: steps},
		"Langevin, α":          sampler.Langevin{Alpha: 0.1, Steps: steps},
		"gradient ascent":      sampler.GradientAscent{StepSize: 0.1, Steps: steps},
		"underdamped":          sampler.Underdamped{StepSize: 0.1, Steps: steps},
		"MALA":                 sampler.MALA{LogDensity: logDensity, StepSize: 0.1, Steps: steps},
		"MALA, energy":         sampler.MALA{Energy: bowl, StepSize: 0.1, Steps: steps, Adapt: steps / 2},
		"tempering":            sampler.ParallelTempering{Energy: bowl, StepSize: 0.1, Betas: []float64{1, 0.6, 0.3}, Steps: steps},
		"tempering, two rungs": sampler.ParallelTempering{LogDensity: logDensity, StepSize: 0.1, Betas: []float64{1, 0.5}, Steps: steps},
		"annealed":             sampler.AnnealedLangevin{Sigmas: []float64{0.5}, StepSize: 0.1, StepsPerLevel: steps},
	}
}

// drawFrom runs s on the bowl.
func drawFrom(t *testing.T, b backends.Backend, s scorekit.Sampler, n int, shape ...int) *scorekit.Draws {
	t.Helper()
	d, err := scorekit.Sample(context.Background(), b, scorekit.Energy(bowl), s, n, scorekit.WithShape(shape...), scorekit.WithSeed(5), scorekit.WithTrajectory(1))
	if err != nil {
		t.Fatalf("%T: %v", s, err)
	}
	return d
}

// One chain, one step, one coordinate, and points of odd shapes: the result has the shape asked for, is finite and has
// moved.
func TestEveryShape(t *testing.T) {
	check := func(t *testing.T, b backends.Backend, name string, steps, n int, shape ...int) {
		t.Helper()
		d := drawFrom(t, b, every(steps)[name], n, shape...)
		if want := append([]int{n}, shape...); !slices.Equal(d.X.Shape().Dimensions, want) {
			t.Errorf("%s: shape %v, want %v", name, d.X.Shape().Dimensions, want)
		}
		rows, err := scorekit.Rows(d.X)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range slices.Concat(rows...) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%s: a value of %v", name, v)
			}
		}
		if len(d.Trajectory) != steps+1 || d.X.Equal(d.Trajectory[0].X) {
			t.Errorf("%s, %d chains of shape %v, %d steps: the chains have not moved", name, n, shape, steps)
		}
	}
	for name := range every(1) {
		check(t, testbackend.Go(t), name, 1, 1, 1)
		check(t, testbackend.Go(t), name, 3, 1, 3)
		check(t, testbackend.Go(t), name, 2, 3, 3)
		check(t, testbackend.Go(t), name, 1, 1, 1, 5, 7)
		check(t, testbackend.Go(t), name, 2, 2, 1, 5, 7)
	}
	if b, ok := testbackend.XLA(t); ok { // each costs compilations: those that count rows
		check(t, b, "MALA, energy", 2, 2, 1, 5, 7)
		check(t, b, "tempering", 2, 2, 1, 5, 7)
	}
}

// One object samples 3 chains and then 2, as another one would.
func TestThreeThenTwo(t *testing.T) {
	b := testbackend.Go(t)
	for name, s := range every(4) {
		three, two := drawFrom(t, b, s, 3, 2), drawFrom(t, b, s, 2, 2)
		again := every(4)[name]
		if !two.X.Equal(drawFrom(t, b, again, 2, 2).X) || !three.X.Equal(drawFrom(t, b, again, 3, 2).X) {
			t.Errorf("%s: draws depend on what was drawn before", name)
		}
	}
}
