package objective_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/objective"
	"github.com/scorekit/lab/scorekit/random"
)

// For an exponential density p(x) = λe^{−λx} and the score −μ, and for a Pareto density on [x_m, ∞) and the score
// −(β+1)/x, by quadrature: the implicit loss has the listed derivative and minimiser, which is another than the score of
// the data, because ½E(s − ∇log p)² has the boundary term −p(o)s(o) besides. With the weight (x − o)² the minimiser is
// the score of the data, the loss of −μ is μ²/λ² − 2μ/λ, and ½E w²(s − ∇log p)² is the loss less that of the right score.
// With the weight x² the Pareto minimiser is β = 0, whatever α: the origin must be the left end.
func TestNonNegativeReference(t *testing.T) {
	var cases []struct {
		ID                 string
		P, Q               law
		Boundary, Implicit float64
		NonNegative        *float64
		ArgminNaive        float64  `json:"argmin_naive_ism"`
		ArgminNonNegative  float64  `json:"argmin_nonnegative"`
		ParetoSlope        *float64 `json:"dJ_implicit_dbeta"`
	}
	testvalues.Read(t, "nonnegative.json", &cases)
	// parameter is μ or β + 1, the factor by which the score −1 or −1/x is multiplied.
	parameter := func(l law) float64 {
		if l.Family == "pareto" {
			return l.Alpha + 1
		}
		return l.Rate
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		shares := make([][]float64, len(cases))
		const each = 11
		got := testvalues.RunIn(t, b, dtypes.Float64, func(in testvalues.Inputs) []*objective.Node {
			var out []*objective.Node
			for i, c := range cases {
				var points [][]float64
				points, shares[i] = c.P.quadrature()
				x := in.Of(points)
				unit := c.Q
				unit.Alpha, unit.Rate = 0, 1
				// add adds the loss of each point for a factor of the unit score, and its derivative for the factor.
				add := func(o scorekit.Objective, at float64) {
					a := graph.MulScalar(graph.OnesLike(graph.ReduceSum(x, 1)), at)
					score := func(vars *mlctx.Context, x, sigma *objective.Node) *objective.Node {
						return graph.Mul(graph.InsertAxes(a, -1), unit.score(t)(vars, x, sigma))
					}
					loss := o.Loss(nil, nil, score, x)
					out = append(out, loss, graph.Gradient(graph.ReduceAllSum(loss), a)[0])
				}
				right := objective.NonNegative{Origin: c.P.Lo}
				add(objective.Implicit{}, parameter(c.Q))
				add(right, parameter(c.Q))
				add(right, parameter(c.P))
				add(objective.NonNegative{}, 1)
				naive := c.ArgminNaive
				if c.P.Family == "pareto" {
					naive = -1 // β = −2
				}
				add(objective.Implicit{}, naive)
				gap := graph.Mul(graph.Sub(c.Q.score(t)(nil, x, nil), c.P.score(t)(nil, x, nil)), graph.AddScalar(x, -c.P.Lo))
				out = append(out, graph.MulScalar(graph.Square(gap), 0.5))
			}
			return out
		})
		for i, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				mean := make([]float64, each)
				for k := range mean {
					for j, share := range shares[i] {
						mean[k] += share * got[each*i+k][j]
					}
				}
				testvalues.NearNumber(t, "implicit loss", mean[0], c.Implicit, 1e-9)
				testvalues.NearOne(t, "derivative at the minimiser", []float64{mean[5]}, []float64{0}, 1e-9)
				testvalues.NearOne(t, "implicit loss: derivative at its minimiser", []float64{mean[9]}, []float64{0}, 1e-9)
				testvalues.NearOne(t, "½E w²(s − ∇log p)²", []float64{mean[2] - mean[4]}, []float64{mean[10]}, 1e-9)
				end := c.P.density(c.P.Lo) / c.P.mass()
				s := -parameter(c.Q)
				if c.P.Family == "pareto" {
					s /= c.P.Lo
					testvalues.NearNumber(t, "implicit loss: derivative", mean[1], *c.ParetoSlope, 1e-9)
					testvalues.NearOne(t, "the origin 0: derivative at β = 0", []float64{mean[7]}, []float64{0}, 1e-9)
				} else {
					testvalues.NearNumber(t, "minimiser", parameter(c.P), c.ArgminNonNegative, 1e-15)
					testvalues.NearNumber(t, "loss", mean[2], *c.NonNegative, 1e-9)
				}
				testvalues.NearNumber(t, "boundary term", end*s, c.Boundary, 1e-9)
			})
		}
	})
}

// mass is the integral of density over the support, in closed form.
func (l law) mass() float64 {
	if l.Family == "pareto" {
		return math.Pow(l.Lo, -l.Alpha) / l.Alpha
	}
	return 1 / l.Rate
}

// By hand in three coordinates: s = (x₀x₁, x₁², −x₀) at (1, 2, 3) has the slopes 2, 4, 0; with the origin ½ the weights
// are ½, 3/2, 5/2. Over all 2³ directions of ±1 the probes' estimate averages to the exact slopes, in images too.
func TestNonNegativeByHand(t *testing.T) {
	pick := func(x *objective.Node, k int) *objective.Node { return graph.SliceAxis(x, 1, graph.AxisElem(k)) }
	score := func(x *objective.Node) *objective.Node {
		flat := graph.Reshape(x, 1, 3)
		a, b := pick(flat, 0), pick(flat, 1)
		return graph.Reshape(graph.Concatenate([]*objective.Node{graph.Mul(a, b), graph.Square(b), graph.Neg(a)}, 1), x.Shape().Dimensions...)
	}
	s, w, slopes := []float64{2, 4, -1}, []float64{0.5, 1.5, 2.5}, []float64{2, 4, 0}
	want := 0.0
	for i := range s {
		want += w[i]*w[i]*s[i]*s[i]/2 + 2*w[i]*s[i] + w[i]*w[i]*slopes[i]
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.RunIn(t, b, dtypes.Float64, func(in testvalues.Inputs) []*objective.Node {
			x := in.Of([][]float64{{1, 2, 3}})
			var v [][]float64
			for j := range 8 {
				v = append(v, []float64{float64(1 - 2*(j&1)), float64(1 - (j & 2)), float64(1 - (j&4)/2)})
			}
			one := random.Listed(in.Graph, in.Of([]float64{1, -1, 1}))
			all := random.Listed(in.Graph, in.Of(v))
			return []*objective.Node{
				objective.NonNegative{Origin: 0.5}.Loss(nil, nil, testvalues.Ignoring(score), x),
				objective.NonNegative{Origin: 0.5}.Loss(nil, nil, testvalues.Ignoring(score), graph.Reshape(x, 1, 1, 3)),
				objective.NonNegative{Origin: 0.5, Probes: 8}.Loss(nil, all, testvalues.Ignoring(score), x),
				objective.NonNegative{Origin: 0.5, Probes: 1}.Loss(nil, one, testvalues.Ignoring(score), x),
			}
		})
		for k, name := range []string{"rows", "images", "all probes"} {
			testvalues.Near(t, name, got[k], []float64{want}, 1e-14)
		}
		// v = (1, −1, 1): vᵀ(∂s/∂x)(w² ⊙ v) has, besides the slopes, w₁² v₀ ∂s₀/∂x₁ v₁ = −9/4 and w₀² v₂ ∂s₂/∂x₀ v₀ = −1/4.
		testvalues.Near(t, "one probe", got[3], []float64{want - 2.5}, 1e-14)
	})
}

// halfLine draws points whose first coordinate is exponential with rate 2 and whose second has a Pareto density with
// α = 3 and x_m = 1, both moved to begin at from.
type halfLine struct{ from float64 }

func (halfLine) Shape() []int { return []int{2} }

func (h halfLine) Batch(_ *mlctx.Context, rng *random.Source, n int) *objective.Node {
	minusLog := graph.Neg(graph.Log(rng.Uniform(n, 2))) // exponential with rate 1
	first, second := graph.SliceAxis(minusLog, 1, graph.AxisElem(0)), graph.SliceAxis(minusLog, 1, graph.AxisElem(1))
	x := graph.Concatenate([]*objective.Node{graph.DivScalar(first, 2), graph.AddScalar(graph.Exp(graph.DivScalar(second, 3)), -1)}, 1)
	return graph.StopGradient(graph.AddScalar(x, h.from))
}

// halfLineScore is (−μ, −b/(1 + y)), y the second coordinate's distance from the left end, with trained μ and b that
// begin at 1: the score of halfLine has μ = 2 and b = α + 1 = 4.
func halfLineScore(from float64) scorekit.Score {
	return func(vars *mlctx.Context, x, _ *objective.Node) *objective.Node {
		factors := vars.VariableWithValue("factors", [][]float64{{1, 1}}).ValueGraph(x.Graph())
		second := graph.ConvertDType(graph.Const(x.Graph(), [][]float64{{0, 1}}), x.DType())
		y := graph.Mul(graph.AddScalar(x, -from), second)
		return graph.Neg(graph.Div(graph.Mul(graph.OnesLike(x), factors), graph.OnePlus(y)))
	}
}

// The cure: trained on data that begin with a jump, Implicit ends at μ = 0 and b = −1, whatever the data; NonNegative
// at the score of the data, exactly and by probes, and with the origin elsewhere. The minimiser over N examples has the
// standard error √(E g²/N)/h, with g the derivative of an example's loss at the optimum and h its second derivative:
// by hand h = E x² = ½ and E g² = E(μx² − 2x)² = 2 for μ; and for b, with w = y/(1+y) distributed as 1 − U^{1/3},
// h = E w² = 1/10 and E g² = E(5w² − 2w)² = 4/35 (b w² from ½b²w², w² from the slope, −2w). The moving average, with decay δ,
// of the plain steps of constant rate weighs like (1+δ)/(1−δ) batches (Polyak and Juditsky 1992). 5 standard errors are
// allowed. Probes of ±1 are exact here, as the Jacobian is diagonal. Implicit's losses are ½μ² and (½b² + b)/(1+y)², free of
// noise at their minimisers.
func TestNonNegativeCuresTheBoundary(t *testing.T) {
	const decay, batch = 0.995, 512
	root := math.Sqrt(batch * (1 + decay) / (1 - decay))
	seMu, seB := math.Sqrt2/0.5/root, math.Sqrt(4.0/35)/0.1/root
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for _, test := range []struct {
			objective      scorekit.Objective
			from           float64
			mu, b          float64
			rangeMu, reach float64
		}{
			{objective.Implicit{}, 0, 0, -1, 1e-6, 1e-6},
			{objective.NonNegative{Origin: -3}, -3, 2, 4, 5 * seMu, 5 * seB},
			{objective.NonNegative{Probes: 1}, 0, 2, 4, 5 * seMu, 5 * seB},
		} {
			f, err := scorekit.Fit(context.Background(), b, halfLineScore(test.from), test.objective, halfLine{test.from},
				scorekit.WithSteps(2000), scorekit.WithBatch(batch), scorekit.WithEMA(decay), scorekit.WithUnroll(1), scorekit.WithSeed(1),
				scorekit.WithDType(dtypes.Float64), scorekit.WithOptimizer(scorekit.SGD{Rate: scorekit.Rate{Peak: 0.1}}))
			if err != nil {
				t.Fatal(err)
			}
			got := fittedRows(t, f, "factors")[0]
			if !(math.Abs(got[0]-test.mu) <= test.rangeMu && math.Abs(got[1]-test.b) <= test.reach) {
				t.Errorf("%T: μ = %v, want %v ± %.2g; b = %v, want %v ± %.2g", test.objective, got[0], test.mu, test.rangeMu, got[1], test.b, test.reach)
			}
		}
	})
}

// A point below the origin is no part of the data: its loss is NaN, the others' are not, and Fit stops with an error.
func TestNonNegativeBelowTheOrigin(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.RunIn(t, b, dtypes.Float64, func(in testvalues.Inputs) []*objective.Node {
			x := in.Of([][]float64{{1, 2}, {0.5, 3}, {0.4, 3}, {2, -1}})
			return []*objective.Node{objective.NonNegative{Origin: 0.5}.Loss(nil, nil, testvalues.Ignoring(graph.Neg), x)}
		})
		for i, want := range []bool{false, false, true, true} {
			if math.IsNaN(got[0][i]) != want {
				t.Errorf("losses %v: example %d", got[0], i)
			}
		}
	})
	var nonFinite *scorekit.NonFiniteError
	_, err := scorekit.Fit(context.Background(), testbackend.Go(t), halfLineScore(0), objective.NonNegative{Origin: 1}, halfLine{0}, scorekit.WithDType(dtypes.Float64))
	if !errors.As(err, &nonFinite) || nonFinite.Step != 1 || !math.IsNaN(nonFinite.Loss) {
		t.Errorf("error %v, want that the loss of step 1 is NaN", err)
	}
}
