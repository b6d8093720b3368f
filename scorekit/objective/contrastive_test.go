package objective_test

import (
	"errors"
	"math"
	"slices"
	"strings"
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
	"github.com/scorekit/lab/scorekit/random"
)

// watched is energy with a place where the points that it was last asked for are noted: those of the negatives.
func watched(energy scorekit.Energy) (scorekit.Energy, **objective.Node) {
	last := new(*objective.Node)
	return func(vars *mlctx.Context, x, sigma *objective.Node) *objective.Node {
		*last = x
		return energy(vars, x, sigma)
	}, last
}

// parabola is E = ½λ‖x − μ‖², λ a number and μ [d].
func parabola(lambda, mu *objective.Node) scorekit.Energy {
	return testvalues.Ignoring(func(x *objective.Node) *objective.Node {
		squares := graph.ReduceSum(graph.Square(graph.Sub(x, graph.InsertAxes(mu, 0))), 1)
		return graph.MulScalar(graph.Mul(squares, lambda), 0.5)
	})
}

// One step with listed noise from listed data: where it ends, the loss and both gradients.
func TestContrastiveListed(t *testing.T) {
	var cases []struct {
		ID         string
		Lambda     float64
		Mu         []float64
		Eps        float64
		X, Z, X1   [][]float64
		GradLambda float64   `json:"grad_lambda"`
		GradMu     []float64 `json:"grad_mu"`
		Loss       float64   `json:"surrogate_loss"`
	}
	testvalues.Read(t, "contrastive_listed.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.RunIn(t, b, dtypes.Float64, func(in testvalues.Inputs) []*objective.Node {
			var out []*objective.Node
			for _, c := range cases {
				lambda, mu := in.Of(c.Lambda), in.Of(c.Mu)
				energy, last := watched(parabola(lambda, mu))
				loss := objective.Contrastive{Energy: energy, StepSize: c.Eps}.Loss(nil, random.Listed(in.Graph, in.Of(c.Z)), energy.Score, in.Of(c.X))
				out = append(append(out, *last), lossAndGradients(loss, []*objective.Node{lambda, mu})...)
			}
			return out
		})
		for i, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				g := got[4*i:]
				testvalues.Near(t, "ends", g[0], slices.Concat(c.X1...), 1e-12)
				testvalues.Near(t, "loss", g[1], []float64{c.Loss}, 1e-9)
				testvalues.Near(t, "gradient for λ", g[2], []float64{c.GradLambda}, 1e-9)
				testvalues.Near(t, "gradient for μ", g[3], c.GradMu, 1e-9)
			})
		}
	})
}

// The gradient expected of k steps on a parabola. The end of a chain is linear in the noise, and E is of degree 2, so that
// noise of ±1 in all 2ᵏ combinations has the same mean as normal noise, exactly.
func TestContrastiveExpected(t *testing.T) {
	var cases []struct {
		ID             string
		Lambda, Mu     float64
		Data, Eps      []float64
		K              int
		GradLambda     []float64 `json:"cd_grad_lambda"`
		GradMu         []float64 `json:"cd_grad_mu"`
		MatchingLambda float64   `json:"score_matching_grad_lambda"`
		MatchingMu     float64   `json:"score_matching_grad_mu"`
		RatioLambda    []float64 `json:"ratio_lambda"`
		RatioMu        []float64 `json:"ratio_mu"`
	}
	testvalues.Read(t, "contrastive_gaussian.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for _, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				signs := 1 << c.K
				var x [][]float64
				z := make([][]float64, c.K)
				for _, v := range c.Data {
					for s := range signs {
						x = append(x, []float64{v})
						for k := range z {
							z[k] = append(z[k], float64(s>>k&1*2-1))
						}
					}
				}
				got := testvalues.RunIn(t, b, dtypes.Float64, func(in testvalues.Inputs) []*objective.Node {
					lambda, mu := in.Of(c.Lambda), in.Of([]float64{c.Mu})
					energy := parabola(lambda, mu)
					gradients := func(loss *objective.Node) []*objective.Node {
						return lossAndGradients(loss, []*objective.Node{lambda, mu})[1:]
					}
					out := gradients(objective.Implicit{}.Loss(nil, nil, energy.Score, in.Of(x)))
					for _, eps := range c.Eps {
						o := objective.Contrastive{Energy: energy, StepSize: eps, Steps: c.K}
						out = append(out, gradients(o.Loss(nil, random.Listed(in.Graph, in.Of(z)), energy.Score, in.Of(x)))...)
					}
					return out
				})
				testvalues.Near(t, "score matching for λ", got[0], []float64{c.MatchingLambda}, 1e-9)
				testvalues.Near(t, "score matching for μ", got[1], []float64{c.MatchingMu}, 1e-9)
				for i, eps := range c.Eps {
					l, m := got[2+2*i][0], got[3+2*i][0]
					testvalues.NearNumber(t, "gradient for λ", l, c.GradLambda[i], 1e-9)
					testvalues.NearNumber(t, "gradient for μ", m, c.GradMu[i], 1e-9)
					testvalues.NearNumber(t, "ratio for λ", l/(float64(c.K)*eps*got[0][0]), c.RatioLambda[i], 1e-9)
					testvalues.NearNumber(t, "ratio for μ", m/(float64(c.K)*eps*got[1][0]), c.RatioMu[i], 1e-9)
				}
			})
		}
	})
}

// Another library's negatives, loss and gradients, for several steps, with less noise than a chain should have, and with
// its penalty of the energies.
func TestContrastiveTorchebm(t *testing.T) {
	var cases []struct {
		energyCase
		K         int
		StepSize  float64 `json:"step_size"`
		Noise     float64 `json:"noise_scale"`
		Penalty   float64 `json:"energy_reg_weight"`
		Z         [][][]float64
		Negatives [][]float64
	}
	testvalues.Read(t, "torchebm_contrastive.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.RunIn(t, b, dtypes.Float64, func(in testvalues.Inputs) []*objective.Node {
			var out []*objective.Node
			for _, c := range cases {
				w := c.weights(in)
				energy, last := watched(tanhEnergy(w, c.C))
				o := objective.Contrastive{Energy: energy, StepSize: c.StepSize, Steps: c.K, Noise: c.Noise, Penalty: c.Penalty}
				loss := o.Loss(nil, random.Listed(in.Graph, in.Of(c.Z)), energy.Score, in.Of(c.X))
				out = append(append(out, *last), lossAndGradients(loss, w)...)
			}
			return out
		})
		for i, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				testvalues.NearOne(t, "negatives", got[5*i], slices.Concat(c.Negatives...), 1e-10)
				c.check(t, got[5*i+1:5*i+5])
			})
		}
	})
}

// From data that have the law of the model, N(0, 1), 20 steps with a long ε lead away from it by Langevin's chain, whose
// variance is then v = r^{2k} + 2ε(1 − r^{2k})/(1 − r²), r = 1 − ε, and the mean loss ½(1 − v); with Metropolis they do
// not, and the mean loss is 0. Each within 5 standard errors of the mean over 20,000 chains.
func TestContrastiveMetropolis(t *testing.T) {
	const eps, k, n = 0.8, 20, 20000
	p, err := density.Isotropic([]float64{0}, 1)
	if err != nil {
		t.Fatal(err)
	}
	energy := scorekit.Energy(testvalues.Ignoring(p.Energy))
	seed, err := random.Seed(1)
	if err != nil {
		t.Fatal(err)
	}
	r := math.Pow(1-eps, 2*k)
	v := r + 2*eps*(1-r)/(1-(1-eps)*(1-eps))
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		losses := testvalues.Run(t, b, func(g *graph.Graph) []*objective.Node {
			rng := random.New(graph.ConstTensor(g, seed), dtypes.Float64, 1)
			x := p.Batch(nil, rng, n)
			plain := objective.Contrastive{Energy: energy, StepSize: eps, Steps: k}
			exact := plain
			exact.Metropolis = true
			return []*objective.Node{plain.Loss(nil, rng, energy.Score, x), exact.Loss(nil, rng, energy.Score, x)}
		})
		testvalues.MeanWithin(t, "Langevin", losses[0], (1-v)/2)
		testvalues.MeanWithin(t, "Metropolis", losses[1], 0)
		if math.Abs(1-v)/2 < 0.1 {
			t.Errorf("Langevin's loss of %v cannot be told from 0", (1-v)/2)
		}
	})
}

// A flat energy lets chains go where the noise takes them. One step of ½ adds the noise itself.
func flat(x *objective.Node) *objective.Node { return graph.MulScalar(graph.ReduceSum(x, 1), 0) }

// Chains go on where they ended: from the places of the buffer that were drawn, round its end, and at the data where a
// place was not used yet or the chain is told to begin anew. A chain that ends where the energy is not finite is not kept,
// and its place begins anew.
func TestContrastiveBuffer(t *testing.T) {
	o := objective.Contrastive{StepSize: 0.5, Buffer: 3, Restart: 0.25}
	energy, last := watched(testvalues.Ignoring(func(x *objective.Node) *objective.Node {
		big := graph.GreaterThan(graph.ReduceSum(x, 1), graph.Scalar(x.Graph(), x.DType(), 100.0))
		nan := graph.AddScalar(flat(x), math.NaN())
		return graph.Where(big, nan, flat(x))
	}))
	o.Energy = energy
	score := scorekit.Score(testvalues.Ignoring(graph.ZerosLike))
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		vars := mlctx.New().Checked(false)
		exec, err := mlctx.NewExec(b, vars, func(vars *mlctx.Context, in []*objective.Node) []*objective.Node {
			loss := o.Loss(vars, random.Listed(in[0].Graph(), in[1], in[2], in[3]), score, in[0])
			return []*objective.Node{*last, loss}
		})
		if err != nil {
			t.Fatal(err)
		}
		defer exec.Finalize()
		for i, step := range []struct {
			data     []float64
			place    float64
			restart  []float64
			noise    []float64
			ends     []float64
			kept     []float64
			used     []float64
			lossIsOK []bool
		}{
			{[]float64{10, 20}, 2, []float64{0.9, 0.9}, []float64{1, 2}, []float64{11, 22}, []float64{22, 0, 11}, []float64{1, 0, 1}, []bool{true, true}},
			{[]float64{30, 40}, 1, []float64{0.9, 0.25}, []float64{3, 4}, []float64{33, 15}, []float64{22, 33, 15}, []float64{1, 1, 1}, []bool{true, true}},
			{[]float64{50, 60}, 0, []float64{0.24, 0.9}, []float64{5, 6}, []float64{55, 39}, []float64{55, 39, 15}, []float64{1, 1, 1}, []bool{true, true}},
			{[]float64{70, 80}, 2, []float64{0.9, 0.9}, []float64{7, 99}, []float64{22, 154}, []float64{55, 39, 22}, []float64{0, 1, 1}, []bool{true, false}},
			{[]float64{math.Inf(1), 80}, 0, []float64{0.9, 0.9}, []float64{1, 1}, []float64{math.Inf(1), 40}, []float64{55, 40, 22}, []float64{0, 1, 1}, []bool{false, true}},
			{[]float64{1, 2}, 0, []float64{0.9, 0.9}, []float64{1, 1}, []float64{2, 41}, []float64{2, 41, 22}, []float64{1, 1, 1}, []bool{true, true}},
		} {
			column := func(v []float64) *tensors.Tensor {
				return tensors.FromFlatDataAndDimensions(slices.Clone(v), len(v), 1)
			}
			out, err := exec.Exec(column(step.data), []float64{step.place}, step.restart, column(step.noise))
			if err != nil {
				t.Fatal(err)
			}
			if got := testvalues.Flat(t, out[0]); !slices.Equal(got, step.ends) {
				t.Errorf("step %d: chains end at %v, want %v", i, got, step.ends)
			}
			for j, l := range testvalues.Flat(t, out[1]) {
				if finite := !math.IsNaN(l) && !math.IsInf(l, 0); (l == 0) != step.lossIsOK[j] || finite != step.lossIsOK[j] {
					t.Errorf("step %d: loss %d is %v", i, j, l)
				}
			}
			for name, want := range map[string][]float64{"points": step.kept, "used": step.used} {
				if got := testvalues.Flat(t, vars.GetVariableByScopeAndName("/contrastive", name).MustValue()); !slices.Equal(got, want) {
					t.Errorf("step %d: %s of the buffer are %v, want %v", i, name, got, want)
				}
			}
		}
	})
}

// Places are drawn uniformly, chains begin anew as often as Restart says, and new ones at N(0, Spread²): seen at chains
// that do not move, 64 of them from a buffer of 100 whose data are far out. Counts within 5 standard errors.
func TestContrastiveRestarts(t *testing.T) {
	const n, buffer, restart, spread, steps = 64, 100, 0.3, 2.0, 300
	energy, last := watched(testvalues.Ignoring(flat))
	o := objective.Contrastive{Energy: energy, StepSize: 1e-30, Buffer: buffer, Restart: restart, Spread: spread}
	score := scorekit.Score(testvalues.Ignoring(graph.ZerosLike))
	b := testbackend.Go(t)
	state, err := random.Seed(3)
	if err != nil {
		t.Fatal(err)
	}
	vars := mlctx.New().Checked(false)
	exec, err := mlctx.NewExec(b, vars, func(vars *mlctx.Context, state *objective.Node) []*objective.Node {
		rng := random.New(state, dtypes.Float64, 1)
		x := graph.AddScalar(graph.Zeros(state.Graph(), testvalues.Shape(n, 1)), 50)
		loss := o.Loss(vars, rng, score, x)
		return []*objective.Node{rng.State(), *last, loss}
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	var before []float64
	var fresh []float64
	places, restarts, chains := make([]float64, buffer), 0.0, 0.0
	for step := range steps {
		out, err := exec.Exec(state)
		if err != nil {
			t.Fatal(err)
		}
		state = out[0]
		ends := testvalues.Flat(t, out[1])
		now := testvalues.Flat(t, vars.GetVariableByScopeAndName("/contrastive", "points").MustValue())
		if step >= 30 { // the whole buffer is in use
			chains += n
			for _, v := range ends {
				if slices.IndexFunc(before, func(w float64) bool { return math.Abs(v-w) < 1e-12 }) < 0 {
					restarts++
					fresh = append(fresh, v*v)
				}
			}
			for i, v := range now {
				if v != before[i] && math.Abs(v-before[i]) > 1e-12 {
					places[i]++
				}
			}
		}
		before = slices.Clone(now)
	}
	if se := math.Sqrt(chains * restart * (1 - restart)); math.Abs(restarts-chains*restart) > 5*se {
		t.Errorf("%v of %v chains began anew, want a share of %v", restarts, chains, restart)
	}
	testvalues.MeanWithin(t, "square of where chains begin", fresh, spread*spread)
	for i, c := range places {
		mean := (steps - 30) * n / float64(buffer) * restart
		if math.Abs(c-mean) > 5*math.Sqrt(mean) {
			t.Errorf("place %d began anew %v times, want about %v", i, c, mean)
		}
	}
}

// A steep energy moves a chain by no more than the largest gradient times ε, and no chain leaves the limit.
func TestContrastiveBounds(t *testing.T) {
	energy, last := watched(testvalues.Ignoring(func(x *objective.Node) *objective.Node {
		return graph.MulScalar(graph.ReduceSum(graph.Square(x), 1), 50)
	}))
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.RunIn(t, b, dtypes.Float64, func(in testvalues.Inputs) []*objective.Node {
			x, z := in.Of([][]float64{{1, -1}, {0.001, 3}, {-9, 9}}), in.Of([][]float64{{0, 0}, {0, 0}, {-1, 1}})
			o := objective.Contrastive{Energy: energy, StepSize: 0.5, MaxGradient: 2}
			o.Loss(nil, random.Listed(in.Graph, z), energy.Score, x)
			bounded := *last
			o.Limit = 2.5
			o.Loss(nil, random.Listed(in.Graph, z), energy.Score, x)
			return []*objective.Node{bounded, *last}
		})
		testvalues.Near(t, "bounded gradient", got[0], []float64{0, 0, -0.049, 2, -9, 9}, 1e-12)
		testvalues.Near(t, "bounded chains", got[1], []float64{0, 0, -0.049, 2, -2.5, 2.5}, 1e-12)
	})
}

// An energy that levels off is finite at infinity: a chain that ends there spoils its loss nevertheless, and is not kept.
func TestContrastiveInfiniteEnds(t *testing.T) {
	energy := scorekit.Energy(testvalues.Ignoring(func(x *objective.Node) *objective.Node { return graph.Tanh(graph.ReduceSum(x, 1)) }))
	score := scorekit.Score(testvalues.Ignoring(graph.ZerosLike))
	o := objective.Contrastive{Energy: energy, StepSize: 0.5, Buffer: 2}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		vars := mlctx.New().Checked(false)
		out, err := mlctx.ExecOnce(b, vars, func(vars *mlctx.Context, x, z, place *objective.Node) *objective.Node {
			return o.Loss(vars, random.Listed(x.Graph(), place, z), score, x)
		}, [][]float64{{1}, {1.7e308}}, [][]float64{{1}, {1.7e308}}, []float64{0})
		if err != nil {
			t.Fatal(err)
		}
		if got := testvalues.Flat(t, out); math.IsNaN(got[0]) || !math.IsNaN(got[1]) {
			t.Errorf("losses %v: only the second must be NaN", got)
		}
		if got := testvalues.Flat(t, vars.GetVariableByScopeAndName("/contrastive", "points").MustValue()); !slices.Equal(got, []float64{2, 0}) {
			t.Errorf("chains %v are kept, want 2 and none", got)
		}
	})
}

// The loss that stops a training tells why: +Inf for the energy of the data, −Inf for that of a chain's end, NaN for the end
// itself. Of MALA, where no move is taken, both energies are the same, and their difference would be 0.
func TestContrastiveTellsWhatIsNotFinite(t *testing.T) {
	at := func(value float64) scorekit.Energy { // beyond 1
		return testvalues.Ignoring(func(x *objective.Node) *objective.Node {
			sum := graph.ReduceSum(x, 1)
			return graph.Where(graph.GreaterThan(sum, graph.OnesLike(sum)), graph.AddScalar(graph.ZerosLike(sum), value), sum)
		})
	}
	still := scorekit.Score(testvalues.Ignoring(graph.ZerosLike))
	x, z := [][]float64{{0}, {2}, {0}, {0}}, [][]float64{{0}, {0}, {5}, {math.Inf(1)}}
	inf, nan := math.Inf(1), math.NaN()
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for value, want := range map[float64][]float64{
			inf: {0, inf, -inf, nan}, -inf: {0, inf, -inf, nan}, 1e200: {0, inf, -inf, nan}, -1e200: {0, inf, -inf, nan}, 1e100: {0, 0, -1e100, nan},
		} {
			got := testvalues.RunIn(t, b, dtypes.Float64, func(in testvalues.Inputs) []*objective.Node {
				o := objective.Contrastive{Energy: at(value), StepSize: 0.5}
				return []*objective.Node{o.Loss(nil, random.Listed(in.Graph, in.Of(z)), still, in.Of(x))}
			})[0]
			for i, w := range want {
				if got[i] != w && !(math.IsNaN(w) && math.IsNaN(got[i])) {
					t.Errorf("energy of %v beyond 1: losses %v, want %v", value, got, want)
					break
				}
			}
		}
	})
	steep := scorekit.Energy(func(vars *mlctx.Context, x, _ *objective.Node) *objective.Node {
		return graph.Exp(graph.Mul(vars.VariableWithValue("w", float32(30)).ValueGraph(x.Graph()), graph.ReduceSum(graph.Square(x), 1)))
	})
	p, err := density.Isotropic([]float64{5, 5}, 1)
	if err != nil {
		t.Fatal(err)
	}
	_, err = scorekit.Fit(t.Context(), testbackend.Go(t), steep, objective.Contrastive{Energy: steep, StepSize: 0.1, Metropolis: true}, p, scorekit.WithSteps(1), scorekit.WithBatch(4))
	var stopped *scorekit.NonFiniteError
	if !errors.As(err, &stopped) || !math.IsInf(stopped.Loss, 1) {
		t.Errorf("error %v, want that of an infinite loss", err)
	}
}

// A network for scores has no energy: that of another one has weights that it lacks, or of another shape.
func TestContrastiveOfAScore(t *testing.T) {
	p, err := density.Isotropic([]float64{0, 0}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		model  scorekit.Model
		energy scorekit.Energy
		want   string
	}{
		{net.MLP{}, net.EnergyMLP{}.Energy, "scorekit: Fit: contrastive objective: the energy does not go with the weights of the model: it must be the method Energy of the model that is trained, which must be an energy: "},
		{net.Linear{}, net.Quadratic{}.Energy, "scorekit: Fit: contrastive objective: the energy has weights that the model has not, /model/"},
		{net.MLP{}, net.MLP{}.Score, "scorekit: Fit: contrastive objective: energy of shape [4 2] for points of shape [4 2]: must be [batch]"},
	} {
		_, err := scorekit.Fit(t.Context(), testbackend.Go(t), test.model, objective.Contrastive{Energy: test.energy, StepSize: 0.1}, p, scorekit.WithSteps(1), scorekit.WithBatch(4))
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%T: error %v, want %s", test.model, err, test.want)
		}
	}
}

func TestContrastiveImpossibleSettings(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	good := objective.Contrastive{Energy: testvalues.Ignoring(flat), StepSize: 0.1}
	for _, test := range []struct {
		change func(c *objective.Contrastive)
		want   string
	}{
		{func(c *objective.Contrastive) { c.Energy = nil }, "energy nil: must be the method Energy of the model that is trained"},
		{func(c *objective.Contrastive) { c.StepSize = 0 }, "step 0: must be positive and finite"},
		{func(c *objective.Contrastive) { c.StepSize = nan }, "step NaN: must be positive and finite"},
		{func(c *objective.Contrastive) { c.StepSize = inf }, "step +Inf: must be positive and finite"},
		{func(c *objective.Contrastive) { c.Steps = -1 }, "-1 steps: must be positive, or 0 for 1"},
		{func(c *objective.Contrastive) { c.Buffer = -1 }, "buffer of -1 chains: must be positive, or 0 for none"},
		{func(c *objective.Contrastive) { c.Noise = -1 }, "noise -1: must be finite and not negative"},
		{func(c *objective.Contrastive) { c.MaxGradient = nan }, "max gradient NaN: must be finite and not negative"},
		{func(c *objective.Contrastive) { c.Limit = inf }, "limit +Inf: must be finite and not negative"},
		{func(c *objective.Contrastive) { c.Penalty = -0.1 }, "penalty -0.1: must be finite and not negative"},
		{func(c *objective.Contrastive) { c.Spread = nan }, "spread NaN: must be finite and not negative"},
		{func(c *objective.Contrastive) { c.Buffer, c.Restart = 9, 1.5 }, "restart 1.5: must be a probability, at most 1"},
		{func(c *objective.Contrastive) { c.Restart = 0.5 }, "restart 0.5 without a buffer: must be 0, as all chains begin anew"},
		{func(c *objective.Contrastive) { c.Metropolis, c.Noise = true, 1 }, "noise 1 with Metropolis: must be 0"},
		{func(c *objective.Contrastive) { c.Metropolis, c.MaxGradient = true, 1 }, "max gradient 1 with Metropolis: must be 0"},
		{func(c *objective.Contrastive) { c.Metropolis, c.Limit = true, 2 }, "limit 2 with Metropolis: must be 0"},
	} {
		c := good
		test.change(&c)
		if err := c.Validate(); err == nil || err.Error() != "contrastive objective: "+test.want {
			t.Errorf("error %v, want %s", err, test.want)
		}
	}
	full := objective.Contrastive{Energy: good.Energy, StepSize: 1, Steps: 2, Noise: 0.5, Buffer: 9, Restart: 1, Spread: 1, MaxGradient: 1, Limit: 1, Penalty: 1}
	metropolis := objective.Contrastive{Energy: good.Energy, StepSize: 1, Metropolis: true, Buffer: 9, Restart: 0.1}
	for _, c := range []objective.Contrastive{good, full, metropolis} {
		if err := c.Validate(); err != nil {
			t.Error(err)
		}
	}
}

// What only the graph can tell is an error of the run that builds it.
func TestContrastiveGraphRefuses(t *testing.T) {
	score := scorekit.Score(testvalues.Ignoring(graph.Neg))
	for _, test := range []struct {
		name, want string
		change     func(c *objective.Contrastive)
		score      scorekit.Score
	}{
		{"a narrow score", "contrastive objective: score of shape (Float64)[2 1] for points of shape (Float64)[2 3]: must be equal", nil,
			testvalues.Ignoring(func(x *objective.Node) *objective.Node { return graph.SliceAxis(x, 1, graph.AxisElem(0)) })},
		{"an energy of the batch", "contrastive objective: energy of shape [] for points of shape [2 3]: must be [batch]",
			func(c *objective.Contrastive) { c.Energy = testvalues.Ignoring(graph.ReduceAllSum) }, score},
		{"a small buffer", "contrastive objective: buffer of 1 chains for a batch of 2: must be at least the batch",
			func(c *objective.Contrastive) { c.Buffer = 1 }, score},
		{"the energy of another model", "contrastive objective: the energy has weights that the model has not, /w first: it must be the method Energy of the model that is trained",
			func(c *objective.Contrastive) {
				c.Energy = func(vars *mlctx.Context, x, _ *objective.Node) *objective.Node {
					return graph.Mul(flat(x), vars.VariableWithValue("w", 1.0).ValueGraph(x.Graph()))
				}
			}, score},
	} {
		c := objective.Contrastive{Energy: testvalues.Ignoring(flat), StepSize: 0.1}
		if test.change != nil {
			test.change(&c)
		}
		seed, err := random.Seed(1)
		if err != nil {
			t.Fatal(err)
		}
		_, err = mlctx.ExecOnce(testbackend.Go(t), mlctx.New().Checked(false), func(vars *mlctx.Context, x *objective.Node) *objective.Node {
			return c.Loss(vars, random.New(graph.ConstTensor(x.Graph(), seed), x.DType(), 1), test.score, x)
		}, [][]float64{{1, 2, 3}, {4, 5, 6}})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %s", test.name, err, test.want)
		}
	}
}
