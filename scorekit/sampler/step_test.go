package sampler_test

import (
	"context"
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
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/random"
	"github.com/scorekit/lab/scorekit/sampler"
)

// step adds one step of s from x, with the listed noise z and a row of its schedule.
func step(s scorekit.Sampler, score scorekit.Score, x, z *sampler.Node, row []float64) *sampler.Node {
	g := x.Graph()
	rng := random.Listed(g, z)
	var nodes []*sampler.Node
	for _, v := range row {
		nodes = append(nodes, graph.Scalar(g, dtypes.Float64, v))
	}
	state, _ := s.Step(nil, rng, score, s.Init(nil, rng, score, x), nodes)
	return state.X
}

// One step with listed noise on N(0, σ²I), in both forms with one number for the step: x + εs + √(2ε)z is Langevin's with
// StepSize, x + (α/2)s + √α z its form with Alpha, that of the annealed sampler at its lowest level, and again the first
// with ε = α/2.
func TestOneStep(t *testing.T) {
	var cases []struct {
		ID          string
		X, Z        [][]float64
		Step, Sigma float64
		Eps, Alpha  [][]float64
	}
	testvalues.Read(t, "one_step.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.Run(t, b, func(g *graph.Graph) []*sampler.Node {
			var out []*sampler.Node
			for _, c := range cases {
				p, err := density.Isotropic(make([]float64, len(c.X[0])), c.Sigma)
				if err != nil {
					t.Fatal(err)
				}
				score := testvalues.Ignoring(func(x *sampler.Node) *sampler.Node { return p.Score(nil, x, nil) })
				for _, s := range []scorekit.Sampler{
					sampler.Langevin{StepSize: c.Step},
					sampler.Langevin{StepSize: c.Step / 2},
					sampler.Langevin{Alpha: c.Step},
					sampler.AnnealedLangevin{Sigmas: []float64{0.4}, StepSize: c.Step},
				} {
					out = append(out, step(s, score, graph.Const(g, c.X), graph.Const(g, c.Z), schedule(t, s).Rows[0]))
				}
			}
			return out
		})
		for i, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				testvalues.NearOne(t, "ε form", got[4*i], slices.Concat(c.Eps...), 1e-9)
				testvalues.NearOne(t, "α form, ε = α/2", got[4*i+1], slices.Concat(c.Alpha...), 1e-9)
				testvalues.NearOne(t, "α form", got[4*i+2], slices.Concat(c.Alpha...), 1e-9)
				testvalues.NearOne(t, "α form, annealed", got[4*i+3], slices.Concat(c.Alpha...), 1e-9)
			})
		}
	})
}

// Trajectories that torchebm 0.8.9 records for its LangevinDynamics, x ← x − η∇E + √(2η)·scale·z, from energies: the
// same step as here at the temperature scale².
func TestTorchEBM(t *testing.T) {
	var cases []struct {
		ID     string
		Energy string
		Params struct {
			A, B          float64
			BarrierHeight float64 `json:"barrier_height"`
			Mean          []float64
			Cov           [][]float64
		}
		X0         [][]float64
		Step       float64
		NoiseScale float64       `json:"noise_scale"`
		Z          [][][]float64 // [step][chain][dim]
		Trajectory [][][]float64 // [chain][step][dim]
	}
	testvalues.Read(t, "torchebm.json", &cases)
	// Columns are picked by a product, which both backends can differentiate.
	column := func(x *sampler.Node, i int) *sampler.Node {
		pick := [][]float64{{0}, {0}}
		pick[i][0] = 1
		return graph.Reshape(graph.Dot(x, graph.Const(x.Graph(), pick)), x.Shape().Dimensions[0])
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.Run(t, b, func(g *graph.Graph) []*sampler.Node {
			var out []*sampler.Node
			for _, c := range cases {
				var score scorekit.Score
				switch c.Energy {
				case "gaussian":
					p, err := density.NewGaussian(c.Params.Mean, c.Params.Cov)
					if err != nil {
						t.Fatal(err)
					}
					score = p.Score
				case "doublewell": // Σ h (x² − b²)²
					score = scorekit.Energy(func(_ *mlctx.Context, x, _ *sampler.Node) *sampler.Node {
						well := graph.Square(graph.AddScalar(graph.Square(x), -c.Params.B*c.Params.B))
						return graph.MulScalar(graph.ReduceSum(well, 1), c.Params.BarrierHeight)
					}).Score
				case "rosenbrock": // (a − x₀)² + b (x₁ − x₀²)²
					score = scorekit.Energy(func(_ *mlctx.Context, x, _ *sampler.Node) *sampler.Node {
						x0, x1 := column(x, 0), column(x, 1)
						valley := graph.MulScalar(graph.Square(graph.Sub(x1, graph.Square(x0))), c.Params.B)
						return graph.Add(graph.Square(graph.AddScalar(graph.Neg(x0), c.Params.A)), valley)
					}).Score
				}
				s := sampler.Langevin{StepSize: c.Step, Temperature: c.NoiseScale * c.NoiseScale, Steps: len(c.Z)}
				x := graph.Const(g, c.X0)
				for k, row := range schedule(t, s).Rows {
					x = step(s, score, x, graph.Const(g, c.Z[k]), row)
					out = append(out, x)
				}
			}
			return out
		})
		for _, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				for i := range c.Z {
					var want []float64
					for chain := range c.X0 {
						want = append(want, c.Trajectory[chain][i]...)
					}
					testvalues.NearOne(t, fmt.Sprintf("step %d", i), got[i], want, 1e-10)
				}
			})
			got = got[len(c.Z):]
		}
	})
}

// Steps that blackjax 1.7.1 records for stochastic gradient Langevin dynamics, x + εs + √(2εT) z, here with the exact
// gradient.
func TestBlackjaxSGLD(t *testing.T) {
	var cases []struct {
		ID                string
		Mean              []float64
		Cov               [][]float64
		X, Z, Position    []float64
		Step, Temperature float64
	}
	testvalues.Read(t, "blackjax_sgld.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.Run(t, b, func(g *graph.Graph) []*sampler.Node {
			var out []*sampler.Node
			for _, c := range cases {
				p, err := density.NewGaussian(c.Mean, c.Cov)
				if err != nil {
					t.Fatal(err)
				}
				s := sampler.Langevin{StepSize: c.Step, Temperature: c.Temperature}
				out = append(out, step(s, p.Score, graph.Const(g, [][]float64{c.X}), graph.Const(g, [][]float64{c.Z}), schedule(t, s).Rows[0]))
			}
			return out
		})
		for i, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) { testvalues.NearOne(t, "position", got[i], c.Position, 1e-10) })
		}
	})
}

// The score is told the level: Langevin's own if it has one, none otherwise; the annealed sampler's level of the row. The
// score −σx makes it visible in x.
func TestLevelGivenToScore(t *testing.T) {
	told := scorekit.Score(func(_ *mlctx.Context, x, sigma *sampler.Node) *sampler.Node {
		if sigma == nil {
			return graph.Neg(x)
		}
		return graph.Neg(graph.Mul(x, graph.InsertAxes(sigma, -1)))
	})
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.Run(t, b, func(g *graph.Graph) []*sampler.Node {
			x := graph.Const(g, [][]float64{{1}, {-2}})
			zero := graph.ZerosLike(x)
			annealed := sampler.AnnealedLangevin{Sigmas: []float64{4, 2}, StepsPerLevel: 1, StepSize: 0.2, Denoise: true}
			var out []*sampler.Node
			for _, row := range schedule(t, annealed).Rows {
				out = append(out, step(annealed, told, x, zero, row))
			}
			return append(out,
				step(sampler.Langevin{StepSize: 0.1}, told, x, zero, []float64{0.1, 0}),
				step(sampler.Langevin{StepSize: 0.1, Sigma: 3}, told, x, zero, []float64{0.1, 0}))
		})
		// α = 0.2·σ²/4, drift α/2; then σ² = 4 without noise.
		for i, factor := range []float64{1 - 0.4*4, 1 - 0.1*2, 1 - 4*2, 1 - 0.1, 1 - 0.3} {
			testvalues.NearOne(t, fmt.Sprintf("step %d", i), got[i], []float64{factor, -2 * factor}, 1e-15)
		}
	})
}

// The last step with Denoise is Tweedie's formula x + σ²∇log p_σ(x), the mean of the noiseless point given the noised
// one: (s²x + σ²m)/(s² + σ²) for N(m, s²I), and for a mixture the mean of these with the components' shares given x.
// The noise asked for in that step does nothing.
func TestDenoise(t *testing.T) {
	const std, sigma = 0.7, 0.4
	first, err := density.Isotropic([]float64{1, -2}, std)
	if err != nil {
		t.Fatal(err)
	}
	second, err := density.Isotropic([]float64{-1, 0}, std)
	if err != nil {
		t.Fatal(err)
	}
	both, err := density.NewMixture([]float64{1, 3}, first, second)
	if err != nil {
		t.Fatal(err)
	}
	points := [][]float64{{0.3, -1}, {1, -2}, {-5, 4}}
	s := sampler.AnnealedLangevin{Max: 2, Min: sigma, Levels: 3, StepsPerLevel: 2, StepSize: 0.01, Denoise: true}
	rows := schedule(t, s).Rows
	if len(rows) != 7 {
		t.Fatalf("%d rows, want 3·2 and one to denoise", len(rows))
	}
	mean := func(x []float64, g density.Gaussian) (y [2]float64) {
		for j, m := range g.Mean() {
			y[j] = (std*std*x[j] + sigma*sigma*m) / (std*std + sigma*sigma)
		}
		return y
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.Run(t, b, func(g *graph.Graph) []*sampler.Node {
			x, z := graph.Const(g, points), graph.Const(g, [][]float64{{1, -1}, {2, 3}, {-1, 1}})
			level := graph.Const(g, []float64{sigma, sigma, sigma})
			logs := func(p density.Gaussian) *sampler.Node { return p.LogDensityNoised(x, level) }
			share := graph.Sigmoid(graph.Sub(logs(first), graph.AddScalar(logs(second), 1.0986122886681098))) // ln 3
			return []*sampler.Node{step(s, first.Score, x, z, rows[6]), step(s, both.Score, x, z, rows[6]), share}
		})
		for i, x := range points {
			one, other := mean(x, first), mean(x, second)
			testvalues.NearOne(t, "Gaussian", got[0][2*i:2*i+2], one[:], 1e-12)
			r := got[2][i]
			testvalues.NearOne(t, "mixture", got[1][2*i:2*i+2], []float64{r*one[0] + (1-r)*other[0], r*one[1] + (1-r)*other[1]}, 1e-12)
		}
	})
}

// A model that cannot do without a noise level fails with the name of the setting that gives it one.
func TestMissingLevelIsNamed(t *testing.T) {
	needs := scorekit.Energy(func(_ *mlctx.Context, x, sigma *sampler.Node) *sampler.Node {
		return graph.Mul(graph.Square(sigma), bowl(nil, x, nil))
	})
	for _, s := range []scorekit.Sampler{
		sampler.Langevin{StepSize: 0.1, Steps: 1}, sampler.Underdamped{StepSize: 0.1, Steps: 1}, sampler.MALA{Energy: needs, StepSize: 0.1, Steps: 1},
	} {
		_, err := scorekit.Sample(context.Background(), testbackend.Go(t), needs, s, 2, scorekit.WithShape(1))
		if err == nil || !strings.Contains(err.Error(), "the model was given no noise level; if it needs one, set Sigma: ") {
			t.Errorf("%T: error %v does not name Sigma", s, err)
		}
	}
}
