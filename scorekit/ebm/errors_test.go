package ebm_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/ebm"
	"github.com/scorekit/lab/scorekit/net"
)

// parabola is ½‖x‖².
func parabola(x *ebm.Node) *ebm.Node {
	return graph.MulScalar(graph.ReduceSum(graph.Square(x), 1), 0.5)
}

// beyond is ½‖x‖², and value where x₀ > 1.
func beyond(value float64) scorekit.Energy {
	return testvalues.Ignoring(func(x *ebm.Node) *ebm.Node {
		e, first := parabola(x), graph.Reshape(graph.SliceAxis(x, 1, graph.AxisElem(0)), -1)
		return graph.Where(graph.GreaterThan(first, graph.OnesLike(first)), graph.AddScalar(graph.ZerosLike(e), value), e)
	})
}

func TestErrors(t *testing.T) {
	b, ctx := testbackend.Go(t), context.Background()
	nan, inf := math.NaN(), math.Inf(1)
	good := scorekit.Energy(testvalues.Ignoring(parabola))
	fair, err := density.Isotropic([]float64{0, 0}, 1)
	if err != nil {
		t.Fatal(err)
	}
	stopped, stop := context.WithCancelCause(ctx)
	stop(errors.New("enough"))
	z := func(ctx context.Context, model scorekit.Model, box ebm.Box) error {
		p, err := ebm.LogPartition(ctx, b, model, box)
		if p != nil {
			t.Errorf("a partition %+v beside the error %v", p, err)
		}
		return err
	}
	box := func(low, high float64) ebm.Box { return ebm.Box{Low: []float64{low}, High: []float64{high}} }
	p := func(model scorekit.Model, points any, logZ float64, sigma ...float64) error {
		_, err := ebm.LogDensity(ctx, b, model, points, logZ, sigma...)
		return err
	}
	ais := func(ctx context.Context, model scorekit.Model, n int, change func(a *ebm.Annealing)) error {
		a := ebm.Annealing{Mean: []float64{0}, Std: 1, Levels: 4, StepSize: 0.1}
		if change != nil {
			change(&a)
		}
		e, err := ebm.AnnealedImportance(ctx, b, model, n, a)
		if e != nil {
			t.Errorf("an estimate %+v beside the error %v", e, err)
		}
		return err
	}
	limit := func(model scorekit.Model, points any, steps ...float64) error {
		_, err := ebm.Limit(ctx, b, model, points, steps)
		return err
	}
	one := [][]float64{{1}}
	noEnergy := "model scorekit.Score has a score and no energy: must be a scorekit.Energy, a density, a model with a method Energy, or the result of Fit of one"
	noWeights := "the energy has weights that were not given, /"
	var nobody *scorekit.Fitted
	for _, test := range []struct {
		err  error
		want string
	}{
		{z(nil, good, box(0, 1)), "ebm: LogPartition: ctx and backend: both must be given"},
		{z(ctx, nil, box(0, 1)), "ebm: LogPartition: model nil: must be given"},
		{z(ctx, nobody, box(0, 1)), "ebm: LogPartition: model nil: must be given"},
		{z(ctx, scorekit.Score(testvalues.Ignoring(graph.Neg)), box(0, 1)), "ebm: LogPartition: " + noEnergy},
		{z(ctx, net.EnergyMLP{}, box(0, 1)), "ebm: LogPartition: " + noWeights},
		{z(ctx, net.EnergyMLP{Hidden: []int{-1}}, box(0, 1)), "ebm: LogPartition: energy MLP: "},
		{z(ctx, fair, box(0, 1)), "ebm: LogPartition: points of shape [1] for a model of points of shape [2]"},
		{z(ctx, scorekit.Energy(testvalues.Ignoring(graph.ReduceAllSum)), box(0, 1)), "ebm: LogPartition: energy of shape [] for points of shape [128 1]: must be [batch]"},
		{z(ctx, good, ebm.Box{}), "ebm: LogPartition: box from [] to []: must have one or two dimensions (beyond: AnnealedImportance)"},
		{z(ctx, good, ebm.Box{Low: make([]float64, 3), High: []float64{1, 1, 1}}), "ebm: LogPartition: box from [0 0 0] to [1 1 1]: must have one or two dimensions (beyond: AnnealedImportance)"},
		{z(ctx, good, ebm.Box{Low: []float64{0}, High: []float64{1, 2}}), "ebm: LogPartition: box from [0] to [1 2]: must have one or two dimensions"},
		{z(ctx, good, box(1, 1)), "ebm: LogPartition: box from [1] to [1]: every side must be positive and finite"},
		{z(ctx, good, box(nan, 1)), "ebm: LogPartition: box from [NaN] to [1]: every side must be positive and finite"},
		{z(ctx, good, box(-inf, 1)), "ebm: LogPartition: box from [-Inf] to [1]: every side must be positive and finite"},
		{z(ctx, good, ebm.Box{Low: []float64{0}, High: []float64{1}, Tolerance: -1}), "ebm: LogPartition: tolerance -1: must be positive, or 0 for the default"},
		{z(ctx, good, ebm.Box{Low: []float64{0}, High: []float64{1}, Tolerance: nan}), "ebm: LogPartition: tolerance NaN: must be positive, or 0 for the default"},
		{z(ctx, good, ebm.Box{Low: []float64{0}, High: []float64{1}, Sigma: -1}), "ebm: LogPartition: noise level -1: must be positive and finite, or 0 for none"},
		{z(ctx, net.NoiseEnergyMLP{}, box(0, 1)), "ebm: LogPartition: noise energy MLP: no noise level was given"},
		{z(ctx, beyond(nan), box(0, 2)), "ebm: LogPartition: the energy at [1."},
		{z(ctx, beyond(-inf), box(0, 2)), "ebm: LogPartition: the energy at [1."},
		{z(ctx, beyond(inf), box(2, 3)), "ebm: LogPartition: the energy is +Inf at all 128 points of the box: it has no mass there"},
		{z(ctx, beyond(1), ebm.Box{Low: []float64{0}, High: []float64{math.Pi}, Tolerance: 1e-12}), "ebm: LogPartition: log Z = 0."},
		{z(stopped, good, box(0, 1)), "ebm: LogPartition: stopped after 0 of 128 points: enough"},
		{p(good, one, nan), "ebm: LogDensity: log Z NaN: must be finite"},
		{p(good, one, 0, 1, 2), "ebm: LogDensity: 2 noise levels: must be one, that of log Z, or none"},
		{p(good, one, 0, nan), "ebm: LogDensity: noise level NaN: must be positive and finite, or 0 for none"},
		{p(good, [][]float64{{nan}}, 0), "ebm: LogDensity: points: row 0, column 0 is NaN: every value must be finite"},
		{p(beyond(nan), [][]float64{{2}}, 0), "ebm: LogDensity: the energy at [2] is NaN: must be a number, or +Inf where p is 0"},
		{p(net.Quadratic{}, one, 0), "ebm: LogDensity: " + noWeights},
		{ais(nil, good, 9, nil), "ebm: AnnealedImportance: ctx and backend: both must be given"},
		{ais(ctx, nobody, 9, nil), "ebm: AnnealedImportance: model nil: must be given"},
		{ais(ctx, good, 1, nil), "ebm: AnnealedImportance: 1 chains: must be at least 2"},
		{ais(ctx, good, 9, func(a *ebm.Annealing) { a.Mean = nil }), "ebm: AnnealedImportance: mean []: must have one number for each of a point"},
		{ais(ctx, good, 9, func(a *ebm.Annealing) { a.Mean[0] = inf }), "ebm: AnnealedImportance: mean: number 0 is +Inf: must be finite"},
		{ais(ctx, good, 9, func(a *ebm.Annealing) { a.Std = 0 }), "ebm: AnnealedImportance: standard deviation 0: must be positive and finite"},
		{ais(ctx, good, 9, func(a *ebm.Annealing) { a.StepSize = nan }), "ebm: AnnealedImportance: step NaN: must be positive and finite"},
		{ais(ctx, good, 9, func(a *ebm.Annealing) { a.Levels = -1 }), "ebm: AnnealedImportance: -1 levels: must be positive, or 0 for 500"},
		{ais(ctx, good, 9, func(a *ebm.Annealing) { a.Sigma = inf }), "ebm: AnnealedImportance: noise level +Inf: must be positive and finite, or 0 for none"},
		{ais(ctx, good, 9, func(a *ebm.Annealing) { a.Moves = -1 }), "ebm: AnnealedImportance: -1 moves a level: must be positive, or 0 for 1"},
		{ais(ctx, fair, 9, nil), "ebm: AnnealedImportance: mean of 1 numbers for points of shape [2]: must be one for each number"},
		{ais(ctx, scorekit.Score(testvalues.Ignoring(graph.Neg)), 9, nil), "ebm: AnnealedImportance: " + noEnergy},
		{ais(ctx, net.Quadratic{}, 9, nil), "ebm: AnnealedImportance: "},
		{ais(ctx, beyond(nan), 99, nil), "ebm: AnnealedImportance: a chain or its weight ran away: the energy must be finite everywhere and grow far out"},
		{ais(ctx, beyond(inf), 99, nil), "ebm: AnnealedImportance: a chain or its weight ran away: the energy must be finite everywhere and grow far out"},
		{ais(ctx, beyond(-inf), 99, nil), "ebm: AnnealedImportance: a chain or its weight ran away: the energy must be finite everywhere and grow far out"},
		{ais(stopped, good, 9, nil), "ebm: AnnealedImportance: stopped after 0 of 1 points: enough"},
		{limit(good, one), "ebm: Limit: no steps: must be at least one"},
		{limit(good, one, 0.1, -1), "ebm: Limit: step 1, -1: must be positive and finite"},
		{limit(good, one, 0.1), "ebm: Limit: model scorekit.Energy: the energy has no weights to train"},
		{limit(good, [][]float64{{1, 2, 3, 4}}, 0.1), "ebm: Limit: points of 4 numbers: must be at most 3, as the noise is integrated over"},
		{limit(good, make3(600), 0.1), "ebm: Limit: 600 points of 3 numbers with 512 values of the noise each: must be at most 262144 rows in all"},
		{limit(net.Quadratic{}, one, 0.1), "ebm: Limit: " + noWeights},
	} {
		if test.err == nil || !strings.HasPrefix(test.err.Error(), test.want) {
			t.Errorf("error %v, want %s", test.err, test.want)
		}
	}
	var diverged *scorekit.DivergedError
	if err := ais(ctx, beyond(nan), 99, nil); !errors.As(err, &diverged) {
		t.Errorf("error %v does not say where the chains diverged", err)
	}
}

func make3(n int) [][]float64 {
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, 3)
	}
	return rows
}

// The energy ½x²/(1 + σ²) has log Z = ½ log 2π(1 + σ²) at the noise level σ, which quadrature, annealing and densities give it.
func TestNoiseLevel(t *testing.T) {
	b, ctx := testbackend.Go(t), context.Background()
	const sigma = 1.5
	energy := scorekit.Energy(func(_ *mlctx.Context, x, sigma *ebm.Node) *ebm.Node {
		return graph.Div(parabola(x), graph.OnePlus(graph.Square(sigma)))
	})
	want := 0.5 * math.Log(2*math.Pi*(1+sigma*sigma))
	p, err := ebm.LogPartition(ctx, b, energy, ebm.Box{Low: []float64{-20}, High: []float64{20}, Sigma: sigma})
	if err != nil {
		t.Fatal(err)
	}
	testvalues.NearNumber(t, "log Z", p.LogZ, want, 1e-9)
	a, err := ebm.AnnealedImportance(ctx, b, energy, 500, ebm.Annealing{Mean: []float64{0}, Std: 1, Levels: 20, StepSize: 1, Sigma: sigma})
	if err != nil {
		t.Fatal(err)
	}
	if !(math.Abs(a.LogZ-want) <= 5*a.StandardError && a.StandardError < 0.05) {
		t.Errorf("log Z = %v ± %v by annealing, want %v", a.LogZ, a.StandardError, want)
	}
	logs, err := ebm.LogDensity(ctx, b, energy, [][]float64{{2}}, want, sigma)
	if err != nil {
		t.Fatal(err)
	}
	testvalues.NearNumber(t, "log p", logs[0], -0.5*4/(1+sigma*sigma)-want, 1e-12)
}

// Where p is 0 the energy may be +Inf: half of a Gaussian has half of its mass, and a log-density of −Inf beyond.
func TestNoMass(t *testing.T) {
	b := testbackend.Go(t)
	half := beyond(math.Inf(1))
	p, err := ebm.LogPartition(context.Background(), b, half, ebm.Box{Low: []float64{-9}, High: []float64{11}, Tolerance: 1e-5})
	if err != nil {
		t.Fatal(err)
	}
	if want := 0.5*math.Log(2*math.Pi) + math.Log(0.5*math.Erfc(-1/math.Sqrt2)); math.Abs(p.LogZ-want) > 1e-5 {
		t.Errorf("log Z = %v, want %v", p.LogZ, want)
	}
	logs, err := ebm.LogDensity(t.Context(), b, half, [][]float64{{0}, {2}}, p.LogZ)
	if err != nil {
		t.Fatal(err)
	}
	if logs[0] != -p.LogZ || !math.IsInf(logs[1], -1) {
		t.Errorf("log-densities %v, want %v and −Inf", logs, -p.LogZ)
	}
}

// Log-densities are computed in blocks of 65,536 points, and gradients a step length at a time: ctx stops both in between.
func TestStopsBetweenBlocks(t *testing.T) {
	energy := scorekit.Energy(testvalues.Ignoring(parabola))
	bowl := scorekit.Energy(func(vars *mlctx.Context, x, _ *ebm.Node) *ebm.Node {
		return graph.Mul(parabola(x), weight(vars, "lambda", 1, x))
	})
	points := make([][]float64, 140_000)
	for i := range points {
		points[i] = []float64{float64(i)}
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for _, c := range []struct {
			end                int64
			logDensity, limits string // none: it comes to its end
		}{
			{1, "stopped after 0 of 140000 points: context canceled", "stopped: context canceled"},
			{2, "stopped after 65536 of 140000 points: context canceled", "step 0 of 2: stopped: context canceled"},
			{3, "stopped after 131072 of 140000 points: context canceled", "step 1 of 2: stopped: context canceled"},
			{4, "", ""},
		} {
			logs, err := ebm.LogDensity(testvalues.EndingAt(c.end), b, energy, points, 0)
			if c.logDensity == "" && err != nil || c.logDensity != "" && (!errors.Is(err, context.Canceled) || err.Error() != "ebm: LogDensity: "+c.logDensity || logs != nil) {
				t.Errorf("asked %d times: %d log-densities, error %v, want %q", c.end, len(logs), err, c.logDensity)
			}
			table, err := ebm.Limit(testvalues.EndingAt(c.end), b, bowl, [][]float64{{1.5}, {2.5}}, []float64{0.1, 0.01})
			if c.limits == "" && err != nil || c.limits != "" && (!errors.Is(err, context.Canceled) || err.Error() != "ebm: Limit: "+c.limits || table != nil) {
				t.Errorf("asked %d times: table %v, error %v, want %q", c.end, table, err, c.limits)
			}
		}
	})
}

// Progress is told to the end: of every pass over the points, and of the levels.
func TestReports(t *testing.T) {
	b, ctx := testbackend.Go(t), context.Background()
	energy := scorekit.Energy(testvalues.Ignoring(parabola))
	var last scorekit.Report
	told, done := 0, 0
	report := func(r scorekit.Report) {
		last = r
		told++
		if r.Done {
			done++
		}
	}
	if _, err := ebm.LogPartition(ctx, b, energy, ebm.Box{Low: []float64{-9, -9}, High: []float64{9, 9}, Report: report}); err != nil {
		t.Fatal(err)
	}
	if told < 2 || done < 2 || !last.Done || last.Step != last.Total || last.Verb != "log Z" {
		t.Errorf("told %d times, %d times of an end, at last %+v", told, done, last)
	}
	if _, err := ebm.AnnealedImportance(ctx, b, energy, 4, ebm.Annealing{Mean: []float64{0}, Std: 1, Levels: 7, StepSize: 0.1, Report: report}); err != nil {
		t.Fatal(err)
	}
	if !last.Done || last.Step != 7 || last.Total != 7 {
		t.Errorf("at last %+v", last)
	}
}
