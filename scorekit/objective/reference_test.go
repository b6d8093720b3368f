package objective_test

import (
	"math"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/objective"
	"github.com/scorekit/lab/scorekit/random"
)

// lossAndGradients adds the mean of a loss and its gradient for each weight.
func lossAndGradients(loss *objective.Node, weights []*objective.Node) []*objective.Node {
	m := graph.ReduceAllMean(loss)
	return append([]*objective.Node{m}, graph.Gradient(m, weights...)...)
}

var weightNames = []string{"W1", "b1", "W2", "b2"}

// The loss of a listed tanh network on listed data and noise, and its gradient for every weight, equal numbers found
// with 40 digits: to 1e-9 in float64 and 1e-4 in float32. The mean of the squares over examples and coordinates, which
// is how a mean-squared-error function counts, is 2/d of the plain loss.
func TestDenoisingReference(t *testing.T) {
	var cases []struct {
		ID               string
		Net              network
		X, Z             [][]float64
		Sigma            float64
		Unweighted       float64
		UnweightedGrad   network `json:"unweighted_grad"`
		Weighted         float64
		WeightedGrad     network `json:"weighted_grad"`
		MeanSquaredError float64 `json:"mean_squared_error"`
	}
	testvalues.Read(t, "denoising.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for dtype, rtol := range map[dtypes.DType]float64{dtypes.Float64: 1e-9, dtypes.Float32: 1e-4} {
			t.Run(dtype.String(), func(t *testing.T) {
				got := testvalues.RunIn(t, b, dtype, func(in testvalues.Inputs) []*objective.Node {
					var out []*objective.Node
					for _, c := range cases {
						for _, weighted := range []bool{false, true} {
							w := c.Net.nodes(in)
							score := testvalues.Ignoring(func(x *objective.Node) *objective.Node { return apply(w, x) })
							d := objective.Denoising{Sigma: c.Sigma, Weighted: weighted}
							loss := d.Loss(nil, random.Listed(in.Graph, in.Of(c.Z)), score, in.Of(c.X))
							out = append(out, lossAndGradients(loss, w)...)
						}
					}
					return out
				})
				for i, c := range cases {
					testvalues.Case(t, c.ID, func(t *testing.T) {
						plain, weighted := got[10*i:10*i+5], got[10*i+5:10*i+10]
						name := c.ID + " " + dtype.String()
						testvalues.Near(t, name, plain[0], []float64{c.Unweighted}, rtol)
						testvalues.Near(t, name+" weighted", weighted[0], []float64{c.Weighted}, rtol)
						for k, w := range weightNames {
							testvalues.Near(t, name+": gradient for "+w, plain[1+k], c.UnweightedGrad.flat()[k], rtol)
							testvalues.Near(t, name+" weighted: gradient for "+w, weighted[1+k], c.WeightedGrad.flat()[k], rtol)
						}
						d := float64(len(c.X[0]))
						testvalues.NearNumber(t, name+": mean squared error", plain[0][0]*2/d, c.MeanSquaredError, rtol)
					})
				}
			})
		}
	})
}

// The noise-conditional score net(x)/σ at listed levels, data and noise: the levels are reached through the uniform
// draws that MultiNoise turns into them. With every level given to every example the mean over all is the loss of a
// ladder of levels (Song and Ermon 2019, eq. 6), whose gradient is listed too; with one level an example it is what
// training computes.
func TestMultiNoiseReference(t *testing.T) {
	var cases []struct {
		ID               string
		Net              network
		X                [][]float64
		Z                [][][]float64
		Sigmas           []float64
		Level            []int
		ZSampled         [][]float64 `json:"z_sampled"`
		Weighted         float64
		WeightedPerLevel []float64 `json:"weighted_per_level"`
		WeightedGrad     network   `json:"weighted_grad"`
		Unweighted       float64
		SampledWeighted  float64 `json:"sampled_weighted"`
	}
	testvalues.Read(t, "multinoise.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.RunIn(t, b, dtypes.Float64, func(in testvalues.Inputs) []*objective.Node {
			var out []*objective.Node
			for _, c := range cases {
				w := c.Net.nodes(in)
				score := scorekit.Score(func(_ *mlctx.Context, x, sigma *objective.Node) *objective.Node {
					return graph.Div(apply(w, x), graph.InsertAxes(sigma, -1))
				})
				m := objective.MultiNoise{Min: 0.1, Max: 1}
				uniform := func(sigma float64) float64 { return math.Log(sigma/m.Min) / math.Log(m.Max/m.Min) }
				var x, z [][]float64
				var u []float64
				for i, sigma := range c.Sigmas {
					for n := range c.X {
						x, z, u = append(x, c.X[n]), append(z, c.Z[i][n]), append(u, uniform(sigma))
					}
				}
				loss := m.Loss(nil, random.Listed(in.Graph, in.Of(u), in.Of(z)), score, in.Of(x))
				out = append(out, lossAndGradients(loss, w)...)
				perLevel := graph.ReduceMean(graph.Reshape(loss, len(c.Sigmas), len(c.X)), 1)
				m.Weighting = objective.Plain
				plain := m.Loss(nil, random.Listed(in.Graph, in.Of(u), in.Of(z)), score, in.Of(x))
				out = append(out, perLevel, graph.ReduceAllMean(plain))
				u = u[:0]
				for _, level := range c.Level {
					u = append(u, uniform(c.Sigmas[level]))
				}
				m.Weighting = objective.SigmaSquared
				sampled := m.Loss(nil, random.Listed(in.Graph, in.Of(u), in.Of(c.ZSampled)), score, in.Of(c.X))
				out = append(out, graph.ReduceAllMean(sampled))
			}
			return out
		})
		for i, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				g := got[8*i:]
				testvalues.Near(t, c.ID, g[0], []float64{c.Weighted}, 1e-9)
				for k, w := range weightNames {
					testvalues.Near(t, c.ID+": gradient for "+w, g[1+k], c.WeightedGrad.flat()[k], 1e-9)
				}
				testvalues.Near(t, c.ID+": each level", g[5], c.WeightedPerLevel, 1e-9)
				testvalues.Near(t, c.ID+": plain", g[6], []float64{c.Unweighted}, 1e-9)
				testvalues.Near(t, c.ID+": one level an example", g[7], []float64{c.SampledWeighted}, 1e-9)
			})
		}
	})
}

// The loss and gradients that torchebm 0.8.9 gives for an energy E(x) = w2·tanh(W1 x + b1) + ½c‖x‖², whose score is
// −∇E: its DenoisingScoreMatching is the mean of ½‖s + z/σ‖², without a weight, so that the factor between the two is 1.
// The gradient for the weights passes through the score's own gradient.
func TestTorchEBM(t *testing.T) {
	var cases []struct {
		energyCase
		Z     [][]float64
		Sigma float64
	}
	testvalues.Read(t, "torchebm.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.RunIn(t, b, dtypes.Float64, func(in testvalues.Inputs) []*objective.Node {
			var out []*objective.Node
			for _, c := range cases {
				w := c.weights(in)
				loss := objective.Denoising{Sigma: c.Sigma}.Loss(nil, random.Listed(in.Graph, in.Of(c.Z)), tanhEnergy(w, c.C).Score, in.Of(c.X))
				out = append(out, lossAndGradients(loss, w)...)
			}
			return out
		})
		for i, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				c.check(t, got[4*i:])
			})
		}
	})
}

// The target is −z/σ, not z/σ, and the best score is that of the noised data, −x̃/(sd² + σ²) for N(0, sd²I): the
// listed losses are those of that score and of its negative. The score −z/σ itself, the noisy label, has no loss; σ²
// times the loss is the weighted one.
func TestSignAndWeight(t *testing.T) {
	var cases []struct {
		ID              string
		X, Z, Target    []float64
		Sigma, Sd, Loss float64
		WrongSignLoss   float64 `json:"wrong_sign_loss"`
	}
	testvalues.Read(t, "errata.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.RunIn(t, b, dtypes.Float64, func(in testvalues.Inputs) []*objective.Node {
			var out []*objective.Node
			for _, c := range cases {
				p, err := density.Isotropic(make([]float64, len(c.X)), c.Sd)
				if err != nil {
					t.Fatal(err)
				}
				loss := func(d objective.Denoising, score scorekit.Score) *objective.Node {
					return d.Loss(nil, random.Listed(in.Graph, in.Of(c.Z)), score, in.Of([][]float64{c.X}))
				}
				negative := scorekit.Score(func(vars *mlctx.Context, x, sigma *objective.Node) *objective.Node {
					return graph.Neg(p.Score(vars, x, sigma))
				})
				target := testvalues.Ignoring(func(*objective.Node) *objective.Node { return in.Of([][]float64{c.Target}) })
				plain, weighted := objective.Denoising{Sigma: c.Sigma}, objective.Denoising{Sigma: c.Sigma, Weighted: true}
				out = append(out, loss(plain, p.Score), loss(weighted, p.Score), loss(plain, negative), loss(plain, target))
			}
			return out
		})
		for i, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				g := got[4*i:]
				testvalues.Near(t, c.ID+": loss", g[0], []float64{c.Loss}, 1e-9)
				testvalues.Near(t, c.ID+": weighted loss", g[1], []float64{c.Sigma * c.Sigma * c.Loss}, 1e-9)
				testvalues.Near(t, c.ID+": loss of minus the score", g[2], []float64{c.WrongSignLoss}, 1e-9)
				if !(g[3][0] <= 1e-20) {
					t.Errorf("%s: the target has the loss %v", c.ID, g[3][0])
				}
			})
		}
	})
}

// At the noised point three scores are listed: that of the noised density, which the loss leads to and which the noise
// level makes of the density; the noisy label −z/σ, which alone has no loss at this draw; and that of the density itself.
func TestConditionalAndMarginal(t *testing.T) {
	var cases []struct {
		ID                           string
		X, Z                         []float64
		Sigma, Sd                    float64
		Marginal, Conditional, Clean []float64
	}
	testvalues.Read(t, "marginal.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.RunIn(t, b, dtypes.Float64, func(in testvalues.Inputs) []*objective.Node {
			var out []*objective.Node
			for _, c := range cases {
				p, err := density.Isotropic(make([]float64, len(c.X)), c.Sd)
				if err != nil {
					t.Fatal(err)
				}
				var marginal, clean *objective.Node
				label := scorekit.Score(func(_ *mlctx.Context, x, sigma *objective.Node) *objective.Node {
					marginal, clean = p.Score(nil, x, sigma), p.Score(nil, x, nil)
					return in.Of([][]float64{c.Conditional})
				})
				loss := objective.Denoising{Sigma: c.Sigma}.Loss(nil, random.Listed(in.Graph, in.Of(c.Z)), label, in.Of([][]float64{c.X}))
				out = append(out, marginal, clean, loss)
			}
			return out
		})
		for i, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				g := got[3*i:]
				testvalues.Near(t, "score of the noised density", g[0], c.Marginal, 1e-9)
				testvalues.Near(t, "score of the density", g[1], c.Clean, 1e-9)
				if !(g[2][0] <= 1e-20) {
					t.Errorf("the label has the loss %v", g[2][0])
				}
			})
		}
	})
}
