package objective_test

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
	"github.com/scorekit/lab/scorekit/autodiff"
	"github.com/scorekit/lab/scorekit/objective"
	"github.com/scorekit/lab/scorekit/random"
)

// The loss and gradient of s(x) = Ax + b, A not symmetric, over N(μ, Σ) and over listed points, in closed form: the
// listed optimum is the one place where the gradient vanishes, since the loss is quadratic in A and b.
func TestImplicitLinear(t *testing.T) {
	var population []struct {
		ID       string
		Mu, B    []float64
		Sigma, A [][]float64
		J        float64
		GradA    [][]float64 `json:"grad_A"`
		GradB    []float64   `json:"grad_b"`
		AOpt     [][]float64 `json:"A_opt"`
		BOpt     []float64   `json:"b_opt"`
		JMin     float64     `json:"J_min"`
		Explicit float64
	}
	var fitted []struct {
		ID   string
		X    [][]float64
		AOpt [][]float64 `json:"A_opt"`
		BOpt []float64   `json:"b_opt"`
		JMin float64     `json:"J_min"`
	}
	testvalues.Read(t, "implicit_linear.json", &population)
	testvalues.Read(t, "implicit_fit.json", &fitted)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.RunIn(t, b, dtypes.Float64, func(in testvalues.Inputs) []*objective.Node {
			var out []*objective.Node
			add := func(A [][]float64, b []float64, x [][]float64) {
				w := []*objective.Node{in.Of(A), in.Of(b)}
				out = append(out, lossAndGradients(objective.Implicit{}.Loss(nil, nil, affine(w), in.Of(x)), w)...)
			}
			for _, c := range population {
				x := momentPoints(t, c.Mu, c.Sigma)
				add(c.A, c.B, x)
				add(c.AOpt, c.BOpt, x)
			}
			for _, c := range fitted {
				add(c.AOpt, c.BOpt, c.X)
			}
			return out
		})
		optimum := func(name string, got [][]float64, JMin float64) {
			t.Helper()
			testvalues.Near(t, name+": minimum", got[0], []float64{JMin}, 1e-9)
			testvalues.NearOne(t, name+": gradient for A at the optimum", got[1], make([]float64, len(got[1])), 1e-9)
			testvalues.NearOne(t, name+": gradient for b at the optimum", got[2], make([]float64, len(got[2])), 1e-9)
		}
		for i, c := range population {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				g := got[6*i:]
				testvalues.Near(t, c.ID, g[0], []float64{c.J}, 1e-9)
				testvalues.Near(t, c.ID+": gradient for A", g[1], slices.Concat(c.GradA...), 1e-9)
				testvalues.Near(t, c.ID+": gradient for b", g[2], c.GradB, 1e-9)
				optimum(c.ID, g[3:], c.JMin)
				testvalues.NearNumber(t, c.ID+": explicit loss", g[0][0]-g[3][0], c.Explicit, 1e-9)
			})
		}
		for i, c := range fitted {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				optimum(c.ID, got[6*len(population)+3*i:], c.JMin)
			})
		}
	})
}

// The loss of a listed tanh network and its gradient for every weight, and for each example ½‖s‖² plus the trace, in
// float64 and float32.
func TestImplicitReference(t *testing.T) {
	var cases []struct {
		ID    string
		Net   network
		X     [][]float64
		Loss  float64
		Trace []float64
		Score [][]float64
		Grad  network
	}
	testvalues.Read(t, "implicit.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for dtype, rtol := range map[dtypes.DType]float64{dtypes.Float64: 1e-9, dtypes.Float32: 1e-4} {
			t.Run(dtype.String(), func(t *testing.T) {
				got := testvalues.RunIn(t, b, dtype, func(in testvalues.Inputs) []*objective.Node {
					var out []*objective.Node
					for _, c := range cases {
						w := c.Net.nodes(in)
						loss := objective.Implicit{}.Loss(nil, nil, c.Net.score(w), in.Of(c.X))
						out = append(append(out, loss), lossAndGradients(loss, w)...)
					}
					return out
				})
				for i, c := range cases {
					testvalues.Case(t, c.ID, func(t *testing.T) {
						g, name := got[6*i:], c.ID+" "+dtype.String()
						each := slices.Clone(c.Trace)
						for n, s := range c.Score {
							for _, v := range s {
								each[n] += v * v / 2
							}
						}
						testvalues.Near(t, name+": each example", g[0], each, rtol)
						testvalues.Near(t, name, g[1], []float64{c.Loss}, rtol)
						for k, w := range weightNames {
							testvalues.Near(t, name+": gradient for "+w, g[2+k], c.Grad.flat()[k], rtol)
						}
					})
				}
			})
		}
	})
}

// hutchinson is a case of testdata/hutchinson.json: a matrix A, probes and vᵀAv for them, and the variances of one
// vᵀAv for the kinds of probe in their order.
type hutchinson struct {
	ID               string
	A                [][]float64
	Rademacher       [][]float64 `json:"v_rademacher"`
	Gaussian         [][]float64 `json:"v_gaussian"`
	MeanRademacher   float64     `json:"mean_rademacher"`
	MeanGaussian     float64     `json:"mean_gaussian"`
	ValuesRademacher []float64   `json:"vAv_rademacher"`
	ValuesGaussian   []float64   `json:"vAv_gaussian"`
	Variances        []float64
}

var kinds = []autodiff.Probe{autodiff.Rademacher, autodiff.Gaussian, autodiff.Sphere}

// score is Ax, whose Jacobian is A everywhere and whose square is 0 at 0.
func (c hutchinson) score(in testvalues.Inputs) scorekit.Score {
	return affine([]*objective.Node{in.Of(c.A), in.Of(make([]float64, len(c.A)))})
}

// A batch of one example with four listed probes has the mean of vᵀAv as its loss, and their variance over k(k−1).
func TestHutchinsonListed(t *testing.T) {
	var cases []hutchinson
	testvalues.Read(t, "hutchinson.json", &cases)
	cases = slices.DeleteFunc(cases, func(c hutchinson) bool { return c.Gaussian == nil })
	variance := func(values []float64) float64 {
		mean, sum, k := testvalues.Mean(values), 0.0, float64(len(values))
		for _, v := range values {
			sum += (v - mean) * (v - mean)
		}
		return sum / (k * (k - 1))
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.RunIn(t, b, dtypes.Float64, func(in testvalues.Inputs) []*objective.Node {
			var out []*objective.Node
			for _, c := range cases {
				x := in.Of([][]float64{make([]float64, len(c.A))})
				for _, kind := range kinds[:2] {
					v := map[autodiff.Probe][][]float64{autodiff.Rademacher: c.Rademacher, autodiff.Gaussian: c.Gaussian}[kind]
					listed := graph.InsertAxes(in.Of(v), 1) // [probes, 1, d]
					h := objective.ImplicitHutchinson{Probes: len(v), Kind: kind}
					loss := h.Loss(nil, random.Listed(in.Graph, listed), c.score(in), x)
					again, variance := h.LossAndVariance(nil, random.Listed(in.Graph, listed), c.score(in), x)
					out = append(out, loss, again, variance)
				}
			}
			return out
		})
		for i, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				for k, want := range []struct {
					mean   float64
					values []float64
				}{{c.MeanRademacher, c.ValuesRademacher}, {c.MeanGaussian, c.ValuesGaussian}} {
					g, name := got[6*i+3*k:], c.ID+" "+kinds[k].String()
					testvalues.Near(t, name+": loss", g[0], []float64{want.mean}, 1e-9)
					testvalues.Near(t, name+": loss beside the variance", g[1], []float64{want.mean}, 1e-9)
					testvalues.Near(t, name+": variance", g[2], []float64{variance(want.values)}, 1e-9)
				}
			})
		}
	})
}

// The variance that is reported, times the number of probes, averages to the exact variance of one probe over 20,000
// examples, within 5 standard errors; so does the square of the loss's own error. The exact variances are those of
// the symmetric part of A.
func TestHutchinsonVariance(t *testing.T) {
	const n, probes = 20_000, 3
	var cases []hutchinson
	testvalues.Read(t, "hutchinson.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := drawn(t, b, 5, func(rng *random.Source) []*objective.Node {
			var out []*objective.Node
			in := testvalues.Inputs{Graph: rng.Graph(), DType: dtypes.Float64}
			for _, c := range cases {
				x := graph.Zeros(rng.Graph(), testvalues.Shape(n, len(c.A)))
				for k := range c.Variances {
					loss, variance := objective.ImplicitHutchinson{Probes: probes, Kind: kinds[k]}.LossAndVariance(nil, rng, c.score(in), x)
					out = append(out, loss, variance)
				}
			}
			return out
		})
		i := 0
		for _, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				trace := 0.0
				for j := range c.A {
					trace += c.A[j][j]
				}
				for k, want := range c.Variances {
					name := c.ID + " " + kinds[k].String()
					loss, variance := got[i], got[i+1]
					i += 2
					if want == 0 {
						// Every probe gives the trace, to the last digits.
						testvalues.NearNumber(t, name+": largest loss", slices.Max(loss), trace, 1e-14)
						testvalues.NearNumber(t, name+": smallest loss", slices.Min(loss), trace, 1e-14)
						if largest := slices.Max(variance); !(largest <= 1e-28) {
							t.Errorf("%s: variance %v, want 0", name, largest)
						}
						continue
					}
					squares := make([]float64, n)
					for j := range squares {
						squares[j] = probes * (loss[j] - trace) * (loss[j] - trace)
						variance[j] *= probes
					}
					testvalues.MeanWithin(t, name+": trace", loss, trace)
					testvalues.MeanWithin(t, name+": reported variance of one probe", variance, want)
					testvalues.MeanWithin(t, name+": variance of one probe", squares, want)
				}
			})
		}
	})
}

// The energy E = ¼ Σ aᵢxᵢ⁴ has by hand ½‖∇E‖² − ΔE = ½ Σ aᵢ²xᵢ⁶ − 3 Σ aᵢxᵢ², and the loss of the score −axᵢ³ is the
// same, in rows and in images. So are the other losses that add no noise to the points. The points come out of
// StopGradient, as those of a density do.
func TestEnergyIsItsScore(t *testing.T) {
	const a = 0.3
	energy := func(x *objective.Node) *objective.Node {
		axes := []int{1, 2, 3}[:x.Rank()-1]
		return graph.ReduceSum(graph.MulScalar(graph.Square(graph.Square(x)), a/4), axes...)
	}
	score := func(x *objective.Node) *objective.Node { return graph.MulScalar(graph.Mul(x, graph.Square(x)), -a) }
	all := []scorekit.Objective{objective.Implicit{}, objective.ImplicitHutchinson{Probes: 2}, objective.Sliced{Projections: 2}, objective.SlicedVR{Projections: 2},
		objective.Explicit{Target: scorekit.Score(testvalues.Ignoring(graph.Neg))}, objective.NonNegative{Origin: -2}, objective.NonNegative{Origin: -2, Probes: 2}}
	want := make([]float64, 3)
	for i := range want {
		for j := range 12 {
			x := math.Sin(float64(12*i + j))
			want[i] += a*a*math.Pow(x, 6)/2 - 3*a*x*x
		}
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.RunIn(t, b, dtypes.Float64, func(in testvalues.Inputs) []*objective.Node {
			x := graph.Sin(graph.IotaFull(in.Graph, testvalues.Shape(3, 12)))
			v := graph.Sign(graph.Cos(graph.MulScalar(graph.IotaFull(in.Graph, testvalues.Shape(2, 3, 12)), 3)))
			var out []*objective.Node
			for _, o := range all {
				for _, dims := range [][]int{{3, 12}, {3, 2, 3, 2}} {
					for _, s := range []scorekit.Score{scorekit.Energy(testvalues.Ignoring(energy)).Score, testvalues.Ignoring(score)} {
						listed := random.Listed(in.Graph, graph.Reshape(v, append([]int{2}, dims...)...))
						out = append(out, o.Loss(nil, listed, s, graph.StopGradient(graph.Reshape(x, dims...))))
					}
				}
			}
			return out
		})
		for i, o := range all {
			g := got[4*i : 4*i+4]
			if i < 2 { // the Jacobian is diagonal: ±1 probes give its trace exactly
				testvalues.Near(t, "by hand", g[0], want, 1e-13)
			}
			for k := range g {
				testvalues.Near(t, "energy or score, rows or images", g[k], g[0], 1e-13)
			}
			if g[0][0] == g[0][1] {
				t.Errorf("%T: examples 0 and 1 have one loss", o)
			}
		}
	})
}
