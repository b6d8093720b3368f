package sampler

import (
	"math"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"
	"gonum.org/v1/gonum/mat"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/random"
)

// The log ratios of listed moves x → y on Gaussians and mixtures, with the target given as a log-density beside the
// model's score, and as an energy alone. The noise is the one that leads from x to y.
func TestLogRatios(t *testing.T) {
	var cases []struct {
		ID          string
		Weights     []float64
		Means       [][]float64
		Covariances [][][]float64
		Eps         float64
		X, Y        [][]float64
		LogRatio    []float64 `json:"log_ratio"`
		Accept      []float64
	}
	testvalues.Read(t, "mala.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.Run(t, b, func(g *graph.Graph) []*Node {
			var out []*Node
			for _, c := range cases {
				var components []density.Gaussian
				for k := range c.Means {
					p, err := density.NewGaussian(c.Means[k], c.Covariances[k])
					if err != nil {
						t.Fatal(err)
					}
					components = append(components, p)
				}
				p, err := density.NewMixture(c.Weights, components...)
				if err != nil {
					t.Fatal(err)
				}
				energy := func(_ *mlctx.Context, x, _ *Node) *Node { return graph.Neg(p.LogDensity(x)) }
				x, y, eps := graph.Const(g, c.X), graph.Const(g, c.Y), graph.Const(g, c.Eps)
				drift := graph.Add(x, graph.Mul(eps, p.Score(nil, x, nil)))
				z := graph.Div(graph.Sub(y, drift), graph.Sqrt(graph.MulScalar(eps, 2)))
				for _, law := range []target{{logDensity: p.LogDensity}, {energy: energy}} {
					to, ratio := law.langevin(nil, random.Listed(g, z), p.Score, law.at(nil, p.Score, x), eps, nil)
					out = append(out, to.x, ratio, probability(ratio))
				}
			}
			return out
		})
		for i, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				for k, given := range []string{"log-density", "energy"} {
					got := got[6*i+3*k:]
					testvalues.NearOne(t, given+": proposal", got[0], slices.Concat(c.Y...), 1e-9)
					testvalues.NearOne(t, given+": log ratio", got[1], c.LogRatio, 1e-9)
					testvalues.NearOne(t, given+": acceptance", got[2], c.Accept, 1e-9)
				}
			})
		}
	})
}

// Steps that blackjax 1.7.1 records for MALA on correlated Gaussians and bananas, from energies. A uniform draw just below
// the acceptance moves the chain, one just above leaves it.
func TestBlackjaxMALA(t *testing.T) {
	var cases []struct {
		ID                 string
		Mean               []float64
		Cov                [][]float64
		A, B               float64
		X, Z               []float64
		Step               float64
		LogDensity         float64 `json:"log_density"`
		Score              []float64
		Proposal           []float64
		ProposalLogDensity float64   `json:"proposal_log_density"`
		ProposalScore      []float64 `json:"proposal_score"`
		Acceptance         float64
		Accepted           bool
		Position           []float64
	}
	testvalues.Read(t, "blackjax_mala.json", &cases)
	column := func(x *Node, i int) *Node {
		pick := [][]float64{{0}, {0}}
		pick[i][0] = 1
		return graph.Reshape(graph.Dot(x, graph.Const(x.Graph(), pick)), -1)
	}
	energyOf := func(i int) scorekit.Energy {
		c := cases[i]
		return func(_ *mlctx.Context, x, _ *Node) *Node {
			if c.Mean == nil { // ½x₀²/a² + ½(x₁ + bx₀² − ba²)²
				x0 := column(x, 0)
				bent := graph.AddScalar(graph.Add(column(x, 1), graph.MulScalar(graph.Square(x0), c.B)), -c.B*c.A*c.A)
				return graph.MulScalar(graph.Add(graph.MulScalar(graph.Square(x0), 1/(c.A*c.A)), graph.Square(bent)), 0.5)
			}
			var inverse mat.Dense // ½(x − μ)ᵀC⁻¹(x − μ)
			if err := inverse.Inverse(mat.NewDense(2, 2, slices.Concat(c.Cov...))); err != nil {
				panic(err)
			}
			away := graph.Sub(x, graph.Const(x.Graph(), [][]float64{c.Mean}))
			moved := graph.Dot(away, graph.Const(x.Graph(), [][]float64{inverse.RawRowView(0), inverse.RawRowView(1)}))
			return graph.MulScalar(graph.ReduceSum(graph.Mul(away, moved), 1), 0.5)
		}
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.Run(t, b, func(g *graph.Graph) []*Node {
			var out []*Node
			for i, c := range cases {
				m := MALA{Energy: energyOf(i), StepSize: c.Step}
				start := m.Init(nil, nil, nil, graph.Const(g, [][]float64{c.X}))
				out = append(out, start.Aux[0], start.Aux[1])
				for _, u := range []float64{c.Acceptance * (1 - 1e-9), c.Acceptance*(1+1e-9) + 1e-300} {
					rng := random.Listed(g, graph.Const(g, [][]float64{c.Z}), graph.Const(g, []float64{u}))
					next, info := m.Step(nil, rng, nil, start, []*Node{graph.ScalarZero(g, dtypes.Float64)})
					out = append(out, next.X, next.Aux[0], next.Aux[1], info["acceptance"])
				}
			}
			return out
		})
		for i, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				got := got[10*i : 10*i+10]
				testvalues.NearOne(t, "log-density", got[0], []float64{c.LogDensity}, 1e-10)
				testvalues.NearOne(t, "score", got[1], c.Score, 1e-10)
				if c.Acceptance > 0 {
					testvalues.NearOne(t, "accepted: position", got[2], c.Proposal, 1e-10)
					testvalues.NearOne(t, "accepted: log-density", got[3], []float64{c.ProposalLogDensity}, 1e-10)
					testvalues.NearOne(t, "accepted: score", got[4], c.ProposalScore, 1e-10)
				}
				testvalues.NearOne(t, "acceptance", got[5], []float64{c.Acceptance}, 1e-10)
				position := 2
				if c.Acceptance < 1 {
					testvalues.NearOne(t, "refused: position", got[6], c.X, 0)
					testvalues.NearOne(t, "refused: log-density", got[7], got[0], 0)
					testvalues.NearOne(t, "refused: score", got[8], got[1], 0)
					if !c.Accepted {
						position = 6
					}
				}
				testvalues.NearOne(t, "position", got[position], c.Position, 1e-10)
			})
		}
	})
}

// A ratio that is no number is a refusal; a large one is certain.
func TestProbability(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.Run(t, b, func(g *graph.Graph) []*Node {
			return []*Node{probability(graph.Const(g, []float64{0, -1, 3, 1e9, math.Inf(1), math.Inf(-1), math.NaN()}))}
		})
		testvalues.Near(t, "probability", got[0], []float64{1, math.Exp(-1), 1, 1, 1, 0, 0}, 1e-15)
	})
}

// Swaps by hand: three rungs with β = 1, ½, ¼ of two chains. The pair (1, 2) is tried first: with log p = −1 against 2 the
// first chain's ratio is ½·3 > 0, certain; the second chain's, with 3 against −1, is −2, refused at u = 0.14 > e⁻². Then the
// pair (2, 3), with ratios ¼·6 and ¼·5, both certain. A pair out of turn stays whatever u is.
func TestSwapByHand(t *testing.T) {
	p := ParallelTempering{Betas: []float64{1, 0.5, 0.25}}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.Run(t, b, func(g *graph.Graph) []*Node {
			x := graph.Const(g, [][]float64{{1}, {2}, {3}, {4}, {5}, {6}})
			all := point{x, graph.Const(g, []float64{-1, 3, 2, -1, 5, 4}), graph.MulScalar(x, 10)}
			rng := random.Listed(g, graph.Const(g, []float64{0.99, 0.14, 0, 0}), graph.Const(g, []float64{0, 0, 0.22, 0.99}))
			first, chances := p.swap(rng, all, 2, graph.ScalarZero(g, dtypes.Float64))
			second, _ := p.swap(rng, first, 2, graph.ScalarOne(g, dtypes.Float64))
			return []*Node{first.x, first.logp, first.s, second.x, second.logp, second.s, chances}
		})
		for i, want := range [][]float64{
			{3, 2, 1, 4, 5, 6}, {2, 3, -1, -1, 5, 4}, {30, 20, 10, 40, 50, 60},
			{3, 2, 5, 6, 1, 4}, {2, 3, 5, 4, -1, -1}, {30, 20, 50, 60, 10, 40},
			{1, math.Exp(-2), 1, 1},
		} {
			testvalues.NearOne(t, []string{"x", "log p", "score", "x, then", "log p, then", "score, then", "probabilities"}[i], got[i], want, 1e-15)
		}
	})
}
