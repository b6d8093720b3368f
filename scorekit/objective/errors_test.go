package objective_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/shapes"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/autodiff"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/kde"
	"github.com/scorekit/lab/scorekit/net"
	"github.com/scorekit/lab/scorekit/objective"
	"github.com/scorekit/lab/scorekit/random"
)

func TestImpossibleSettings(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	floor := func(d objective.Denoising, dim int, std float64) error { _, err := d.Floor(dim, std); return err }
	floorOf := func(m objective.MultiNoise, sigma float64) error { _, err := m.Floor(sigma, 1, 1); return err }
	geometric := func(max, min float64, levels int) error { _, err := objective.Geometric(max, min, levels); return err }
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
		{objective.MultiNoise{Min: 1, Max: 2, Weighting: 7}.Validate(), "multi-noise objective: weighting 7: must be SigmaSquared, Plain or EDM"},
		{objective.MultiNoise{Min: 1, Max: 2, Weighting: objective.EDM}.Validate(), "multi-noise objective: data std 0: must be positive and finite with the weighting EDM"},
		{objective.MultiNoise{Min: 1, Max: 2, Weighting: objective.EDM, DataStd: nan}.Validate(), "multi-noise objective: data std NaN: must be positive and finite with the weighting EDM"},
		{objective.MultiNoise{Min: 1, Max: 2, DataStd: 0.5}.Validate(), "multi-noise objective: data std 0.5: must be 0 without the weighting EDM"},
		{objective.MultiNoise{Min: 1, Levels: objective.LogNormal{Std: 1}}.Validate(), "multi-noise objective: min 1 and max 0 beside levels: must be 0"},
		{objective.MultiNoise{Levels: objective.LogUniform{Min: 1}}.Validate(), "multi-noise objective: largest noise level 0: must be finite and at least the smallest, 1"},
		{objective.MultiNoise{Levels: objective.LogNormal{}}.Validate(), "multi-noise objective: log-normal levels: standard deviation 0: must be positive and finite"},
		{objective.MultiNoise{Levels: objective.LogNormal{Mean: inf, Std: 1}}.Validate(), "multi-noise objective: log-normal levels: mean +Inf of ln σ: must be finite"},
		{objective.MultiNoise{Levels: objective.Ladder{}}.Validate(), "multi-noise objective: ladder without noise levels: must have at least one"},
		{objective.MultiNoise{Levels: objective.Ladder{Sigmas: []float64{1, -2}}}.Validate(), "multi-noise objective: ladder: noise level 1, -2: must be positive and finite"},
		{objective.MultiNoise{Levels: objective.Annealed{}}.Validate(), "multi-noise objective: annealed levels: start 0: must be positive and finite"},
		{objective.MultiNoise{Levels: objective.Annealed{Start: 1, Factor: 1.5}}.Validate(), "multi-noise objective: annealed levels: factor 1.5: must be above 0 and at most 1"},
		{objective.MultiNoise{Levels: objective.Annealed{Start: 1, Factor: nan, Min: 1}}.Validate(), "multi-noise objective: annealed levels: factor NaN: must be above 0 and at most 1"},
		{objective.MultiNoise{Levels: objective.Annealed{Start: 1, Factor: 0.9, Min: 2}}.Validate(), "multi-noise objective: annealed levels: min 2: must be positive and at most the start, 1"},
		{objective.MultiNoise{Levels: objective.Annealed{Start: 1, Factor: 0.9}}.Validate(), "multi-noise objective: annealed levels: min 0: must be positive and at most the start, 1"},
		{geometric(1, 0, 3), "objective: Geometric: lowest noise level 0: must be positive and finite"},
		{geometric(1, 1, 3), "objective: Geometric: highest noise level 1: must be finite and above the lowest, 1"},
		{geometric(2, 1, 1), "objective: Geometric: 1 levels: must be at least 2"},
		{objective.Implicit{MaxDim: -1}.Validate(), "implicit objective: max dim -1: must be positive, or 0 for 256"},
		{objective.NonNegative{Origin: nan}.Validate(), "non-negative objective: origin NaN: must be finite"},
		{objective.NonNegative{Probes: -1}.Validate(), "non-negative objective: probes -1: must be positive, or 0 for exact slopes"},
		{objective.NonNegative{Kind: 9}.Validate(), "non-negative objective: kind 9: must be Rademacher, Gaussian or Sphere"},
		{objective.Explicit{}.Validate(), "explicit objective: target nil: must be a known score"},
		{objective.Explicit{Target: density.Gaussian{}}.Validate(), "explicit objective: target: density: Gaussian: zero value: must be made by a constructor"},
		{objective.ImplicitHutchinson{}.Validate(), "implicit Hutchinson objective: probes 0: must be at least 1"},
		{objective.ImplicitHutchinson{Probes: 1, Kind: 7}.Validate(), "implicit Hutchinson objective: kind 7: must be Rademacher, Gaussian or Sphere"},
		{objective.Sliced{Projections: -1}.Validate(), "sliced objective: projections -1: must be at least 1"},
		{objective.Sliced{Projections: 1, Kind: -1}.Validate(), "sliced objective: kind -1: must be Rademacher, Gaussian or Sphere"},
		{objective.SlicedVR{}.Validate(), "sliced VR objective: projections 0: must be at least 1"},
		{objective.SlicedVR{Projections: 1, Kind: 3}.Validate(), "sliced VR objective: kind 3: must be Rademacher, Gaussian or Sphere"},
		{floor(objective.Denoising{}, 1, 1), "objective: Floor: sigma 0: must be positive and finite"},
		{floorOf(objective.MultiNoise{Max: 1}, 1), "objective: Floor: smallest noise level 0: must be positive and finite"},
		{floorOf(objective.MultiNoise{Min: 1, Max: 1}, 0), "objective: Floor: sigma 0: must be positive and finite"},
		{floor(good, 0, 1), "objective: Floor: dim 0: must be at least 1"},
		{floor(good, 1, -1), "objective: Floor: std -1: must be finite and not negative"},
		{floor(good, 1, nan), "objective: Floor: std NaN: must be finite and not negative"},
		{floor(good, 1, inf), "objective: Floor: std +Inf: must be finite and not negative"},
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
		objective.Implicit{}, objective.Implicit{MaxDim: 1000}, objective.NonNegative{Origin: -1}, objective.NonNegative{Probes: 2, Kind: autodiff.Sphere},
		objective.MultiNoise{Levels: objective.Annealed{Start: 1, Factor: 1, Min: 1}, Weighting: objective.EDM, DataStd: 2},
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

// every is one of each objective for points of d numbers, with the name that its errors start with.
func every(t *testing.T, d int) map[string]scorekit.Objective {
	t.Helper()
	estimate, err := kde.New([][]float64{make([]float64, d)}, kde.Gaussian, kde.Fixed(1))
	if err != nil {
		t.Fatal(err)
	}
	return map[string]scorekit.Objective{
		"explicit KDE objective":        objective.ExplicitKDE{Target: estimate},
		"explicit objective":            objective.Explicit{Target: scorekit.Score(testvalues.Ignoring(graph.Neg))},
		"implicit objective":            objective.Implicit{},
		"implicit Hutchinson objective": objective.ImplicitHutchinson{Probes: 1},
		"sliced objective":              objective.Sliced{Projections: 1},
		"sliced VR objective":           objective.SlicedVR{Projections: 1},
		"denoising objective":           objective.Denoising{Sigma: 1},
		"multi-noise objective":         objective.MultiNoise{Min: 1, Max: 2},
		"non-negative objective":        objective.NonNegative{},
	}
}

// filled is data of a shape, all of whose numbers are value but the first of each example, which is 1.
type filled struct {
	shape []int
	value float64
}

func (f filled) Shape() []int { return f.shape }

func (f filled) Batch(_ *mlctx.Context, rng *random.Source, n int) *objective.Node {
	x := graph.AddScalar(graph.Zeros(rng.Graph(), shapes.Make(rng.DType(), append([]int{n}, f.shape...)...)), f.value)
	if x.Rank() < 2 || x.Shape().Size() == 0 {
		return x
	}
	first := graph.Equal(graph.Iota(rng.Graph(), x.Shape(), 1), graph.ZerosLike(x))
	return graph.Where(first, graph.OnesLike(x), x)
}

// Data with a NaN or an Inf in them, even where the network makes finite numbers of it, and data without numbers are
// errors of Fit and of EvaluateLoss, for every objective; so is a score of another shape than the points, in a graph of
// one's own too.
func TestEveryObjectiveRefusesBadData(t *testing.T) {
	b := testbackend.Go(t)
	// The model reads the first number of a point alone, which is finite, and so makes finite scores of any.
	model := scorekit.Score(func(vars *mlctx.Context, x, _ *objective.Node) *objective.Node {
		w := vars.VariableWithValue("w", float32(1)).ValueGraph(x.Graph())
		first := graph.Slice(x, graph.AxisRange(), graph.AxisElem(0))
		return graph.Mul(graph.OnesLike(x), graph.Mul(w, first))
	})
	seed, err := random.Seed(1)
	if err != nil {
		t.Fatal(err)
	}
	narrow := scorekit.Score(testvalues.Ignoring(func(x *objective.Node) *objective.Node { return graph.SliceAxis(x, 1, graph.AxisElem(0)) }))
	for who, o := range every(t, 2) {
		for _, value := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
			data := filled{[]int{2}, value}
			var nonFinite *scorekit.NonFiniteError
			if _, err := scorekit.Fit(context.Background(), b, model, o, data, scorekit.WithSteps(2)); !errors.As(err, &nonFinite) || nonFinite.Step != 1 {
				t.Errorf("%s, Fit with %v in the data: error %v", who, value, err)
			}
			fixed := scorekit.Score(testvalues.Ignoring(graph.OnesLike))
			if _, _, err := scorekit.EvaluateLoss(context.Background(), b, fixed, o, data, 2, 1); err == nil || !strings.HasPrefix(err.Error(), "scorekit: EvaluateLoss: the loss is NaN") {
				t.Errorf("%s, EvaluateLoss with %v in the data: error %v", who, value, err)
			}
		}
		for _, shape := range [][]int{{}, {0}, {3, 0}} {
			want := who + ": points of shape ["
			if _, err := scorekit.Fit(context.Background(), b, model, o, filled{shape, 1}); err == nil || !strings.HasPrefix(err.Error(), "scorekit: Fit: "+want) {
				t.Errorf("%s, Fit with points of shape %v: error %v", who, shape, err)
			}
			if _, _, err := scorekit.EvaluateLoss(context.Background(), b, model, o, filled{shape, 1}, 2, 1); err == nil || !strings.HasPrefix(err.Error(), "scorekit: EvaluateLoss: "+want) {
				t.Errorf("%s, EvaluateLoss with points of shape %v: error %v", who, shape, err)
			}
		}
	}
	for who, o := range every(t, 3) {
		_, err := graph.ExecOnce(b, func(x *objective.Node) *objective.Node {
			return o.Loss(nil, random.New(graph.ConstTensor(x.Graph(), seed), x.DType(), 1), narrow, x)
		}, [][]float64{{1, 2, 3}, {4, 5, 6}})
		if err == nil || !strings.Contains(err.Error(), "shape (Float64)[2 1] for points of shape (Float64)[2 3]: must be equal") {
			t.Errorf("%s with a narrow score: error %v", who, err)
		}
	}
}

// Points with more numbers than the exact passes are meant for are refused before anything is compiled, and what to do
// is said.
func TestImplicitRefusesManyDimensions(t *testing.T) {
	for _, test := range []struct {
		objective scorekit.Objective
		want      string
	}{
		{objective.Implicit{}, "scorekit: Fit: implicit objective: points of 784 numbers: the exact trace takes 784 passes, more than the limit of 256: use ImplicitHutchinson or Sliced, or raise MaxDim"},
		{objective.Implicit{MaxDim: 783}, "scorekit: Fit: implicit objective: points of 784 numbers: the exact trace takes 784 passes, more than the limit of 783: use ImplicitHutchinson or Sliced, or raise MaxDim"},
		{objective.NonNegative{}, "scorekit: Fit: non-negative objective: points of 784 numbers: exact slopes take 784 passes, more than the limit of 256: set Probes"},
	} {
		if _, err := scorekit.Fit(context.Background(), testbackend.Go(t), net.MLP{}, test.objective, filled{[]int{28, 28}, 1}); err == nil || err.Error() != test.want {
			t.Errorf("error %v, want %s", err, test.want)
		}
	}
}

// A target that cannot be one is named, whatever is wrong with it.
func TestExplicitTargets(t *testing.T) {
	b := testbackend.Go(t)
	p, err := density.Isotropic([]float64{0, 0}, 1)
	if err != nil {
		t.Fatal(err)
	}
	fitted, err := scorekit.Fit(context.Background(), b, net.MLP{Hidden: []int{2}}, objective.Implicit{}, p, scorekit.WithSteps(1))
	if err != nil {
		t.Fatal(err)
	}
	line, err := density.Isotropic([]float64{0}, 1)
	if err != nil {
		t.Fatal(err)
	}
	for want, target := range map[string]scorekit.Model{
		"scorekit: Fit: explicit objective: target *scorekit.Fitted: its weights are not given to the objective": fitted,
		"scorekit: Fit: explicit objective: target net.MLP: must be a score that needs no weights":               net.MLP{},
		"scorekit: Fit: explicit objective: target: density: Gaussian: points of shape":                          line,
	} {
		if _, err := scorekit.Fit(context.Background(), b, net.MLP{}, objective.Explicit{Target: target}, p); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// ownLevels is a distribution of levels of a user's own.
type ownLevels func(rng *random.Source, n int) *objective.Node

func (ownLevels) Validate() error { return nil }

func (l ownLevels) Draw(_ *mlctx.Context, rng *random.Source, n int) *objective.Node {
	return l(rng, n)
}

// Levels of a user's own that are not [batch], or not positive, are an error and no training.
func TestOwnLevels(t *testing.T) {
	for want, levels := range map[string]ownLevels{
		"multi-noise objective: levels objective_test.ownLevels gave (Float32)[4 1] for 4 examples of Float32: must be [batch]": func(rng *random.Source, n int) *objective.Node { return rng.Uniform(n, 1) },
		"multi-noise objective: levels objective_test.ownLevels gave nil for 4 examples":                                        func(*random.Source, int) *objective.Node { return nil },
		"multi-noise objective: levels objective_test.ownLevels gave (Int32)[4]":                                                func(rng *random.Source, n int) *objective.Node { return rng.Int(3, n) },
		"step 1: loss NaN": func(rng *random.Source, n int) *objective.Node { return graph.Neg(rng.Uniform(n)) },
	} {
		_, err := scorekit.Fit(context.Background(), testbackend.Go(t), net.MLP{Hidden: []int{2}}, objective.MultiNoise{Levels: levels},
			filled{[]int{2}, 1}, scorekit.WithBatch(4), scorekit.WithSteps(1))
		if err == nil || !strings.HasPrefix(err.Error(), "scorekit: Fit: "+want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

// A layer without the derivatives that an objective takes is an error that names the objective too.
func TestLayerWithoutSecondDerivative(t *testing.T) {
	pooled := scorekit.Score(func(vars *mlctx.Context, x, _ *objective.Node) *objective.Node {
		w := vars.VariableWithValue("w", float32(1)).ValueGraph(x.Graph())
		image := graph.InsertAxes(graph.Mul(w, graph.Square(x)), -1)
		return graph.Add(x, graph.Reshape(graph.MaxPool(image).Window(3).Strides(1).PadSame().Done(), x.Shape().Dimensions...))
	})
	_, err := scorekit.Fit(context.Background(), testbackend.Go(t), pooled, objective.Implicit{}, filled{[]int{4, 4}, 1}, scorekit.WithSteps(1), scorekit.WithBatch(2))
	if err == nil || !strings.HasPrefix(err.Error(), "scorekit: Fit: objective objective.Implicit: autodiff: gradient of ") {
		t.Errorf("error %v", err)
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
		{"points without a batch", "implicit objective: points of shape [2]: must be [batch, dims...], with at least one point of at least one number",
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
