package implicit

import (
	"math"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit/net"
	"github.com/scorekit/lab/scorekit/objective"
	"github.com/scorekit/lab/scorekit/random"
)

// The critic's loss is put together on the host from energies alone, the slopes of its penalty by central differences.
func TestCriticLoss(t *testing.T) {
	const h, r1 = 1e-4, 0.3
	critic := net.EnergyMLP{Hidden: []int{6}}
	x, fake := normals(5, 2, 1, 0), normals(5, 2, 2, 1)
	moved := func(axis int, by float64) [][]float64 {
		out := make([][]float64, len(x))
		for i := range x {
			out[i] = append([]float64(nil), x[i]...)
			out[i][axis] += by
		}
		return out
	}
	testbackend.Each(t, func(t *testing.T, be backends.Backend) {
		out := run(t, be, func(vars *mlctx.Context, g *graph.Graph) []*Node {
			at := func(points [][]float64) *Node { return critic.Energy(vars, graph.Const(g, points), nil) }
			game := Adversarial{Critic: critic, R1: r1}
			return []*Node{
				game.criticLoss(vars, graph.StopGradient(graph.Const(g, x)), graph.Const(g, fake)), at(x), at(fake),
				at(moved(0, h)), at(moved(0, -h)), at(moved(1, h)), at(moved(1, -h)),
			}
		})
		want := make([]float64, len(x))
		for i := range want {
			d0, d1 := (out[3][i]-out[4][i])/(2*h), (out[5][i]-out[6][i])/(2*h)
			want[i] = math.Log1p(math.Exp(out[1][i])) + math.Log1p(math.Exp(-out[2][i])) + r1/2*(d0*d0+d1*d1)
		}
		testvalues.Near(t, "critic's loss", out[0], want, 1e-7)
	})
}

// The generator's loss is ζ(E(x)), and its gradient that of E ζ(E(g(ε))) − λH, the critic held fixed; the critic it meets
// has taken its steps. Both parts are found another way: the first by differentiating through the critic.
func TestGeneratorsStep(t *testing.T) {
	const lambda = 0.7
	a, b := [][]float64{{1.243, 0.189}, {-0.704, 1.053}}, []float64{-0.657, -1.24}
	q := lawOf(t, a, b)
	testbackend.Each(t, func(t *testing.T, be backends.Backend) {
		out := run(t, be, func(vars *mlctx.Context, g *graph.Graph) []*Node {
			weights, biases := place(vars.In(generatorScope), g, a, b)
			noise, data := graph.Const(g, normals(6, 2, 3, 0)), graph.Const(g, normals(6, 2, 4, 2))
			game := Adversarial{Generator: linearOf(a), Critic: net.EnergyMLP{Hidden: []int{6}}, Law: exact{q}, Entropy: lambda}
			before := graph.Identity(game.Critic.Energy(vars.In(criticScope), data, nil))
			loss := game.loss(vars, random.Listed(g, noise, noise), data)
			got := graph.Gradient(graph.ReduceAllMean(loss), weights, biases)
			x := linearOf(a).Generate(vars.In(generatorScope), noise)
			value := graph.Softplus(game.Critic.Energy(vars.In(criticScope), x, nil))
			want := graph.Gradient(graph.ReduceAllMean(value), weights, biases)
			entropy := EntropyGradient(x, q.Score(nil, x, nil), weights, biases)
			for i := range want {
				want[i] = graph.Sub(want[i], graph.MulScalar(entropy[i], lambda))
			}
			after := game.Critic.Energy(vars.In(criticScope), data, nil)
			return []*Node{got[0], got[1], want[0], want[1], loss, value, before, after}
		})
		testvalues.Near(t, "gradient for A", out[0], out[2], 1e-12)
		testvalues.Near(t, "gradient for b", out[1], out[3], 1e-12)
		testvalues.Near(t, "loss shown", out[4], out[5], 1e-12)
		if !(testvalues.Mean(out[7]) < testvalues.Mean(out[6])) {
			t.Errorf("energy of the data %v before the critic's step, %v after it: must fall", out[6], out[7])
		}
	})
}

// counted is data that count how often they are asked.
type counted struct {
	still
	batches *int
}

func (c counted) Batch(vars *mlctx.Context, rng *random.Source, n int) *Node {
	*c.batches++
	return c.still.Batch(vars, rng, n)
}

// The networks take as many steps before one of the generator as their settings say, each of the
// critic's on a batch of its own: the first is the one that the step was given.
func TestRatios(t *testing.T) {
	batches := 0
	a, b := [][]float64{{1, 0}, {0, 1}}, []float64{0, 0}
	state, err := random.Seed(1)
	if err != nil {
		t.Fatal(err)
	}
	follow := Learned{Network: net.Linear{}, Objective: objective.Denoising{Sigma: 1}, Steps: 2}
	out := run(t, testbackend.Go(t), func(vars *mlctx.Context, g *graph.Graph) []*Node {
		game := Adversarial{Generator: linearOf(a), Data: counted{still{a, b}, &batches}, Critic: net.EnergyMLP{Hidden: []int{4}}, Steps: 3, Law: follow, Entropy: 1}
		rng := random.New(graph.Const(g, state), dtypes.Float64, 1)
		game.loss(vars, rng, rng.Normal(4, 2))
		steps := func(scope string) *Node {
			return vars.InAbsPath("/implicit/" + scope).GetVariable("steps").ValueGraph(g)
		}
		return []*Node{steps(criticScope), steps(networkScope)}
	})
	testvalues.Near(t, "steps of the critic", out[0], []float64{3}, 0)
	testvalues.Near(t, "steps of the score", out[1], []float64{2}, 0)
	if batches != 2 {
		t.Errorf("%d more batches for the critic, want 2", batches)
	}
}
