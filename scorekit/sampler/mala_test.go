package sampler_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/shapes"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/sampler"
)

func isotropic(t *testing.T, std float64, mean ...float64) density.Gaussian {
	t.Helper()
	p, err := density.Isotropic(mean, std)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// gaussianLaw fails the test unless mean and variance of the values are those of N(mean, variance), within 4 standard
// errors for independent values: √(variance/n) and variance·√(2/n).
func gaussianLaw(t *testing.T, what string, values []float64, mean, variance float64) {
	t.Helper()
	n := float64(len(values))
	var m, v float64
	for _, x := range values {
		m += x / n
	}
	for _, x := range values {
		v += (x - mean) * (x - mean) / n
	}
	if se := math.Sqrt(variance / n); !(math.Abs(m-mean) <= 4*se) {
		t.Errorf("%s: mean %v, want %v ± %v", what, m, mean, se)
	}
	if se := variance * math.Sqrt(2/n); !(math.Abs(v-variance) <= 4*se) {
		t.Errorf("%s: variance %v, want %v ± %v", what, v, variance, se)
	}
}

func coordinate(i int) func(row []float64) float64 {
	return func(row []float64) float64 { return row[i] }
}

// Langevin's variance at rest is that of its finite step in both forms: v/(1 − ε/(2v)) and v/(1 − α/(4v)); MALA's with the
// same step is v. 20,000 independent chains; what is left of the start after 60 steps at |1 − 0.8| a step or less is
// nothing, and MALA, whose acceptance is above a half, has forgotten it too.
func TestVarianceAtRest(t *testing.T) {
	p := isotropic(t, 1, 3)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for name, c := range map[string]struct {
			s    scorekit.Sampler
			want float64
		}{
			"ε form": {sampler.Langevin{StepSize: 0.8, Steps: 60}, 1 / (1 - 0.4)},
			"α form": {sampler.Langevin{Alpha: 0.8, Steps: 60}, 1 / (1 - 0.2)},
			"MALA":   {sampler.MALA{LogDensity: p.LogDensity, StepSize: 0.8, Steps: 60}, 1},
		} {
			d := sample(t, b, p, c.s, scorekit.WithStart(column2(3, chains)))
			gaussianLaw(t, name, column(t, d.X, coordinate(0)), 3, c.want)
		}
	})
}

// column2 is n starting points in one dimension, spread evenly from at−1 to at+1.
func column2(at float64, n int) [][]float64 {
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = []float64{at - 1 + 2*(float64(i)+0.5)/float64(n)}
	}
	return rows
}

// half is a score that is wrong by a factor.
func half(p density.Gaussian) scorekit.Score {
	return func(vars *mlctx.Context, x, sigma *sampler.Node) *sampler.Node {
		return graph.MulScalar(p.Score(vars, x, sigma), 0.5)
	}
}

// MALA's law is exact at any step, beyond Langevin's threshold included, and with a wrong score. Its mean acceptance at rest
// is the integral over x ~ N(0, 1) and z ~ N(0, 1) of the acceptance, worked out here on a grid. Over 40 steps past a
// burn-in of 40, 20,000 chains: the error of the mean is at most that of 20,000 independent values, as successive ones
// agree.
func TestMALAIsExactAtAnyStep(t *testing.T) {
	p := isotropic(t, 1, 0)
	for _, c := range []struct {
		name   string
		model  scorekit.Model
		factor float64 // the score is −factor·x
		step   float64
	}{{"short", p, 1, 0.5}, {"long", p, 1, 1.9}, {"beyond the threshold", p, 1, 2.5}, {"wrong score", half(p), 0.5, 1}} {
		logp := func(x float64) float64 { return -x * x / 2 }
		var mean, weight float64
		for x := -7.0; x < 7; x += 0.05 {
			for z := -7.0; z < 7; z += 0.05 {
				y := x - c.step*c.factor*x + math.Sqrt(2*c.step)*z
				back := x - y + c.step*c.factor*y
				r := logp(y) - logp(x) + z*z/2 - back*back/(4*c.step)
				w := math.Exp(-x*x/2 - z*z/2)
				mean, weight = mean+w*math.Min(1, math.Exp(r)), weight+w
			}
		}
		mean /= weight
		s := sampler.MALA{LogDensity: p.LogDensity, StepSize: c.step, Steps: 80}
		d := sample(t, testbackend.Go(t), c.model, s, scorekit.WithBurnIn(40), scorekit.WithShape(1))
		gaussianLaw(t, c.name, column(t, d.X, coordinate(0)), 0, 1)
		if se := 0.5 / math.Sqrt(chains); math.Abs(d.Info["acceptance"]-mean) > 4*se {
			t.Errorf("%s: acceptance %v, want %v", c.name, d.Info["acceptance"], mean)
		}
		if math.Abs(d.Info["step"]-c.step) > 1e-12 {
			t.Errorf("%s: step %v, want %v", c.name, d.Info["step"], c.step)
		}
	}
}

// On the half-line x > 0 with density e^{−x} half of the proposals near 0 fall where p is 0. They are refused, and the
// law is exact: mean 1 and variance 1, fourth moment about it 9. Chains that start where p is 0 come in by themselves.
func TestMALAOnATruncatedLaw(t *testing.T) {
	logp := func(x *sampler.Node) *sampler.Node {
		v := graph.Reshape(x, x.Shape().Dimensions[0])
		return graph.Where(graph.GreaterThan(v, graph.ZerosLike(v)), graph.Neg(v), graph.Infinity(v.Graph(), v.DType(), -1))
	}
	pull := scorekit.Score(func(_ *mlctx.Context, x, _ *sampler.Node) *sampler.Node {
		return graph.Neg(graph.Sign(x))
	})
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		d := sample(t, b, pull, sampler.MALA{LogDensity: logp, StepSize: 1, Steps: 150}, scorekit.WithStart(column2(-1, chains)))
		mean, square := 0.0, 0.0
		for _, v := range column(t, d.X, coordinate(0)) {
			if !(v > 0) {
				t.Fatalf("a chain at %v", v)
			}
			mean, square = mean+v/chains, square+(v-1)*(v-1)/chains
		}
		if se := 1 / math.Sqrt(chains); math.Abs(mean-1) > 4*se || math.Abs(square-1) > 4*math.Sqrt(8)*se {
			t.Errorf("mean %v, variance %v, want 1 and 1 ± %v", mean, square, se)
		}
	})
}

// From a step far too short and one far too long the adaptation finds the acceptance of 0.574, and then ε stands still. The
// mean acceptance over 200 chains has a standard error of at most 0.5/√200 = 0.035; over the 200 steps that follow, some
// 40 of which are as good as independent, 0.006; 0.02 allows 3.5 of them. What the adaptation leaves in log ε is less.
func TestMALAAdapts(t *testing.T) {
	p := isotropic(t, 1, 0, 0, 0, 0, 0)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for _, first := range []float64{1e-3, 50} {
			s := sampler.MALA{LogDensity: p.LogDensity, StepSize: first, Adapt: 400, Steps: 600}
			var frozen float64
			for at, err := range scorekit.SampleSteps(context.Background(), b, p, s, 200, scorekit.WithUnroll(5), scorekit.WithBurnIn(400)) {
				if err != nil {
					t.Fatal(err)
				}
				if at.Step != 405 && at.Step != 600 {
					continue
				}
				info, err := at.Info()
				if err != nil {
					t.Fatal(err)
				}
				if at.Step == 405 {
					frozen = info["step"]
					continue
				}
				if info["step"] != frozen {
					t.Errorf("from %v: ε goes from %v to %v after the adaptation", first, frozen, info["step"])
				}
				if math.Abs(info["acceptance"]-0.574) > 0.02 {
					t.Errorf("from %v: acceptance %v with ε = %v, want 0.574", first, info["acceptance"], info["step"])
				}
			}
		}
	})
}

// Energies and scores of where a chain is come from its last step; a step that took them anew would be told here, by a
// count of what the graph of a step evaluates.
func TestMALAEvaluatesOnceAStep(t *testing.T) {
	calls := 0
	energy := scorekit.Energy(func(_ *mlctx.Context, x, _ *sampler.Node) *sampler.Node {
		calls++
		return graph.MulScalar(graph.ReduceSum(graph.Square(x), 1), 0.5)
	})
	s := sampler.MALA{Energy: energy, StepSize: 0.1, Steps: 4}
	// Two of them are for the first state, and for the step that is built only to check it.
	if _, err := scorekit.Sample(context.Background(), testbackend.Go(t), energy, s, 3, scorekit.WithShape(2), scorekit.WithUnroll(4)); err != nil || calls != 2+4 {
		t.Errorf("%d evaluations in 4 steps, want 6: error %v", calls, err)
	}
}

// A log-density that is no number where a chain starts stops the run at once.
func TestMALAStartsNowhere(t *testing.T) {
	nowhere := func(x *sampler.Node) *sampler.Node {
		return graph.Sqrt(graph.AddScalar(graph.Neg(graph.ReduceSum(graph.Square(x), 1)), -1))
	}
	p := isotropic(t, 1, 0)
	for name, s := range map[string]scorekit.Sampler{
		"MALA":      sampler.MALA{LogDensity: nowhere, StepSize: 0.1, Steps: 10},
		"tempering": sampler.ParallelTempering{LogDensity: nowhere, Betas: []float64{1, 0.5}, StepSize: 0.1, Steps: 10},
	} {
		_, err := scorekit.Sample(context.Background(), testbackend.Go(t), p, s, 3)
		var diverged *scorekit.DivergedError
		if !errors.As(err, &diverged) || diverged.Step != 1 {
			t.Errorf("%s: error %v, want a divergence at step 1", name, err)
		} else if !strings.Contains(err.Error(), "any log p or energy there") {
			t.Errorf("%s: error %v does not name log p", name, err)
		}
	}
}

// An energy with weights takes them from the model or from WithVars; without them, or with a result of another shape, it is
// refused with a reason.
func TestEnergyWithWeights(t *testing.T) {
	stiff := scorekit.Energy(func(vars *mlctx.Context, x, _ *sampler.Node) *sampler.Node {
		stiffness := vars.VariableWithShape("stiffness", shapes.Make(x.DType(), 1)).ValueGraph(x.Graph())
		return graph.Mul(stiffness, bowl(nil, x, nil))
	})
	vars := mlctx.New().Checked(false)
	vars.VariableWithValue("stiffness", []float64{4})
	b := testbackend.Go(t)
	s := sampler.MALA{Energy: stiff, StepSize: 0.2, Steps: 60}
	d := sample(t, b, stiff, s, scorekit.WithVars(vars), scorekit.WithShape(1))
	gaussianLaw(t, "stiffness 4", column(t, d.X, coordinate(0)), 0, 0.25)

	for want, s := range map[string]scorekit.Sampler{
		"the energy has weights that were not given, /stiffness first": s,
		"energy of shape [5 2] for points of shape [5 2]: must be [chains]": sampler.MALA{StepSize: 1, Energy: func(_ *mlctx.Context, x, _ *sampler.Node) *sampler.Node {
			return x
		}},
		"log-density of shape [] for points of shape [5 2]: must be [chains]": sampler.ParallelTempering{StepSize: 1, Betas: []float64{1, 0.5},
			LogDensity: func(x *sampler.Node) *sampler.Node { return graph.ReduceAllSum(x) }},
	} {
		_, err := scorekit.Sample(context.Background(), b, isotropic(t, 1, 0, 0), s, 5)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}
