package objective_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/autodiff"
	"github.com/scorekit/lab/scorekit/kde"
	"github.com/scorekit/lab/scorekit/objective"
	"github.com/scorekit/lab/scorekit/random"
)

// settings are drawn at random: those that are usual have an answer; the others may be impossible, or at the end of what
// numbers are.
type settings struct {
	*rand.Rand
	usual bool
}

func (r settings) number() float64 {
	odd := []float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1), 1e-30, 1e30, 1e-300, 1e300, math.SmallestNonzeroFloat64, math.MaxFloat64, math.MaxFloat32}
	if !r.usual && r.IntN(3) == 0 {
		return odd[r.IntN(len(odd))]
	}
	return math.Exp(3*r.Float64() - 2)
}

func (r settings) count() int {
	if r.usual {
		return 1 + r.IntN(4)
	}
	return r.IntN(6) - 1
}

func (r settings) kind() autodiff.Probe {
	if r.usual {
		return autodiff.Probe(r.IntN(3))
	}
	return autodiff.Probe(r.IntN(5) - 1)
}

func (r settings) levels() objective.Levels {
	low := r.number()
	switch r.IntN(4) {
	case 0:
		return objective.LogUniform{Min: low, Max: low + r.number()}
	case 1:
		var sigmas []float64
		for range r.count() {
			sigmas = append(sigmas, r.number())
		}
		return objective.Ladder{Sigmas: sigmas}
	case 2:
		return objective.LogNormal{Mean: r.number() - 1, Std: r.number() / 5}
	}
	return objective.Annealed{Start: low + r.number(), Factor: 1 - r.Float64(), Min: low}
}

// objective has random settings, for at most 7 points of a shape.
func (r settings) objective(shape []int) scorekit.Objective {
	switch r.IntN(11) {
	case 0:
		return objective.Explicit{Target: ball}
	case 1:
		points := make([]float64, 3*size(shape))
		for i := range points {
			points[i] = r.NormFloat64()
		}
		estimate, err := kde.New(tensors.FromFlatDataAndDimensions(points, append([]int{3}, shape...)...), kde.Gaussian, kde.Fixed(math.Exp(r.Float64()-0.5)))
		if err != nil {
			panic(err)
		}
		return objective.ExplicitKDE{Target: estimate, Centres: r.count()}
	case 2:
		return objective.Implicit{MaxDim: r.count() * 20}
	case 3:
		return objective.ImplicitHutchinson{Probes: r.count(), Kind: r.kind()}
	case 4:
		return objective.Sliced{Projections: r.count(), Kind: r.kind()}
	case 5:
		return objective.SlicedVR{Projections: r.count(), Kind: r.kind()}
	case 6:
		return objective.NonNegative{Origin: -10 - r.number(), Probes: r.count(), Kind: r.kind()}
	case 7:
		return objective.Denoising{Sigma: r.number(), Weighted: r.IntN(2) == 0}
	case 8:
		low := r.number()
		m := objective.MultiNoise{Min: low, Max: low + r.number(), Weighting: objective.Weighting(r.IntN(3))}
		if r.IntN(3) > 0 {
			m.Levels, m.Min, m.Max = r.levels(), 0, 0
		}
		if m.Weighting == objective.EDM {
			m.DataStd = r.number()
		}
		return m
	}
	c := objective.Contrastive{Energy: bowl, StepSize: r.number() / 20, Steps: r.count(), Metropolis: r.IntN(3) == 0}
	chosen := []*float64{&c.Spread, &c.Penalty}
	if !c.Metropolis || !r.usual {
		chosen = append(chosen, &c.Noise, &c.MaxGradient, &c.Limit)
	}
	for _, setting := range chosen {
		if r.IntN(3) == 0 {
			*setting = r.number()
		}
	}
	if r.IntN(2) == 0 {
		c.Buffer, c.Restart = 7*r.count(), r.Float64()
	}
	return c
}

func size(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// bowl is ½‖x‖²/(1 + σ²) of points of any shape, and ball its score, that of N(0, I), noised where there is a level.
func bowl(_ *mlctx.Context, x, sigma *objective.Node) *objective.Node {
	energy := graph.MulScalar(graph.ReduceSum(graph.Reshape(graph.Square(x), x.Shape().Dimensions[0], -1), 1), 0.5)
	if sigma != nil {
		energy = graph.Div(energy, graph.OnePlus(graph.Square(sigma)))
	}
	return energy
}

var ball = scorekit.Energy(bowl)

// normalData is N(0, I) in points of a shape.
type normalData []int

func (d normalData) Shape() []int { return d }

func (d normalData) Batch(_ *mlctx.Context, rng *random.Source, n int) *objective.Node {
	return rng.Normal(append([]int{n}, d...)...)
}

// leaning is the score of N(0, I) and a weight times x, so that there is something to train.
func leaning(vars *mlctx.Context, x, sigma *objective.Node) *objective.Node {
	var start any = float32(0.1)
	if x.DType() == dtypes.Float64 {
		start = 0.1
	}
	return graph.Add(ball.Score(vars, x, sigma), graph.Mul(vars.VariableWithValue("w", start).ValueGraph(x.Graph()), x))
}

// neverPanics runs f and returns its error; a panic is a failure of the test, and so is one that is passed off as an error.
func neverPanics(t *testing.T, what string, f func() error) (err error) {
	t.Helper()
	defer func() {
		t.Helper()
		if r := recover(); r != nil {
			t.Errorf("%s: panic: %v", what, r)
			err = fmt.Errorf("panic")
		}
	}()
	err = f()
	if err != nil && (strings.Contains(err.Error(), "runtime error") || !strings.HasPrefix(err.Error(), "scorekit: ")) {
		t.Errorf("%s: error %q, want one that says what is wrong and where", what, err)
	}
	return err
}

// 400 objectives of random settings, on points of random shapes, one and odd numbers of them, in float32 and float64: their
// losses in a graph of one's own, EvaluateLoss, and two steps of Fit end with an error or with finite numbers, as many as
// there are examples. What Validate finds impossible is refused; what is usual is not, and has finite losses in any graph.
func TestAnySettings(t *testing.T) {
	b := testbackend.Go(t)
	seed, err := random.Seed(1)
	if err != nil {
		t.Fatal(err)
	}
	shapes := [][]int{{1}, {2}, {3}, {17}, {1, 1, 1}, {3, 5, 1}, {2, 3, 3}}
	answers, refusals := map[string]int{}, map[string]int{}
	for i := range 400 {
		r := settings{rand.New(rand.NewPCG(uint64(i), 3)), i%2 == 0}
		shape, n := shapes[r.IntN(len(shapes))], []int{1, 2, 3, 5, 7}[r.IntN(5)]
		dtype := []dtypes.DType{dtypes.Float32, dtypes.Float64}[r.IntN(2)]
		o := r.objective(shape)
		what := fmt.Sprintf("case %d: %T %+v, %d points of shape %v, %v", i, o, o, n, shape, dtype)
		var invalid error
		if v, ok := o.(scorekit.Validator); ok {
			invalid = v.Validate()
		}
		if invalid == nil {
			var losses []float64
			err := neverPanics(t, what, func() error {
				out, err := graph.ExecOnce(b, func(state *objective.Node) *objective.Node {
					rng := random.New(state, dtype, 1)
					loss := o.Loss(nil, rng, ball.Score, rng.Normal(append([]int{n}, shape...)...))
					if want := fmt.Sprintf("(%v)[%d]", dtype, n); loss.Shape().String() != want {
						t.Errorf("%s: loss of shape %s, want %s", what, loss.Shape(), want)
					}
					return graph.ConvertDType(loss, dtypes.Float64)
				}, seed)
				if err != nil {
					return fmt.Errorf("scorekit: %w", err)
				}
				losses = testvalues.Flat(t, out)
				return nil
			})
			if r.usual && (err != nil || slices.ContainsFunc(losses, isNotFinite)) {
				t.Errorf("%s: losses %v, error %v", what, losses, err)
			}
		}

		var mean, se float64
		evaluated := neverPanics(t, what, func() (err error) {
			mean, se, err = scorekit.EvaluateLoss(t.Context(), b, ball, o, normalData(shape), max(n, 2), 1)
			return err
		})
		if evaluated == nil && (isNotFinite(mean) || isNotFinite(se)) {
			t.Errorf("%s: loss %v ± %v without an error", what, mean, se)
		}
		var fitted *scorekit.Fitted
		trained := neverPanics(t, what, func() (err error) {
			fitted, err = scorekit.Fit(t.Context(), b, scorekit.Score(leaning), o, normalData(shape),
				scorekit.WithSteps(2), scorekit.WithBatch(n), scorekit.WithDType(dtype))
			return err
		})
		if trained == nil {
			w := fitted.Vars().GetVariable("w")
			if value, err := w.Value(); err != nil || isNotFinite(scalar(t, value)) {
				t.Errorf("%s: trained to %v without an error (%v)", what, value, err)
			}
		}
		switch {
		case evaluated == nil && trained == nil:
			answers[fmt.Sprintf("%T", o)]++
			if invalid != nil {
				t.Errorf("%s: %v, but neither EvaluateLoss nor Fit say so", what, invalid)
			}
		case r.usual:
			t.Errorf("%s: EvaluateLoss: %v; Fit: %v", what, evaluated, trained)
		default:
			refusals[fmt.Sprintf("%T", o)]++
		}
	}
	if len(answers) != 10 || len(refusals) < 9 { // all but Explicit have impossible settings
		t.Errorf("answers: %v; refusals: %v", answers, refusals)
	}
	t.Logf("answers: %v; refusals: %v", answers, refusals)
}

func isNotFinite(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }

// scalar is a scalar of either dtype.
func scalar(t *testing.T, x *tensors.Tensor) float64 {
	t.Helper()
	if x.DType() == dtypes.Float32 {
		return float64(tensors.ToScalar[float32](x))
	}
	return tensors.ToScalar[float64](x)
}
