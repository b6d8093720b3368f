package sampler_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/backends"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/sampler"
	"github.com/scorekit/lab/scorekit/sde"
)

// One correction with a listed score and noise: ε from norms that are means over the batch.
func TestCorrection(t *testing.T) {
	var cases []struct {
		ID          string
		Score, Z, X [][]float64
		SNR, Eps    float64
		New         [][]float64 `json:"x_new"`
	}
	testvalues.Read(t, "corrector.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		s := sampler.PredictorCorrector{Sigmas: []float64{2, 1}, Move: sampler.Stay, Corrections: 1, SNR: cases[0].SNR}
		w := newWalker(t, b, s, 1, func(params []*sampler.Node) scorekit.Score {
			return func(_ *mlctx.Context, _, _ *sampler.Node) *sampler.Node { return params[0] }
		})
		for _, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				w.t = t
				s.SNR = c.SNR
				x := w.step(c.X, [][][]float64{c.Z}, schedule(t, s).Rows[0], c.Score)
				testvalues.Near(t, "x", slices.Concat(x...), slices.Concat(c.New...), 1e-9)
			})
		}
	})
}

// The predictor–corrector of diffusers 0.42.1 for the variance-exploding SDE: algorithm 2 and 4 with norms over the batch,
// the corrections first. Its last move is to σ = 0, with noise, or without, which is its result and that of Denoise; the noise
// is put into the row here. Its model is told σ_min(σ_max/σ_min)^t, slightly off the levels of its steps.
func TestDiffusersVE(t *testing.T) {
	var cases []struct {
		ID          string
		SigmaMin    float64 `json:"sigma_min"`
		SigmaMax    float64 `json:"sigma_max"`
		SNR         float64
		Corrections int
		Mu, S       []float64
		Start       [][]float64 `json:"z_start"`
		Noise       [][][]float64
		Scored      []float64
		Discrete    []float64
		Corrected   [][][]float64
		X, Mean     [][][]float64
	}
	testvalues.Read(t, "diffusers_ve.json", &cases)
	at := func(params []*sampler.Node) scorekit.Score { // at the level it is told, whatever the sampler's
		return func(vars *mlctx.Context, x, _ *sampler.Node) *sampler.Node {
			return gaussianScore(params)(vars, x, params[2])
		}
	}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		walkers := map[int]*walker{}
		var corrects *walker
		for _, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				sigmas := slices.Clone(c.Discrete)
				slices.Reverse(sigmas)
				last := len(sigmas) - 1
				s := sampler.PredictorCorrector{Sigmas: append(slices.Clone(sigmas), 0), Corrections: c.Corrections, SNR: c.SNR, Denoise: true}
				if walkers[c.Corrections] == nil {
					walkers[c.Corrections] = newWalker(t, b, s, c.Corrections+1, at)
				}
				w := walkers[c.Corrections]
				w.t = t
				rows := schedule(t, s).Rows
				rows[last][7] = rows[last][2]
				var alone [][]float64
				if c.Corrections > 0 {
					only := sampler.PredictorCorrector{Sigmas: append(sigmas, sigmas[last]/2), Corrections: c.Corrections, SNR: c.SNR, Move: sampler.Stay}
					alone = schedule(t, only).Rows
					if corrects == nil {
						corrects = newWalker(t, b, only, 1, at)
					}
				}
				x := times(c.SigmaMax, c.Start)
				for k, row := range rows {
					level := []float64{c.Scored[k], c.Scored[k]}
					z := c.Noise[:c.Corrections+1]
					c.Noise = c.Noise[c.Corrections+1:]
					if c.Corrections > 0 {
						corrects.t = t
						corrected := corrects.step(x, z[:1], alone[k], c.Mu, c.S, level)
						testvalues.NearOne(t, "corrected", slices.Concat(corrected...), slices.Concat(c.Corrected[k]...), 1e-10)
					}
					quiet := slices.Clone(row)
					quiet[7] = 0
					mean := w.step(x, z, quiet, c.Mu, c.S, level)
					testvalues.NearOne(t, "mean", slices.Concat(mean...), slices.Concat(c.Mean[k]...), 1e-10)
					x = w.step(x, z, row, c.Mu, c.S, level)
					testvalues.NearOne(t, "x", slices.Concat(x...), slices.Concat(c.X[k]...), 1e-10)
				}
			})
		}
	})
}

// later is an SDE whose times are later by 0.1, so that a step can lead to before time 0.
type later struct{ sde.VP }

func (s later) Range() (first, last float64) { return 0.1 + 1e-3, 1.1 }
func (s later) Marginal(t float64) sde.Level { return s.VP.Marginal(max(1e-3, t-0.1)) }
func (s later) Drift(t float64) float64      { return s.VP.Drift(max(1e-3, t-0.1)) }
func (s later) Diffusion(t float64) float64  { return s.VP.Diffusion(max(1e-3, t-0.1)) }

// Euler–Maruyama for the variance-preserving SDE as diffusers 0.42.1 has it: all steps are 1/n long, at times that are
// (1 − 10⁻³)/(n − 1) apart.
func TestDiffusersVP(t *testing.T) {
	var cases []struct {
		ID             string
		BetaMin        float64 `json:"beta_min"`
		BetaMax        float64 `json:"beta_max"`
		Mu, S, Times   []float64
		Start          []float64 `json:"x_start"`
		Noise, X, Mean [][]float64
	}
	testvalues.Read(t, "diffusers_vp.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		var w *walker
		for _, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				if w == nil {
					w = newWalker(t, b, sampler.ReverseSDE{}, 1, gaussianScore)
				}
				w.t = t
				x := [][]float64{c.Start}
				for k, at := range c.Times {
					s := sampler.ReverseSDE{SDE: later{sde.VP{BetaMin: c.BetaMin, BetaMax: c.BetaMax}}, Times: []float64{at + 0.1, at + 0.1 - 1/float64(len(c.Times))}}
					row := schedule(t, s).Rows[0]
					quiet := slices.Clone(row)
					quiet[7] = 0
					z := [][][]float64{c.Noise[k : k+1]}
					testvalues.NearOne(t, "mean", w.step(x, z, quiet, c.Mu, c.S)[0], c.Mean[k], 1e-9)
					x = w.step(x, z, row, c.Mu, c.S)
					testvalues.NearOne(t, "x", x[0], c.X[k], 1e-9)
				}
			})
		}
	})
}

// bump is a process whose noise does not fall all the way from late times to early ones.
type bump struct{ sde.VE }

func (b bump) Marginal(t float64) sde.Level {
	l := b.VE.Marginal(t)
	if 0.6 < t && t < 0.8 {
		l.Std *= 1e3
	}
	return l
}

// A move that has no law is an error, wherever in the schedule it is.
func TestMovesMustHaveALaw(t *testing.T) {
	for _, move := range []sampler.Move{sampler.ReverseDiffusion, sampler.Ancestral} {
		_, err := sampler.PredictorCorrector{SDE: bump{}, Steps: 10, Move: move}.Schedule()
		if err == nil || !strings.HasPrefix(err.Error(), "predictor–corrector: ") {
			t.Errorf("move %v: error %v", move, err)
		}
	}
}
