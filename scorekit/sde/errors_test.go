package sde_test

import (
	"math"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/sde"
)

func second[T any](_ T, err error) error { return err }

func TestImpossibleArguments(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	none, some, loud := sde.Level{Mean: 1}, sde.Level{Mean: 0.8, Std: 0.6}, sde.Level{Std: 1}
	betas := func(b ...float64) error { return second(sde.FromBetas(b)) }
	steps := func(s ...int) error { return sde.CheckTimesteps(10, s) }
	advise := func(x ...[]float64) error { return second(sde.Advise(x, 1)) }
	ancestral := func(later, earlier sde.Level, eta float64) error {
		_, _, err := sde.Ancestral(later, earlier, eta)
		return err
	}
	path := func(times, start []float64, z [][]float64) error {
		return second(sde.ExactPath(sde.Wiener{}, times, start, z))
	}
	matrix := func(a [][]float64, mu []float64, sigma float64) error {
		return second(sde.NewMatrixOrnsteinUhlenbeck(a, mu, sigma))
	}
	moments := func(w sde.Wiener, times ...float64) error {
		_, _, err := w.QuadraticVariationMoments(times)
		return err
	}
	ou := must(sde.NewMatrixOrnsteinUhlenbeck([][]float64{{1}}, []float64{0}, 1))(t)
	for want, err := range map[string]error{
		"sde: VP: BetaMin -0.1: must be finite and not negative": sde.VP{BetaMin: -0.1, BetaMax: 20}.Validate(),
		"sde: VP: BetaMin NaN": sde.VP{BetaMin: nan, BetaMax: 20}.Validate(),
		"sde: VP: BetaMax 0.05: must be finite and at least BetaMin, 0.1":            sde.VP{BetaMin: 0.1, BetaMax: 0.05}.Validate(),
		"sde: SubVP: BetaMax +Inf":                                                   sde.SubVP{BetaMax: inf}.Validate(),
		"sde: SubVP: BetaMin 0 and BetaMax 4000: their mean must be at most 1400":    sde.SubVP{BetaMax: 4000}.Validate(),
		"sde: VE: SigmaMin 0: must be positive and finite":                           sde.VE{SigmaMax: 3}.Validate(),
		"sde: VE: SigmaMax 1: must be above SigmaMin, 2":                             sde.VE{SigmaMin: 2, SigmaMax: 1}.Validate(),
		"sde: VE: SigmaMax +Inf":                                                     sde.VE{SigmaMin: 2, SigmaMax: inf}.Validate(),
		"sde: CosineVP: MinMean 1: must be at least 0 and below 1":                   sde.CosineVP{MinMean: 1}.Validate(),
		"sde: Wiener: Sigma -1: must be positive and finite":                         sde.Wiener{Sigma: -1}.Validate(),
		"sde: Wiener: Horizon NaN":                                                   sde.Wiener{Horizon: nan}.Validate(),
		"sde: OrnsteinUhlenbeck: Theta -2":                                           sde.OrnsteinUhlenbeck{Theta: -2}.Validate(),
		"sde: OrnsteinUhlenbeck: Sigma +Inf":                                         sde.OrnsteinUhlenbeck{Sigma: inf}.Validate(),
		"sde: OrnsteinUhlenbeck: Horizon -1":                                         sde.OrnsteinUhlenbeck{Horizon: -1}.Validate(),
		"sde: level: Mean -1: must be finite and not negative":                       sde.Level{Mean: -1}.Validate(),
		"sde: level: Std NaN":                                                        sde.Level{Mean: 1, Std: nan}.Validate(),
		"sde: level: Mean 0 and Std 0":                                               sde.Level{}.Validate(),
		"sde: FromBetas: no betas":                                                   betas(),
		"sde: FromBetas: betas[1] = 0: must be above 0 and below 1":                  betas(0.1, 0),
		"sde: FromBetas: betas[0] = 1: must be above 0 and below 1":                  betas(1, 0.1),
		"sde: FromBetas: betas[2] = -0.3":                                            betas(0.1, 0.2, -0.3),
		"sde: FromBetas: betas[0] = NaN":                                             betas(nan),
		"nothing is left of the data":                                                second(sde.Linear(1000, 0.9, 0.99)),
		"sde: Discrete: zero value":                                                  sde.Discrete{}.Validate(),
		"sde: Linear: 0 steps: must be at least 1":                                   second(sde.Linear(0, 1e-4, 0.02)),
		"sde: Linear: first beta 0: must be above 0 and below 1":                     second(sde.Linear(10, 0, 0.02)),
		"sde: Linear: last beta 0.001: must be at least the first, 0.01":             second(sde.Linear(10, 0.01, 0.001)),
		"sde: ScaledLinear: last beta 1":                                             second(sde.ScaledLinear(10, 0.01, 1)),
		"sde: SquaredCosine: -1 steps":                                               second(sde.SquaredCosine(-1)),
		"sde: Discretize: 0 steps":                                                   second(sde.Discretize(sde.VP{}.Beta, 0)),
		"sde: Discretize: beta(1) = 20 in 20 steps: must be positive and below":      second(sde.Discretize(sde.VP{}.Beta, 20)),
		"sde: Timesteps: 11 timesteps of a chain of 10: must be from 1 to as many":   second(sde.Timesteps(10, 11, sde.Leading)),
		"sde: Timesteps: 0 timesteps":                                                second(sde.LinspaceTimes(10, 0)),
		"sde: Timesteps: chain of 0 steps":                                           second(sde.Timesteps(0, 1, sde.Leading)),
		"sde: Timesteps: spacing 7: must be Leading, Trailing or Linspace":           second(sde.Timesteps(10, 2, 7)),
		"sde: timesteps: there must be at least one":                                 steps(),
		"sde: timesteps[0] = 10: must be from 0 to 9":                                steps(10, 3),
		"sde: timesteps[2] = 5: must be below the one before it, 5":                  steps(9, 5, 5),
		"sde: timesteps[1] = -1: must be from 0 to 9":                                steps(9, -1),
		"sde: KarrasSigmas: highest level 1: must be finite and above the lowest, 2": second(sde.KarrasSigmas(1, 2, 3, 7)),
		"sde: KarrasSigmas: rho 0: must be positive":                                 second(sde.KarrasSigmas(2, 1, 3, 0)),
		"sde: PolyexponentialSigmas: lowest level 0: must be positive":               second(sde.GeometricSigmas(2, 0, 3)),
		"sde: PolyexponentialSigmas: 0 levels":                                       second(sde.GeometricSigmas(2, 1, 0)),
		"sde: EvenTimes: 0 times":                                                    second(sde.SigmasOf(sde.VP{}, 0)),
		"sde: EvenTimes: time 1.5: must be from 0 to 1":                              second(sde.EvenTimes(sde.VP{}, 0, 1.5, 3)),
		"sde: EvenTimes: time NaN":                                                   second(sde.EvenTimes(sde.VP{}, nan, 1, 3)),
		"sde: VE: SigmaMax 0.5":                                                      second(sde.EvenTimes(sde.VE{SigmaMin: 1, SigmaMax: 0.5}, 0, 1, 3)),
		"sde: Between: earlier level {Mean:0 Std:1}: its Mean must be positive":      second(sde.Between(loud, loud)),
		"the later one must not have less noise than it inherits":                    second(sde.Between(some, sde.Level{Mean: 0.8, Std: 0.5})),
		"sde: Posterior: later level {Mean:1 Std:0}: its Std must be positive":       second(sde.Posterior(none, none)),
		"sde: Posterior: sde: level: Std -1":                                         second(sde.Posterior(sde.Level{Mean: 1, Std: -1}, none)),
		"sde: Ancestral: eta -0.5: must be finite and not negative":                  ancestral(some, none, -0.5),
		"sde: Ancestral: eta NaN":                                                    ancestral(some, none, nan),
		"from noise to data at level {Mean:0 Std:1}":                                 second(sde.Convert(sde.Noise, sde.Data, loud, []float64{1}, []float64{2})),
		"from data to score at level {Mean:1 Std:0}":                                 second(sde.Convert(sde.Data, sde.Score, none, []float64{1}, []float64{2})),
		"sde: Convert: Prediction(9): must be Score, Noise, Data, V or Flow":         second(sde.Convert(9, sde.Score, some, nil, nil)),
		"sde: Convert: prediction of 1 coordinates for a state of 2":                 second(sde.Convert(sde.V, sde.Score, some, []float64{1, 2}, []float64{2})),
		"sde: ExactPath: no times":                                                   path(nil, nil, nil),
		"sde: ExactPath: times[1] = 0: must be finite and above the one before it":   path([]float64{0, 0}, []float64{0}, [][]float64{{1}}),
		"sde: ExactPath: times[0] = -1: must not be negative":                        path([]float64{-1, 0}, []float64{0}, [][]float64{{1}}),
		"noise of 1 rows for 3 times: must be one less":                              path([]float64{0, 1, 2}, []float64{0}, [][]float64{{1}}),
		"noise row 1 has 2 numbers for a start of 1":                                 path([]float64{0, 1, 2}, []float64{0}, [][]float64{{1}, {1, 2}}),
		"coordinate 0 after step 0 is NaN":                                           path([]float64{0, 1}, []float64{nan}, [][]float64{{1}}),
		"sde: EulerMaruyama: times[1] = 1: sde.Rectified has no finite drift":        second(sde.EulerMaruyama(sde.Rectified{}, []float64{0, 1}, []float64{0}, [][]float64{{1}})),
		"sde: EulerMaruyamaLevels: times[0] = -1":                                    second(sde.EulerMaruyamaLevels(sde.VP{}, []float64{-1, 0})),
		"sde: Covariance: times -1 and 2":                                            second(sde.Covariance(sde.Wiener{}, -1, 2)),
		"sde: Wiener: times[1] = 1: must be finite and above":                        moments(sde.Wiener{}, 2, 1),
		"sde: Wiener: Sigma -3":                                                      moments(sde.Wiener{Sigma: -3}, 0, 1),
		"sde: ItoSum: integrand at 1 times for a path of 2":                          second(sde.ItoSum([][]float64{{1}}, [][]float64{{1}, {2}})),
		"sde: StratonovichSum: row 1 has 1 numbers, that of the integrand 2":         second(sde.StratonovichSum([][]float64{{1}, {2, 3}}, [][]float64{{1}, {2}})),
		"sde: QuadraticVariation: path of no times":                                  second(sde.QuadraticVariation(nil)),
		"sde: NewMatrixOrnsteinUhlenbeck: sigma 0: must be positive":                 matrix([][]float64{{1}}, []float64{0}, 0),
		"sde: NewMatrixOrnsteinUhlenbeck: A with 1 rows for a mu of 2":               matrix([][]float64{{1}}, []float64{0, 0}, 1),
		"row 1 of A has 1 numbers: must have 2":                                      matrix([][]float64{{1, 0}, {1}}, []float64{0, 0}, 1),
		"A[1][0] = 0.5 but A[0][1] = 0: must be symmetric":                           matrix([][]float64{{1, 0}, {0.5, 1}}, []float64{0, 0}, 1),
		"A[0][0] = NaN": matrix([][]float64{{nan}}, []float64{0}, 1),
		"mu[0] = +Inf":  matrix([][]float64{{1}}, []float64{inf}, 1),
		"A with least eigenvalue -1: must be positive definite":                  matrix([][]float64{{-1}}, []float64{0}, 1),
		"sde: MatrixOrnsteinUhlenbeck: time -3: must be finite and not negative": second(ou.Mean([]float64{1}, -3)),
		"sde: MatrixOrnsteinUhlenbeck: start[0] = NaN: must be finite":           second(ou.Mean([]float64{nan}, 1)),
		"sde: MatrixOrnsteinUhlenbeck: time -1: must be":                         second(ou.Covariance(-1, 2)),
		"sde: MatrixOrnsteinUhlenbeck: time NaN: must be":                        second(ou.Covariance(1, nan)),
		"sde: MatrixOrnsteinUhlenbeck: zero value: must be made":                 second(sde.MatrixOrnsteinUhlenbeck{}.Covariance(1, 2)),
		"sde: SigmasOf: process nil":                                             second(sde.SigmasOf(nil, 3)),
		"sde: EvenTimes: process nil":                                            second(sde.EvenTimes(nil, 1, 0, 3)),
		"sde: ExactPath: process nil":                                            second(sde.ExactPath(nil, []float64{0, 1}, nil, nil)),
		"sde: Discretize: beta nil":                                              second(sde.Discretize(nil, 3)),
		"start of 2 coordinates: must have 1":                                    second(ou.Mean([]float64{1, 2}, 1)),
		"sde: MatrixOrnsteinUhlenbeck: zero value":                               second(sde.MatrixOrnsteinUhlenbeck{}.Mean(nil, 1)),
		"sde: Precondition: dataStd -1: must be positive and finite":             second(sde.Precondition(1, -1)),
		"sde: Precondition: sigma 0: must be positive and finite":                second(sde.Precondition(0, 1)),
		"sde: Advise: 1 points: there must be at least 2":                        advise([]float64{1}),
		"sde: Advise: data[1] has 1 coordinates, data[0] has 2: must be as many": advise([]float64{1, 2}, []float64{1}),
		"sde: Advise: data[1][0] = NaN: must be finite":                          advise([]float64{1}, []float64{nan}),
		"sde: Advise: all 2 points are the same":                                 advise([]float64{1}, []float64{1}),
		"overflow":                                                               advise([]float64{1e200}, []float64{-1e200}),
		"sde: LevelRatio: 0 dimensions":                                          second(sde.LevelCount(2, 1, 0)),
		"sde: LevelCount: highest level 1":                                       second(sde.LevelCount(1, 2, 3)),
		"sde: LangevinStep: 1 levels: must be at least 2":                        second(sde.LangevinStep([]float64{1}, 5)),
		"sde: LangevinStep: 0 steps at each level":                               second(sde.LangevinStep([]float64{2, 1}, 0)),
		"sde: LangevinStep: sigmas[1] = 3: must be positive, finite and below":   second(sde.LangevinStep([]float64{2, 3}, 5)),
		"sde: LangevinStep: sigmas[2] = 0.9: the ratio to the one before it":     second(sde.LangevinStep([]float64{2, 1, 0.9}, 5)),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// Graph functions stop with an error that says what does not fit.
func TestImpossibleGraphs(t *testing.T) {
	b := testbackend.Go(t)
	score := scorekit.Score(nil)
	for want, build := range map[string]func(x, level *sde.Node) *sde.Node{
		"level of shape [2] for points of shape [3 1]: must be a scalar or [batch]": func(x, level *sde.Node) *sde.Node {
			return sde.NodeLevel{Mean: level, Std: level}.Noised(x, x)
		},
		"ConvertNode: Prediction(-1): must be": func(x, level *sde.Node) *sde.Node {
			return sde.ConvertNode(-1, sde.Score, sde.NodeLevel{Mean: level, Std: level}, x, x)
		},
		"FromNetwork: no noise level was given": func(x, _ *sde.Node) *sde.Node {
			return sde.FromNetwork(sde.VP{}, sde.Noise, score).Score(nil, x, nil)
		},
	} {
		_, err := graph.ExecOnce(b, func(x, level *sde.Node) *sde.Node { return build(x, level) }, [][]float64{{1}, {2}, {3}}, []float64{1, 2})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

// Ends: one step, one time, one level.
func TestSmallest(t *testing.T) {
	for _, spacing := range []sde.Spacing{sde.Leading, sde.Trailing, sde.Linspace} {
		for _, total := range []int{1, 10} {
			steps := must(sde.Timesteps(total, 1, spacing))(t)
			if err := sde.CheckTimesteps(total, steps); err != nil {
				t.Error(err)
			}
		}
		steps := must(sde.Timesteps(10, 10, spacing))(t)
		for i, s := range steps {
			if s != 9-i {
				t.Errorf("spacing %d of all: %v", spacing, steps)
			}
		}
	}
	for _, grid := range [][]float64{
		must(sde.KarrasSigmas(3, 1, 1, 7))(t), must(sde.GeometricSigmas(3, 1, 1))(t),
		must(sde.EvenTimes(sde.Wiener{Horizon: 3}, 3, 0, 1))(t),
	} {
		if len(grid) != 1 || grid[0] != 3 {
			t.Errorf("grid of one: %v, want 3", grid)
		}
	}
	for _, s := range all {
		if _, ve := s.(sde.VE); !ve && s.Time(0) != 0 {
			t.Errorf("%T%+v: no noise at %v, want 0", s, s, s.Time(0))
		}
	}
	if path := must(sde.ExactPath(sde.VP{}, []float64{0.5}, []float64{2}, nil))(t); len(path) != 1 || path[0][0] != 2 {
		t.Errorf("path of one time: %v", path)
	}
	if d := must(sde.SquaredCosine(1))(t); d.AlphaBars()[0] <= 0 || d.Sigma(0) <= 0 {
		t.Errorf("one cosine step leaves %v", d.AlphaBars())
	}
	for p, want := range map[sde.Prediction]string{sde.Score: "score", sde.Flow: "flow", 7: "Prediction(7)"} {
		if p.String() != want {
			t.Errorf("%q, want %q", p.String(), want)
		}
	}
}

// Functions without an error say in another way that there is nothing to tell.
func TestNothingToTell(t *testing.T) {
	none, chain := sde.Discrete{}, must(sde.Linear(10, 1e-4, 0.02))(t)
	for what, v := range map[string]float64{
		"zero value's level": none.Sigma(1), "zero value's index": none.Time(1), "level at NaN": chain.Sigma(math.NaN()),
		"index of NaN": chain.Time(math.NaN()), "state at NaN": chain.Marginal(math.NaN()).Std, "zero value's state": none.Marginal(1).Mean,
	} {
		if !math.IsNaN(v) {
			t.Errorf("%s: %v, want NaN", what, v)
		}
	}
	if mean, cov := (sde.MatrixOrnsteinUhlenbeck{}).Stationary(); mean != nil || cov != nil {
		t.Errorf("zero value at rest: %v, %v", mean, cov)
	}
	if z := sde.StandardNormal(1, -1, 2); len(z) != 0 {
		t.Errorf("%d rows for -1", len(z))
	}
}
