package implicit_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/implicit"
	"github.com/scorekit/lab/scorekit/net"
	"github.com/scorekit/lab/scorekit/objective"
	"github.com/scorekit/lab/scorekit/random"
)

var background = context.Background()

func normal(t testing.TB, mean []float64, cov [][]float64) density.Gaussian {
	t.Helper()
	p, err := density.NewGaussian(mean, cov)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

var (
	smallNet  = net.MLP{Hidden: []int{8}}
	following = implicit.Learned{Network: smallNet, Objective: objective.Denoising{Sigma: 0.5}, Steps: 2}
	small     = implicit.MLP{Inputs: 3, Outputs: 2, Hidden: []int{8}}
)

func game(t testing.TB) implicit.Adversarial {
	return implicit.Adversarial{Generator: small, Data: normal(t, []float64{1, -1}, [][]float64{{1, 0.2}, {0.2, 0.5}}),
		Critic: net.EnergyMLP{Hidden: []int{8}}, Steps: 2, R1: 0.1, Law: following, Entropy: 0.5}
}

func points(t testing.TB, be backends.Backend, fitted *scorekit.Fitted, n int) [][]float64 {
	t.Helper()
	data, err := implicit.Draws(fitted)
	if err != nil {
		t.Fatal(err)
	}
	x, err := scorekit.Draw(t.Context(), be, data, n, 3)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := scorekit.Rows(x)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// state is every weight of a trained model.
func state(t testing.TB, fitted *scorekit.Fitted) map[string]string {
	t.Helper()
	out := map[string]string{}
	for v := range fitted.Vars().IterVariables() {
		value, err := v.Value()
		if err != nil {
			t.Fatal(err)
		}
		out[v.ScopeAndName()] = fmt.Sprint(value.Value())
	}
	return out
}

// A run that was cancelled and resumed ends, bit for bit, as one that was not: the weights of all three networks, the
// moments of their optimizers and the random numbers are all in the checkpoint. What is loaded is what was trained.
func TestCancelAndResume(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, be backends.Backend) {
		fit := func(ctx context.Context, options ...scorekit.FitOption) (*scorekit.Fitted, error) {
			how := game(t)
			how.R1, how.Generator = 0, implicit.Linear{Inputs: 3, Outputs: 2} // less to compile
			how.Law = implicit.Learned{Network: net.Linear{}, Objective: following.Objective}
			return implicit.Fit(ctx, be, how, append([]scorekit.FitOption{scorekit.WithSteps(10), scorekit.WithBatch(16)}, options...)...)
		}
		whole, err := fit(background, scorekit.WithCheckpoints(t.TempDir(), 4))
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(background)
		var reports int
		_, err = fit(ctx, scorekit.WithCheckpoints(dir, 4), scorekit.WithProgress(func(scorekit.Report) { reports++ }),
			scorekit.WithCallback(func(s *scorekit.FitStep) error {
				if s.Step >= 6 {
					cancel()
				}
				return nil
			}))
		if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "stopped after step 6 of 10") {
			t.Fatalf("cancelled: %v", err)
		}
		if reports < 2 {
			t.Errorf("%d reports", reports)
		}
		other := game(t)
		other.Entropy = 0.6
		if _, err := implicit.Fit(background, be, other, scorekit.WithSteps(10), scorekit.WithBatch(16), scorekit.WithCheckpoints(dir, 4), scorekit.WithResume()); err == nil ||
			!strings.Contains(err.Error(), "objective: the checkpoint has") {
			t.Errorf("resumed with another entropy: %v", err)
		}
		resumed, err := fit(background, scorekit.WithCheckpoints(dir, 4), scorekit.WithResume())
		if err != nil {
			t.Fatal(err)
		}
		want := state(t, whole)
		if got := state(t, resumed); !maps.Equal(got, want) {
			t.Errorf("uninterrupted %s\nresumed       %s", want, got)
		}
		loaded, err := scorekit.Load(dir)
		if err != nil {
			t.Fatal(err)
		}
		if got := state(t, loaded); !maps.Equal(got, want) {
			t.Errorf("trained %s\nloaded  %s", want, got)
		}
		if m := loaded.Model().(implicit.Model); fmt.Sprint(m) != fmt.Sprint(implicit.Model{Generator: implicit.Linear{Inputs: 3, Outputs: 2}, Network: net.Linear{}}) {
			t.Errorf("loaded model %+v", m)
		}
	})
}

// The networks that follow take as many steps as their settings say for each of the generator; only their own weights
// change in these, and in the generator's step only its own.
func TestWhoseStepsMoveWhat(t *testing.T) {
	be := testbackend.Go(t)
	run := func(how implicit.Training, rate float64) map[string]string {
		f, err := implicit.Fit(background, be, how, scorekit.WithSteps(3), scorekit.WithBatch(8), scorekit.WithEMA(0),
			scorekit.WithOptimizer(scorekit.SGD{Rate: scorekit.Rate{Peak: rate}}))
		if err != nil {
			t.Fatal(err)
		}
		return state(t, f)
	}
	differ := func(a, b map[string]string) string {
		scopes := map[string]bool{}
		for name, v := range a {
			if b[name] != v {
				scopes[strings.Split(name, "/")[1]] = true
			}
		}
		return fmt.Sprint(len(a) == len(b), scopes)
	}
	const tiny = 1e-300 // no weight moves at such a rate
	slow := game(t)
	slow.Rate, slow.Law = tiny, implicit.Learned{Network: smallNet, Objective: following.Objective, Rate: tiny}
	base := run(slow, tiny)
	with := func(change func(*implicit.Adversarial)) implicit.Adversarial {
		g := slow
		change(&g)
		return g
	}
	if got := differ(base, run(slow, 1e-3)); got != "true map[generator:true]" {
		t.Errorf("the generator's step changed %s", got)
	}
	if got := differ(base, run(with(func(g *implicit.Adversarial) { g.Rate = 1e-3 }), tiny)); got != "true map[critic:true]" {
		t.Errorf("the critic's steps changed %s", got)
	}
	if got := differ(base, run(with(func(g *implicit.Adversarial) { g.Law = following }), tiny)); got != "true map[score:true]" {
		t.Errorf("the score's steps changed %s", got)
	}
}

// With Stein nothing learns the score, and the model says so.
func TestWithoutNetwork(t *testing.T) {
	be := testbackend.Go(t)
	p := normal(t, []float64{0, 0}, [][]float64{{1, 0}, {0, 1}})
	f, err := implicit.Fit(background, be, implicit.ReverseKL{Generator: small, Target: p, Law: implicit.Stein{}, Entropy: 1},
		scorekit.WithSteps(2), scorekit.WithBatch(8))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(points(t, be, f, 5)); n != 5 {
		t.Errorf("%d points", n)
	}
	_, err = scorekit.Evaluate(background, be, f, [][]float64{{0, 0}})
	if err == nil || !strings.Contains(err.Error(), "trained without a network for the score of its law") {
		t.Errorf("%v", err)
	}
}

// Examples held in memory serve every step of the critic, and FitSteps shows the run from inside.
func TestStepsOnExamples(t *testing.T) {
	be := testbackend.Go(t)
	data, err := scorekit.Examples([][]float64{{0, 1}, {2, 3}, {4, 5}})
	if err != nil {
		t.Fatal(err)
	}
	how := game(t)
	how.Data, how.Steps = data, 3
	last := 0
	for step, err := range implicit.FitSteps(background, be, how, scorekit.WithSteps(3), scorekit.WithBatch(8)) {
		if err != nil {
			t.Fatal(err)
		}
		if last++; step.Step != last {
			t.Errorf("step %d, want %d: one of the generator at a time", step.Step, last)
		}
		f, err := step.Fitted()
		if err != nil {
			t.Fatal(err)
		}
		if n := len(points(t, be, f, 5)); n != 5 {
			t.Errorf("%d points", n)
		}
	}
	if last != 3 {
		t.Errorf("%d steps", last)
	}
}

// own is a generator that this package does not know. Its weights are those of a Linear.
type own struct{ implicit.Linear }

func TestOwnGenerator(t *testing.T) {
	be := testbackend.Go(t)
	g := own{implicit.Linear{Inputs: 2, Outputs: 2}}
	f, err := implicit.Fit(background, be, implicit.ReverseKL{Generator: g, Target: normal(t, []float64{0, 0}, [][]float64{{1, 0}, {0, 1}}), Law: following, Entropy: 1},
		scorekit.WithSteps(2), scorekit.WithBatch(8), scorekit.WithDType(dtypes.Float64))
	if err != nil {
		t.Fatal(err)
	}
	path := t.TempDir() + "/model"
	if err := f.Save(path); err != nil {
		t.Fatal(err)
	}
	if _, err := scorekit.Load(path); err == nil || !strings.Contains(err.Error(), "give it to LoadInto") {
		t.Errorf("Load: %v", err)
	}
	loaded, err := scorekit.LoadInto(path, implicit.Model{Generator: g, Network: smallNet})
	if err != nil {
		t.Fatal(err)
	}
	if x, y := fmt.Sprint(points(t, be, f, 3)), fmt.Sprint(points(t, be, loaded, 3)); x != y {
		t.Errorf("points of the trained %s, of the loaded %s", x, y)
	}
	if a, b := state(t, f), state(t, loaded); !maps.Equal(a, b) {
		t.Errorf("trained %s, loaded %s", a, b)
	}
}

// A trained score is a target as it is. Its weights are not trained and not saved with the generator.
func TestTrainedTarget(t *testing.T) {
	be := testbackend.Go(t)
	p := normal(t, []float64{2, 0}, [][]float64{{1, 0}, {0, 1}})
	target, err := scorekit.Fit(background, be, net.Linear{}, objective.Implicit{}, p, scorekit.WithSteps(400),
		scorekit.WithOptimizer(scorekit.Adam{Rate: scorekit.Rate{Peak: 0.02}}), scorekit.WithEMA(0.98))
	if err != nil {
		t.Fatal(err)
	}
	f, err := implicit.Fit(background, be, implicit.ReverseKL{Generator: implicit.Linear{Inputs: 2, Outputs: 2}, Target: target, Law: following, Entropy: 1},
		scorekit.WithSteps(600), scorekit.WithOptimizer(scorekit.Adam{Rate: scorekit.Rate{Peak: 0.02}}), scorekit.WithEMA(0.98))
	if err != nil {
		t.Fatal(err)
	}
	law, err := implicit.Linear{}.Law(f)
	if err != nil {
		t.Fatal(err)
	}
	if m := law.Mean(); !(math.Abs(m[0]-2) < 0.3 && math.Abs(m[1]) < 0.3) {
		t.Errorf("mean %v, want near [2 0]", m)
	}
	for v := range f.Vars().IterVariables() {
		if strings.Contains(v.ScopeAndName(), "target") || v.Name() == "A" {
			t.Errorf("the trained model holds %s", v.ScopeAndName())
		}
	}
}

// bad is a target whose score is not finite.
func bad(_ *mlctx.Context, x, _ *implicit.Node) *implicit.Node {
	return graph.MulScalar(x, math.Inf(-1))
}

func TestNotFinite(t *testing.T) {
	be := testbackend.Go(t)
	f, err := implicit.Fit(background, be, implicit.ReverseKL{Generator: small, Target: scorekit.Score(bad), Law: following, Entropy: 1},
		scorekit.WithSteps(5), scorekit.WithBatch(8))
	var not *scorekit.NonFiniteError
	if !errors.As(err, &not) || not.Step != 1 || f != nil {
		t.Errorf("a target of Inf: %v, %v", f, err)
	}
	worse := following
	worse.Rate, worse.Objective = 1, poison{}
	f, err = implicit.Fit(background, be, implicit.ReverseKL{Generator: small, Target: normal(t, []float64{0, 0}, [][]float64{{1, 0}, {0, 1}}), Law: worse, Entropy: 1},
		scorekit.WithSteps(5), scorekit.WithBatch(8))
	if !errors.As(err, &not) || not.Step != 1 || f != nil {
		t.Errorf("a score whose loss is NaN: %v, %v", f, err)
	}
}

// poison is an objective whose loss is NaN.
type poison struct{}

func (poison) Loss(vars *mlctx.Context, _ *random.Source, score scorekit.Score, x *implicit.Node) *implicit.Node {
	return graph.MulScalar(graph.ReduceSum(score(vars, x, nil), 1), math.NaN())
}

func TestErrors(t *testing.T) {
	be := testbackend.Go(t)
	p := normal(t, []float64{0, 0}, [][]float64{{1, 0}, {0, 1}})
	line := normal(t, []float64{0}, [][]float64{{1}})
	good := implicit.ReverseKL{Generator: small, Target: p, Law: following, Entropy: 1}
	kl := func(change func(*implicit.ReverseKL)) error {
		k := good
		change(&k)
		_, err := implicit.Fit(background, be, k)
		return err
	}
	gan := func(change func(*implicit.Adversarial)) error {
		g := game(t)
		change(&g)
		_, err := implicit.Fit(background, be, g)
		return err
	}
	learned := func(change func(*implicit.Learned)) error {
		l := following
		change(&l)
		return l.Validate()
	}
	linear, err := implicit.Fit(background, be, implicit.ReverseKL{Generator: implicit.Linear{Inputs: 1, Outputs: 2}, Target: p}, scorekit.WithSteps(1))
	if err != nil {
		t.Fatal(err)
	}
	mlp, err := implicit.Fit(background, be, implicit.ReverseKL{Generator: small, Target: p}, scorekit.WithSteps(1))
	if err != nil {
		t.Fatal(err)
	}
	score, err := scorekit.Fit(background, be, net.Linear{}, objective.Implicit{}, p, scorekit.WithSteps(1))
	if err != nil {
		t.Fatal(err)
	}
	law := func(f *scorekit.Fitted) error { _, err := implicit.Linear{}.Law(f); return err }
	draws := func(f *scorekit.Fitted) error { _, err := implicit.Draws(f); return err }
	fit := func(how implicit.Training) error { _, err := implicit.Fit(background, be, how); return err }
	steps := func(how implicit.Training) error {
		for _, err := range implicit.FitSteps(background, be, how, scorekit.WithSteps(1)) {
			return err
		}
		return nil
	}
	for _, test := range []struct {
		err  error
		want string
	}{
		{fit(nil), "implicit: Fit: training nil: must be ReverseKL or Adversarial"},
		{steps(nil), "implicit: FitSteps: training nil: must be ReverseKL or Adversarial"},
		{steps(implicit.ReverseKL{}), "implicit: FitSteps: reverse KL: generator nil: must be given"},
		{kl(func(k *implicit.ReverseKL) { k.Generator = nil }), "implicit: Fit: reverse KL: generator nil: must be given"},
		{kl(func(k *implicit.ReverseKL) { k.Generator = implicit.MLP{Inputs: 0, Outputs: 2} }), "reverse KL: MLP generator: from 0 numbers to 2: must be at least 1 each"},
		{kl(func(k *implicit.ReverseKL) { k.Generator = implicit.MLP{Inputs: 1, Outputs: 2, Hidden: []int{4, 0}} }), "MLP generator: hidden widths [4 0]: each must be at least 1"},
		{kl(func(k *implicit.ReverseKL) { k.Generator = implicit.MLP{Inputs: 1, Outputs: 2, Spread: -1} }), "MLP generator: spread -1: must be finite and not negative"},
		{kl(func(k *implicit.ReverseKL) { k.Generator = implicit.Linear{Inputs: 2} }), "linear generator: from 2 numbers to 0: must be at least 1 each"},
		{kl(func(k *implicit.ReverseKL) { k.Target = nil }), "reverse KL: target nil: must be given"},
		{kl(func(k *implicit.ReverseKL) { k.Target = net.MLP{Hidden: []int{4}} }), "target net.MLP has weights that were not given, /model/target/layer_0/"},
		{kl(func(k *implicit.ReverseKL) { k.Target = density.Gaussian{} }), "reverse KL: "},
		{kl(func(k *implicit.ReverseKL) { k.Target = line }), "[batch, 1]"},
		{kl(func(k *implicit.ReverseKL) { k.Entropy = -1 }), "reverse KL: entropy -1: must be finite and not negative"},
		{kl(func(k *implicit.ReverseKL) { k.Entropy = math.NaN() }), "reverse KL: entropy NaN: must be finite and not negative"},
		{kl(func(k *implicit.ReverseKL) { k.Law = nil }), "reverse KL: entropy 1 without a law: must be Learned or Stein"},
		{kl(func(k *implicit.ReverseKL) { k.Law = implicit.Stein{Ridge: -1} }), "reverse KL: Stein estimate of the score: ridge -1: must be finite and not negative"},
		{kl(func(k *implicit.ReverseKL) { k.Law = implicit.Stein{Bandwidth: math.Inf(1)} }), "Stein estimate of the score: bandwidth +Inf: must be finite and not negative"},
		{learned(func(l *implicit.Learned) { l.Network = nil }), "learned score of the law: network nil: must be given"},
		{learned(func(l *implicit.Learned) { l.Objective = nil }), "learned score of the law: objective nil: must be given"},
		{learned(func(l *implicit.Learned) { l.Objective = objective.Denoising{} }), "learned score of the law: denoising objective: sigma 0: must be positive and finite"},
		{learned(func(l *implicit.Learned) { l.Network = net.MLP{Hidden: []int{0}} }), "learned score of the law: MLP: hidden widths [0]"},
		{learned(func(l *implicit.Learned) { l.Network = score }), "learned score of the law: network *scorekit.Fitted: training begins from fresh weights: give its Model()"},
		{learned(func(l *implicit.Learned) { l.Steps = -1 }), "learned score of the law: -1 steps for each of the generator: must not be negative"},
		{learned(func(l *implicit.Learned) { l.Rate = 2 }), "learned score of the law: learning rate 2: must be from 0 to 1"},
		{gan(func(g *implicit.Adversarial) { g.Data = nil }), "adversarial training: data nil: must be given"},
		{gan(func(g *implicit.Adversarial) { g.Data = density.Gaussian{} }), "adversarial training: "},
		{gan(func(g *implicit.Adversarial) { g.Data = line }), "adversarial training: data of shape [1] for a generator of 2 numbers: must be equal"},
		{gan(func(g *implicit.Adversarial) { g.Critic.Hidden = []int{0} }), "adversarial training: critic: energy MLP: hidden widths [0]"},
		{gan(func(g *implicit.Adversarial) { g.Steps = -2 }), "adversarial training: critic: -2 steps for each of the generator"},
		{gan(func(g *implicit.Adversarial) { g.Rate = math.NaN() }), "adversarial training: critic: learning rate NaN: must be from 0 to 1"},
		{gan(func(g *implicit.Adversarial) { g.R1 = -0.5 }), "adversarial training: R1 -0.5: must be finite and not negative"},
		{gan(func(g *implicit.Adversarial) { g.Law = nil }), "adversarial training: entropy 0.5 without a law: must be Learned or Stein"},
		{fit(implicit.ReverseKL{Generator: liar{small}, Target: p}), "made points of shape (Float32)[128 2]: must be (Float32)[128 3]"},
		{law(mlp), "linear generator: Law: generator implicit.MLP: must be a trained Linear"},
		{law(nil), "linear generator: Law: model nil: must be trained by implicit.Fit"},
		{law(linear), "linear generator: Law: "},
		{draws(nil), "implicit: Draws: model nil: must be trained by implicit.Fit"},
		{draws(score), "implicit: Draws: model net.Linear: must be trained by implicit.Fit"},
	} {
		if test.err == nil || !strings.Contains(test.err.Error(), test.want) {
			t.Errorf("%v\nwant %s", test.err, test.want)
		}
	}
}

// liar says that its points have one number more than they have.
type liar struct{ implicit.MLP }

func (l liar) Dim() int { return 3 }

// Where a trained generator is data, its weights are in the run, but not among those that it trains.
func TestDrawsAreNotTrained(t *testing.T) {
	be := testbackend.Go(t)
	f, err := implicit.Fit(background, be, implicit.ReverseKL{Generator: small, Target: normal(t, []float64{0, 0}, [][]float64{{1, 0}, {0, 1}})},
		scorekit.WithSteps(1))
	if err != nil {
		t.Fatal(err)
	}
	data, err := implicit.Draws(f)
	if err != nil {
		t.Fatal(err)
	}
	state, err := random.Seed(1)
	if err != nil {
		t.Fatal(err)
	}
	vars, found := mlctx.New().Checked(false), 0
	exec, err := mlctx.NewExec(be, vars, func(vars *mlctx.Context, state *implicit.Node) *implicit.Node {
		rng := random.New(state, dtypes.Float64, 2)
		first := data.Batch(vars, rng, 4)
		rng.Next()
		return graph.Sub(first, data.Batch(vars, rng, 4)) // the weights are there already
	})
	if err != nil {
		t.Fatal(err)
	}
	defer exec.Finalize()
	if _, err := exec.Exec1(state); err != nil {
		t.Fatal(err)
	}
	for v := range vars.IterVariables() {
		if strings.Contains(v.Scope(), "generator") {
			found++
			if v.Trainable {
				t.Errorf("%s would be trained", v.ScopeAndName())
			}
		}
	}
	if found != 4 {
		t.Errorf("%d weights, want 4", found)
	}
}
