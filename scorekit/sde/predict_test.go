package sde_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/sde"
)

var kinds = []sde.Prediction{sde.Score, sde.Noise, sde.Data, sde.V, sde.Flow}

// state is a point at a level with everything that can be predicted of it, in the order of kinds.
type state struct {
	id          string
	level       sde.Level
	x           []float64
	predictions [][]float64
	rtol        float64
}

// stateOf makes one of data and noise; the flow velocity is by its definition where it is not listed.
func stateOf(t *testing.T, c listed, level sde.Level, rtol float64) state {
	t.Helper()
	x0, eps := numbers(t, c.Inputs, "x0"), numbers(t, c.Inputs, "eps")
	flow := make([]float64, len(x0))
	for i := range flow {
		flow[i] = eps[i] - x0[i]
	}
	if _, found := c.Expected["flow_velocity"]; found {
		flow = numbers(t, c.Expected, "flow_velocity")
	}
	return state{c.ID, level, numbers(t, c.Expected, "x_t"), [][]float64{numbers(t, c.Expected, "score"), eps, x0, numbers(t, c.Expected, "v"), flow}, rtol}
}

// Every prediction turns into every other, on the host and in a graph.
func TestConversions(t *testing.T) {
	var all []state
	for _, c := range cases(t, "schedules.json", "conversions_vp") {
		vp := sde.VP{BetaMin: number(t, c.Inputs, "beta_min"), BetaMax: number(t, c.Inputs, "beta_max")}
		level := vp.Marginal(number(t, c.Inputs, "t"))
		testvalues.NearNumber(t, "a", level.Mean, number(t, c.Expected, "a"), 1e-9)
		testvalues.NearNumber(t, "b", level.Std, number(t, c.Expected, "b"), 1e-9)
		all = append(all, stateOf(t, c, level, 1e-8))
	}
	for _, c := range cases(t, "schedules.json", "conversions_general") {
		all = append(all, stateOf(t, c, sde.Level{Mean: number(t, c.Inputs, "a"), Std: number(t, c.Inputs, "b")}, 1e-9))
	}
	check := func(t *testing.T, s state, from, to int, got []float64) {
		t.Helper()
		testvalues.Near(t, fmt.Sprintf("%v from %v", kinds[to], kinds[from]), got, s.predictions[to], s.rtol)
	}
	t.Run("host", func(t *testing.T) {
		for _, s := range all {
			testvalues.Case(t, s.id, func(t *testing.T) {
				for from := range kinds {
					for to := range kinds {
						check(t, s, from, to, must(sde.Convert(kinds[from], kinds[to], s.level, s.x, s.predictions[from]))(t))
					}
				}
			})
		}
	})
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.Run(t, b, func(g *graph.Graph) []*sde.Node {
			var out []*sde.Node
			for _, s := range all {
				level := sde.NodeLevel{Mean: graph.Const(g, []float64{s.level.Mean}), Std: graph.Const(g, []float64{s.level.Std})}
				x := graph.Const(g, [][]float64{s.x})
				for from := range kinds {
					for to := range kinds {
						out = append(out, sde.ConvertNode(kinds[from], kinds[to], level, x, graph.Const(g, [][]float64{s.predictions[from]})))
					}
				}
			}
			return out
		})
		for _, s := range all {
			testvalues.Case(t, s.id, func(t *testing.T) {
				for from := range kinds {
					for to := range kinds {
						check(t, s, from, to, got[len(kinds)*from+to])
					}
				}
			})
			got = got[len(kinds)*len(kinds):]
		}
	})
}

func mixture(t *testing.T, c listed) density.Mixture {
	t.Helper()
	means, covariances := table(t, c.Inputs, "means"), get[[][][]float64](t, c.Inputs, "covariances")
	var components []density.Gaussian
	for k := range means {
		components = append(components, must(density.NewGaussian(means[k], covariances[k]))(t))
	}
	return must(density.NewMixture(numbers(t, c.Inputs, "weights"), components...))(t)
}

// The score of the noised data of a mixture becomes that of the states a·x₀ + b·ε, and the best denoiser and noise
// prediction, by ScoreAt and PredictAt.
func TestTweedie(t *testing.T) {
	all := cases(t, "schedules.json", "tweedie")
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.Run(t, b, func(g *graph.Graph) []*sde.Node {
			var out []*sde.Node
			for _, c := range all {
				p := mixture(t, c)
				at := sde.NodeLevel{Mean: graph.Scalar(g, float64Type, number(t, c.Inputs, "a")), Std: graph.Scalar(g, float64Type, number(t, c.Inputs, "b"))}
				x := graph.Const(g, table(t, c.Inputs, "x_t"))
				out = append(out, sde.ScoreAt(nil, p.Score, x, at), sde.PredictAt(nil, p.Score, x, at, sde.Data), sde.PredictAt(nil, p.Score, x, at, sde.Noise))
			}
			return out
		})
		for i, c := range all {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				testvalues.Near(t, "score", got[3*i], flat(table(t, c.Expected, "marginal_score")), 1e-9)
				testvalues.Near(t, "data", got[3*i+1], flat(table(t, c.Expected, "E_x0_given_xt")), 1e-9)
				testvalues.Near(t, "noise", got[3*i+2], flat(table(t, c.Expected, "optimal_eps")), 1e-9)
			})
		}
	})
}

// ScoreAt is the gradient of the log-density of the states, and the density that of the noised data with its change of
// variables, (1/a)^d p_σ(x/a): by automatic differentiation, and against the Gaussian N(aμ, a²Σ + b²I) itself, for every
// process, with a level for each point.
func TestScoreOfStates(t *testing.T) {
	mu, cov := []float64{0.7, -1.2}, [][]float64{{0.8, 0.3}, {0.3, 0.5}}
	p := must(density.NewGaussian(mu, cov))(t)
	points := [][]float64{{0.3, 0.1}, {-1.5, 2}}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.Run(t, b, func(g *graph.Graph) []*sde.Node {
			var out []*sde.Node
			for _, s := range all {
				x, times := graph.Const(g, points), graph.Const(g, inside(s, 2))
				at := s.MarginalNode(times)
				state := sde.ScoreAt(nil, p.Score, x, at)
				mean := graph.InsertAxes(at.Mean, -1)
				// The volume factor a^{−d} does not depend on x.
				density := p.LogDensityNoised(graph.Div(x, mean), at.Sigma())
				out = append(out, state, graph.Gradient(graph.ReduceAllSum(density), x)[0])
			}
			return out
		})
		for i, s := range all {
			what := fmt.Sprintf("%T%+v: ", s, s)
			testvalues.Near(t, what+"gradient", got[2*i], got[2*i+1], 1e-12)
			for k, time := range inside(s, 2) {
				l := s.Marginal(time)
				a, v := l.Mean*l.Mean, l.Std*l.Std
				c00, c01, c11 := a*cov[0][0]+v, a*cov[0][1], a*cov[1][1]+v
				d0, d1 := points[k][0]-l.Mean*mu[0], points[k][1]-l.Mean*mu[1]
				det := c00*c11 - c01*c01
				testvalues.Near(t, what+"score", got[2*i][2*k:2*k+2], []float64{-(c11*d0 - c01*d1) / det, -(c00*d1 - c01*d0) / det}, 1e-10)
			}
		}
	})
}

// A score that is turned into a network of each kind and process, and back, is itself, at every level; points may have any
// shape.
func TestNetworksAndBack(t *testing.T) {
	processes := []sde.Marginals{chain(t, "linear", 100, 1e-3, 0.1)}
	for _, s := range all {
		processes = append(processes, s)
	}
	p := must(density.Diagonal([]float64{0.7, -1.2, 2}, []float64{0.5, 1, 2}))(t)
	// Three numbers a point, in the shape [3, 1].
	score := scorekit.Score(func(vars *mlctx.Context, x, sigma *sde.Node) *sde.Node {
		return graph.Reshape(p.Score(vars, graph.Reshape(x, 2, 3), sigma), 2, 3, 1)
	})
	points, sigmas := [][]float64{{0.3, 0.1, -2}, {-1.5, 2, 0.4}}, []float64{0.4, 2.5}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.Run(t, b, func(g *graph.Graph) []*sde.Node {
			x, levels := graph.Reshape(graph.Const(g, points), 2, 3, 1), graph.Const(g, sigmas)
			out := []*sde.Node{score(nil, x, levels)}
			for _, s := range processes {
				for _, kind := range kinds {
					network := sde.ToNetwork(s, kind, score)
					out = append(out, sde.FromNetwork(s, kind, network).Score(nil, x, levels))
				}
			}
			return out
		})
		for i, s := range processes {
			for k, kind := range kinds {
				testvalues.Near(t, fmt.Sprintf("%T by way of %v", s, kind), got[1+len(kinds)*i+k], got[0], 1e-10)
			}
		}
	})
}

// FromNetwork asks the network for the state and time that belong to the noise level: a network that gives ε = x + t.
func TestFromNetworkAsksRight(t *testing.T) {
	network := scorekit.Score(func(_ *mlctx.Context, x, time *sde.Node) *sde.Node { return graph.Add(x, graph.InsertAxes(time, -1)) })
	vp := sde.VP{}
	const x, sigma = 1.3, 0.8
	time := vp.Time(sigma)
	want := -(x*vp.Marginal(time).Mean + time) / sigma
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.Run(t, b, func(g *graph.Graph) []*sde.Node {
			return []*sde.Node{sde.FromNetwork(vp, sde.Noise, network).Score(nil, graph.Const(g, [][]float64{{x}}), graph.Const(g, []float64{sigma}))}
		})
		testvalues.Near(t, "score", got[0], []float64{want}, 1e-12)
	})
}

func TestPreconditioning(t *testing.T) {
	for _, c := range cases(t, "schedules.json", "edm") {
		testvalues.Case(t, c.ID, func(t *testing.T) {
			std := number(t, c.Inputs, "sigma_data")
			for i, sigma := range numbers(t, c.Inputs, "sigma") {
				p := must(sde.Precondition(sigma, std))(t)
				for name, got := range map[string]float64{"c_skip": p.Skip, "c_out": p.Out, "c_in": p.In, "c_noise": p.Noise, "loss_weight": p.Weight} {
					testvalues.NearNumber(t, name, got, numbers(t, c.Expected, name)[i], 1e-9)
				}
			}
		})
	}
}

// A prior's density is the Gaussian's, on the host and in a graph, and its draws have its standard deviation.
func TestPrior(t *testing.T) {
	points := [][]float64{{0.3, 1, -4}, {-2, 0.5, 7}}
	for _, s := range all {
		prior := s.Prior()
		g := must(density.Isotropic(make([]float64, 3), prior.Std))(t)
		got := testvalues.Run(t, testbackend.Go(t), func(gr *graph.Graph) []*sde.Node {
			x := graph.Const(gr, points)
			return []*sde.Node{prior.LogDensityNode(x), g.LogDensity(x), prior.LogDensityNode(graph.Reshape(x, 2, 1, 3))}
		})
		what := fmt.Sprintf("%T%+v", s, s)
		testvalues.Near(t, what, got[0], got[1], 1e-12)
		testvalues.Near(t, what, got[2], got[1], 1e-12)
		testvalues.Near(t, what, []float64{prior.LogDensity(points[0]), prior.LogDensity(points[1])}, got[1], 1e-12)
		// What the states at the last time lack of it is at most the share of the data that is left, for those that keep a
		// variance.
		_, last := s.Range()
		l := s.Marginal(last)
		if math.Abs(l.Std-prior.Std) > 1.01*l.Mean*prior.Std && l.Mean < 1 {
			t.Errorf("%s: level %+v at the end, prior %v", what, l, prior.Std)
		}
		if l.Mean == 1 && l.Std != prior.Std {
			testvalues.NearNumber(t, what+": standard deviation at the end", l.Std, prior.Std, 1e-12)
		}
	}
}
