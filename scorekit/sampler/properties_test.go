package sampler_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/sampler"
	"github.com/scorekit/lab/scorekit/sde"
)

// settings are drawn at random: those that are usual have an answer; the others may be impossible, or at the end of what
// numbers are.
type settings struct {
	*rand.Rand
	usual bool
}

// odd is a number that hardly anybody means, where the settings are not usual, and otherwise v.
func (r settings) odd(v float64) float64 {
	all := []float64{0, -1, math.NaN(), math.Inf(1), math.Inf(-1), 1e-30, 1e30, 1e-300, 1e300, math.SmallestNonzeroFloat64, math.MaxFloat64, math.MaxFloat32}
	if !r.usual && r.IntN(4) == 0 {
		return all[r.IntN(len(all))]
	}
	return v
}

// number is from 0.02 to 0.5.
func (r settings) number() float64 { return r.odd(0.02 + 0.48*r.Float64()) }

func (r settings) count() int {
	if r.usual {
		return 1 + r.IntN(6)
	}
	return r.IntN(8) - 1
}

func (r settings) yes() bool { return r.IntN(2) == 0 }

// falling is some noise levels, the last of which may be 0 if zero.
func (r settings) falling(zero bool) []float64 {
	var sigmas []float64
	for range 1 + r.count() {
		sigmas = append(sigmas, r.odd(math.Exp(6*r.Float64()-3)))
	}
	if r.usual || r.IntN(4) > 0 {
		slices.SortFunc(sigmas, func(a, b float64) int {
			switch {
			case a > b:
				return -1
			case a < b:
				return 1
			}
			return 0
		})
	}
	if zero && r.yes() {
		sigmas = append(sigmas, 0)
	}
	return sigmas
}

func (r settings) process() sde.SDE {
	switch r.IntN(7) {
	case 0:
		return sde.VP{BetaMin: r.number(), BetaMax: r.odd(1 + 10*r.Float64())}
	case 1:
		return sde.SubVP{}
	case 2:
		return sde.VE{SigmaMin: r.number() / 10, SigmaMax: r.odd(1 + 10*r.Float64())}
	case 3:
		return sde.CosineVP{MinMean: r.number() / 10}
	case 4:
		return sde.OrnsteinUhlenbeck{Theta: r.odd(0.5 + r.Float64()), Sigma: r.odd(0.5 + r.Float64())}
	case 5:
		return sde.Wiener{Sigma: r.odd(0.5 + 5*r.Float64())}
	}
	return sde.Rectified{}
}

// levels is those of a chain to which noise is added.
func (r settings) levels() []sde.Level {
	var levels []sde.Level
	for _, sigma := range r.falling(true) {
		l := sde.Preserving(sigma)
		levels = append(levels, sde.Level{Mean: r.odd(l.Mean), Std: l.Std})
	}
	return levels
}

// sampler has random settings, and takes at most some hundred steps.
func (r settings) sampler() scorekit.Sampler {
	logDensity := func(x *sampler.Node) *sampler.Node { return graph.Neg(bowl(nil, x, nil)) }
	sigma := 0.0
	if r.yes() {
		sigma = r.number()
	}
	steps := r.count()
	if steps == 0 { // the default
		steps = 1
	}
	down := func() (process sde.SDE, of int, times, sigmas []float64) {
		switch r.IntN(3) {
		case 0:
			return nil, 0, nil, r.falling(true)
		case 1:
			process = r.process()
			first, last := process.Range()
			for k := range 1 + r.count() {
				times = append(times, r.odd(last-(last-first)*float64(k)/9))
			}
			return process, 0, times, nil
		}
		return r.process(), steps, nil, nil
	}
	process, of, times, sigmas := down()
	denoise := r.yes() || len(times) == 1 || len(sigmas) == 1
	switch r.IntN(13) {
	case 0:
		return sampler.Langevin{StepSize: r.number(), Temperature: r.number(), Steps: steps, Sigma: sigma}
	case 1:
		return sampler.Langevin{Alpha: r.number(), Steps: steps, Sigma: sigma}
	case 2:
		return sampler.GradientAscent{StepSize: r.number(), Steps: steps, Sigma: sigma}
	case 3:
		return sampler.Underdamped{StepSize: r.number(), Friction: r.number(), Steps: steps, Sigma: sigma}
	case 4:
		m := sampler.MALA{StepSize: r.number(), Steps: steps, Sigma: sigma, Adapt: r.IntN(max(1, steps))}
		if m.Energy = bowl; r.yes() {
			m.Energy, m.LogDensity, m.Sigma = nil, logDensity, 0
		}
		return m
	case 5:
		betas := []float64{1}
		for range r.count() {
			betas = append(betas, r.odd(betas[len(betas)-1]*(0.3+0.6*r.Float64())))
		}
		return sampler.ParallelTempering{Energy: bowl, Betas: betas, StepSize: r.number(), Steps: steps, Sigma: sigma}
	case 6:
		a := sampler.AnnealedLangevin{Max: r.odd(1 + 5*r.Float64()), Min: r.number(), Levels: 1 + r.count(), StepsPerLevel: 1 + r.IntN(3), StepSize: r.number() / 100, Denoise: denoise}
		if r.yes() {
			a.Max, a.Min, a.Levels, a.Sigmas = 0, 0, 0, r.falling(false)
			if r.usual { // a step of a few hundredths of the level
				a.StepSize *= math.Pow(a.Sigmas[len(a.Sigmas)-1], 2)
			}
		}
		return a
	case 7:
		return sampler.SVGD{StepSize: r.number(), Bandwidth: r.number(), Steps: steps, Sigma: sigma}
	case 8:
		return sampler.ReverseSDE{SDE: process, Steps: of, Times: times, Sigmas: sigmas, Denoise: denoise}
	case 9:
		p := sampler.PredictorCorrector{SDE: process, Steps: of, Times: times, Sigmas: sigmas, Denoise: denoise,
			Move: sampler.Move(r.IntN(5)), Corrections: r.IntN(3), PredictorFirst: r.yes()}
		if r.usual { // those that go together
			if p.Move == sampler.EulerMaruyama && process == nil {
				p.Move = sampler.Flow
			}
			p.Denoise = p.Denoise || p.Move == sampler.Stay || p.Move == sampler.ReverseDiffusion
			if p.Move == sampler.Stay {
				p.Corrections = 1
			}
		}
		if p.Move == sampler.Ancestral && r.yes() {
			p.Eta = r.number()
		}
		if r.yes() {
			p.Renew = r.number()
		} else {
			p.SNR, p.PerChain = r.number()/2, r.yes()
		}
		return p
	case 10:
		p := sampler.ProbabilityFlow{SDE: process, Steps: of, Times: times, Sigmas: sigmas, Denoise: denoise, Solver: sampler.Solver(r.IntN(int(sampler.DPMSolver3M) + 1))}
		if noisy := p.Solver != sampler.Heun && p.Solver != sampler.Euler && p.Solver != sampler.AdamsBashforth2 && p.Solver != sampler.AdamsBashforth4; r.yes() && (noisy || !r.usual) {
			p.Eta = r.number()
		}
		return p
	case 11:
		low := r.number() / 2
		return sampler.Churn{Sigmas: r.falling(true), Amount: r.odd(3 * r.Float64()), Min: low, Max: low + r.odd(10*r.Float64()), Noise: r.odd(1 + r.Float64()/10), Solver: sampler.Solver(r.IntN(2)), Denoise: true}
	}
	if r.yes() {
		d := sampler.DormandPrince{From: r.odd(1 + 10*r.Float64()), To: r.number(), RelTol: r.odd(1e-3), AbsTol: r.odd(1e-3), MaxSteps: 200, Denoise: denoise}
		if r.yes() {
			d.SDE, d.From, d.To = r.process(), 0, 0
		}
		return d
	}
	clip := 0.0
	if r.yes() {
		clip = r.odd(3)
	}
	chain, err := sde.Linear(20, 1e-3, 0.3)
	if err != nil {
		panic(err)
	}
	levels, spacing := r.levels(), sde.Spacing(r.IntN(3))
	if steps == 1 && r.usual {
		spacing = sde.Trailing
	}
	if r.yes() {
		levels = nil
	} else {
		chain, steps, spacing = sde.Discrete{}, 0, 0
	}
	if r.yes() {
		return sampler.DDPM{Chain: chain, Levels: levels, Steps: steps, Spacing: spacing, Large: r.yes(), Clip: clip}
	}
	return sampler.DDIM{Chain: chain, Levels: levels, Steps: steps, Spacing: spacing, Eta: r.number(), Clip: clip}
}

// 600 samplers of random settings, each with one chain or an odd number of them, points of random shapes, float32 or float64:
// Sample ends with an error that says what is wrong, or with finite numbers of the shape asked for. What is usual has an
// answer. Every third sampler is used by Inpaint, where it can be.
func TestAnySettings(t *testing.T) {
	b := testbackend.Go(t)
	shapes := [][]int{{1}, {2}, {3}, {17}, {1, 1, 1}, {3, 5, 1}, {2, 3, 3}}
	answers, refusals := map[string]int{}, map[string]int{}
	for i := range 600 {
		r := settings{rand.New(rand.NewPCG(uint64(i), 5)), i%2 == 0}
		shape, n := shapes[r.IntN(len(shapes))], []int{1, 2, 3, 5, 7}[r.IntN(5)]
		dtype := []dtypes.DType{dtypes.Float32, dtypes.Float64}[r.IntN(2)]
		s := r.sampler()
		if noised, ok := s.(sampler.Noised); ok && i%3 == 0 {
			size := 1
			for _, d := range shape {
				size *= d
			}
			p := sampler.Inpaint{Sampler: noised}
			for range size {
				p.Known, p.Mask = append(p.Known, r.number()), append(p.Mask, r.yes())
			}
			s = p
		}
		kind := fmt.Sprintf("%T", s)
		what := fmt.Sprintf("case %d: %s %+v, %d chains of shape %v, %v", i, kind, s, n, shape, dtype)
		func() {
			defer func() {
				if p := recover(); p != nil {
					t.Errorf("%s: panic: %v", what, p)
				}
			}()
			options := []scorekit.SampleOption{scorekit.WithShape(shape...), scorekit.WithDType(dtype), scorekit.WithSeed(int64(i)), scorekit.WithUnroll(1)}
			d, err := scorekit.Sample(t.Context(), b, scorekit.Energy(bowl), s, n, options...)
			if err != nil {
				refusals[kind]++
				if r.usual || strings.Contains(err.Error(), "runtime error") || !strings.HasPrefix(err.Error(), "scorekit: Sample: ") {
					t.Errorf("%s: error %v", what, err)
				}
				return
			}
			answers[kind]++
			if want := append([]int{n}, shape...); !slices.Equal(d.X.Shape().Dimensions, want) || d.X.DType() != dtype {
				t.Errorf("%s: %s, want %v", what, d.X.Shape(), want)
			}
			rows, err := scorekit.Rows(d.X)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range slices.Concat(append(rows, []float64{d.Largest})...) {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Errorf("%s: %v without an error", what, rows)
					break
				}
			}
			for name, v := range d.Info {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Errorf("%s: %s is %v", what, name, v)
				}
			}
		}()
	}
	if len(answers) != 15 || len(refusals) != 15 {
		t.Errorf("answers of %d samplers, %v, and refusals of %d, %v: want 15", len(answers), answers, len(refusals), refusals)
	}
	t.Logf("answers: %v; refusals: %v", answers, refusals)
}

// A step that float32 does not hold would leave all chains where they are.
func TestStepBeyondFloat32(t *testing.T) {
	_, err := sampler.MALA{Energy: bowl, StepSize: 2e38}.Schedule()
	if want := "MALA: step 2e+38: twice it must be a number of float32"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}
