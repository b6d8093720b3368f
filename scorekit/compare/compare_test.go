package compare_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gomlx/gomlx/backends"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/compare"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/metric"
	"github.com/scorekit/lab/scorekit/net"
	"github.com/scorekit/lab/scorekit/objective"
)

var (
	implicit  = compare.Entry{Name: "implicit", Objective: objective.Implicit{}}
	denoising = compare.Entry{Name: "denoising", Objective: objective.Denoising{Sigma: 0.5}}
	small     = net.MLP{Hidden: []int{8}}
)

func line(t *testing.T, std float64) density.Gaussian {
	t.Helper()
	p, err := density.Isotropic([]float64{1}, std)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Every result is what the verbs give for the same settings, one by one: training, loss and divergence.
func TestResultsAreThoseOfTheVerbs(t *testing.T) {
	p := line(t, 0.7)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		options := []scorekit.FitOption{scorekit.WithSteps(30), scorekit.WithBatch(16), scorekit.WithSeed(3)}
		study := compare.Study{Model: small, Data: p, Truth: p, Examples: 500}
		table, err := compare.Objectives(t.Context(), b, study, []compare.Entry{denoising, implicit}, options...)
		if err != nil {
			t.Fatal(err)
		}
		if len(table) != 2 || table[0].Name != "denoising" || table[1].Name != "implicit" {
			t.Fatalf("results %v", table)
		}
		for i, e := range []compare.Entry{denoising, implicit} {
			r := table[i]
			f, err := scorekit.Fit(t.Context(), b, small, e.Objective, p, options...)
			if err != nil {
				t.Fatal(err)
			}
			at := [][]float64{{-1}, {0.5}, {2}}
			testvalues.Near(t, e.Name+": scores", scores(t, b, r.Fitted, at), scores(t, b, f, at), 0)
			if r.Steps != 30 || r.StepTime <= 0 || r.Compile <= 0 {
				t.Errorf("%s: %d steps, %v each, first call %v", e.Name, r.Steps, r.StepTime, r.Compile)
			}
			// Fresh examples of another seed: the two means differ by at most 5 standard errors of their difference.
			loss, se, err := scorekit.EvaluateLoss(t.Context(), b, f, e.Objective, p, 4000, 7)
			if err != nil {
				t.Fatal(err)
			}
			if gap := math.Abs(r.Loss - loss); !(gap <= 5*math.Hypot(se, r.LossError)) {
				t.Errorf("%s: loss %v ± %v, want %v ± %v", e.Name, r.Loss, r.LossError, loss, se)
			}
			points, err := scorekit.Draw(t.Context(), b, p, 4000, 8)
			if err != nil {
				t.Fatal(err)
			}
			want, err := metric.FisherDivergence(t.Context(), b, p, f, points)
			if err != nil {
				t.Fatal(err)
			}
			if gap := math.Abs(r.Fisher.Divergence - want.Divergence); !(gap <= 5*math.Hypot(r.Fisher.StandardError, want.StandardError)) {
				t.Errorf("%s: divergence %+v, want %+v", e.Name, *r.Fisher, want)
			}
		}
	})
}

func scores(t *testing.T, b backends.Backend, m scorekit.Model, at [][]float64) []float64 {
	t.Helper()
	s, err := scorekit.Evaluate(t.Context(), b, m, at)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := scorekit.Rows(s)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Concat(rows...)
}

// The score is judged at the level of Sigma, on noised data: the score −x/(1 + σ²) of noised N(0, 1) has no divergence
// from the truth there, and ½(1 − 1/(1+σ²))² on the data as they are.
func TestNoiseLevel(t *testing.T) {
	p, err := density.Isotropic([]float64{0}, 1)
	if err != nil {
		t.Fatal(err)
	}
	const sigma = 1.0
	be := testbackend.Go(t)
	still := []scorekit.FitOption{scorekit.WithSteps(1), scorekit.WithOptimizer(scorekit.SGD{Rate: scorekit.Rate{Peak: 1e-12}})}
	study := compare.Study{Model: slope(1 / (1 + sigma*sigma)), Data: p, Truth: p, Sigma: sigma}
	table, err := compare.Objectives(t.Context(), be, study, []compare.Entry{denoising}, still...)
	if err != nil {
		t.Fatal(err)
	}
	if d := table[0].Fisher.Divergence; !(d < 1e-10) {
		t.Errorf("divergence at the noise level %v, want 0", d)
	}
	if table[0].StepTime != 0 {
		t.Errorf("one call took %v a step after the first", table[0].StepTime)
	}
	// Of another slope, 1 in place of ½, it is ½(1 − 1/(1+σ²))² times the mean square of the noised data, 1 + σ².
	steep := study
	steep.Model = slope(1)
	if table, err = compare.Objectives(t.Context(), be, steep, []compare.Entry{denoising}, still...); err != nil {
		t.Fatal(err)
	}
	if f, want := table[0].Fisher, 0.5*math.Pow(1-1/(1+sigma*sigma), 2)*(1+sigma*sigma); !(math.Abs(f.Divergence-want) <= 5*f.StandardError) {
		t.Errorf("divergence of a steeper score %v ± %v, want %v", f.Divergence, f.StandardError, want)
	}
	study.Sigma = 0
	if table, err = compare.Objectives(t.Context(), be, study, []compare.Entry{denoising}, still...); err != nil {
		t.Fatal(err)
	}
	f, want := table[0].Fisher, 0.5*math.Pow(1-1/(1+sigma*sigma), 2)
	if !(math.Abs(f.Divergence-want) <= 5*f.StandardError) {
		t.Errorf("divergence on the data %v ± %v, want %v", f.Divergence, f.StandardError, want)
	}
	study.Truth = nil
	if table, err = compare.Objectives(t.Context(), be, study, []compare.Entry{denoising}, still...); err != nil {
		t.Fatal(err)
	}
	if table[0].Fisher != nil || !strings.Contains(table.String(), " – |") {
		t.Errorf("without a truth: %+v\n%s", table[0], table)
	}
}

func TestCost(t *testing.T) {
	be := testbackend.Go(t)
	workload := func(d int) (scorekit.Model, scorekit.Data, error) {
		p, err := density.Isotropic(make([]float64, d), 1)
		return small, p, err
	}
	table, err := compare.Cost(t.Context(), be, []int{1, 8}, workload, []compare.Entry{implicit, denoising}, scorekit.WithSteps(12), scorekit.WithBatch(16))
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(table.Names, []string{"implicit", "denoising"}) || !slices.Equal(table.Dims, []int{1, 8}) {
		t.Errorf("table of %v at %v", table.Names, table.Dims)
	}
	for k, times := range table.StepTime {
		if len(times) != 2 || times[0] <= 0 || times[1] <= 0 {
			t.Fatalf("%s: times %v", table.Names[k], times)
		}
		exponent := math.Log(times[1].Seconds()/times[0].Seconds()) / math.Log(8)
		testvalues.NearOne(t, table.Names[k]+": exponent", table.Exponents[k:k+1], []float64{exponent}, 1e-9)
	}
}

func TestMarkdown(t *testing.T) {
	table := compare.Table{
		{Name: "a|b", Steps: 100, Loss: 1.23456, LossError: 0.0123, Fisher: &metric.Fisher{Relative: 0.00321}, StepTime: 1500 * time.Microsecond, Compile: 2 * time.Second},
		{Name: "c", Steps: 1, Loss: -20, LossError: 0.5, Compile: 90 * time.Millisecond},
	}
	want := `
| objective | steps |          loss | relative Fisher divergence | ms per step | first call, s |
|-----------|------:|--------------:|---------------------------:|------------:|--------------:|
| a\|b      |   100 | 1.235 ± 0.012 |                     0.0032 |         1.5 |           2.0 |
| c         |     1 |     -20 ± 0.5 |                          – |           – |           0.1 |
`
	if got := "\n" + table.String(); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	costs := &compare.CostTable{
		Dims: []int{2}, Names: []string{"c"}, StepTime: [][]time.Duration{{2345 * time.Microsecond}}, Exponents: []float64{math.NaN()},
	}
	want = `
| ms per step | d = 2 | exponent |
|-------------|------:|---------:|
| c           |  2.35 |        – |
`
	if got := "\n" + costs.String(); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestErrors(t *testing.T) {
	be, p := testbackend.Go(t), line(t, 1)
	good := compare.Study{Model: small, Data: p}
	kinked, err := density.NewLaplace([]float64{0}, []float64{1})
	if err != nil {
		t.Fatal(err)
	}
	workload := func(d int) (scorekit.Model, scorekit.Data, error) { return small, p, nil }
	study := func(change func(s *compare.Study), entries ...compare.Entry) error {
		s := good
		change(&s)
		_, err := compare.Objectives(t.Context(), be, s, entries, scorekit.WithSteps(2))
		return err
	}
	same := func(*compare.Study) {}
	cost := func(dims []int, w compare.Workload, options ...scorekit.FitOption) error {
		_, err := compare.Cost(t.Context(), be, dims, w, []compare.Entry{implicit}, options...)
		return err
	}
	for want, err := range map[string]error{
		"compare: Objectives: no objectives: there must be at least one":                           study(same),
		"compare: Objectives: model <nil>, data density.Gaussian: both must be given":              study(func(s *compare.Study) { s.Model = nil }, implicit),
		"compare: Objectives: model net.MLP, data <nil>: both must be given":                       study(func(s *compare.Study) { s.Data = nil }, implicit),
		"compare: Objectives: truth: scorekit: Evaluate: density: Laplace":                         study(func(s *compare.Study) { s.Truth, s.Sigma = kinked, 1 }, implicit),
		"compare: Objectives: sigma NaN: must be finite and not negative":                          study(func(s *compare.Study) { s.Sigma = math.NaN() }, implicit),
		"compare: Objectives: 1 examples: must be at least 2, or 0 for 4,096":                      study(func(s *compare.Study) { s.Examples = 1 }, implicit),
		`compare: Objectives: entry 1: name "implicit" is taken: must differ from the others`:      study(same, implicit, implicit),
		`compare: Objectives: entry 0, "x": must have a name and an objective`:                     study(same, compare.Entry{Name: "x"}),
		"compare: Objectives: bad: scorekit: Fit: denoising objective: sigma 0: must be positive":  study(same, compare.Entry{Name: "bad", Objective: objective.Denoising{}}),
		"compare: Cost: 0 dimensions, workload given: true: both must be given":                    cost(nil, workload),
		"compare: Cost: 1 dimensions, workload given: false: both must be given":                   cost([]int{1}, nil),
		"compare: Cost: dimensions [2 2]: must be positive and rising":                             cost([]int{2, 2}, workload),
		"compare: Cost: dimensions [0]: must be positive and rising":                               cost([]int{0}, workload),
		"compare: Cost: implicit at d = 1: all 1 steps were one call: must be more, or fewer a ca": cost([]int{1}, workload, scorekit.WithSteps(1)),
		"compare: Cost: workload at d = 3: no": cost([]int{3}, func(int) (scorekit.Model, scorekit.Data, error) {
			return nil, nil, errors.New("no")
		}),
	} {
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got error %v, want %s", err, want)
		}
	}
}

// A comparison that is stopped returns the results it has.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("enough")
	runs := 0
	watch := scorekit.WithCallback(func(s *scorekit.FitStep) error {
		if s.Step == 1 {
			if runs++; runs == 2 {
				cancel(stop)
			}
		}
		return nil
	})
	table, err := compare.Objectives(ctx, testbackend.Go(t), compare.Study{Model: small, Data: line(t, 1)},
		[]compare.Entry{implicit, denoising}, scorekit.WithSteps(5), watch)
	if !errors.Is(err, stop) || !strings.Contains(fmt.Sprint(err), "denoising") || len(table) != 1 || table[0].Name != "implicit" {
		t.Errorf("table %v, error %v", table, err)
	}
}

// It stops inside the step that takes the Fisher divergence, too, and inside the one that sees whether there is a truth: the truth
// is asked for its score once in each, and 10,000 points are three blocks.
func TestCancelledAtTheDivergence(t *testing.T) {
	p, stop := line(t, 1), errors.New("enough")
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for end, want := range map[int]string{1: "truth: scorekit: Evaluate: stopped after 3334 of 10000 points", 2: "implicit: metric: Fisher divergence: first score: scorekit: Evaluate: stopped after 3334 of 10000 points"} {
			ctx, cancel := context.WithCancelCause(t.Context())
			asked := 0
			truth := scorekit.Score(func(vars *mlctx.Context, x, sigma *scorekit.Node) *scorekit.Node {
				if asked++; asked == end {
					cancel(stop)
				}
				return p.Score(vars, x, sigma)
			})
			table, err := compare.Objectives(ctx, b, compare.Study{Model: small, Data: p, Truth: truth, Examples: 10_000}, []compare.Entry{implicit, denoising}, scorekit.WithSteps(5))
			if want := "compare: Objectives: " + want + ": enough"; !errors.Is(err, stop) || fmt.Sprint(err) != want || len(table) != 0 {
				t.Errorf("table %v, error %v, want %s", table, err, want)
			}
		}
	})
}
