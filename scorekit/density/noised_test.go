package density_test

import (
	"math"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/random"
)

// distribution is what both types do.
type distribution interface {
	scorekit.Model
	scorekit.Data
	LogDensity(x *density.Node) *density.Node
	LogDensityNoised(x, sigma *density.Node) *density.Node
	Mean() []float64
	Cov() [][]float64
}

// example is a distribution with the same one convolved with noise.
type example struct {
	name   string
	p      distribution
	noised func(sigma float64) (distribution, error)
}

// examples holds one distribution for each way of evaluating one, in two and three dimensions.
func examples(t *testing.T) []example {
	t.Helper()
	gaussian, mixture := must[density.Gaussian](t), must[density.Mixture](t)
	isotropic := gaussian(density.Isotropic([]float64{1, -2}, 0.7))
	diagonal := gaussian(density.Diagonal([]float64{-1, 0.5}, []float64{0.3, 2}))
	full := gaussian(density.NewGaussian([]float64{0.5, 1}, [][]float64{{2, -0.9}, {-0.9, 0.8}}))
	full3 := gaussian(density.NewGaussian([]float64{1, 2, 3}, [][]float64{{1, 0.5, 0.1}, {0.5, 2, -0.7}, {0.1, -0.7, 0.9}}))
	aligned := mixture(density.NewMixture([]float64{1, 4, 3}, isotropic, diagonal, gaussian(density.Isotropic([]float64{0, 4}, 0.2))))
	mixed := mixture(density.NewMixture([]float64{0.3, 0.2, 0.5}, isotropic, full, diagonal))
	one := mixture(density.NewMixture(nil, full))
	var list []example
	for name, g := range map[string]density.Gaussian{"isotropic": isotropic, "diagonal": diagonal, "full": full, "full d=3": full3} {
		list = append(list, example{name, g, func(s float64) (distribution, error) { return g.Noised(s) }})
	}
	for name, m := range map[string]density.Mixture{"aligned mixture": aligned, "full mixture": mixed, "mixture of one": one} {
		list = append(list, example{name, m, func(s float64) (distribution, error) { return m.Noised(s) }})
	}
	slices.SortFunc(list, func(a, b example) int {
		if a.name < b.name {
			return -1
		}
		return 1
	})
	return list
}

// With a noise level for each point, log-density and score are, row by row, those of the distribution that Noised
// returns, and the score is the gradient of the log-density. A level of 0 is no noise.
func TestNoiseLevelOfEachPoint(t *testing.T) {
	levels := []float64{0, 0.25, 3}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		list := examples(t)
		got := testvalues.RunIn(t, b, dtypes.Float64, func(in testvalues.Inputs) []*density.Node {
			var out []*density.Node
			for _, e := range list {
				x := in.Of(grid(e.p.Shape()[0], len(levels)))
				sigma := in.Of(levels)
				logp := e.p.LogDensityNoised(x, sigma)
				out = append(out, logp, e.p.Score(nil, x, sigma), graph.Gradient(graph.ReduceAllSum(logp), x)[0])
				for _, s := range levels {
					q, err := e.noised(s)
					if err != nil {
						t.Fatal(err)
					}
					out = append(out, q.LogDensity(x), q.Score(nil, x, nil))
				}
			}
			return out
		})
		per := 3 + 2*len(levels)
		for i, e := range list {
			g, d := got[i*per:(i+1)*per], e.p.Shape()[0]
			var logp, score []float64
			for row := range levels {
				logp = append(logp, g[3+2*row][row])
				score = append(score, g[4+2*row][row*d:(row+1)*d]...)
			}
			testvalues.Near(t, e.name+" log-density", g[0], logp, 1e-12)
			testvalues.Near(t, e.name+" score", g[1], score, 1e-12)
			testvalues.Near(t, e.name+" gradient", g[2], score, 1e-12)
		}
	})
}

// grid returns n points of dimension d that lie near no special place.
func grid(d, n int) [][]float64 {
	rows := make([][]float64, n)
	for i := range rows {
		for j := range d {
			rows[i] = append(rows[i], math.Sin(float64(1+3*i+5*j))*3)
		}
	}
	return rows
}

// The mean and covariance of 50,000 draws agree with Mean and Cov, and the average over the draws y of the density of
// N(y, σ²I) at a point agrees with the noised density there: each within 5 standard errors, taken from the spread of
// the averaged numbers. About 80 numbers are compared on each backend: a right program fails one in 20,000 seeds.
func TestDraws(t *testing.T) {
	const n, sigma = 50_000, 0.6
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		list := examples(t)
		exec, err := graph.NewExec(b, func(state *density.Node) []*density.Node {
			rng := random.New(state, dtypes.Float64, 1)
			in := testvalues.Inputs{Graph: state.Graph(), DType: dtypes.Float64}
			var out []*density.Node
			for _, e := range list {
				d := e.p.Shape()[0]
				y := e.p.Batch(nil, rng, n)
				if !slices.Equal(y.Shape().Dimensions, []int{n, d}) {
					panic("draws of another shape")
				}
				away := graph.Sub(y, in.Of([][]float64{e.p.Mean()}))
				products := graph.Reshape(graph.Mul(graph.InsertAxes(away, 1), graph.InsertAxes(away, 2)), n, d*d)
				x := graph.Add(in.Of([][]float64{e.p.Mean()}), graph.DivScalar(in.Of(grid(d, 3)), 3))
				apart := graph.ReduceSum(graph.Square(graph.Sub(graph.InsertAxes(y, 1), graph.InsertAxes(x, 0))), 2)
				kernel := graph.MulScalar(graph.Exp(graph.MulScalar(apart, -0.5/(sigma*sigma))), math.Pow(2*math.Pi*sigma*sigma, -0.5*float64(d)))
				for _, v := range []*density.Node{y, products, kernel} {
					mean := graph.ReduceMean(v, 0)
					spread := graph.ReduceMean(graph.Square(graph.Sub(v, graph.InsertAxes(mean, 0))), 0)
					out = append(out, mean, graph.Sqrt(graph.DivScalar(spread, n)))
				}
				noised, err := e.noised(sigma)
				if err != nil {
					panic(err)
				}
				out = append(out, graph.Exp(noised.LogDensity(x)))
			}
			return out
		})
		if err != nil {
			t.Fatal(err)
		}
		defer exec.Finalize()
		state, err := random.Seed(7)
		if err != nil {
			t.Fatal(err)
		}
		results, err := exec.Exec(state)
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range list {
			g := results[7*i:]
			within(t, e.name+": mean", testvalues.Flat(t, g[0]), testvalues.Flat(t, g[1]), e.p.Mean())
			within(t, e.name+": covariance", testvalues.Flat(t, g[2]), testvalues.Flat(t, g[3]), slices.Concat(e.p.Cov()...))
			within(t, e.name+": noised density", testvalues.Flat(t, g[4]), testvalues.Flat(t, g[5]), testvalues.Flat(t, g[6]))
		}
	})
}

func within(t *testing.T, what string, got, se, want []float64) {
	t.Helper()
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= 5*se[i]) {
			t.Errorf("%s[%d] = %v, want %v ± %v", what, i, got[i], want[i], se[i])
		}
	}
}

// In float32, 10⁶ standard deviations away and with modes of std 10⁻⁴ that are 8 apart, everything is finite and the
// score agrees with float64 to 1e-5 of its largest value, with and without a noise level.
func TestFarPointsAndNarrowModes(t *testing.T) {
	mixture, gaussian := must[density.Mixture](t), must[density.Gaussian](t)
	wide := mixture(density.NewMixture([]float64{1, 2}, gaussian(density.Isotropic([]float64{4, 0}, 0.3)), gaussian(density.Isotropic([]float64{-4, 0}, 0.3))))
	narrow := mixture(density.NewMixture(nil, gaussian(density.Isotropic([]float64{4, 0}, 1e-4)), gaussian(density.Isotropic([]float64{-4, 0}, 1e-4))))
	tilted := mixture(density.NewMixture(nil,
		gaussian(density.NewGaussian([]float64{4, 0}, [][]float64{{1, 0.9}, {0.9, 1}})),
		gaussian(density.NewGaussian([]float64{-4, 0}, [][]float64{{1, 0.9}, {0.9, 1}}))))
	x := [][]float64{{3e5, 2}, {-1e6, 1e6}, {0.5, 100}, {4, 1e-4}, {-100, 0}}
	sigma := []float64{0.01, 1, 0.5, 1e-4, 2}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		build := func(in testvalues.Inputs) []*density.Node {
			var out []*density.Node
			for _, m := range []density.Mixture{wide, narrow, tilted} {
				x, sigma := in.Of(x), in.Of(sigma)
				out = append(out, m.LogDensity(x), m.Score(nil, x, nil), m.LogDensityNoised(x, sigma), m.Score(nil, x, sigma))
			}
			return out
		}
		want, got := testvalues.RunIn(t, b, dtypes.Float64, build), testvalues.RunIn(t, b, dtypes.Float32, build)
		for i := range want {
			for j, w := range want[i] {
				// Every number is compared on its own scale, or its row's for the smaller coordinate of a score.
				scale := math.Abs(w)
				if i%2 == 1 {
					scale = max(math.Abs(want[i][j&^1]), math.Abs(want[i][j|1]))
				}
				if diff := math.Abs(got[i][j] - w); !(diff <= 1e-5*scale) {
					t.Errorf("mixture %d, output %d: [%d] = %v, want %v", i/4, i%4, j, got[i][j], w)
				}
			}
		}
	})
}
