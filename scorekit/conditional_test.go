package scorekit_test

import (
	"context"
	"math"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/shapes"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/objective"
	"github.com/scorekit/lab/scorekit/random"
	"github.com/scorekit/lab/scorekit/sampler"
)

// perClass is the score s(x | c) = a_c·x + b_c of points of one number, with a table of a and b of a row a class and one
// more for NoClass.
type perClass struct {
	Classes int `json:"classes"`
}

func init() { scorekit.RegisterModel("scorekit_test.perClass", perClass{}) }

var _ scorekit.Conditional = perClass{}

func (m perClass) NumClasses() int { return m.Classes }

func (m perClass) Score(vars *mlctx.Context, x, sigma *Node) *Node {
	none := graph.AddScalar(graph.Zeros(x.Graph(), shapes.Make(dtypes.Int32, x.Shape().Dimensions[0])), scorekit.NoClass)
	return m.ScoreGiven(vars, x, sigma, none)
}

func (m perClass) ScoreGiven(vars *mlctx.Context, x, _, classes *Node) *Node {
	zero := vars.WithInitializer(func(g *graph.Graph, shape shapes.Shape) *Node { return graph.Zeros(g, shape) })
	of := func(name string) *Node {
		table := zero.VariableWithShape(name, shapes.Make(x.DType(), m.Classes+1, 1)).ValueGraph(x.Graph())
		rows := graph.OneHot(graph.AddScalar(classes, 1), m.Classes+1, x.DType())
		return graph.Dot(rows, table)
	}
	return graph.Add(graph.Mul(x, of("a")), of("b"))
}

// tables returns a and b of a fitted perClass: NoClass first.
func tables(t *testing.T, f *scorekit.Fitted) (a, b []float64) {
	t.Helper()
	read := func(name string) []float64 {
		rows, err := scorekit.Rows(f.Vars().GetVariableByScopeAndName("/", name).MustValue())
		if err != nil {
			t.Fatal(err)
		}
		var column []float64
		for _, r := range rows {
			column = append(column, r[0])
		}
		return column
	}
	return read("a"), read("b")
}

// Two classes, x = 1 ± ½ and x = −2 ± 1, three times as many of the first. The denoising objective makes a_c and b_c those of
// the Gaussian with the class's moments plus σ², a = −1/v and b = m/v, and those of NoClass those of all together: the best
// straight line through a score is the Gaussian's. The average of the weights is mostly over the last tenth of the steps, in
// which class 1 comes 50·2048·0.25·0.7 = 18,000 times; the label has the standard deviation √(1/σ² − 1/v) = 1.8 about the
// score, so that a of it has the standard error 1.8/√(18000 v) = 0.012, and b 0.024. The tolerances are at least 4 of them.
func TestConditionalTraining(t *testing.T) {
	values, classes := []float64{0.5, 1.5, 0.5, 1.5, 0.5, 1.5, -3, -1}, []int{0, 0, 0, 0, 0, 0, 1, 1}
	const sigma = 0.5
	want := [][2]float64{{0.25, 1 - 0.75}, {1, 0.25}, {-2, 1}} // mean and variance
	want[0][1] = 0.75*(0.25+1) + 0.25*(1+4) - 0.25*0.25
	var points [][]float64
	var source numbers
	for i, v := range values {
		points = append(points, []float64{v})
		source.classes = append(source.classes, int32(classes[i]))
	}
	source.values = values
	held, err := scorekit.LabelledExamples(points, classes)
	if err != nil {
		t.Fatal(err)
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for name, data := range map[string]scorekit.Data{"held in memory": held, "streamed": streamed(t, source)} {
			f, err := scorekit.Fit(background, b, perClass{2}, objective.Denoising{Sigma: sigma}, data, scorekit.WithSteps(500), scorekit.WithBatch(2048), scorekit.WithUnroll(4),
				scorekit.WithClassDropout(0.3), scorekit.WithOptimizer(scorekit.Adam{Rate: scorekit.Rate{Peak: 0.03, Cosine: true}}))
			if err != nil {
				t.Fatal(name, err)
			}
			a, bias := tables(t, f)
			for c, w := range want {
				v := w[1] + sigma*sigma
				within(t, name+": a", a[c], -1/v, 0.06/v)
				within(t, name+": b", bias[c], w[0]/v, 0.05*(1+math.Abs(w[0]))/v)
			}
			if name == "streamed" {
				continue
			}
			// The model by itself is the score of all; Given the one of a class, and of the formula.
			x := [][]float64{{0.3}, {-1}}
			line := func(c int, x float64) float64 { return a[c]*x + bias[c] }
			check := func(what string, m scorekit.Model, of func(i int, x float64) float64) {
				t.Helper()
				s, err := scorekit.Evaluate(background, b, m, x)
				if err != nil {
					t.Fatal(what, err)
				}
				rows, err := scorekit.Rows(s)
				if err != nil {
					t.Fatal(err)
				}
				for i := range x {
					within(t, what, rows[i][0], of(i, x[i][0]), 1e-5)
				}
			}
			check("plain", f, func(_ int, x float64) float64 { return line(0, x) })
			check("class 1", scorekit.Given{Model: f, Classes: []int{1}}, func(_ int, x float64) float64 { return line(2, x) })
			check("guided", scorekit.Given{Model: f, Classes: []int{1, 0}, Guidance: 1.5}, func(i int, x float64) float64 { return 2.5*line(2-i, x) - 1.5*line(0, x) })
			check("none", scorekit.Given{Model: f, Classes: []int{scorekit.NoClass}, Guidance: 2}, func(_ int, x float64) float64 { return line(0, x) })

			// The loss of a model with classes is that of the examples' own: it is the score of each class that has the
			// least, ½ of the mean of 1/σ² − 1/v.
			mean := 0.75*(1/0.25-1/0.5) + 0.25*(1/0.25-1/1.25)
			loss, se, err := scorekit.EvaluateLoss(background, b, f, objective.Denoising{Sigma: sigma}, data, 20000, 1)
			if err != nil {
				t.Fatal(err)
			}
			within(t, "loss given the classes", loss, mean/2, 4*se)
			loss, se, err = scorekit.EvaluateLoss(background, b, f, objective.Denoising{Sigma: sigma}, examples(t, points), 20000, 1)
			if err != nil {
				t.Fatal(err)
			}
			within(t, "loss without", loss, (1/0.25-1/(want[0][1]+0.25))/2, 4*se)

			// Langevin on each class: the variance at rest of x ← x + ε/2·a(x − m) + √ε z is exact.
			chains := make([]int, 2000)
			for i := range chains {
				chains[i] = i % 2
			}
			draws, err := scorekit.Sample(background, b, scorekit.Given{Model: f, Classes: chains}, sampler.Langevin{StepSize: 0.2, Steps: 80}, len(chains))
			if err != nil {
				t.Fatal(err)
			}
			rows, err := scorekit.Rows(draws.X)
			if err != nil {
				t.Fatal(err)
			}
			sums := [2]float64{}
			for i, r := range rows {
				sums[i%2] += r[0] / 1000
			}
			within(t, "mean of class 0", sums[0], -bias[1]/a[1], 4*math.Sqrt(0.55/1000))
			within(t, "mean of class 1", sums[1], -bias[2]/a[2], 4*math.Sqrt(1.4/1000))
		}
	})
}

// With the objective −Σs and plain descent b_c counts the examples of class c: their share, once each is left out with
// probability p. Its standard error is √(share(1−share)/N).
func TestClassDropout(t *testing.T) {
	data, err := scorekit.LabelledExamples([][]float64{{1}, {2}, {3}, {4}}, []int{0, 1, 1, scorekit.NoClass})
	if err != nil {
		t.Fatal(err)
	}
	if n := data.(scorekit.Labelled).Classes(); n != 2 {
		t.Fatalf("%d classes", n)
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for p, options := range map[float64][]scorekit.FitOption{0.1: nil, 0.4: {scorekit.WithClassDropout(0.4)}, 0: {scorekit.WithClassDropout(0)}} {
			const steps, batch = 20, 500
			f, err := scorekit.Fit(background, b, perClass{2}, drift, scorekit.Augment(data, func(_ *random.Source, x *Node) *Node { return graph.Neg(x) }), append(options,
				scorekit.WithSteps(steps), scorekit.WithBatch(batch), scorekit.WithUnroll(2), scorekit.WithEMA(0), scorekit.WithOptimizer(scorekit.SGD{Rate: scorekit.Rate{Peak: 1. / steps}}))...)
			if err != nil {
				t.Fatal(err)
			}
			a, share := tables(t, f)
			for c, want := range []float64{0.25 + 0.75*p, 0.25 * (1 - p), 0.5 * (1 - p)} {
				within(t, "share", share[c], want, 4*math.Sqrt(want*(1-want)/(steps*batch)))
			}
			// a is the sum of the points, changed as Augment says, that came with the class.
			within(t, "points of class 0", a[1], -share[1], 1e-5)
			within(t, "points of class 1", a[2], -2.5*share[2], 0.05)
			if p == 0 {
				within(t, "points without a class", a[0], -4*share[0], 1e-5)
			}
		}
	})
}

// unconditional has the methods of a model with classes, but none.
type unconditional struct{ perClass }

func (unconditional) NumClasses() int { return 0 }

func TestConditionalErrors(t *testing.T) {
	be := testbackend.Go(t)
	points := [][]float64{{1}, {2}, {3}}
	labelled, err := scorekit.LabelledExamples(points, []int{0, 1, 2})
	if err != nil {
		t.Fatal(err)
	}
	fit := func(m scorekit.Model, data scorekit.Data, options ...scorekit.FitOption) (*scorekit.Fitted, error) {
		return scorekit.Fit(background, be, m, objective.Denoising{Sigma: 1}, data, append(options, scorekit.WithSteps(2), scorekit.WithBatch(2))...)
	}
	fails := func(m scorekit.Model, data scorekit.Data, options []scorekit.FitOption, parts ...string) {
		t.Helper()
		_, err := fit(m, data, options...)
		wantError(t, err, parts...)
	}
	const model = "scorekit_test.perClass"
	fails(perClass{3}, examples(t, points), nil, model, "3 classes", "scorekit.examples", "have none", "LabelledExamples")
	fails(perClass{3}, scorekit.Augment(examples(t, points), func(_ *random.Source, x *Node) *Node { return x }), nil, model, "have none")
	fails(perClass{2}, labelled, nil, "3 classes", model, "of 2")
	fails(perClass{2}, streamed(t, numbers{values: []float64{1}, classes: []int32{2}}), nil, "batch 0", "row 0", "class 2", "from 0 to 1")
	fails(perClass{2}, streamed(t, numbers{values: []float64{1}}), nil, "batch 0", "0 classes for 2 examples")
	fails(scorekit.Score(linear), labelled, []scorekit.FitOption{scorekit.WithClassDropout(0.2)}, "class dropout 0.2", "without classes")
	for _, p := range []float64{-0.1, 1, math.NaN()} {
		fails(perClass{3}, labelled, []scorekit.FitOption{scorekit.WithClassDropout(p)}, "class dropout", "at least 0 and below 1")
	}
	stacked := objectiveFunc(func(vars *mlctx.Context, rng *random.Source, score scorekit.Score, x *Node) *Node {
		s := score(vars, graph.Concatenate([]*Node{x, x}, 0), nil)
		return graph.ReduceSum(graph.Slice(s, graph.AxisRange(0, 2)), 1)
	})
	_, err = scorekit.Fit(background, be, perClass{3}, stacked, labelled, scorekit.WithBatch(2))
	wantError(t, err, "4 points", "2 examples", "which has which")
	for _, c := range []struct {
		labels []int
		parts  []string
	}{
		{[]int{0, 1}, []string{"2 labels", "3 points"}},
		{[]int{0, 1, -2}, []string{"row 2", "label -2"}},
		{[]int{0, 1 << 40, 1}, []string{"row 1", "label 1099511627776"}},
	} {
		_, err := scorekit.LabelledExamples(points, c.labels)
		wantError(t, err, append(c.parts, "scorekit: LabelledExamples")...)
	}
	_, err = scorekit.LabelledExamples([][]float64{{math.NaN()}}, []int{0})
	wantError(t, err, "scorekit: LabelledExamples", "NaN")

	// A model that could have classes but has none is trained as any other.
	f, err := fit(unconditional{perClass{0}}, labelled)
	if err != nil {
		t.Fatal(err)
	}
	evaluate := func(m scorekit.Model) error {
		_, err := scorekit.Evaluate(background, be, m, points)
		return err
	}
	wantError(t, evaluate(scorekit.Given{Model: f, Classes: []int{0}}), "no classes", "Conditional")
	if f, err = fit(perClass{3}, labelled); err != nil {
		t.Fatal(err)
	}
	if f.NumClasses() != 3 {
		t.Errorf("%d classes", f.NumClasses())
	}
	wantError(t, evaluate(scorekit.Given{Model: f, Classes: []int{3}}), "class 3", "from 0 to 2")
	wantError(t, evaluate(scorekit.Given{Model: f, Classes: []int{-2}}), "class -2")
	wantError(t, evaluate(scorekit.Given{Model: f}), "no classes")
	wantError(t, evaluate(scorekit.Given{Classes: []int{0}}), "model nil")
	wantError(t, evaluate(scorekit.Given{Model: (*scorekit.Fitted)(nil), Classes: []int{0}}), "model nil")
	wantError(t, evaluate(scorekit.Given{Model: f, Classes: []int{0, 1}}), "2 classes for 3 points")
	for _, w := range []float64{-1.1, math.NaN(), math.Inf(1)} {
		wantError(t, evaluate(scorekit.Given{Model: f, Classes: []int{0}, Guidance: w}), "guidance", "at least −1")
	}
	wantError(t, evaluate(scorekit.Given{Model: perClass{3}, Classes: []int{0}}), "weights that were not given")
	fails(scorekit.Given{Model: perClass{3}, Classes: []int{0}}, labelled, nil, "scorekit.Given", "give its Model")
}

// counted is perClass with a note of the size of each batch that it was asked for.
type counted struct {
	perClass
	asked *[]int
}

func (c counted) ScoreGiven(vars *mlctx.Context, x, sigma, classes *Node) *Node {
	*c.asked = append(*c.asked, x.Shape().Dimensions[0])
	if sigma != nil && sigma.Shape().Dimensions[0] != x.Shape().Dimensions[0] {
		panic("a level is missing")
	}
	return c.perClass.ScoreGiven(vars, x, sigma, classes)
}

// One evaluation of the network, of the batch without guidance and of twice the batch with it; a model without weights of
// its own takes them from the user's context, in its own precision.
func TestGivenAsksOnce(t *testing.T) {
	be := testbackend.Go(t)
	var asked []int
	vars := mlctx.New().Checked(false)
	vars.VariableWithValue("a", tensors.FromFlatDataAndDimensions([]float64{-1, -2, -3}, 3, 1))
	vars.VariableWithValue("b", tensors.FromFlatDataAndDimensions([]float64{0, 1, 2}, 3, 1))
	for guidance, want := range map[float64]int{0: 5, 2: 10} {
		asked = nil
		m := scorekit.Given{Model: counted{perClass{2}, &asked}, Classes: []int{1}, Guidance: guidance}
		draws, err := scorekit.Sample(context.Background(), be, m, sampler.Langevin{StepSize: 0.01, Steps: 1}, 5, scorekit.WithShape(1), scorekit.WithVars(vars), scorekit.WithDType(dtypes.Float64))
		if err != nil {
			t.Fatal(err)
		}
		if draws.X.DType() != dtypes.Float64 {
			t.Errorf("drawn as %s", draws.X.DType())
		}
		for _, n := range asked {
			if n != want {
				t.Errorf("guidance %v: asked for the scores of %v points", guidance, asked)
			}
		}
	}
}

func TestResumeComparesTheClassDropout(t *testing.T) {
	be := testbackend.Go(t)
	labelled, err := scorekit.LabelledExamples([][]float64{{1}, {2}}, []int{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	fit := func(steps int, options ...scorekit.FitOption) (*scorekit.Fitted, error) {
		return scorekit.Fit(background, be, perClass{2}, objective.Denoising{Sigma: 1}, labelled,
			append(options, scorekit.WithSteps(steps), scorekit.WithBatch(2), scorekit.WithCheckpoints(dir, 2), scorekit.WithResume())...)
	}
	if _, err := fit(2); err != nil {
		t.Fatal(err)
	}
	_, err = fit(4, scorekit.WithClassDropout(0.2))
	wantError(t, err, "class dropout", "0.1", "0.2")
	if _, err := fit(4); err != nil {
		t.Error(err)
	}
	f, err := scorekit.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	if f.NumClasses() != 2 || f.Steps() != 4 {
		t.Errorf("%d classes, %d steps", f.NumClasses(), f.Steps())
	}
}
