package objective_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/objective"
)

// momentPoints returns 2d points m ± √d Lₖ, with Lₖ the columns of the Cholesky factor of S. Their mean and covariance
// are m and S, so that the average of a quadratic function over them is its expectation over N(m, S).
func momentPoints(t *testing.T, m []float64, S [][]float64) [][]float64 {
	t.Helper()
	d := len(m)
	s := mat.NewSymDense(d, nil)
	for i := range S {
		for j := range S {
			s.SetSym(i, j, S[i][j])
		}
	}
	var factor mat.Cholesky
	if !factor.Factorize(s) {
		t.Fatal("covariance not positive definite")
	}
	var l mat.TriDense
	factor.LTo(&l)
	var points [][]float64
	for k := range d {
		for _, sign := range []float64{1, -1} {
			x := make([]float64, d)
			for i := range x {
				x[i] = m[i] + sign*math.Sqrt(float64(d))*l.At(i, k)
			}
			points = append(points, x)
		}
	}
	return points
}

// For two Gaussians of up to 10 dimensions the explicit and the implicit loss have closed forms, and the first is the
// second plus ½E‖∇log p‖², whatever the score. The explicit loss of the score of p itself is 0.
func TestExplicitAndImplicitOfGaussians(t *testing.T) {
	var cases []struct {
		ID                           string
		M1, M2                       []float64
		S1, S2                       [][]float64
		Explicit, Implicit, Constant float64
	}
	testvalues.Read(t, "fisher_gaussian.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.RunIn(t, b, dtypes.Float64, func(in testvalues.Inputs) []*objective.Node {
			var out []*objective.Node
			for _, c := range cases {
				p, err := density.NewGaussian(c.M1, c.S1)
				if err != nil {
					t.Fatal(err)
				}
				q, err := density.NewGaussian(c.M2, c.S2)
				if err != nil {
					t.Fatal(err)
				}
				x := in.Of(momentPoints(t, c.M1, c.S1))
				for _, loss := range []*objective.Node{
					objective.Explicit{Target: p}.Loss(nil, nil, q.Score, x),
					objective.Implicit{}.Loss(nil, nil, q.Score, x),
					objective.Explicit{Target: p}.Loss(nil, nil, p.Score, x),
				} {
					out = append(out, graph.ReduceAllMean(loss))
				}
			}
			return out
		})
		for i, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				g := got[3*i:]
				testvalues.Near(t, c.ID+": explicit", g[0], []float64{c.Explicit}, 1e-9)
				testvalues.Near(t, c.ID+": implicit", g[1], []float64{c.Implicit}, 1e-9)
				testvalues.NearNumber(t, c.ID+": difference", g[0][0]-g[1][0], c.Constant, 1e-9)
				if g[2][0] != 0 {
					t.Errorf("%s: explicit loss of the right score %v", c.ID, g[2][0])
				}
			})
		}
	})
}

// law is a one-dimensional distribution of testdata/fisher_1d.json.
type law struct {
	Family              string
	Mean, Sigma         float64
	Loc, Scale, B, Nu   float64
	Weights, Means      []float64
	Sigmas              []float64
	Alpha, Rate, Lo, Hi float64
}

// density is p(x) up to a factor, within the support.
func (l law) density(x float64) float64 {
	switch l.Family {
	case "gaussian", "truncated gaussian":
		z := (x - l.Mean) / l.Sigma
		return math.Exp(-z * z / 2)
	case "mixture":
		sum := 0.0
		for i, w := range l.Weights {
			z := (x - l.Means[i]) / l.Sigmas[i]
			sum += w / l.Sigmas[i] * math.Exp(-z*z/2)
		}
		return sum
	case "logistic":
		c := math.Cosh((x - l.Loc) / (2 * l.Scale))
		return 1 / (c * c)
	case "student_t":
		z := (x - l.Loc) / l.Scale
		return math.Pow(1+z*z/l.Nu, -(l.Nu+1)/2)
	case "laplace":
		return math.Exp(-math.Abs(x-l.Loc) / l.B)
	case "pareto":
		return math.Pow(x, -l.Alpha-1)
	case "exponential":
		return math.Exp(-l.Rate * x)
	}
	return 1 // uniform
}

// score is d log p/dx, written by hand.
func (l law) score(t *testing.T) scorekit.Score {
	t.Helper()
	switch l.Family {
	case "gaussian", "truncated gaussian":
		return testvalues.Ignoring(func(x *objective.Node) *objective.Node {
			return graph.MulScalar(graph.AddScalar(x, -l.Mean), -1/(l.Sigma*l.Sigma))
		})
	case "mixture":
		var components []density.Gaussian
		for i := range l.Weights {
			g, err := density.Isotropic([]float64{l.Means[i]}, l.Sigmas[i])
			if err != nil {
				t.Fatal(err)
			}
			components = append(components, g)
		}
		m, err := density.NewMixture(l.Weights, components...)
		if err != nil {
			t.Fatal(err)
		}
		return m.Score
	case "logistic":
		return testvalues.Ignoring(func(x *objective.Node) *objective.Node {
			return graph.MulScalar(graph.Tanh(graph.MulScalar(graph.AddScalar(x, -l.Loc), 1/(2*l.Scale))), -1/l.Scale)
		})
	case "student_t":
		return testvalues.Ignoring(func(x *objective.Node) *objective.Node {
			z := graph.AddScalar(x, -l.Loc)
			return graph.Div(graph.MulScalar(z, -(l.Nu+1)), graph.AddScalar(graph.Square(z), l.Nu*l.Scale*l.Scale))
		})
	case "laplace":
		return testvalues.Ignoring(func(x *objective.Node) *objective.Node {
			return graph.MulScalar(graph.Sign(graph.AddScalar(x, -l.Loc)), -1/l.B)
		})
	case "pareto":
		return testvalues.Ignoring(func(x *objective.Node) *objective.Node { return graph.MulScalar(graph.Reciprocal(x), -l.Alpha-1) })
	case "exponential":
		return testvalues.Ignoring(func(x *objective.Node) *objective.Node { return graph.MulScalar(graph.OnesLike(x), -l.Rate) })
	}
	return testvalues.Ignoring(graph.ZerosLike) // uniform
}

// quadrature returns points over the support and their shares of the probability, by the trapezoidal rule in t after a
// double-exponential change of variable (Takahasi and Mori 1974): x = lo + e^{(π/2) sinh t} on a half-line, both signs of
// it on the whole line, and (1 + tanh((π/2) sinh t))/2 of the way on an interval. Its error is below 1e-11 for densities
// that are smooth away from the ends and from 0.
func (l law) quadrature() (x [][]float64, share []float64) {
	const step = 1.0 / 64
	sum := 0.0
	add := func(at, width float64) {
		if p := l.density(at) * width; p > 0 && !math.IsInf(at, 0) {
			x, share, sum = append(x, []float64{at}), append(share, p), sum+p
		}
	}
	for k := -4 / step; k <= 4/step; k++ {
		u, du := math.Pi/2*math.Sinh(k*step), math.Pi/2*math.Cosh(k*step)
		switch l.Family {
		case "uniform":
			c := math.Cosh(u)
			add(l.Lo+(l.Hi-l.Lo)*(1+math.Tanh(u))/2, du/(c*c))
		case "pareto", "exponential", "truncated gaussian":
			add(l.Lo+math.Exp(u), du*math.Exp(u))
		default:
			add(math.Exp(u), du*math.Exp(u))
			add(-math.Exp(u), du*math.Exp(u))
		}
	}
	for i := range share {
		share[i] /= sum
	}
	return x, share
}

// In one dimension, by quadrature: the explicit loss is the implicit one plus ½E(d log p/dx)² for smooth densities on
// the whole line, and for densities that stop with a jump also plus a boundary term, which depends on the score: there
// the implicit loss has another minimiser.
func TestExplicitAndImplicitInOneDimension(t *testing.T) {
	var cases []struct {
		ID                                     string
		P, Q                                   law
		Explicit, Implicit, Constant, Boundary float64
		Rtol                                   float64
	}
	testvalues.Read(t, "fisher_1d.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		shares := make([][]float64, len(cases))
		got := testvalues.RunIn(t, b, dtypes.Float64, func(in testvalues.Inputs) []*objective.Node {
			var out []*objective.Node
			for i, c := range cases {
				var points [][]float64
				points, shares[i] = c.P.quadrature()
				x, zero := in.Of(points), testvalues.Ignoring(graph.ZerosLike)
				target := objective.Explicit{Target: c.P.score(t)}
				out = append(out, target.Loss(nil, nil, c.Q.score(t), x), objective.Implicit{}.Loss(nil, nil, c.Q.score(t), x), target.Loss(nil, nil, zero, x))
			}
			return out
		})
		for i, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				var mean [3]float64
				for k := range mean {
					for j, share := range shares[i] {
						mean[k] += share * got[3*i+k][j]
					}
				}
				for k, want := range []float64{c.Explicit, c.Implicit, c.Constant} {
					what := []string{"explicit", "implicit", "explicit loss of 0"}[k]
					testvalues.NearNumber(t, c.ID+": "+what, mean[k], want, c.Rtol)
				}
				testvalues.Near(t, c.ID+": difference", []float64{mean[0] - mean[1], 1}, []float64{c.Constant + c.Boundary, 1}, c.Rtol)
			})
		}
	})
}
