package objective_test

import (
	"context"
	"math"
	"slices"
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
	"github.com/scorekit/lab/scorekit/sampler"
)

// From listed draws: LogUniform is what Min and Max give, Ladder takes the listed level, LogNormal is e^{Mean + Std z}.
// The weights against ½‖s + z/σ‖² are σ², 1 and σ²(σ² + σ_d²)/σ_d²; the last is half of Karras's λ(σ)‖D(x̃) − x‖².
func TestLevelsListed(t *testing.T) {
	const dataStd = 0.5
	u, index, normal := []float64{0.25, 0.5, 0.9}, []float64{2, 0, 1}, []float64{-1, 0.5, 2}
	x, z := [][]float64{{1, 2}, {0.5, -1}, {3, 0}}, [][]float64{{0.3, -2}, {1, 1}, {-0.7, 0.2}}
	ladder := objective.Ladder{Sigmas: []float64{5, 0.7, 0.1}}
	levels := []struct {
		levels objective.Levels
		draws  []float64
		want   func(i int) float64
	}{
		{objective.LogUniform{Min: 0.1, Max: 10}, u, func(i int) float64 { return 0.1 * math.Pow(100, u[i]) }},
		{ladder, index, func(i int) float64 { return ladder.Sigmas[int(index[i])] }},
		{objective.LogNormal{Mean: -1.2, Std: 1.2}, normal, func(i int) float64 { return math.Exp(-1.2 + 1.2*normal[i]) }},
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := testvalues.RunIn(t, b, dtypes.Float64, func(in testvalues.Inputs) []*objective.Node {
			var out []*objective.Node
			for _, l := range levels {
				var w watcher
				for _, m := range []objective.MultiNoise{
					{Levels: l.levels, Weighting: objective.Plain}, {Levels: l.levels},
					{Levels: l.levels, Weighting: objective.EDM, DataStd: dataStd},
				} {
					out = append(out, m.Loss(nil, random.Listed(in.Graph, in.Of(l.draws), in.Of(z)), w.Score, in.Of(x)))
				}
				out = append(out, w.sigma)
				// Karras's own form, of the denoiser D = x̃ + σ²s.
				sigma := graph.InsertAxes(w.sigma, -1)
				denoiser := graph.Add(w.x, graph.Mul(graph.Square(sigma), graph.MulScalar(w.x, -0.3)))
				out = append(out, graph.ReduceSum(graph.Square(graph.Sub(denoiser, in.Of(x))), 1))
			}
			m := objective.MultiNoise{Min: 0.1, Max: 10}
			return append(out, m.Loss(nil, random.Listed(in.Graph, in.Of(u), in.Of(z)), new(watcher).Score, in.Of(x)))
		})
		for k, l := range levels {
			plain, weighted, edm, sigma, denoised := got[5*k], got[5*k+1], got[5*k+2], got[5*k+3], got[5*k+4]
			for i := range sigma {
				s2 := l.want(i) * l.want(i)
				testvalues.NearNumber(t, "level", sigma[i], l.want(i), 1e-14)
				testvalues.NearNumber(t, "σ² times the plain loss", weighted[i], s2*plain[i], 1e-13)
				testvalues.NearNumber(t, "EDM", edm[i], s2*(s2+dataStd*dataStd)/(dataStd*dataStd)*plain[i], 1e-13)
				lambda := (s2 + dataStd*dataStd) / (s2 * dataStd * dataStd)
				testvalues.NearNumber(t, "half of Karras's loss", edm[i], lambda*denoised[i]/2, 1e-12)
			}
		}
		testvalues.Near(t, "min and max", got[len(got)-1], got[1], 0)
	})
}

// Over 40,000 draws, each within 5 standard errors: a ladder's levels come equally often, and ln σ of LogNormal has the
// mean and variance that were asked for.
func TestLevelsDrawn(t *testing.T) {
	const n = 40_000
	ladder := objective.Ladder{Sigmas: []float64{5, 0.7, 0.1, 3}}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		got := drawn(t, b, 8, func(rng *random.Source) []*objective.Node {
			return []*objective.Node{ladder.Draw(nil, rng, n), objective.LogNormal{Mean: -1.2, Std: 1.5}.Draw(nil, rng, n)}
		})
		for _, s := range ladder.Sigmas {
			hits := make([]float64, n)
			for i, v := range got[0] {
				if v == s {
					hits[i] = 1
				}
			}
			testvalues.MeanWithin(t, "share of a level", hits, 0.25)
		}
		logs, squares := make([]float64, n), make([]float64, n)
		for i, v := range got[1] {
			logs[i] = math.Log(v)
			squares[i] = (logs[i] + 1.2) * (logs[i] + 1.2)
		}
		testvalues.MeanWithin(t, "mean of ln σ", logs, -1.2)
		testvalues.MeanWithin(t, "variance of ln σ", squares, 1.5*1.5)
	})
}

// A sampler on its way down meets the levels that a geometric ladder trained at, to the last digit.
func TestGeometricIsTheSamplersLadder(t *testing.T) {
	ladder, err := objective.Geometric(8, 0.03, 7)
	if err != nil {
		t.Fatal(err)
	}
	schedule, err := sampler.AnnealedLangevin{Max: 8, Min: 0.03, Levels: 7, StepsPerLevel: 1, StepSize: 1}.Schedule()
	if err != nil {
		t.Fatal(err)
	}
	var sigmas []float64
	for _, row := range schedule.Rows {
		sigmas = append(sigmas, row[0])
	}
	if !slices.Equal(ladder.Sigmas, sigmas) {
		t.Errorf("ladder %v, sampler %v", ladder.Sigmas, sigmas)
	}
}

// levelScore is the score 0 times a weight, plus a number that makes the loss of a point at 0 tell the level: with
// s = 10⁶ the σ²-weighted loss ½(σs + z)² is ½·10¹²σ² within the millionth part of it.
func levelScore(vars *mlctx.Context, x, _ *objective.Node) *objective.Node {
	w := vars.VariableWithValue("w", 0.0).ValueGraph(x.Graph())
	return graph.AddScalar(graph.Mul(graph.OnesLike(x), w), 1e6)
}

// atZero is data that is always 0.
type atZero struct{}

func (atZero) Shape() []int { return []int{1} }

func (atZero) Batch(_ *mlctx.Context, rng *random.Source, n int) *objective.Node {
	return graph.MulScalar(rng.Normal(n, 1), 0)
}

// The level of step t is σ₀αᵗ and never below Min: with unrolled steps as with single ones, and after a stop, a
// checkpoint and a resume as without. EvaluateLoss sees the level after the last step of a trained model and σ₀ of any
// other. Each loss tells its level to 10⁻⁵.
func TestAnnealedFallsWithTraining(t *testing.T) {
	levels := objective.Annealed{Start: 2, Factor: 0.8, Min: 0.25}
	o := objective.MultiNoise{Levels: levels}
	at := func(step int) float64 { return max(0.25, 2*math.Pow(0.8, float64(step))) }
	level := func(loss float64) float64 { return math.Sqrt(2*loss) / 1e6 }
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		fit := func(options ...scorekit.FitOption) *scorekit.Fitted {
			t.Helper()
			options = append([]scorekit.FitOption{scorekit.WithDType(dtypes.Float64), scorekit.WithBatch(2),
				scorekit.WithOptimizer(scorekit.SGD{Rate: scorekit.Rate{Peak: 1e-30}})}, options...)
			f, err := scorekit.Fit(context.Background(), b, scorekit.Score(levelScore), o, atZero{}, options...)
			if err != nil {
				t.Fatal(err)
			}
			return f
		}
		check := func(name string, f *scorekit.Fitted, first, last int) {
			t.Helper()
			history := f.History()
			if len(history) != last-first {
				t.Fatalf("%s: %d steps, want %d", name, len(history), last-first)
			}
			for i, s := range history {
				testvalues.NearNumber(t, name+": level", level(s.Loss), at(first+i), 1e-5)
			}
			loss, _, err := scorekit.EvaluateLoss(context.Background(), b, f, o, atZero{}, 2, 1)
			if err != nil {
				t.Fatal(err)
			}
			testvalues.NearNumber(t, name+": level of the trained model", level(loss), at(last), 1e-5)
		}
		dir := t.TempDir()
		check("single steps", fit(scorekit.WithSteps(12), scorekit.WithUnroll(1)), 0, 12)
		check("unrolled steps", fit(scorekit.WithSteps(12), scorekit.WithUnroll(4)), 0, 12)
		check("until the stop", fit(scorekit.WithSteps(5), scorekit.WithUnroll(1), scorekit.WithCheckpoints(dir, 100)), 0, 5)
		check("after it", fit(scorekit.WithSteps(12), scorekit.WithUnroll(1), scorekit.WithCheckpoints(dir, 100), scorekit.WithResume()), 5, 12)
		loaded, err := scorekit.LoadInto(dir, scorekit.Score(levelScore))
		if err != nil {
			t.Fatal(err)
		}
		constant := testvalues.Ignoring(func(x *objective.Node) *objective.Node { return graph.AddScalar(graph.ZerosLike(x), 1e6) })
		for _, test := range []struct {
			name  string
			model scorekit.Model
			want  float64
		}{{"loaded", loaded, at(12)}, {"exact", scorekit.Score(constant), at(0)}} {
			for range 2 { // evaluating counts no steps
				loss, _, err := scorekit.EvaluateLoss(context.Background(), b, test.model, o, atZero{}, 2, 1)
				if err != nil {
					t.Fatal(err)
				}
				testvalues.NearNumber(t, "level of the "+test.name+" model", level(loss), test.want, 1e-5)
			}
		}
	})
}

// A resumed training with falling levels ends with the weights of an uninterrupted one, bit for bit.
func TestAnnealedResumes(t *testing.T) {
	p, err := density.Isotropic([]float64{1, -1}, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	o := objective.MultiNoise{Levels: objective.Annealed{Start: 3, Factor: 0.9, Min: 0.1}}
	fit := func(steps int, options ...scorekit.FitOption) *scorekit.Fitted {
		t.Helper()
		options = append(options, scorekit.WithSteps(steps), scorekit.WithUnroll(2), scorekit.WithBatch(16), scorekit.WithOptimizer(scorekit.Adam{Rate: scorekit.Rate{Peak: 0.05}}))
		f, err := scorekit.Fit(context.Background(), testbackend.Go(t), scorekit.Score(trainedAffine), o, p, options...)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	dir := scorekit.WithCheckpoints(t.TempDir(), 4)
	fit(8, dir)
	resumed, whole := fit(20, dir, scorekit.WithResume()), fit(20)
	for _, name := range []string{"A", "b"} {
		got, want := fittedRows(t, resumed, name), fittedRows(t, whole, name)
		if !slices.EqualFunc(got, want, slices.Equal) {
			t.Errorf("%s = %v, without a stop %v", name, got, want)
		}
	}
}
