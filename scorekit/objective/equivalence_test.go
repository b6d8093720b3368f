package objective_test

import (
	"math"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/objective"
	"github.com/scorekit/lab/scorekit/random"
)

// fewPoints is one case of testdata/equivalence.json: a distribution on a few points, models by name, and their
// denoising and explicit losses J_DSM = J_ESM + C, by quadrature.
type fewPoints struct {
	ID       string
	Data     [][]float64
	Weights  []float64
	Sigma    float64
	A        [][]float64
	B        []float64
	DSM, ESM map[string]float64
	C        float64
	Rtol     float64
}

// model returns the score of a name.
func (c fewPoints) model(in testvalues.Inputs, name string) scorekit.Score {
	return map[string]scorekit.Score{
		"zero":             testvalues.Ignoring(graph.ZerosLike),
		"linear -0.7x+0.2": testvalues.Ignoring(func(x *objective.Node) *objective.Node { return graph.AddScalar(graph.MulScalar(x, -0.7), 0.2) }),
		"tanh 1.5tanh(2x)-x": testvalues.Ignoring(func(x *objective.Node) *objective.Node {
			return graph.Sub(graph.MulScalar(graph.Tanh(graph.MulScalar(x, 2)), 1.5), x)
		}),
		"sin(3x)": testvalues.Ignoring(func(x *objective.Node) *objective.Node { return graph.Sin(graph.MulScalar(x, 3)) }),
		"affine": testvalues.Ignoring(func(x *objective.Node) *objective.Node {
			return graph.Add(graph.Dot(x, graph.Transpose(in.Of(c.A), 0, 1)), in.Of([][]float64{c.B}))
		}),
	}[name]
}

// noised returns the data convolved with N(0, σ²I).
func (c fewPoints) noised(t *testing.T) density.Mixture {
	t.Helper()
	var components []density.Gaussian
	for _, x := range c.Data {
		g, err := density.Isotropic(x, c.Sigma)
		if err != nil {
			t.Fatal(err)
		}
		components = append(components, g)
	}
	m, err := density.NewMixture(c.Weights, components...)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// noise returns the points z of the trapezoidal rule in d dimensions and their shares of N(0, I): for an analytic
// integrand the rule converges faster than any power of its step. The steps leave errors below 1e-10.
func noise(d int) (z [][]float64, share []float64) {
	step := map[int]float64{1: 0.05, 2: 0.25}[d]
	z, share = [][]float64{nil}, []float64{1}
	for range d {
		var nextZ [][]float64
		var nextShare []float64
		for i := range z {
			for k := -math.Round(9 / step); k <= math.Round(9/step); k++ {
				v := k * step
				nextZ = append(nextZ, append(append([]float64{}, z[i]...), v))
				nextShare = append(nextShare, share[i]*step*math.Exp(-v*v/2)/math.Sqrt(2*math.Pi))
			}
		}
		z, share = nextZ, nextShare
	}
	return z, share
}

// The expectation of the denoising loss over the noise, by quadrature, equals the listed one for every model, and is
// the explicit loss ½E‖s − ∇log p_σ‖² plus one constant for all models: the loss of the exact score, the minimum
// (Vincent 2011). That minimum is at most the Floor of Gaussian data of the same variance.
func TestEquivalence(t *testing.T) {
	var cases []fewPoints
	testvalues.Read(t, "equivalence.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		var names []string
		var shares [][]float64
		got := testvalues.RunIn(t, b, dtypes.Float64, func(in testvalues.Inputs) []*objective.Node {
			names, shares = nil, nil
			var out []*objective.Node
			for _, c := range cases {
				z, share := noise(len(c.Data[0]))
				var x, listed [][]float64
				var shareOf []float64
				for i := range c.Data {
					for k := range z {
						x, listed = append(x, c.Data[i]), append(listed, z[k])
						shareOf = append(shareOf, c.Weights[i]*share[k])
					}
				}
				exact := c.noised(t)
				unleveled := testvalues.Ignoring(func(x *objective.Node) *objective.Node { return exact.Score(nil, x, nil) })
				data, zs := in.Of(x), in.Of(listed)
				loss := func(s scorekit.Score) *objective.Node {
					return objective.Denoising{Sigma: c.Sigma}.Loss(nil, random.Listed(in.Graph, zs), s, data)
				}
				moved := graph.Add(data, graph.MulScalar(zs, c.Sigma))
				for name := range c.DSM {
					s := c.model(in, name)
					gap := graph.Sub(s(nil, moved, nil), exact.Score(nil, moved, nil))
					explicit := graph.MulScalar(graph.ReduceSum(graph.Square(gap), 1), 0.5)
					out = append(out, loss(s), explicit, loss(unleveled))
					names, shares = append(names, name), append(shares, shareOf)
				}
			}
			return out
		})
		expectation := func(i int) float64 {
			sum := 0.0
			for k, v := range got[i] {
				sum += shares[i/3][k] * v
			}
			return sum
		}
		k := 0
		for _, c := range cases {
			for range c.DSM {
				name := names[k/3]
				denoising, explicit, least := expectation(k), expectation(k+1), expectation(k+2)
				testvalues.NearNumber(t, c.ID+" "+name+": denoising loss", denoising, c.DSM[name], c.Rtol)
				testvalues.NearNumber(t, c.ID+" "+name+": explicit loss", explicit, c.ESM[name], c.Rtol)
				testvalues.NearNumber(t, c.ID+" "+name+": difference", denoising-explicit, c.C, c.Rtol)
				testvalues.NearNumber(t, c.ID+": loss of the exact score", least, c.C, c.Rtol)
				k += 3
			}
			d, variance := len(c.Data[0]), 0.0
			for j, row := range c.noised(t).Cov() {
				variance += (row[j] - c.Sigma*c.Sigma) / float64(d)
			}
			floor, err := objective.Denoising{Sigma: c.Sigma}.Floor(d, math.Sqrt(variance))
			if err != nil {
				t.Fatal(err)
			}
			if !(floor > c.C) {
				t.Errorf("%s: floor %v of Gaussian data, below the minimum %v", c.ID, floor, c.C)
			}
		}
	})
}
