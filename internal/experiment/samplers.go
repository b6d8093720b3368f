package experiment

import (
	"fmt"
	"math"
	"strings"

	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/sampler"
	"github.com/scorekit/lab/scorekit/sde"
)

// Sampling is how draws are made of a trained model. Its fields are flags of the command, as those of [Config].
type Sampling struct {
	Sampler     string  `key:"sampler" usage:"how to draw"`
	N           int     `key:"n" usage:"how many samples; with --class all, of all classes together"`
	Class       string  `key:"class" usage:"draw from this class of a conditional model, by number or name, or from all of them in turn; empty: from the data as a whole"`
	Guidance    float64 `key:"guidance" usage:"how much further than its own score a class is followed (classifier-free guidance); 0: not"`
	Steps       int     `key:"steps" usage:"steps of the sampler, for annealed at each of 10 levels; 0: the sampler's usual number"`
	StepSize    float64 `key:"step-size" usage:"step of langevin, underdamped, ascent and mala, and of annealed at its lowest level, in squared units of the transformed data (underdamped: in their units); 0: from the noise level"`
	Sigma       string  `key:"sigma" usage:"noise level, or lowest and highest one as in 0.01:10, in the units of the transformed data; auto: those of the training"`
	Eta         float64 `key:"eta" usage:"share of the noise that ddim and the dpmpp samplers draw anew, from 0 to 1"`
	Corrections int     `key:"corrections" usage:"Langevin corrections at each level of predictor-corrector"`
	Churn       float64 `key:"churn" usage:"how much fresh noise churn adds over all steps together"`
	Denoise     bool    `key:"denoise" usage:"take the noise that is left off the samples at the end"`
	Seed        int64   `key:"seed" usage:"seed of the samples"`
	Backend     string  `key:"backend" usage:"what computes, as in GOMLX_BACKEND: xla, xla:cuda, go …; auto: the best that is installed"`
	Batch       int     `key:"batch" usage:"samples that are drawn together, which bounds memory; 0: all points, or 256 images"`

	Preview bool // few steps, to look at while training
}

// DefaultSampling returns the settings that hold where nothing is said.
func DefaultSampling() Sampling {
	return Sampling{Sampler: Auto, N: 1000, Sigma: Auto, Corrections: 1, Churn: 40, Denoise: true, Backend: Auto}
}

// target is settings together with what they are for: the noise levels and the size of what is drawn. low is also the one level
// of a sampler that has one, and 0 for none.
type target struct {
	Sampling
	low, high float64
	std       float64 // of the transformed data
	energy    scorekit.Energy
}

// draw is a kind of sampler.
type draw struct {
	name   string
	many   bool // it goes from high noise to low
	energy bool // it needs the energy of the model
	steps  int  // the usual number
	build  func(t target) (scorekit.Sampler, error)
}

// draws are the kinds of sampler, those for one noise level first.
var draws = []draw{
	{name: "langevin", steps: 1000, build: func(t target) (scorekit.Sampler, error) {
		return sampler.Langevin{StepSize: t.StepSize, Steps: t.Steps, Sigma: t.low}, nil
	}},
	{name: "underdamped", steps: 1000, build: func(t target) (scorekit.Sampler, error) {
		return sampler.Underdamped{StepSize: t.StepSize, Friction: 1 / t.std, Steps: t.Steps, Sigma: t.low}, nil
	}},
	{name: "mala", energy: true, steps: 1000, build: func(t target) (scorekit.Sampler, error) {
		return sampler.MALA{Energy: t.energy, StepSize: t.StepSize, Adapt: t.Steps / 2, Steps: t.Steps, Sigma: t.low}, nil
	}},
	{name: "ascent", steps: 1000, build: func(t target) (scorekit.Sampler, error) {
		return sampler.GradientAscent{StepSize: t.StepSize, Steps: t.Steps, Sigma: t.low}, nil
	}},
	{name: "annealed", many: true, steps: 30, build: func(t target) (scorekit.Sampler, error) {
		return sampler.AnnealedLangevin{Max: t.high, Min: t.low, StepsPerLevel: t.Steps, StepSize: t.StepSize, Denoise: t.Denoise}, nil
	}},
	{name: "heun", many: true, steps: 25, build: flow(sampler.Heun)},
	{name: "euler", many: true, steps: 100, build: flow(sampler.Euler)},
	{name: "dpmpp-2m", many: true, steps: 40, build: flow(sampler.DPMSolver2M)},
	{name: "dpmpp-2s", many: true, steps: 40, build: flow(sampler.DPMSolver2S)},
	{name: "dpmpp-3m", many: true, steps: 40, build: flow(sampler.DPMSolver3M)},
	{name: "dormand-prince", many: true, steps: 1000, build: func(t target) (scorekit.Sampler, error) {
		return sampler.DormandPrince{From: t.high, To: t.low, MaxSteps: t.Steps, Denoise: t.Denoise}, nil
	}},
	{name: "churn", many: true, steps: 100, build: func(t target) (scorekit.Sampler, error) {
		sigmas, err := sde.KarrasSigmas(t.high, t.low, t.Steps, 7)
		return sampler.Churn{Sigmas: sigmas, Amount: t.Churn, Denoise: t.Denoise}, err
	}},
	{name: "reverse-sde", many: true, steps: 500, build: func(t target) (scorekit.Sampler, error) {
		sigmas, err := sde.GeometricSigmas(t.high, t.low, t.Steps)
		return sampler.ReverseSDE{Sigmas: sigmas, Denoise: t.Denoise}, err
	}},
	{name: "predictor-corrector", many: true, steps: 300, build: func(t target) (scorekit.Sampler, error) {
		sigmas, err := sde.GeometricSigmas(t.high, t.low, t.Steps)
		return sampler.PredictorCorrector{Sigmas: sigmas, Corrections: t.Corrections, Denoise: t.Denoise}, err
	}},
	{name: "ddpm", many: true, steps: 500, build: func(t target) (scorekit.Sampler, error) {
		levels, err := exploding(t)
		return sampler.DDPM{Levels: levels}, err
	}},
	{name: "ddim", many: true, steps: 100, build: func(t target) (scorekit.Sampler, error) {
		levels, err := exploding(t)
		return sampler.DDIM{Levels: levels, Eta: t.Eta}, err
	}},
}

// Samplers returns the names of the samplers.
func Samplers() []string { return names(draws, func(d draw) string { return d.name }) }

// flow returns the builder of a probability flow on the noise levels of Karras et al. (2022).
func flow(solver sampler.Solver) func(t target) (scorekit.Sampler, error) {
	return func(t target) (scorekit.Sampler, error) {
		sigmas, err := sde.KarrasSigmas(t.high, t.low, t.Steps, 7)
		p := sampler.ProbabilityFlow{Sigmas: sigmas, Solver: solver, Denoise: t.Denoise}
		if solver != sampler.Heun && solver != sampler.Euler {
			p.Eta = t.Eta
		}
		return p, err
	}
}

// exploding returns falling levels of data with noise and no scaling, which end at the data.
func exploding(t target) ([]sde.Level, error) {
	sigmas, err := sde.GeometricSigmas(t.high, t.low, t.Steps)
	levels := make([]sde.Level, 0, len(sigmas)+1)
	for _, s := range sigmas {
		levels = append(levels, sde.Level{Mean: 1, Std: s})
	}
	return append(levels, sde.Level{Mean: 1}), err
}

// sampler makes the sampler of the settings for a model, which knows many noise levels or one, and returns its entry with it.
func (t target) sampler(net network, many bool) (scorekit.Sampler, draw, error) {
	if t.Sampler == Auto {
		t.Sampler = "langevin"
		if many {
			t.Sampler = "heun"
		}
	}
	if err := oneOf("sampler", t.Sampler, Samplers()); err != nil {
		return nil, draw{}, err
	}
	kind := find(draws, func(d draw) string { return d.name }, t.Sampler)
	switch {
	case kind.many && !many:
		return nil, kind, fmt.Errorf("sampler %s goes over many noise levels, and the model was trained for one: must be langevin, underdamped or another for one level", kind.name)
	case kind.energy && !net.energy:
		return nil, kind, fmt.Errorf("sampler %s needs an energy, which net %s is not: take langevin or underdamped, or train one of the nets %s", kind.name, net.name, namesWhere(func(n network) bool { return n.energy }))
	case t.Eta != 0 && kind.name != "ddim" && !strings.HasPrefix(kind.name, "dpmpp"):
		return nil, kind, fmt.Errorf("eta %v: sampler %s has none: must be 0, or with ddim or one of the dpmpp samplers", t.Eta, kind.name)
	case t.Steps < 0:
		return nil, kind, fmt.Errorf("steps %d: must be at least 1, or 0 for the sampler's usual number", t.Steps)
	case t.StepSize < 0:
		return nil, kind, fmt.Errorf("step-size %v: must be positive, or 0 to have it chosen", t.StepSize)
	}
	if t.Steps == 0 {
		t.Steps = kind.steps
		if t.Preview {
			t.Steps = min(t.Steps, 200)
		}
	}
	if t.StepSize == 0 {
		t.StepSize = t.step(kind.name)
	}
	s, err := kind.build(t)
	return s, kind, err
}

// step is the step size for who gives none. The smallest variance that data with noise σ can have is σ², and a Langevin
// chain on variance v has ε/(2v) too much of it: 0.1·σ² costs 5 % there. Without a noise level it is a hundredth of the
// variance of the data.
func (t target) step(name string) float64 {
	v := t.low * t.low
	if v == 0 {
		v = t.std * t.std / 10
	}
	switch name {
	case "underdamped": // a time, where ε is half of its square
		return 0.45 * math.Sqrt(v)
	case "annealed": // α = 2ε
		return 0.2 * v
	}
	return 0.1 * v
}
