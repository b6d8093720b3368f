package objective_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/kde"
	"github.com/scorekit/lab/scorekit/net"
	"github.com/scorekit/lab/scorekit/objective"
	"github.com/scorekit/lab/scorekit/random"
)

// estimate returns the Gaussian estimate of points; nil weights are equal ones.
func estimate(t testing.TB, points [][]float64, weights []float64, h float64) kde.Estimate {
	t.Helper()
	q, err := kde.New(points, kde.Gaussian, kde.Fixed(h))
	if weights != nil {
		q, err = kde.NewWeighted(points, weights, kde.Gaussian, kde.Fixed(h))
	}
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// listedDraws is a source from which an estimate of unequal weights draws the centres of the given indices, with the noise z.
func listedDraws(in testvalues.Inputs, weighted bool, index []float64, z *objective.Node) *random.Source {
	draws := []*objective.Node{in.Of(index)}
	if weighted {
		draws = append(draws, in.Of(make([]float64, len(index)))) // 0: the centre is kept
	}
	return random.Listed(in.Graph, append(draws, z)...)
}

// Loss and gradient of s(x) = Ax + b at listed points equal the recorded ones to 1e-9. The points are made of the first
// centre and the noise that leads to them.
func TestExplicitKDEReference(t *testing.T) {
	var cases []struct {
		ID        string
		Points, X [][]float64
		H         float64
		A         [][]float64
		B         []float64
		Loss      float64
		GradA     [][]float64
		GradB     []float64
	}
	testvalues.Read(t, "explicitkde.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.RunIn(t, b, dtypes.Float64, func(in testvalues.Inputs) []*objective.Node {
			var out []*objective.Node
			for _, c := range cases {
				x, w := in.Of(c.X), []*objective.Node{in.Of(c.A), in.Of(c.B)}
				z := graph.DivScalar(graph.Sub(x, in.Of(c.Points[:1])), c.H)
				for _, centres := range []int{0, len(c.Points)} {
					loss := objective.ExplicitKDE{Target: estimate(t, c.Points, nil, c.H), Centres: centres}
					rng := listedDraws(in, false, make([]float64, len(c.X)), z)
					out = append(out, lossAndGradients(loss.Loss(nil, rng, affine(w), graph.ZerosLike(x)), w)...)
				}
			}
			return out
		})
		for i, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				for k := range 2 {
					g := got[6*i+3*k:]
					testvalues.Near(t, "loss", g[0], []float64{c.Loss}, 1e-9)
					testvalues.Near(t, "gradient for A", g[1], slices.Concat(c.GradA...), 1e-9)
					testvalues.Near(t, "gradient for b", g[2], c.GradB, 1e-9)
				}
			})
		}
	})
}

// twelve are points on the line with gaps of many sizes.
var twelve = [][]float64{{-3.1}, {-2.4}, {-2.2}, {-1}, {-0.7}, {-0.65}, {0.2}, {0.9}, {1.6}, {1.7}, {2.9}, {4}}

// With some of the centres the expected gradient is that with all of them, and the loss is larger by a number that falls
// from Vincent's constant for one centre to 0 for all: over 60 batches of 1,000 points, gradients of a network within 5
// standard errors of their difference, and losses of the exact score within 5 of the numbers by quadrature. About 40
// numbers are compared on each backend, equal and unequal weights together.
func TestSomeCentres(t *testing.T) {
	const h, batch, rounds = 0.6, 1000, 60
	weights := []float64{1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3}
	counts := []int{0, 1, 4, 12}
	listed := network{W1: [][]float64{{1.3}, {-0.6}}, B1: []float64{0.4, 0.1}, W2: [][]float64{{0.9, -1.4}}, B2: []float64{0.2}}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for name, q := range map[string]kde.Estimate{"equal": estimate(t, twelve, nil, h), "unequal": estimate(t, twelve, weights, h)} {
			exact := testvalues.Ignoring(func(x *objective.Node) *objective.Node { return q.Score(nil, x, nil) })
			draws := sampled(t, b, rounds, func(in testvalues.Inputs, rng *random.Source) []*objective.Node {
				var out []*objective.Node
				w, x := listed.nodes(in), graph.Zeros(in.Graph, testvalues.Shape(batch, 1))
				for _, m := range counts {
					loss := objective.ExplicitKDE{Target: q, Centres: m}
					out = append(out, lossAndGradients(loss.Loss(nil, rng, listed.score(w), x), w)...)
					out = append(out, graph.ReduceAllMean(loss.Loss(nil, rng, exact, x)))
				}
				return out
			})
			const per = 6
			constant := vincentConstant(t, b, q, twelve, h)
			last := math.Inf(1)
			for i, m := range counts {
				of, what := draws[per*i:], name
				for k, w := range weightNames {
					for j := range of[1+k][0] {
						differences := make([]float64, rounds)
						for r := range rounds {
							differences[r] = of[1+k][r][j] - draws[1+k][r][j]
						}
						if m > 0 {
							testvalues.MeanWithin(t, what+": gradient for "+w+" less that with all centres", differences, 0)
						}
					}
				}
				offsets := make([]float64, rounds)
				for r := range rounds {
					offsets[r] = of[5][r][0]
				}
				mean := testvalues.Mean(offsets)
				switch {
				case m == 0 || m == 12:
					testvalues.NearOne(t, what+": loss of the exact score, all centres", offsets, make([]float64, rounds), 1e-20)
				case m == 1:
					testvalues.MeanWithin(t, what+": loss of the exact score, one centre", offsets, constant)
					fallthrough
				default:
					if !(mean < last) || !(mean > 0) {
						t.Errorf("%s: loss of the exact score with %d centres %v, with fewer %v: must fall", what, m, mean, last)
					}
					last = mean
				}
			}
		}
	})
}

// sampled runs a graph with rounds different seeds: of every output its values in each round.
func sampled(t *testing.T, b backends.Backend, rounds int, build func(in testvalues.Inputs, rng *random.Source) []*objective.Node) [][][]float64 {
	t.Helper()
	exec, err := graph.NewExec(b, func(state *objective.Node) []*objective.Node {
		rng := random.New(state, dtypes.Float64, 1)
		out := build(testvalues.Inputs{Graph: state.Graph(), DType: dtypes.Float64}, rng)
		return append(out, rng.State())
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	state, err := random.Seed(5)
	if err != nil {
		t.Fatal(err)
	}
	var values [][][]float64
	for range rounds {
		results, err := exec.Exec(state)
		if err != nil {
			t.Fatal(err)
		}
		last := len(results) - 1
		state = results[last]
		if values == nil {
			values = make([][][]float64, last)
		}
		for i, v := range testvalues.FlatAll(t, results[:last]) {
			values[i] = append(values[i], v)
		}
	}
	return values
}

// vincentConstant is C = ½[d/h² − E‖∇log q‖²] for d = 1, by quadrature over the kernels.
func vincentConstant(t *testing.T, b backends.Backend, q kde.Estimate, points [][]float64, h float64) float64 {
	t.Helper()
	z, share := noise(1)
	var x [][]float64
	for _, p := range points {
		for _, s := range z {
			x = append(x, []float64{p[0] + h*s[0]})
		}
	}
	got := testvalues.RunIn(t, b, dtypes.Float64, func(in testvalues.Inputs) []*objective.Node {
		at := in.Of(x)
		return []*objective.Node{q.Score(nil, at, nil), q.LogDensity(at)}
	})
	// Over the kernels of equal weight, with the density of q against theirs, so that the weights of q are not needed.
	information := 0.0
	for i, s := range got[0] {
		mixture := 0.0
		for _, p := range points {
			u := (x[i][0] - p[0]) / h
			mixture += math.Exp(-u*u/2) / (h * math.Sqrt(2*math.Pi)) / float64(len(points))
		}
		information += share[i%len(share)] / float64(len(points)) * s * s * math.Exp(got[1][i]) / mixture
	}
	return (1/(h*h) - information) / 2
}

// Training works through Fit, with what the estimate keeps on the device outside the saved weights, and learns the
// estimate's score: on two far centres of std h the best linear score has a loss far above the network's.
func TestFitExplicitKDE(t *testing.T) {
	q := estimate(t, [][]float64{{-1.5}, {1.5}, {1.2}, {-1.1}}, nil, 0.5)
	fitted, err := scorekit.Fit(context.Background(), testbackend.Go(t), net.MLP{Hidden: []int{32, 32}}, objective.ExplicitKDE{Target: q, Centres: 2}, q,
		scorekit.WithSteps(2000), scorekit.WithBatch(128), scorekit.WithOptimizer(scorekit.Adam{Rate: scorekit.Rate{Peak: 3e-3, Cosine: true}}), scorekit.WithEMA(0.98))
	if err != nil {
		t.Fatal(err)
	}
	full := objective.ExplicitKDE{Target: q}
	loss, _, err := scorekit.EvaluateLoss(context.Background(), testbackend.Go(t), fitted, full, q, 4000, 1)
	if err != nil {
		t.Fatal(err)
	}
	zero := scorekit.Score(testvalues.Ignoring(graph.ZerosLike))
	whole, _, err := scorekit.EvaluateLoss(context.Background(), testbackend.Go(t), zero, full, q, 4000, 1)
	if err != nil {
		t.Fatal(err)
	}
	if !(loss < 0.03*whole) {
		t.Errorf("relative loss %v after training, want below 0.03", loss/whole)
	}
	for v := range fitted.Vars().IterVariables() {
		if strings.Contains(v.ScopeAndName(), "kde") {
			t.Errorf("the estimate is kept with the weights: %s", v.ScopeAndName())
		}
	}
}

func TestExplicitKDERefuses(t *testing.T) {
	q := estimate(t, [][]float64{{1, 2}, {3, 4}}, nil, 1)
	for _, test := range []struct {
		loss objective.ExplicitKDE
		want string
	}{
		{objective.ExplicitKDE{}, "explicit KDE objective: target: kde: zero value: must be made by New or NewWeighted"},
		{objective.ExplicitKDE{Target: q, Centres: -1}, "explicit KDE objective: centres -1: must be at least 1, or 0 for all"},
	} {
		if err := test.loss.Validate(); err == nil || err.Error() != test.want {
			t.Errorf("error %v, want %s", err, test.want)
		}
	}
	for want, dims := range map[string][]int{
		"explicit KDE objective: points of shape [3 3] for an estimate of points of shape [2]": {3, 3},
		"explicit KDE objective: points of shape [2]: must be [batch, dims...]":                {2},
		"explicit KDE objective: points of shape [0 2]: must be [batch, dims...]":              {0, 2},
	} {
		_, err := graph.ExecOnce(testbackend.Go(t), func(state *objective.Node) *objective.Node {
			x := graph.Zeros(state.Graph(), testvalues.Shape(dims...))
			return objective.ExplicitKDE{Target: q}.Loss(nil, random.New(state, dtypes.Float64, 1), testvalues.Ignoring(graph.Neg), x)
		}, int64(0))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}
