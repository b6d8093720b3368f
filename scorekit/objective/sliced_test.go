package objective_test

import (
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

var kindNames = map[string]autodiff.Probe{"rademacher": autodiff.Rademacher, "gaussian": autodiff.Gaussian, "sphere": autodiff.Sphere}

// Both sliced losses of a listed tanh network along listed directions, their gradients for every weight, and each
// example's loss from its listed vᵀ(∂s/∂x)v and vᵀs. ImplicitHutchinson gives what SlicedVR gives.
func TestSlicedReference(t *testing.T) {
	var cases []struct {
		ID, Kind    string
		Net         network
		X           [][]float64
		V           [][][]float64 // [projections][batch][d]
		Slopes      [][]float64   `json:"vJv"`     // [batch][projections]
		Along       [][]float64   `json:"v_dot_s"` // [batch][projections]
		Sliced      float64       `json:"ssm"`
		SlicedGrad  network       `json:"ssm_grad"`
		Reduced     float64       `json:"ssm_vr"`
		ReducedGrad network       `json:"ssm_vr_grad"`
	}
	testvalues.Read(t, "sliced.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.RunIn(t, b, dtypes.Float64, func(in testvalues.Inputs) []*objective.Node {
			var out []*objective.Node
			for _, c := range cases {
				m, kind := len(c.V), kindNames[c.Kind]
				for _, o := range []scorekit.Objective{
					objective.Sliced{Projections: m, Kind: kind},
					objective.SlicedVR{Projections: m, Kind: kind},
					objective.ImplicitHutchinson{Probes: m, Kind: kind},
				} {
					w := c.Net.nodes(in)
					loss := o.Loss(nil, random.Listed(in.Graph, in.Of(c.V)), c.Net.score(w), in.Of(c.X))
					out = append(append(out, loss), lossAndGradients(loss, w)...)
				}
			}
			return out
		})
		for i, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				sliced, reduced, hutchinson := got[18*i:18*i+6], got[18*i+6:18*i+12], got[18*i+12:18*i+18]
				each := make([]float64, len(c.X))
				for n := range each {
					for j, slope := range c.Slopes[n] {
						each[n] += (slope + c.Along[n][j]*c.Along[n][j]/2) / float64(len(c.V))
					}
				}
				testvalues.Near(t, c.ID+": each example", sliced[0], each, 1e-9)
				testvalues.Near(t, c.ID, sliced[1], []float64{c.Sliced}, 1e-9)
				testvalues.Near(t, c.ID+" VR", reduced[1], []float64{c.Reduced}, 1e-9)
				for k, w := range weightNames {
					testvalues.Near(t, c.ID+": gradient for "+w, sliced[2+k], c.SlicedGrad.flat()[k], 1e-9)
					testvalues.Near(t, c.ID+" VR: gradient for "+w, reduced[2+k], c.ReducedGrad.flat()[k], 1e-9)
				}
				for k := range reduced {
					testvalues.Near(t, c.ID+": Hutchinson", hutchinson[k], reduced[k], 1e-13)
				}
			})
		}
	})
}

// Averaged over all 2^d directions of ±1, which have vvᵀ = I on average exactly, both forms are the implicit loss of
// every example.
func TestSlicedMeanIsImplicit(t *testing.T) {
	var cases []struct {
		ID       string
		Net      network
		X        [][]float64
		Implicit float64 `json:"ism"`
		Sliced   float64 `json:"ssm"`
		Reduced  float64 `json:"ssm_vr"`
	}
	testvalues.Read(t, "sliced_mean.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.RunIn(t, b, dtypes.Float64, func(in testvalues.Inputs) []*objective.Node {
			var out []*objective.Node
			for _, c := range cases {
				d := len(c.X[0])
				v := make([][][]float64, 1<<d)
				for j := range v {
					signs := make([]float64, d)
					for k := range signs {
						signs[k] = float64(1 - 2*(j>>k&1))
					}
					v[j] = slices.Repeat([][]float64{signs}, len(c.X))
				}
				score, x := c.Net.score(c.Net.nodes(in)), in.Of(c.X)
				out = append(out,
					objective.Implicit{}.Loss(nil, nil, score, x),
					objective.Sliced{Projections: len(v)}.Loss(nil, random.Listed(in.Graph, in.Of(v)), score, x),
					objective.SlicedVR{Projections: len(v)}.Loss(nil, random.Listed(in.Graph, in.Of(v)), score, x))
			}
			return out
		})
		for i, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				for k, want := range []float64{c.Implicit, c.Sliced, c.Reduced} {
					testvalues.Near(t, c.ID+": each example", got[3*i+k], got[3*i], 1e-12)
					testvalues.NearNumber(t, c.ID, testvalues.Mean(got[3*i+k]), want, 1e-9)
				}
			})
		}
	})
}

// Twice the loss is 2vᵀ(∂s/∂x)v + (vᵀs)². The form 2vᵀs + (vᵀs)², without the Jacobian, is another number, and over
// all directions of ±1 it averages to ‖s‖²: it is least for s = 0.
func TestSlicedNeedsTheJacobian(t *testing.T) {
	var cases []struct {
		ID           string
		A            [][]float64
		B, X, V      []float64
		Right, Wrong float64
	}
	testvalues.Read(t, "sliced_errata.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.RunIn(t, b, dtypes.Float64, func(in testvalues.Inputs) []*objective.Node {
			var out []*objective.Node
			for _, c := range cases {
				w := []*objective.Node{in.Of(c.A), in.Of(c.B)}
				v := in.Of([][][]float64{{c.V}})
				loss := objective.Sliced{Projections: 1, Kind: autodiff.Gaussian}.Loss(nil, random.Listed(in.Graph, v), affine(w), in.Of([][]float64{c.X}))
				s := affine(w)(nil, in.Of([][]float64{c.X}), nil)
				along := graph.ReduceAllSum(graph.Mul(s, in.Of([][]float64{c.V})))
				out = append(out, loss, graph.Add(graph.MulScalar(along, 2), graph.Square(along)))
			}
			return out
		})
		for i, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				testvalues.NearNumber(t, c.ID, 2*got[2*i][0], c.Right, 1e-9)
				testvalues.NearNumber(t, c.ID+": without the Jacobian", got[2*i+1][0], c.Wrong, 1e-9)
			})
		}
	})
}

// The losses and gradients that torchebm 0.8.9 gives for an energy E(x) = w2·tanh(W1 x + b1) + ½c‖x‖²: its exact score
// matching is Implicit and its sliced score matching Sliced, without a factor between them. Its projections on the
// sphere are made from the listed normal draws.
func TestTorchEBMImplicitAndSliced(t *testing.T) {
	var cases []struct {
		energyCase
		Kind string
		V    [][][]float64
	}
	testvalues.Read(t, "torchebm_implicit_sliced.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.RunIn(t, b, dtypes.Float64, func(in testvalues.Inputs) []*objective.Node {
			var out []*objective.Node
			for _, c := range cases {
				w := c.weights(in)
				var o scorekit.Objective = objective.Implicit{}
				var rng *random.Source
				if c.Kind != "sm_exact" {
					o = objective.Sliced{Projections: len(c.V), Kind: kindNames[c.Kind]}
					rng = random.Listed(in.Graph, in.Of(c.V))
				}
				out = append(out, lossAndGradients(o.Loss(nil, rng, tanhEnergy(w, c.C).Score, in.Of(c.X)), w)...)
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
