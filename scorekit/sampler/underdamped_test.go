package sampler_test

import (
	"math"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"gonum.org/v1/gonum/mat"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/random"
	"github.com/scorekit/lab/scorekit/sampler"
)

// One step from listed velocities and noise on a score that is not linear, s(x) = −x³, against the five parts worked out
// in plain Go.
func TestUnderdampedStep(t *testing.T) {
	cubic := testvalues.Ignoring(func(x *sampler.Node) *sampler.Node { return graph.Neg(graph.Mul(x, graph.Square(x))) })
	u := sampler.Underdamped{StepSize: 0.3, Friction: 1.7}
	x, v, z := []float64{0.5, -1.2, 2}, []float64{-0.3, 0.8, 0.1}, []float64{1.1, -0.4, 0.6}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.Run(t, b, func(g *graph.Graph) []*sampler.Node {
			rng := random.Listed(g, graph.Const(g, [][]float64{v}), graph.Const(g, [][]float64{z}))
			var row []*sampler.Node
			for _, number := range schedule(t, u).Rows[0] {
				row = append(row, graph.Scalar(g, dtypes.Float64, number))
			}
			state, info := u.Step(nil, rng, cubic, u.Init(nil, rng, cubic, graph.Const(g, [][]float64{x})), row)
			return []*sampler.Node{state.X, state.Aux[0], state.Aux[1], info["temperature"]}
		})
		var wantX, wantV, wantS []float64
		temperature := 0.0
		for i := range x {
			speed := v[i] - 0.15*math.Pow(x[i], 3)
			at := x[i] + 0.15*speed
			speed = math.Exp(-0.51)*speed + math.Sqrt(1-math.Exp(-1.02))*z[i]
			at += 0.15 * speed
			speed -= 0.15 * math.Pow(at, 3)
			wantX, wantV, wantS = append(wantX, at), append(wantV, speed), append(wantS, -math.Pow(at, 3))
			temperature += speed * speed / 3
		}
		testvalues.NearOne(t, "x", got[0], wantX, 1e-14)
		testvalues.NearOne(t, "v", got[1], wantV, 1e-14)
		testvalues.NearOne(t, "score", got[2], wantS, 1e-14)
		testvalues.NearOne(t, "temperature", got[3], []float64{temperature}, 1e-14)
	})
}

// On N(0, σ²) a step is linear in (x, v) and z, and its law at rest is the one it does not change: x with the variance σ²
// exactly, v with 1 − h²/(4σ²), the two uncorrelated, for every step below 2σ and every friction. At h = 2σ the map
// has an eigenvalue of size 1.
func TestUnderdampedLawAtRest(t *testing.T) {
	cases := []struct{ sigma, h, friction float64 }{{1, 0.2, 1}, {0.5, 0.9, 0.1}, {2, 3.9, 5}, {1, 1, 30}}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.Run(t, b, func(g *graph.Graph) []*sampler.Node {
			var out []*sampler.Node
			for _, c := range cases {
				score := moments{Mu: []float64{0}, Sigma: [][]float64{{c.sigma * c.sigma}}}.score(t)
				u := sampler.Underdamped{StepSize: c.h, Friction: c.friction}
				var row []*sampler.Node
				for _, number := range schedule(t, u).Rows[0] {
					row = append(row, graph.Scalar(g, dtypes.Float64, number))
				}
				// Unit x, unit v, unit z.
				x := graph.Const(g, [][]float64{{1}, {0}, {0}})
				rng := random.Listed(g, graph.Const(g, []float64{0, 1, 0}), graph.Const(g, []float64{0, 0, 1}))
				state, _ := u.Step(nil, rng, score, u.Init(nil, rng, score, x), row)
				out = append(out, state.X, state.Aux[0])
			}
			return out
		})
		for i, c := range cases {
			x, v := got[2*i], got[2*i+1]
			m := mat.NewDense(2, 2, []float64{x[0], x[1], v[0], v[1]})
			n := mat.NewDense(2, 1, []float64{x[2], v[2]})
			rest := mat.NewDense(2, 2, []float64{c.sigma * c.sigma, 0, 0, 1 - c.h*c.h/(4*c.sigma*c.sigma)})
			var moved, noise mat.Dense
			moved.Product(m, rest, m.T())
			noise.Mul(n, n.T())
			moved.Add(&moved, &noise)
			testvalues.NearOne(t, "covariance of (x, v)", moved.RawMatrix().Data, rest.RawMatrix().Data, 1e-12)
		}
	})
}

// Chains with a long step reach that law: x has the variance of the target and v that of the step, 1 − h²/(4v). 20,000
// independent chains, 4 standard errors. The temperature is a mean over chains and steps; its error is at most that of
// the chains alone.
func TestUnderdampedChains(t *testing.T) {
	p := isotropic(t, 1, 3)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		d := sample(t, b, p, sampler.Underdamped{StepSize: 1.2, Steps: 60}, scorekit.WithBurnIn(30))
		gaussianLaw(t, "x", column(t, d.X, coordinate(0)), 3, 1)
		want := 1 - 1.2*1.2/4
		if got := d.Info["temperature"]; math.Abs(got-want) > 4*want*math.Sqrt(2.0/chains) {
			t.Errorf("temperature %v, want %v", got, want)
		}
	})
}
