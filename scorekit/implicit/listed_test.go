package implicit

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/rows"
	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/autodiff"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/random"
)

// run builds one graph with a context of its own, runs it and returns every output flat, float64.
func run(t testing.TB, b backends.Backend, build func(vars *mlctx.Context, g *graph.Graph) []*Node) [][]float64 {
	t.Helper()
	vars := mlctx.New().Checked(false)
	if err := vars.SetRNGStateFromSeed(1); err != nil {
		t.Fatal(err)
	}
	exec, err := mlctx.NewExec(b, vars, func(vars *mlctx.Context, unused *Node) []*Node {
		return build(vars.Checked(false), unused.Graph())
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	out, err := exec.Exec(0.0)
	if err != nil {
		t.Fatal(err)
	}
	return testvalues.FlatAll(t, out)
}

// cubature is the 2k points ±√k eᵢ: over them the mean of every polynomial of degree 3 is that under N(0, I).
func cubature(k int) [][]float64 {
	points := make([][]float64, 0, 2*k)
	for i := range k {
		for _, sign := range []float64{1, -1} {
			e := make([]float64, k)
			e[i] = sign * math.Sqrt(float64(k))
			points = append(points, e)
		}
	}
	return points
}

// place gives the linear generator in vars its weights, and returns their nodes.
func place(vars *mlctx.Context, g *graph.Graph, a [][]float64, b []float64) (weights, biases *Node) {
	w := vars.VariableWithValue("weights", transposed(a))
	c := vars.VariableWithValue("biases", [][]float64{b})
	return w.ValueGraph(g), c.ValueGraph(g)
}

func transposed(a [][]float64) [][]float64 {
	out := make([][]float64, len(a[0]))
	for j := range out {
		for i := range a {
			out[j] = append(out[j], a[i][j])
		}
	}
	return out
}

func flat(rows [][]float64) []float64 {
	var out []float64
	for _, r := range rows {
		out = append(out, r...)
	}
	return out
}

// lawOf is N(b, AAᵀ).
func lawOf(t testing.TB, a [][]float64, b []float64) density.Gaussian {
	t.Helper()
	cov := make([][]float64, len(a))
	for i := range a {
		for j := range a {
			sum := 0.0
			for k := range a[i] {
				sum += a[i][k] * a[j][k]
			}
			cov[i] = append(cov[i], sum)
		}
	}
	p, err := density.NewGaussian(b, cov)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func linearOf(a [][]float64) Linear { return Linear{Inputs: len(a[0]), Outputs: len(a)} }

// transpose01 turns the gradient for the stored weights, [k, d], into that for A, [d, k].
func transpose01(x *Node) *Node { return graph.Transpose(x, 0, 1) }

func TestListedLinear(t *testing.T) {
	var cases []struct {
		ID     string `json:"id"`
		Inputs struct {
			A   [][]float64 `json:"A"`
			B   []float64   `json:"b"`
			Eps [][]float64 `json:"eps"`
		} `json:"inputs"`
		Expected struct {
			Entropy   float64     `json:"entropy"`
			Gradient  [][]float64 `json:"grad_A_entropy"`
			Unsigned  [][]float64 `json:"grad_A_E_log_q_unsigned_formula"`
			Scores    [][]float64 `json:"scores_at_samples"`
			EstimateA [][]float64 `json:"estimator_grad_A_entropy"`
			EstimateB []float64   `json:"estimator_grad_b_entropy"`
		} `json:"expected"`
	}
	testvalues.Read(t, "linear.json", &cases)
	const outputs = 8
	testbackend.Each(t, func(t *testing.T, be backends.Backend) {
		got := run(t, be, func(vars *mlctx.Context, g *graph.Graph) (all []*Node) {
			for i, c := range cases {
				vars := vars.Inf("case_%d", i)
				weights, biases := place(vars, g, c.Inputs.A, c.Inputs.B)
				q, make := lawOf(t, c.Inputs.A, c.Inputs.B), linearOf(c.Inputs.A)
				listed := make.Generate(vars, graph.Const(g, c.Inputs.Eps))
				s := q.Score(nil, listed, nil)
				estimate := EntropyGradient(listed, s, weights, biases)
				exact := make.Generate(vars, graph.Const(g, cubature(len(c.Inputs.A[0]))))
				gradient := EntropyGradient(exact, q.Score(nil, exact, nil), weights, biases)
				term := EntropyTerm(listed, s)
				all = append(all, s, transpose01(estimate[0]), estimate[1], transpose01(gradient[0]), gradient[1],
					graph.ReduceAllMean(graph.Neg(q.LogDensity(exact))), term, listed)
			}
			return all
		})
		for i, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				out, want := got[outputs*i:], c.Expected
				testvalues.Near(t, "scores", out[0], flat(want.Scores), 1e-8)
				testvalues.Near(t, "estimate of ∇_A H", out[1], flat(want.EstimateA), 1e-8)
				testvalues.Near(t, "estimate of ∇_b H", out[2], want.EstimateB, 1e-8)
				testvalues.Near(t, "∇_A H", out[3], flat(want.Gradient), 1e-8)
				testvalues.NearOne(t, "∇_b H", out[4], make([]float64, len(want.EstimateB)), 1e-12)
				testvalues.Near(t, "H", out[5], []float64{want.Entropy}, 1e-8)
				testvalues.Near(t, "value of the term", out[6], make([]float64, len(c.Inputs.Eps)), 0)
				for j, v := range flat(want.Unsigned) {
					if math.Abs(out[3][j]+v) > 1e-8*(1+math.Abs(v)) {
						t.Errorf("entry %d: %v is not minus the gradient of E log q, %v", j, out[3][j], v)
					}
				}
			})
		}
	})
}

// The generators of the listed cases that are not linear, with the exact score of their laws.
type listedGenerator struct {
	generate func(theta []*Node, e *Node) *Node
	score    func(theta []*Node, e, x *Node) *Node
}

var (
	diagonalGenerator = listedGenerator{
		func(theta []*Node, e *Node) *Node { return graph.Mul(graph.Exp(theta[0]), e) },
		func(theta []*Node, _, x *Node) *Node {
			return graph.Neg(graph.Mul(x, graph.Exp(graph.MulScalar(theta[0], -2))))
		},
	}
	lognormalGenerator = listedGenerator{
		func(theta []*Node, e *Node) *Node { return graph.Exp(graph.Add(theta[0], graph.Mul(theta[1], e))) },
		func(theta []*Node, _, x *Node) *Node {
			steep := graph.Div(graph.Sub(graph.Log(x), theta[0]), graph.Square(theta[1]))
			return graph.Neg(graph.Div(graph.OnePlus(steep), x))
		},
	}
	sinhGenerator = listedGenerator{
		func(theta []*Node, e *Node) *Node {
			return graph.Div(sinh(graph.Mul(theta[0], e)), theta[0])
		},
		func(theta []*Node, e, _ *Node) *Node {
			u := graph.Mul(theta[0], e)
			return graph.Div(graph.Neg(graph.Add(e, graph.Mul(theta[0], graph.Tanh(u)))), cosh(u))
		},
	}
)

func sinh(u *Node) *Node {
	return graph.MulScalar(graph.Sub(graph.Exp(u), graph.Exp(graph.Neg(u))), 0.5)
}
func cosh(u *Node) *Node {
	return graph.MulScalar(graph.Add(graph.Exp(u), graph.Exp(graph.Neg(u))), 0.5)
}

// trapezoid returns points and weights that integrate a smooth function against N(0, 1) to rounding.
func trapezoid() (points [][]float64, weights []float64) {
	const h = 0.05
	for i := -240; i <= 240; i++ {
		e := h * float64(i)
		points = append(points, []float64{e})
		weights = append(weights, h*math.Exp(-e*e/2)/math.Sqrt(2*math.Pi))
	}
	return points, weights
}

func evenly(points [][]float64) ([][]float64, []float64) {
	weights := make([]float64, len(points))
	for i := range weights {
		weights[i] = 1 / float64(len(points))
	}
	return points, weights
}

// The entropy itself is checked by a second route, H = ½ d log 2πe + E log |∂g/∂ε| for generators of one number each.
func TestListedOthers(t *testing.T) {
	var cases []struct {
		ID     string `json:"id"`
		Inputs struct {
			S            []float64 `json:"s"`
			Mu, Sigma, T float64
			Eps          []float64 `json:"eps"`
		} `json:"inputs"`
		Expected struct {
			Entropy float64   `json:"entropy"`
			LogS    []float64 `json:"dH_dlog_s"`
			DS      []float64 `json:"dH_ds"`
			Mu      float64   `json:"dH_dmu"`
			Sigma   float64   `json:"dH_dsigma"`
			X       []float64 `json:"x"`
			Score   []float64 `json:"score"`
			T       float64   `json:"dH_dt"`
		} `json:"expected"`
	}
	testvalues.Read(t, "other.json", &cases)
	testbackend.Each(t, func(t *testing.T, be backends.Backend) {
		type place struct{ entropy, gradients, x, score int }
		places := make([]place, len(cases))
		got := run(t, be, func(_ *mlctx.Context, g *graph.Graph) (all []*Node) {
			for i, c := range cases {
				which, d := sinhGenerator, 1
				var theta []*Node
				points, weights := trapezoid()
				switch {
				case len(c.Inputs.S) > 0:
					which, d = diagonalGenerator, len(c.Inputs.S)
					logs := make([]float64, d)
					for j, s := range c.Inputs.S {
						logs[j] = math.Log(s)
					}
					theta = []*Node{graph.Const(g, [][]float64{logs})}
					points, weights = evenly(cubature(d))
				case c.Inputs.Sigma > 0:
					which = lognormalGenerator
					theta = []*Node{graph.Const(g, c.Inputs.Mu), graph.Const(g, c.Inputs.Sigma)}
				default:
					theta = []*Node{graph.Const(g, c.Inputs.T)}
				}
				e, w := graph.Identity(graph.Const(g, points)), graph.Const(g, weights)
				x := which.generate(theta, e)
				term := EntropyTerm(x, which.score(theta, e, x))
				gradients := graph.Gradient(graph.ReduceAllSum(graph.Mul(w, term)), theta...)
				slope := graph.Log(graph.Abs(autodiff.Diagonal(x, e)))
				entropy := graph.AddScalar(graph.ReduceAllSum(graph.Mul(w, rows.Sum(slope))), float64(d)/2*math.Log(2*math.Pi*math.E))
				places[i] = place{len(all), len(all) + 1, -1, -1}
				all = append(append(all, entropy), gradients...)
				if len(c.Inputs.Eps) > 0 {
					e := graph.Reshape(graph.Const(g, c.Inputs.Eps), len(c.Inputs.Eps), 1)
					x := which.generate(theta, e)
					places[i].x, places[i].score = len(all), len(all)+1
					all = append(all, x, which.score(theta, e, x))
				}
			}
			return all
		})
		for i, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				at, want := places[i], c.Expected
				gradients := got[at.gradients:]
				testvalues.Near(t, "H", got[at.entropy], []float64{want.Entropy}, 1e-9)
				switch {
				case len(c.Inputs.S) > 0:
					testvalues.Near(t, "dH/dlog s", gradients[0], want.LogS, 1e-9)
					for j, s := range c.Inputs.S {
						testvalues.NearNumber(t, "dH/ds", gradients[0][j]/s, want.DS[j], 1e-9)
					}
				case c.Inputs.Sigma > 0:
					testvalues.Near(t, "dH/dμ", gradients[0], []float64{want.Mu}, 1e-9)
					testvalues.Near(t, "dH/dσ", gradients[1], []float64{want.Sigma}, 1e-9)
					testvalues.Near(t, "x", got[at.x], want.X, 1e-9)
					testvalues.Near(t, "scores", got[at.score], want.Score, 1e-9)
				default:
					testvalues.Near(t, "dH/dt", gradients[0], []float64{want.T}, 1e-9)
				}
			})
		}
	})
}

// With x = Lε, LLᵀ = Σ, the gradient for the diagonal of L is 1/Lᵢᵢ; without the minus of H it is its opposite.
func TestListedSign(t *testing.T) {
	var cases []struct {
		ID     string `json:"id"`
		Inputs struct {
			Sigma [][]float64 `json:"Sigma"`
		} `json:"inputs"`
		Expected struct {
			Right, Wrong struct {
				H  float64
				DL []float64 `json:"dH_dLii"`
			}
		} `json:"expected"`
	}
	testvalues.Read(t, "errata.json", &cases)
	testbackend.Each(t, func(t *testing.T, be backends.Backend) {
		got := run(t, be, func(vars *mlctx.Context, g *graph.Graph) (all []*Node) {
			for i, c := range cases {
				vars := vars.Inf("case_%d", i)
				l, zeros := cholesky(t, c.Inputs.Sigma), make([]float64, len(c.Inputs.Sigma))
				weights, _ := place(vars, g, l, zeros)
				q := lawOf(t, l, zeros)
				x := linearOf(l).Generate(vars, graph.Const(g, cubature(len(l))))
				all = append(all, graph.ReduceAllMean(graph.Neg(q.LogDensity(x))), EntropyGradient(x, q.Score(nil, x, nil), weights)[0])
			}
			return all
		})
		for i, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				d, h, gradient := len(c.Inputs.Sigma), got[2*i][0], got[2*i+1]
				diagonal := make([]float64, d)
				for j := range d {
					diagonal[j] = gradient[j*d+j]
				}
				testvalues.NearNumber(t, "H", h, c.Expected.Right.H, 1e-9)
				testvalues.Near(t, "dH/dL", diagonal, c.Expected.Right.DL, 1e-9)
				testvalues.NearNumber(t, "E log q", -h, c.Expected.Wrong.H, 1e-9)
				for j := range d {
					testvalues.NearNumber(t, "gradient of E log q", -diagonal[j], c.Expected.Wrong.DL[j], 1e-9)
				}
			})
		}
	})
}

func cholesky(t testing.TB, rows [][]float64) [][]float64 {
	t.Helper()
	d := len(rows)
	var factor mat.Cholesky
	if !factor.Factorize(mat.NewSymDense(d, flat(rows))) {
		t.Fatal("not positive definite")
	}
	var l mat.TriDense
	factor.LTo(&l)
	out := make([][]float64, d)
	for i := range out {
		for j := range d {
			out[i] = append(out[i], l.At(i, j))
		}
	}
	return out
}

// exact is a law whose score is known.
type exact struct{ density.Gaussian }

func (exact) network() scorekit.Model                                     { return nil }
func (exact) follow(*inner, *mlctx.Context, *random.Source, func() *Node) {}
func (e exact) at(_ *mlctx.Context, x *Node) *Node                        { return e.Score(nil, x, nil) }

// The loss of a training step itself, on listed noise. Its value is checked against ½E‖∇log q − ∇log p‖² by the host.
func TestListedReverseKL(t *testing.T) {
	var cases []struct {
		ID     string `json:"id"`
		Inputs struct {
			A, S [][]float64
			B, M []float64
		} `json:"inputs"`
		Expected struct {
			KL    float64     `json:"kl"`
			GradA [][]float64 `json:"grad_A"`
			GradB []float64   `json:"grad_b"`
		} `json:"expected"`
	}
	testvalues.Read(t, "reversekl.json", &cases)
	const outputs = 7
	testbackend.Each(t, func(t *testing.T, be backends.Backend) {
		got := run(t, be, func(vars *mlctx.Context, g *graph.Graph) (all []*Node) {
			for i, c := range cases {
				vars := vars.Inf("case_%d", i)
				weights, biases := place(vars.In(generatorScope), g, c.Inputs.A, c.Inputs.B)
				p, err := density.NewGaussian(c.Inputs.M, c.Inputs.S)
				if err != nil {
					t.Fatal(err)
				}
				q := lawOf(t, c.Inputs.A, c.Inputs.B)
				k := len(c.Inputs.A[0])
				noise := graph.Const(g, cubature(k))
				loss := func(weight float64) *Node {
					kl := ReverseKL{Generator: linearOf(c.Inputs.A), Target: p, Law: exact{q}, Entropy: weight}
					return kl.loss(vars, random.Listed(g, noise), graph.Zeros(g, testvalues.Shape(2*k, len(c.Inputs.B))))
				}
				one, none := loss(1), loss(0)
				gradients := graph.Gradient(graph.ReduceAllMean(one), weights, biases)
				without := graph.Gradient(graph.ReduceAllMean(none), weights)
				x := linearOf(c.Inputs.A).Generate(vars.In(generatorScope), noise)
				difference := graph.Sub(q.Score(nil, x, nil), p.Score(nil, x, nil))
				all = append(all, transpose01(gradients[0]), gradients[1], graph.ReduceAllMean(graph.Sub(q.LogDensity(x), p.LogDensity(x))),
					one, graph.MulScalar(rows.Sum(graph.Square(difference)), 0.5), transpose01(without[0]),
					transpose01(graph.Gradient(graph.ReduceAllMean(p.Energy(x)), weights)[0]))
			}
			return all
		})
		for i, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				out := got[outputs*i:]
				testvalues.Near(t, "∇_A KL", out[0], flat(c.Expected.GradA), 1e-8)
				testvalues.Near(t, "∇_b KL", out[1], c.Expected.GradB, 1e-8)
				testvalues.NearNumber(t, "KL", out[2][0], c.Expected.KL, 1e-8)
				testvalues.Near(t, "loss shown", out[3], out[4], 1e-12)
				testvalues.Near(t, "∇_A without the entropy", out[5], out[6], 1e-10)
			})
		}
	})
}
