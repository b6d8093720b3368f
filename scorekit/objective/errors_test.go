package objective_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/autodiff"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/net"
	"github.com/scorekit/lab/scorekit/objective"
	"github.com/scorekit/lab/scorekit/random"
)

func TestImpossibleSettings(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	floor := func(d objective.Denoising, dim int, std float64) error { _, err := d.Floor(dim, std); return err }
	good := objective.Denoising{Sigma: 1}
	for _, test := range []struct {
		err  error
		want string
	}{
		{objective.Denoising{}.Validate(), "denoising objective: sigma 0: must be positive and finite"},
		{objective.Denoising{Sigma: -1}.Validate(), "denoising objective: sigma -1: must be positive and finite"},
		{objective.Denoising{Sigma: nan}.Validate(), "denoising objective: sigma NaN: must be positive and finite"},
		{objective.Denoising{Sigma: inf}.Validate(), "denoising objective: sigma +Inf: must be positive and finite"},
		{objective.MultiNoise{Max: 1}.Validate(), "multi-noise objective: smallest noise level 0: must be positive and finite"},
		{objective.MultiNoise{Min: nan, Max: 1}.Validate(), "multi-noise objective: smallest noise level NaN: must be positive and finite"},
		{objective.MultiNoise{Min: inf, Max: inf}.Validate(), "multi-noise objective: smallest noise level +Inf: must be positive and finite"},
		{objective.MultiNoise{Min: 1, Max: 0.5}.Validate(), "multi-noise objective: largest noise level 0.5: must be finite and at least the smallest, 1"},
		{objective.MultiNoise{Min: 1, Max: inf}.Validate(), "multi-noise objective: largest noise level +Inf: must be finite and at least the smallest, 1"},
		{objective.MultiNoise{Min: 1, Max: nan}.Validate(), "multi-noise objective: largest noise level NaN: must be finite and at least the smallest, 1"},
		{objective.MultiNoise{Min: 1, Max: 2, Weighting: 7}.Validate(), "multi-noise objective: weighting 7: must be SigmaSquared or Plain"},
		{objective.Explicit{}.Validate(), "explicit objective: target nil: must be a known score"},
		{objective.Explicit{Target: density.Gaussian{}}.Validate(), "explicit objective: target: density: Gaussian: zero value: must be made by a constructor"},
		{objective.ImplicitHutchinson{}.Validate(), "implicit Hutchinson objective: probes 0: must be at least 1"},
		{objective.ImplicitHutchinson{Probes: 1, Kind: 7}.Validate(), "implicit Hutchinson objective: kind 7: must be Rademacher, Gaussian or Sphere"},
		{objective.Sliced{Projections: -1}.Validate(), "sliced objective: projections -1: must be at least 1"},
		{objective.Sliced{Projections: 1, Kind: -1}.Validate(), "sliced objective: kind -1: must be Rademacher, Gaussian or Sphere"},
		{objective.SlicedVR{}.Validate(), "sliced VR objective: projections 0: must be at least 1"},
		{objective.SlicedVR{Projections: 1, Kind: 3}.Validate(), "sliced VR objective: kind 3: must be Rademacher, Gaussian or Sphere"},
		{floor(objective.Denoising{}, 1, 1), "denoising objective: sigma 0: must be positive and finite"},
		{floor(good, 0, 1), "denoising objective: Floor: dim 0: must be at least 1"},
		{floor(good, 1, -1), "denoising objective: Floor: std -1: must be finite and not negative"},
		{floor(good, 1, nan), "denoising objective: Floor: std NaN: must be finite and not negative"},
		{floor(good, 1, inf), "denoising objective: Floor: std +Inf: must be finite and not negative"},
	} {
		if test.err == nil || test.err.Error() != test.want {
			t.Errorf("error %v, want %s", test.err, test.want)
		}
	}
	for _, v := range []scorekit.Validator{
		objective.Explicit{Target: scorekit.Score(testvalues.Ignoring(graph.Neg))},
		objective.ImplicitHutchinson{Probes: 1, Kind: autodiff.Sphere},
		objective.Sliced{Projections: 1, Kind: autodiff.Gaussian},
		objective.SlicedVR{Projections: 3},
		good, objective.Denoising{Sigma: 1e-9, Weighted: true}, objective.MultiNoise{Min: 1, Max: 1}, objective.MultiNoise{Min: 0.01, Max: 50, Weighting: objective.Plain},
	} {
		if err := v.Validate(); err != nil {
			t.Errorf("%T%+v: %v", v, v, err)
		}
	}
}

// Fit asks before it works, and says whose setting it was.
func TestFitRefuses(t *testing.T) {
	data, err := scorekit.Examples([][]float64{{1, 2}, {3, 4}})
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		objective scorekit.Objective
		want      string
	}{
		{objective.Denoising{Sigma: -1}, "scorekit: Fit: denoising objective: sigma -1: must be positive and finite"},
		{objective.Explicit{}, "scorekit: Fit: explicit objective: target nil: must be a known score"},
		{objective.Sliced{}, "scorekit: Fit: sliced objective: projections 0: must be at least 1"},
	} {
		if _, err = scorekit.Fit(context.Background(), testbackend.Go(t), net.MLP{}, test.objective, data); err == nil || err.Error() != test.want {
			t.Errorf("error %v, want %s", err, test.want)
		}
	}
}

// What only the graph can tell is an error of the run that builds it.
func TestGraphRefuses(t *testing.T) {
	for _, test := range []struct {
		name, want string
		build      func(x, v *objective.Node) *objective.Node
	}{
		{"a target of another shape", "explicit objective: target's score of shape (Float64)[2] for points of shape (Float64)[2 3]: must be equal",
			func(x, _ *objective.Node) *objective.Node {
				sum := testvalues.Ignoring(func(x *objective.Node) *objective.Node { return graph.ReduceSum(x, 1) })
				return objective.Explicit{Target: scorekit.Score(sum)}.Loss(nil, nil, testvalues.Ignoring(graph.Neg), x)
			}},
		{"the variance of one probe", "implicit Hutchinson objective: LossAndVariance: probes 1: must be at least 2",
			func(x, v *objective.Node) *objective.Node {
				_, variance := objective.ImplicitHutchinson{Probes: 1}.LossAndVariance(nil, random.Listed(x.Graph(), v), testvalues.Ignoring(graph.Neg), x)
				return variance
			}},
		{"points without a batch", "autodiff: Divergence: points of shape (Float64)[2]: must be [batch, dims...]",
			func(x, _ *objective.Node) *objective.Node {
				return objective.Implicit{}.Loss(nil, nil, testvalues.Ignoring(graph.Neg), graph.ReduceSum(x, 1))
			}},
	} {
		_, err := graph.ExecOnce(testbackend.Go(t), test.build, [][]float64{{1, 2, 3}, {4, 5, 6}}, [][][]float64{{{1, 1, 1}, {1, 1, 1}}})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error %v, want %s", test.name, err, test.want)
		}
	}
}
