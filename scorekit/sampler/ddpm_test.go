package sampler_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/random"
	"github.com/scorekit/lab/scorekit/sampler"
	"github.com/scorekit/lab/scorekit/sde"
)

func chainOf(t *testing.T, kind string, n int, first, last float64) sde.Discrete {
	t.Helper()
	var c sde.Discrete
	var err error
	switch kind {
	case "linear":
		c, err = sde.Linear(n, first, last)
	case "scaled_linear":
		c, err = sde.ScaledLinear(n, first, last)
	case "squaredcos_cap_v2":
		c, err = sde.SquaredCosine(n)
	default:
		t.Fatalf("chain %q", kind)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// One step between two indices, with the noise prediction listed: DDIM with η 0, ½ and 1, DDPM with both variances, and
// x̂₀ as the step to the data.
func TestDenoisingStep(t *testing.T) {
	var cases []struct {
		ID     string
		Inputs struct {
			T, S int
			X    []float64 `json:"x_t"`
			Eps  []float64
			Z    []float64
		}
		Expected struct {
			Eta0      []float64 `json:"eta_0.0"`
			Eta5      []float64 `json:"eta_0.5"`
			Eta1      []float64 `json:"eta_1.0"`
			Sigma0    float64   `json:"sigma_eta_0.0"`
			Sigma5    float64   `json:"sigma_eta_0.5"`
			Sigma1    float64   `json:"sigma_eta_1.0"`
			X0        []float64 `json:"x0_pred"`
			Ancestral []float64 `json:"ddpm_ancestral"`
			Small     float64   `json:"ddpm_posterior_var"`
			Large     float64   `json:"beta_large_var"`
		}
	}
	testvalues.Read(t, "ddim_step.json", &cases)
	chain := chainOf(t, "linear", 1000, 1e-4, 0.02)
	at := func(t int) sde.Level { // the papers' index: 0 is the data
		if t == 0 {
			return sde.Level{Mean: 1}
		}
		return chain.Levels()[t-1]
	}
	samplers := func(i int) []scorekit.Sampler {
		from, to := at(cases[i].Inputs.T), at(cases[i].Inputs.S)
		levels := []sde.Level{from, to}
		return []scorekit.Sampler{
			sampler.DDIM{Levels: levels},
			sampler.DDIM{Levels: levels, Eta: 0.5},
			sampler.DDIM{Levels: levels, Eta: 1},
			sampler.DDPM{Levels: levels},
			sampler.DDPM{Levels: levels, Large: true},
			sampler.DDIM{Levels: []sde.Level{from, {Mean: 1}}},
		}
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.Run(t, b, func(g *graph.Graph) []*sampler.Node {
			var out []*sampler.Node
			for i, c := range cases {
				score := scorekit.Score(func(_ *mlctx.Context, x, sigma *sampler.Node) *sampler.Node {
					return graph.Neg(graph.Div(graph.Const(g, [][]float64{c.Inputs.Eps}), graph.InsertAxes(sigma, -1)))
				})
				for _, s := range samplers(i) {
					out = append(out, step(s, score, graph.Const(g, [][]float64{c.Inputs.X}), graph.Const(g, [][]float64{c.Inputs.Z}), schedule(t, s).Rows[0]))
				}
			}
			return out
		})
		for i, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				e, n := c.Expected, 6*i
				const rtol = 1e-9
				testvalues.Near(t, "η 0", got[n], e.Eta0, rtol)
				testvalues.Near(t, "η ½", got[n+1], e.Eta5, rtol)
				testvalues.Near(t, "η 1", got[n+2], e.Eta1, rtol)
				testvalues.Near(t, "DDPM", got[n+3], e.Ancestral, rtol)
				testvalues.Near(t, "x̂₀", got[n+5], e.X0, rtol)
				noise := func(k int) float64 { return schedule(t, samplers(i)[k]).Rows[0][4] }
				for k, want := range []float64{e.Sigma0, e.Sigma5, e.Sigma1, math.Sqrt(e.Small), math.Sqrt(e.Large)} {
					if k == 4 && c.Inputs.S == 0 {
						want = 0 // the step to the data draws nothing, with any variance
					}
					testvalues.NearNumber(t, fmt.Sprintf("noise %d", k), noise(k), want, rtol)
				}
				for j := range c.Inputs.X { // the large variance changes the noise alone
					want := e.Ancestral[j] + (noise(4)-noise(3))*c.Inputs.Z[j]
					testvalues.NearOne(t, "large variance", got[n+4][j:j+1], []float64{want}, rtol)
				}
			})
		}
	})
}

// trajectory feeds x, z, a row and more to one compiled graph, step by step.
type trajectory struct {
	t    *testing.T
	exec *graph.Exec
}

func newTrajectory(t *testing.T, b backends.Backend, build func(x, z *sampler.Node, row, more []*sampler.Node) []*sampler.Node) trajectory {
	t.Helper()
	exec, err := graph.NewExec(b, func(in []*graph.Node) []*graph.Node {
		var row []*sampler.Node
		for i := range in[2].Shape().Dimensions[0] {
			row = append(row, graph.Reshape(graph.Slice(in[2], graph.AxisElem(i))))
		}
		return build(in[0], in[1], row, in[3:])
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(exec.Finalize)
	return trajectory{t, exec}
}

func (r trajectory) step(x, z any, row []float64, more ...any) [][]float64 {
	r.t.Helper()
	out, err := r.exec.Exec(append([]any{x, z, row}, more...)...)
	if err != nil {
		r.t.Fatal(err)
	}
	return testvalues.FlatAll(r.t, out)
}

// stepFrom adds one step with listed noise from nodes of a row.
func stepFrom(s scorekit.Sampler, score scorekit.Score, x, z *sampler.Node, row []*sampler.Node) *sampler.Node {
	state, _ := s.Step(nil, random.Listed(x.Graph(), z), score, scorekit.State{X: x}, row)
	return state.X
}

type diffusersCase struct {
	ID     string
	Inputs struct {
		Scheduler string
		Config    struct {
			N          int     `json:"num_train_timesteps"`
			Kind       string  `json:"beta_schedule"`
			First      float64 `json:"beta_start"`
			Last       float64 `json:"beta_end"`
			Spacing    string  `json:"timestep_spacing"`
			Variance   string  `json:"variance_type"`
			ToOne      *bool   `json:"set_alpha_to_one"`
			Prediction string  `json:"prediction_type"`
		}
		Eta   float64
		Steps int       `json:"num_inference_steps"`
		X     []float64 `json:"x_start"`
		Model string
		Mu, S []float64
		Noise [][]float64 `json:"noise_per_step"`
	}
	Expected struct {
		Timesteps []int
		X         [][]float64
		X0        [][]float64 `json:"pred_x0"`
	}
}

// linspaceDDIM is where diffusers steps off its grid: from t to t − ⌊T/n⌋ and not to the next of the grid.
func (c diffusersCase) linspaceDDIM() bool {
	return c.Inputs.Scheduler == "DDIMScheduler" && c.Inputs.Config.Spacing == "linspace"
}

// sampler returns the sampler of a case on its own grid. With set_alpha_to_one false, chains end at the first level of the
// chain, which is a grid of a user's own.
func (c diffusersCase) sampler(t *testing.T) sampler.Noised {
	t.Helper()
	cfg := c.Inputs.Config
	chain := chainOf(t, cfg.Kind, cfg.N, cfg.First, cfg.Last)
	spacing, known := map[string]sde.Spacing{"": sde.Leading, "leading": sde.Leading, "trailing": sde.Trailing, "linspace": sde.Linspace}[cfg.Spacing]
	if !known {
		t.Fatalf("spacing %q", cfg.Spacing)
	}
	timesteps, err := sde.Timesteps(chain.Len(), c.Inputs.Steps, spacing)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(timesteps, c.Expected.Timesteps) {
		t.Fatalf("timesteps %v, want %v", timesteps, c.Expected.Timesteps)
	}
	switch {
	case c.Inputs.Scheduler == "DDPMScheduler":
		return sampler.DDPM{Chain: chain, Steps: c.Inputs.Steps, Spacing: spacing, Large: cfg.Variance == "fixed_large"}
	case cfg.ToOne != nil && !*cfg.ToOne:
		var levels []sde.Level
		for _, at := range append(timesteps, 0) {
			levels = append(levels, chain.Levels()[at])
		}
		return sampler.DDIM{Levels: levels, Eta: c.Inputs.Eta}
	}
	return sampler.DDIM{Chain: chain, Steps: c.Inputs.Steps, Spacing: spacing, Eta: c.Inputs.Eta}
}

// jumps returns diffusers' own steps of a linspace DDIM, each as a sampler of one step.
func (c diffusersCase) jumps(t *testing.T) []scorekit.Schedule {
	cfg := c.Inputs.Config
	all := chainOf(t, cfg.Kind, cfg.N, cfg.First, cfg.Last).Levels()
	var list []scorekit.Schedule
	for _, from := range c.Expected.Timesteps {
		end := sde.Level{Mean: 1}
		if to := from - cfg.N/c.Inputs.Steps; to >= 0 {
			end = all[to]
		} else if !*cfg.ToOne {
			end = all[0]
		}
		list = append(list, schedule(t, sampler.DDIM{Levels: []sde.Level{all[from], end}, Eta: c.Inputs.Eta}))
	}
	return list
}

// The models of the recorded cases: the noise prediction of a state of the level with a² + b² = 1 is that of N(mu, s²), or
// 0.1x + 0.05 sin x; networks that predict data or v say the same in other words.
func recordedNoise(fake bool, x, sigma, mu, s *sampler.Node) *sampler.Node {
	if fake {
		return graph.Add(graph.MulScalar(x, 0.1), graph.MulScalar(graph.Sin(x), 0.05))
	}
	a := graph.InsertAxes(graph.Reciprocal(graph.Sqrt(graph.AddScalar(graph.Square(sigma), 1))), -1)
	b := graph.Mul(a, graph.InsertAxes(sigma, -1))
	return graph.Div(graph.Mul(b, graph.Sub(x, graph.Mul(a, mu))), graph.Add(graph.Square(graph.Mul(a, s)), graph.Square(b)))
}

func recordedScore(fake bool, mu, s *sampler.Node) scorekit.Score {
	return func(_ *mlctx.Context, y, sigma *sampler.Node) *sampler.Node {
		wide := graph.InsertAxes(sigma, -1)
		state := graph.Div(y, graph.Sqrt(graph.AddScalar(graph.Square(wide), 1)))
		return graph.Neg(graph.Div(recordedNoise(fake, state, sigma, mu, s), wide))
	}
}

func recordedNetwork(chain sde.Discrete, kind sde.Prediction, mu, s *sampler.Node) scorekit.Model {
	return sde.FromNetwork(chain, kind, scorekit.Score(func(_ *mlctx.Context, x, t *sampler.Node) *sampler.Node {
		at := chain.MarginalNode(t)
		return sde.ConvertNode(sde.Noise, kind, at, x, recordedNoise(false, x, at.Sigma(), mu, s))
	}))
}

// Trajectories that diffusers 0.42.1 records for DDPM and DDIM, from networks that predict noise, data and v. They are all
// met on the samplers' own grids but for two things:
//   - DDIM with linspace spacing, 6 cases: diffusers steps off its grid. Each of its steps is met from where it starts, as
//     a grid of two levels; the trajectory on the grid itself is another one.
//   - DDPM with the large variance and trailing spacing, 2 cases: diffusers adds noise √β z in the step to the data, where
//     Ho et al. (algorithm 2) add none. The last point is compared without it.
func TestDiffusers(t *testing.T) {
	var cases []diffusersCase
	testvalues.Read(t, "diffusers_ddpm_ddim.json", &cases)
	linear := chainOf(t, "linear", 1000, 1e-4, 0.02)
	models := []string{"gauss", "fake", "sample", "v_prediction"}
	kinds := []scorekit.Sampler{sampler.DDPM{}, sampler.DDIM{Eta: 1}, sampler.DDIM{}} // what a step does is in the row
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		run := newTrajectory(t, b, func(x, z *sampler.Node, row, more []*sampler.Node) []*sampler.Node {
			mu, s := more[0], more[1]
			var out []*sampler.Node
			for _, score := range []scorekit.Score{
				recordedScore(false, mu, s),
				recordedScore(true, mu, s),
				recordedNetwork(linear, sde.Data, mu, s).Score,
				recordedNetwork(linear, sde.V, mu, s).Score,
			} {
				for _, kind := range kinds {
					after := stepFrom(kind, score, x, z, row)
					out = append(out, after, kind.(scorekit.Predictor).Predict(nil, score, after, row))
				}
			}
			return out
		})
		for _, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				model := c.Inputs.Model
				if p := c.Inputs.Config.Prediction; p != "" {
					model = p
				}
				kind := 0
				if c.Inputs.Scheduler == "DDIMScheduler" {
					kind = 1
					if c.Inputs.Eta == 0 {
						kind = 2
					}
				}
				at := 2 * (len(kinds)*slices.Index(models, model) + kind)
				do := func(x []float64, k int, row []float64) (after, predicted []float64) {
					z := make([]float64, len(x))
					if k < len(c.Inputs.Noise) {
						z = c.Inputs.Noise[k]
					}
					out := run.step([][]float64{x}, [][]float64{z}, row, [][]float64{c.Inputs.Mu}, [][]float64{c.Inputs.S})
					return out[at], out[at+1]
				}
				own := schedule(t, c.sampler(t)).Rows
				if len(own) != len(c.Expected.X) {
					t.Fatalf("%d steps, want %d", len(own), len(c.Expected.X))
				}
				const rtol = 1e-10
				if c.linspaceDDIM() {
					x := c.Inputs.X
					for k, jump := range c.jumps(t) {
						after, _ := do(x, k, jump.Rows[0])
						testvalues.NearOne(t, fmt.Sprintf("step %d off the grid", k), after, c.Expected.X[k], rtol)
						x = c.Expected.X[k]
					}
					first, _ := do(c.Inputs.X, 0, own[0])
					if d := math.Abs(first[0] - c.Expected.X[0][0]); d < 1e-4 {
						t.Errorf("the first step on the grid is that of diffusers but for %v: the exception is not one any more", d)
					}
					return
				}
				x, last := c.Inputs.X, len(own)-1
				for k, row := range own {
					after, predicted := do(x, k, row)
					want := c.Expected.X[k]
					if k == last && c.Inputs.Config.Variance == "fixed_large" && c.Inputs.Config.Spacing == "trailing" {
						beta := 1 - row[0]*row[0]
						want = slices.Clone(want)
						for j := range want {
							want[j] -= math.Sqrt(beta) * c.Inputs.Noise[k][j]
						}
					}
					testvalues.NearOne(t, fmt.Sprintf("step %d", k), after, want, rtol)
					if k < last {
						testvalues.NearOne(t, fmt.Sprintf("prediction after step %d", k), predicted, c.Expected.X0[k+1], rtol)
					} else if row[6] == 0 {
						testvalues.NearOne(t, "prediction at the end", predicted, after, 0)
						testvalues.NearOne(t, "the end", after, c.Expected.X0[k], rtol)
					}
					x = after
				}
			})
		}
	})
}

// Trajectories that azula 0.11.1 records for DDPM and for DDIM with η 0, ½ and 1, on its VE and VP processes; these end at
// a noise level above 0.
func TestAzulaDenoising(t *testing.T) {
	var cases []struct {
		ID     string
		Inputs struct {
			Sampler   string
			Schedule  string
			Params    map[string]float64 `json:"schedule_params"`
			Timesteps []float64
			X         [][]float64 `json:"x0"`
			Mu, S     []float64
			Noise     [][][]float64
		}
		Expected struct{ X [][][]float64 }
	}
	testvalues.Read(t, "azula_ddpm_ddim.json", &cases)
	etas := map[string]float64{"DDIM0": 0, "DDIM0.5": math.Sqrt(0.5), "DDIM1": 1} // azula's η is a factor of the variance
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		run := newTrajectory(t, b, func(x, z *sampler.Node, row, more []*sampler.Node) []*sampler.Node {
			score := scorekit.Score(func(_ *mlctx.Context, y, sigma *sampler.Node) *sampler.Node {
				v := graph.Add(graph.Square(more[1]), graph.Square(graph.InsertAxes(sigma, -1)))
				return graph.Div(graph.Sub(more[0], y), v)
			})
			return []*sampler.Node{
				stepFrom(sampler.DDPM{}, score, x, z, row),
				stepFrom(sampler.DDIM{Eta: 1}, score, x, z, row),
				stepFrom(sampler.DDIM{}, score, x, z, row),
			}
		})
		for _, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				p := c.Inputs.Params
				var levels []sde.Level
				for _, at := range c.Inputs.Timesteps {
					if c.Inputs.Schedule == "VE" {
						levels = append(levels, sde.VE{SigmaMin: p["sigma_min"], SigmaMax: p["sigma_max"]}.Marginal(at))
						continue
					}
					a := math.Exp(at * at * math.Log(p["alpha_min"]))
					levels = append(levels, sde.Level{Mean: a, Std: math.Sqrt(1 - a*a + p["sigma_min"]*p["sigma_min"])})
				}
				kind, s := 0, sampler.Noised(sampler.DDPM{Levels: levels})
				if eta, ok := etas[c.Inputs.Sampler]; ok {
					s, kind = sampler.DDIM{Levels: levels, Eta: eta}, 1
					if eta == 0 {
						kind = 2
					}
				} else if c.Inputs.Sampler != "DDPM" {
					t.Fatalf("sampler %q", c.Inputs.Sampler)
				}
				x := c.Inputs.X
				for k, row := range schedule(t, s).Rows {
					z := [][]float64{make([]float64, 3), make([]float64, 3)}
					if kind != 2 {
						z = c.Inputs.Noise[k]
					}
					out := run.step(x, z, row, [][]float64{c.Inputs.Mu}, [][]float64{c.Inputs.S})[kind]
					testvalues.NearOne(t, fmt.Sprintf("step %d", k), out, slices.Concat(c.Expected.X[k]...), 1e-10)
					x = [][]float64{out[:3], out[3:]}
				}
			})
		}
	})
}
