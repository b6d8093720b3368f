package sampler_test

import (
	"math"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/random"
	"github.com/scorekit/lab/scorekit/sampler"
	"github.com/scorekit/lab/scorekit/sde"
)

// walker takes steps of a sampler in one compiled graph, with listed noise and a score that has parameters, so that cases
// that differ in numbers alone share it.
type walker struct {
	t      *testing.T
	exec   *graph.Exec
	memory int // how many tensors it keeps from step to step
	aux    []any
}

// newWalker compiles Step of s, which draws as often as draws says.
func newWalker(t *testing.T, b backends.Backend, s scorekit.Sampler, draws int, score func(params []*sampler.Node) scorekit.Score) *walker {
	t.Helper()
	memory := remembers(b, s)
	exec, err := graph.NewExec(b, func(in []*graph.Node) []*graph.Node {
		x, z, row := in[0], in[1], in[2]
		var noise, rows []*sampler.Node
		for k := range draws {
			noise = append(noise, graph.Slice(z, graph.AxisElem(k)))
		}
		for k := range row.Shape().Dimensions[0] {
			rows = append(rows, graph.Reshape(graph.Slice(row, graph.AxisElem(k))))
		}
		state := scorekit.State{X: x, Aux: in[3 : 3+memory]}
		params := in[3+memory:]
		state, _ = s.Step(nil, random.Listed(x.Graph(), noise...), score(params), state, rows)
		return append([]*sampler.Node{state.X}, state.Aux...)
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(exec.Finalize)
	return &walker{t: t, exec: exec, memory: memory}
}

// remembers tells how many tensors a probability flow keeps from step to step, the only sampler here that does.
func remembers(b backends.Backend, s scorekit.Sampler) int {
	flow, ok := s.(sampler.ProbabilityFlow)
	if !ok {
		return 0
	}
	return len(flow.Init(nil, nil, nil, graph.Const(graph.NewGraph(b, "memory"), [][]float64{{0}})).Aux)
}

// start forgets what earlier steps left, for points of the shape of x.
func (w *walker) start(x [][]float64) {
	w.aux = nil
	for range w.memory {
		w.aux = append(w.aux, times(0, x))
	}
}

// step takes one step from x, with noise z for each draw.
func (w *walker) step(x [][]float64, z [][][]float64, row []float64, params ...any) [][]float64 {
	w.t.Helper()
	if len(z) == 0 {
		z = [][][]float64{x} // not used
	}
	out, err := w.exec.Exec(slices.Concat([]any{x, z, row}, w.aux, params)...)
	if err != nil {
		w.t.Fatal(err)
	}
	w.aux = nil
	for _, a := range out[1:] {
		w.aux = append(w.aux, a)
	}
	return matrix(w.t, out[0])
}

func matrix(t *testing.T, x *tensors.Tensor) [][]float64 {
	t.Helper()
	rows, err := scorekit.Rows(x)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func times(c float64, x [][]float64) [][]float64 {
	out := make([][]float64, len(x))
	for i, row := range x {
		for _, v := range row {
			out[i] = append(out[i], c*v)
		}
	}
	return out
}

func plus(x, y [][]float64) [][]float64 {
	out := make([][]float64, len(x))
	for i, row := range x {
		for j, v := range row {
			out[i] = append(out[i], v+y[i][j])
		}
	}
	return out
}

// gaussianScore is that of N(mu, s²) in each coordinate, with mu and s as parameters.
func gaussianScore(params []*sampler.Node) scorekit.Score {
	mu, s := params[0], params[1]
	return func(_ *mlctx.Context, x, sigma *sampler.Node) *sampler.Node {
		v := graph.Add(graph.Square(graph.InsertAxes(sigma, -1)), graph.Square(graph.ExpandLeftToRank(s, 2)))
		return graph.Div(graph.Sub(graph.ExpandLeftToRank(mu, 2), x), v)
	}
}

// Trajectories that k-diffusion 0.1.1.post1 records on Gaussian data. Its callback sees x before a step, in the samplers
// with churn after the fresh noise. Its dpmpp_sde takes the two noises of a step from a Brownian path, so that they depend
// on each other; here they are listed, one by one. The weights of its lms come from numerical integration to a relative
// 10⁻⁴; they are those of the exact integrals nevertheless. It goes to 0 as to any other level.
func TestKDiffusion(t *testing.T) {
	var cases []struct {
		ID, Kind string
		Params   struct {
			Eta   float64
			Churn float64 `json:"s_churn"`
			Min   float64 `json:"s_tmin"`
			Max   float64 `json:"s_tmax"`
			Noise float64 `json:"s_noise"`
		}
		Sigmas, Mu, S []float64
		Start         [][]float64   `json:"z_start"`
		Noise         [][][]float64 // [step][chain][d]
		X             [][][]float64
		Final         [][]float64
	}
	testvalues.Read(t, "kdiffusion.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		walkers := map[string]*walker{}
		for _, c := range cases {
			var s scorekit.Sampler
			draws := 1
			flow := func(solver sampler.Solver) sampler.ProbabilityFlow {
				return sampler.ProbabilityFlow{Sigmas: c.Sigmas, Solver: solver, Eta: c.Params.Eta}
			}
			switch c.Kind {
			case "euler":
				s, draws = sampler.ProbabilityFlow{Sigmas: c.Sigmas, Solver: sampler.Euler}, 0
			case "heun":
				s, draws = sampler.ProbabilityFlow{Sigmas: c.Sigmas}, 0
			case "dpmpp_2m":
				s, draws = sampler.ProbabilityFlow{Sigmas: c.Sigmas, Solver: sampler.DPMSolver2M}, 0
			case "dpm_2":
				s, draws = flow(sampler.DPMSolver2), 0
			case "lms":
				s, draws = flow(sampler.AdamsBashforth4), 0
			case "dpm_2_ancestral":
				s = flow(sampler.DPMSolver2)
			case "dpmpp_2s_ancestral":
				s = flow(sampler.DPMSolver2S)
			case "dpmpp_sde":
				s, draws = flow(sampler.DPMSolverSDE), 2
			case "dpmpp_2m_sde_midpoint":
				s = flow(sampler.DPMSolver2M)
			case "dpmpp_2m_sde_heun":
				s = flow(sampler.ExponentialAB2)
			case "dpmpp_3m_sde":
				s = flow(sampler.DPMSolver3M)
			case "euler_ancestral":
				s = sampler.PredictorCorrector{Sigmas: c.Sigmas, Move: sampler.Ancestral, Eta: c.Params.Eta}
			case "euler_churn":
				s = sampler.Churn{Sigmas: c.Sigmas, Amount: c.Params.Churn, Min: c.Params.Min, Max: c.Params.Max, Noise: c.Params.Noise, Solver: sampler.Euler}
			case "heun_churn":
				s = sampler.Churn{Sigmas: c.Sigmas, Amount: c.Params.Churn, Min: c.Params.Min, Max: c.Params.Max, Noise: c.Params.Noise}
			}
			testvalues.Case(t, c.ID, func(t *testing.T) {
				w := walkers[c.Kind]
				if w == nil {
					w = newWalker(t, b, s, draws, gaussianScore)
					walkers[c.Kind] = w
				}
				w.t = t
				x := times(c.Sigmas[0], c.Start)
				w.start(x)
				rows := schedule(t, s).Rows
				if want := len(c.Sigmas) - 1; len(rows) != want || len(c.X) > 0 && len(c.X) != want {
					t.Fatalf("%d steps for %d listed ones, want %d", len(rows), len(c.X), want)
				}
				for k, row := range rows {
					var z [][][]float64
					if draws > 0 { // the last ancestral step draws none
						z = slices.Repeat([][][]float64{x}, draws)
						if draws*k < len(c.Noise) {
							z = slices.Clone(c.Noise[draws*k : draws*(k+1)])
						}
					}
					if draws == 2 { // (z₁ + z₂)/√2 is listed, not z₂
						z[1] = plus(times(math.Sqrt2, z[1]), times(-1, z[0]))
					}
					before := x
					if _, ok := s.(sampler.Churn); ok {
						before = plus(x, times(row[len(row)-1], z[0]))
					}
					if len(c.X) > 0 { // lms lists its end alone
						testvalues.NearOne(t, "before a step", slices.Concat(before...), slices.Concat(c.X[k]...), 1e-10)
					}
					x = w.step(x, z, row, c.Mu, c.S)
				}
				testvalues.NearOne(t, "end", slices.Concat(x...), slices.Concat(c.Final...), 1e-10)
			})
		}
	})
}

// Trajectories that diffusers 0.42.1 records, with σ grids of its own. Its model predicts ε of the state at
// {1, σ}/√(1+σ²). Heun's scheduler shows the predicted and the corrected point of every step; DPM-Solver++ works on the
// variance-preserving states, those here over √(1+σ²), and with order 1 is Euler's method in σ.
func TestDiffusersSigma(t *testing.T) {
	var cases []struct {
		ID, Kind      string
		Order         int
		Fake          bool
		Start         []float64 `json:"z_start"`
		Init          float64
		Mu, S, Sigmas []float64
		Noise, X      [][]float64
	}
	testvalues.Read(t, "diffusers_sigma.json", &cases)
	score := func(params []*sampler.Node) scorekit.Score {
		fake := params[2]
		return func(vars *mlctx.Context, x, sigma *sampler.Node) *sampler.Node {
			wide := graph.InsertAxes(sigma, -1)
			u := graph.Div(x, graph.Sqrt(graph.AddScalar(graph.Square(wide), 1)))
			eps := graph.Add(graph.MulScalar(u, 0.1), graph.MulScalar(graph.Sin(u), 0.05))
			other := gaussianScore(params)(vars, x, sigma)
			return graph.Add(other, graph.Mul(fake, graph.Sub(graph.Neg(graph.Div(eps, wide)), other)))
		}
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		walkers := map[sampler.Solver]*walker{}
		var ancestral *walker
		for _, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				sigmas := c.Sigmas
				flow := sampler.ProbabilityFlow{Solver: sampler.Euler}
				switch {
				case c.Kind == "heun": // every level but the first and the last is listed twice
					sigmas = slices.Compact(slices.Clone(sigmas))
					flow.Solver = sampler.Heun
				case c.Kind == "dpmpp" && c.Order == 2:
					flow.Solver = sampler.DPMSolver2M
				}
				flow.Sigmas = sigmas
				var s scorekit.Sampler = flow
				w, draws := walkers[flow.Solver], 0
				if c.Kind == "euler_a" {
					s, w, draws = sampler.PredictorCorrector{Sigmas: sigmas, Move: sampler.Ancestral}, ancestral, 1
				}
				if w == nil {
					if w = newWalker(t, b, s, draws, score); draws > 0 {
						ancestral = w
					} else {
						walkers[flow.Solver] = w
					}
				}
				w.t = t
				fake := 0.0
				if c.Fake {
					fake = 1
				}
				scale := func(k int) float64 { // of what is listed
					if c.Kind == "dpmpp" {
						return 1 / math.Hypot(1, sigmas[k])
					}
					return 1
				}
				x := times(c.Init/scale(0), [][]float64{c.Start})
				w.start(x)
				for k, row := range schedule(t, s).Rows {
					var z [][][]float64
					if draws > 0 {
						z = [][][]float64{c.Noise[k : k+1]}
					}
					x = w.step(x, z, row, c.Mu, c.S, fake)
					want := k
					if c.Kind == "heun" {
						want = min(2*k+1, len(c.X)-1)
					}
					testvalues.NearOne(t, "step", times(scale(k+1), x)[0], c.X[want], 1e-9)
				}
			})
		}
	})
}

// Trajectories that azula 0.11.1 records. Its schedules are levels α and σ; the states are α times those at {1, σ/α}.
func TestAzulaFlow(t *testing.T) {
	var cases []struct {
		ID, Kind, Schedule string
		Params             struct {
			AlphaMin float64 `json:"alpha_min"`
			SigmaMin float64 `json:"sigma_min"`
			SigmaMax float64 `json:"sigma_max"`
		}
		Times, Mu, S []float64
		X0           [][]float64
		Noise, X     [][][]float64
		Final        [][]float64
	}
	testvalues.Read(t, "azula_flow.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		walkers := map[string]*walker{}
		for _, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				var sigmas, means []float64
				for _, u := range c.Times {
					level := sde.Level{Mean: 1, Std: c.Params.SigmaMin * math.Pow(c.Params.SigmaMax/c.Params.SigmaMin, u)}
					if c.Schedule == "VP" {
						level.Mean = math.Pow(c.Params.AlphaMin, u*u)
						level.Std = math.Sqrt(1 - level.Mean*level.Mean + c.Params.SigmaMin*c.Params.SigmaMin)
					}
					sigmas, means = append(sigmas, level.Sigma()), append(means, level.Mean)
				}
				var s scorekit.Sampler
				draws := 0
				switch c.Kind {
				case "Euler":
					s = sampler.ProbabilityFlow{Sigmas: sigmas, Solver: sampler.Euler}
				case "Heun":
					s = sampler.ProbabilityFlow{Sigmas: sigmas}
				case "zAB2":
					s = sampler.ProbabilityFlow{Sigmas: sigmas, Solver: sampler.AdamsBashforth2}
				case "xEAB2":
					s = sampler.ProbabilityFlow{Sigmas: sigmas, Solver: sampler.ExponentialAB2}
				case "Ito1":
					s, draws = sampler.ReverseSDE{Sigmas: sigmas}, 1
				case "PC": // one correction, of amplitude 0.05: the file does not say, the numbers do
					s, draws = sampler.PredictorCorrector{Sigmas: sigmas, Move: sampler.Flow, Corrections: 1, Renew: 0.05}, 1
				}
				w := walkers[c.Kind]
				if w == nil {
					w = newWalker(t, b, s, draws, gaussianScore)
					walkers[c.Kind] = w
				}
				w.t = t
				x := times(1/means[0], c.X0)
				w.start(x)
				for k, row := range schedule(t, s).Rows {
					var z [][][]float64
					if draws > 0 {
						z = c.Noise[k : k+1]
					}
					x = w.step(x, z, row, c.Mu, c.S)
					if len(c.X) > 0 { // of AB2 only the end is listed
						testvalues.NearOne(t, "step", slices.Concat(times(means[k+1], x)...), slices.Concat(c.X[k]...), 1e-10)
					}
				}
				last := means[len(means)-1]
				testvalues.NearOne(t, "end", slices.Concat(times(last, x)...), slices.Concat(c.Final...), 1e-10)
			})
		}
	})
}
