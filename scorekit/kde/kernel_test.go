package kde_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit/autodiff"
	"github.com/scorekit/lab/scorekit/kde"
	"github.com/scorekit/lab/scorekit/random"
)

var allKernels = []kde.Kernel{kde.Gaussian, kde.Logistic, kde.Sech2, kde.Biweight, kde.Triweight}

// closed is a kernel and its derivative as its text defines it.
func closed(k kde.Kernel, u float64) (density, slope float64) {
	switch k {
	case kde.Gaussian:
		density = math.Exp(-u*u/2) / math.Sqrt(2*math.Pi)
		return density, -u * density
	case kde.Logistic:
		density = 1 / (math.Exp(u) + 2 + math.Exp(-u))
		return density, -density * density * (math.Exp(u) - math.Exp(-u))
	case kde.Sech2:
		c := math.Cosh(u)
		return 0.5 / (c * c), -math.Sinh(u) / (c * c * c)
	}
	if u*u >= 1 {
		return 0, 0
	}
	if t := 1 - u*u; k == kde.Biweight {
		return 15.0 / 16 * t * t, -15.0 / 4 * u * t
	} else {
		return 35.0 / 32 * t * t * t, -105.0 / 16 * u * t * t
	}
}

// naive is log q and ∇log q at x, straight from the sums.
func naive(k kde.Kernel, points [][]float64, weights, h, x []float64) (log float64, score []float64) {
	q, gradient := 0.0, make([]float64, len(x))
	for m, p := range points {
		each, slopes := 1/float64(len(points)), make([]float64, len(x))
		if weights != nil {
			each = weights[m]
		}
		for i := range x {
			density, slope := closed(k, (x[i]-p[i])/h[i])
			each *= density / h[i]
			slopes[i] = slope / density / h[i]
		}
		for i := range x {
			if each > 0 {
				gradient[i] += each * slopes[i]
			}
		}
		q += each
	}
	for i := range gradient {
		gradient[i] /= q
	}
	return math.Log(q), gradient
}

// An unknown kernel has a name and no variance.
func TestUnknownKernel(t *testing.T) {
	for _, k := range []kde.Kernel{-1, kde.Triweight + 1} {
		if v := k.Variance(); !math.IsNaN(v) || !strings.HasPrefix(k.String(), "Kernel(") {
			t.Errorf("%v: variance %v, want NaN", k, v)
		}
	}
}

// Every kernel integrates to 1, has its Variance, and the values and slopes of its closed form, by the trapezoidal rule, to
// 1e-9; for the compact ones, whose derivatives jump at the ends, the rule with 4,000 intervals is as good.
func TestKernelsByQuadrature(t *testing.T) {
	const n = 4000
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		var grids [][][]float64
		got := testvalues.RunIn(t, b, dtypes.Float64, func(in testvalues.Inputs) []*kde.Node {
			var out []*kde.Node
			grids = nil
			for _, k := range allKernels {
				end := map[kde.Kernel]float64{kde.Gaussian: 9, kde.Logistic: 50, kde.Sech2: 25, kde.Biweight: 1, kde.Triweight: 1}[k]
				grid := make([][]float64, n+1)
				for i := range grid {
					grid[i] = []float64{end * (2*float64(i)/n - 1)}
				}
				q, x := must(t)(kde.New([][]float64{{0}}, k, kde.Fixed(1))), in.Of(grid)
				out, grids = append(out, q.LogDensity(x), q.Score(nil, x, nil)), append(grids, grid)
			}
			return out
		})
		for i, k := range allKernels {
			grid := grids[i]
			mass, variance := 0.0, 0.0
			for j, log := range got[2*i] {
				u, step := grid[j][0], grid[1][0]-grid[0][0]
				mass += step * math.Exp(log)
				variance += step * u * u * math.Exp(log)
				density, slope := closed(k, u)
				if k < kde.Biweight || math.Abs(u) < 1 {
					testvalues.NearNumber(t, k.String()+": density", math.Exp(log), density, 1e-9)
					testvalues.NearOne(t, k.String()+": slope", []float64{got[2*i+1][j] * density}, []float64{slope}, 1e-12)
				} else if !math.IsInf(log, -1) || got[2*i+1][j] != 0 {
					t.Errorf("%v at its end: log q %v and score %v", k, log, got[2*i+1][j])
				}
			}
			testvalues.NearNumber(t, k.String()+": mass", mass, 1, 1e-9)
			testvalues.NearNumber(t, k.String()+": variance", variance, k.Variance(), 1e-9)
		}
	})
}

// Log-densities and scores in three dimensions, with weights and a bandwidth for each coordinate, are those of the sums
// written out; the score is the gradient of the log-density, and its divergence that by finite differences.
func TestProductKernels(t *testing.T) {
	points := [][]float64{{0.3, -1, 2}, {1, 0.2, 1.1}, {-0.6, 0.1, 0.7}, {0.1, -0.3, 1.6}}
	x := [][]float64{{0.2, -0.4, 1.4}, {0.5, 0.1, 1.2}, {0, -0.2, 1.5}}
	weights, h := []float64{0.1, 0.4, 0.3, 0.2}, []float64{2, 1.5, 2.5}
	const step = 1e-5
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.RunIn(t, b, dtypes.Float64, func(in testvalues.Inputs) []*kde.Node {
			var out []*kde.Node
			for _, k := range allKernels {
				q := must(t)(kde.NewWeighted(points, weights, k, kde.PerCoordinate(h...)))
				x := in.Of(x)
				log, score := q.LogDensity(x), q.Score(nil, x, nil)
				out = append(out, log, score, graph.Gradient(graph.ReduceAllSum(log), x)[0], autodiff.Divergence(score, x))
			}
			return out
		})
		for i, k := range allKernels {
			for j := range x {
				log, score := naive(k, points, weights, h, x[j])
				testvalues.NearOne(t, k.String()+": log q", got[4*i][j:j+1], []float64{log}, 1e-12)
				testvalues.NearOne(t, k.String()+": score", got[4*i+1][3*j:3*j+3], score, 1e-12)
				testvalues.NearOne(t, k.String()+": gradient", got[4*i+2][3*j:3*j+3], score, 1e-12)
				divergence := 0.0
				for c := range 3 {
					up, down := slices.Clone(x[j]), slices.Clone(x[j])
					up[c], down[c] = up[c]+step, down[c]-step
					_, above := naive(k, points, weights, h, up)
					_, below := naive(k, points, weights, h, down)
					divergence += (above[c] - below[c]) / (2 * step)
				}
				testvalues.NearOne(t, k.String()+": divergence", got[4*i+3][j:j+1], []float64{divergence}, 1e-8)
			}
		}
	})
}

// Second and fourth moments of 100,000 draws of a kernel of bandwidth 2 around one point agree with those by quadrature of
// its closed form, and the mean with the point, within 5 standard errors: a logistic draw of the wrong scale, or a beta of the
// wrong order, has another fourth moment.
func TestKernelDraws(t *testing.T) {
	const n, h, at = 100_000, 2.0, -3.0
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		draws := drawn(t, b, func(rng *random.Source) []*kde.Node {
			var out []*kde.Node
			for _, k := range allKernels {
				out = append(out, must(t)(kde.New([][]float64{{at}}, k, kde.Fixed(h))).Batch(nil, rng, n))
			}
			return out
		})
		for i, k := range allKernels {
			fourth := 0.0
			for u := -60.0; u <= 60; u += 0.001 {
				density, _ := closed(k, u)
				fourth += 0.001 * u * u * u * u * density
			}
			second, high := make([]float64, n), make([]float64, n)
			for j, x := range draws[i] {
				u := (x - at) / h
				second[j], high[j] = u*u, u*u*u*u
			}
			testvalues.MeanWithin(t, k.String()+": mean", draws[i], at)
			testvalues.MeanWithin(t, k.String()+": second moment", second, k.Variance())
			testvalues.MeanWithin(t, k.String()+": fourth moment", high, fourth)
		}
	})
}

// drawn runs a graph with fixed seed.
func drawn(t *testing.T, b backends.Backend, build func(rng *random.Source) []*kde.Node) [][]float64 {
	t.Helper()
	state, err := random.Seed(3)
	if err != nil {
		t.Fatal(err)
	}
	exec, err := graph.NewExec(b, func(state *kde.Node) []*kde.Node { return build(random.New(state, dtypes.Float64, 1)) })
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	results, err := exec.Exec(state)
	if err != nil {
		t.Fatal(err)
	}
	return testvalues.FlatAll(t, results)
}

// The first and second moments of 50,000 draws agree with those of the estimate, Σ wₘ xₘ and the covariance of its points plus
// H, within 5 standard errors: with weights, with points of two axes, with a full bandwidth matrix, and drawn from subsets.
func TestDraws(t *testing.T) {
	const n = 50_000
	points := [][]float64{{0.3, -1}, {1, 0.2}, {-0.6, 0.1}, {2, 2.5}, {0.1, -0.3}}
	weights := []float64{0.1, 0.4, 0, 0.3, 0.2}
	estimates := map[string]kde.Estimate{
		"equal":            must(t)(kde.New(points, kde.Gaussian, kde.PerCoordinate(0.5, 1))),
		"weighted":         must(t)(kde.NewWeighted(points, weights, kde.Triweight, kde.Fixed(2))),
		"covariance":       must(t)(kde.New(points, kde.Gaussian, kde.Covariance(0.7))),
		"weighted, scipy":  must(t)(kde.NewWeighted(points, weights, kde.Gaussian, kde.ScottCovariance())),
		"tensor of 2 axes": must(t)(kde.New(stacked(points), kde.Logistic, kde.Fixed(0.3))),
	}
	names := []string{"equal", "weighted", "covariance", "weighted, scipy", "tensor of 2 axes"}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		draws := drawn(t, b, func(rng *random.Source) []*kde.Node {
			var out []*kde.Node
			for _, name := range names {
				q := estimates[name]
				x := q.Batch(nil, rng, n)
				if want := append([]int{n}, q.Shape()...); !slices.Equal(x.Shape().Dimensions, want) {
					t.Errorf("%s: draws of shape %v, want %v", name, x.Shape().Dimensions, want)
				}
				out = append(out, x)
			}
			return out
		})
		for i, name := range names {
			q, w := estimates[name], weights
			if i == 0 || i == 2 || i == 4 {
				w = slices.Repeat([]float64{0.2}, 5)
			}
			column := func(k int) []float64 {
				values := make([]float64, n)
				for j := range values {
					values[j] = draws[i][2*j+k]
				}
				return values
			}
			for k := range 2 {
				mean := 0.0
				for m, p := range points {
					mean += w[m] * p[k]
				}
				testvalues.MeanWithin(t, name+": mean", column(k), mean)
				for l := range k + 1 {
					second := q.BandwidthMatrix()[k][l] * q.Kernel().Variance()
					for m, p := range points {
						second += w[m] * p[k] * p[l]
					}
					products := column(k)
					for j, v := range column(l) {
						products[j] *= v
					}
					testvalues.MeanWithin(t, name+": second moment", products, second)
				}
			}
		}
	})
}
