package objective_test

import (
	"slices"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit/objective"
	"github.com/scorekit/lab/scorekit/random"
)

// small returns a network for points of d coordinates, with weights without a pattern.
func small(d int) network {
	n := network{B1: []float64{0.3, -0.2, 0.5}, W2: make([][]float64, d), B2: []float64{0.1, -0.4}[:d]}
	for i := range n.B1 {
		n.W1 = append(n.W1, []float64{1.1 - 0.8*float64(i), 0.4 + 0.3*float64(i)}[:d])
	}
	for k := range n.W2 {
		n.W2[k] = []float64{-0.9 + 0.2*float64(k), 0.7, 0.5 - float64(k)}
	}
	return n
}

// Vincent's equality, by quadrature over centres and noise: with a Gaussian kernel of bandwidth σ the expected
// ExplicitKDE is the listed explicit loss of every model, Denoising is that and one constant, the listed C, and the
// gradients of the two for a network's weights are the same, to 1e-9 (1e-7 in two dimensions, as listed).
func TestVincentByQuadrature(t *testing.T) {
	var cases []fewPoints
	testvalues.Read(t, "equivalence.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		var names [][]string
		got := testvalues.RunIn(t, b, dtypes.Float64, func(in testvalues.Inputs) []*objective.Node {
			var out []*objective.Node
			names = nil
			for _, c := range cases {
				z, share := noise(len(c.Data[0]))
				var x, zs [][]float64
				var index, shares []float64
				for i := range c.Data {
					for k := range z {
						x, zs = append(x, c.Data[i]), append(zs, z[k])
						index, shares = append(index, float64(i)), append(shares, c.Weights[i]*share[k])
					}
				}
				weighted := c.Weights[0] != c.Weights[1]
				q := estimate(t, c.Data, c.Weights, c.Sigma)
				expect := func(loss *objective.Node) *objective.Node { return graph.ReduceAllSum(graph.Mul(loss, in.Of(shares))) }
				data, noises := in.Of(x), in.Of(zs)
				both := func(score func(x *objective.Node) *objective.Node) (explicit, denoising *objective.Node) {
					explicit = objective.ExplicitKDE{Target: q}.Loss(nil, listedDraws(in, weighted, index, noises), testvalues.Ignoring(score), graph.ZerosLike(data))
					denoising = objective.Denoising{Sigma: c.Sigma}.Loss(nil, random.Listed(in.Graph, noises), testvalues.Ignoring(score), data)
					return expect(explicit), expect(denoising)
				}
				var of []string
				for name := range c.DSM {
					score := c.model(in, name)
					explicit, denoising := both(func(x *objective.Node) *objective.Node { return score(nil, x, nil) })
					of, out = append(of, name), append(out, explicit, denoising)
				}
				names = append(names, of)
				w := small(len(c.Data[0])).nodes(in)
				explicit, denoising := both(func(x *objective.Node) *objective.Node { return apply(w, x) })
				out = append(append(out, explicit), graph.Gradient(explicit, w...)...)
				out = append(append(out, denoising), graph.Gradient(denoising, w...)...)
			}
			return out
		})
		for i, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				for _, name := range names[i] {
					testvalues.NearNumber(t, name+": ExplicitKDE", got[0][0], c.ESM[name], c.Rtol)
					testvalues.NearNumber(t, name+": Denoising", got[1][0], c.DSM[name], c.Rtol)
					testvalues.NearNumber(t, name+": difference", got[1][0]-got[0][0], c.C, c.Rtol)
					got = got[2:]
				}
				testvalues.NearNumber(t, "network: difference", got[5][0]-got[0][0], c.C, c.Rtol)
				for k, w := range weightNames {
					testvalues.Near(t, "gradient for "+w, got[1+k], got[6+k], c.Rtol)
				}
				got = got[10:]
			})
		}
	})
}

// The same by draws, as training makes them: over 60 batches of 1,000 points the gradients for a network's weights differ by
// 0 and the losses by C, within 5 standard errors of the batches' differences. About 45 numbers are compared on each
// backend.
func TestVincentByDraws(t *testing.T) {
	const batch, rounds = 1000, 60
	var cases []fewPoints
	testvalues.Read(t, "equivalence.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		draws := sampled(t, b, rounds, func(in testvalues.Inputs, rng *random.Source) []*objective.Node {
			var out []*objective.Node
			for _, c := range cases {
				d := len(c.Data[0])
				net := small(d)
				w := net.nodes(in)
				q := estimate(t, c.Data, c.Weights, c.Sigma)
				// Data in the proportions of their weights, which are tenths.
				var rows [][]float64
				for i, x := range c.Data {
					rows = append(rows, slices.Repeat([][]float64{x}, int(10*c.Weights[i]+0.5))...)
				}
				data := graph.Gather(in.Of(rows), rng.Int(len(rows), batch, 1))
				explicit := objective.ExplicitKDE{Target: q}.Loss(nil, rng, net.score(w), data)
				denoising := objective.Denoising{Sigma: c.Sigma}.Loss(nil, rng, net.score(w), data)
				one, other := lossAndGradients(denoising, w), lossAndGradients(explicit, w)
				for k := range one {
					out = append(out, graph.Sub(one[k], other[k]))
				}
			}
			return out
		})
		for i, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				for k, what := range append([]string{"loss"}, weightNames...) {
					want := 0.0
					if k == 0 {
						want = c.C
					}
					of := draws[5*i+k]
					for j := range of[0] {
						differences := make([]float64, rounds)
						for r := range rounds {
							differences[r] = of[r][j]
						}
						testvalues.MeanWithin(t, what+": Denoising less ExplicitKDE", differences, want)
					}
				}
			})
		}
	})
}
