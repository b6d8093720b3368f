package sampler

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/sde"
)

// Solver is a method for the probability-flow ODE on a given grid: see [ProbabilityFlow]. Heun and Euler go in the variable
// of the grid, the time of an SDE or σ. The others know the levels {a, b} alone, σ = b/a, and go in σ or in ln σ; their
// formulas here are those for a = 1, from σ to σ′, h = ln(σ/σ′), with ε̂ the estimated noise and D the denoised point, and
// hold for x/a otherwise. "Before" is of the step before; the first steps, with less before them, are of a lower order. What
// remembers extrapolates: where a step is far longer in ln σ than the one before, as the last of few equal times of an SDE
// are, high orders go astray.
type Solver int

const (
	// Heun predicts a step by Euler's method and repeats it with the mean of the slopes at its two ends: order 2, two scores
	// a step (Karras et al. 2022, algorithm 1).
	Heun Solver = iota
	// Euler follows the slope at the start of a step: order 1, one score.
	Euler
	// DPMSolver2M, DPM-Solver++(2M), extrapolates the denoised point to the middle of the step in ln σ: order 2, one score.
	// x ← e^{−h} x + (1 − e^{−h})(D + ½(h/h_before)(D − D_before)) (Lu et al. 2022, DPM-Solver++, algorithm 2).
	DPMSolver2M
	// DPMSolver2, DPM-Solver-2, goes to σ_m = √(σσ′) by Euler's method in σ and the whole way with the noise there: order 2,
	// two scores.
	// x ← x + (σ′ − σ) ε̂(x + (σ_m − σ) ε̂(x, σ), σ_m) (Lu et al. 2022, DPM-Solver, algorithm 1).
	DPMSolver2
	// DPMSolver2S, DPM-Solver++(2S), is DPMSolver2 with the denoised point: order 2, two scores.
	// x ← e^{−h} x + (1 − e^{−h}) D(e^{−h/2} x + (1 − e^{−h/2}) D(x, σ), σ_m) (DPM-Solver++, algorithm 1 with r = ½).
	DPMSolver2S
	// DPMSolverSDE, DPM-Solver++ SDE, is DPMSolver2S that, with Eta, adds the noise of the first half of a step at its middle,
	// too (dpmpp_sde of k-diffusion).
	DPMSolverSDE
	// AdamsBashforth2 integrates over σ the line through the noise of this step and the one before: order 2, one score.
	// x ← x + (σ′ − σ)(ε̂ + ½(σ′ − σ)/(σ − σ_before) (ε̂ − ε̂_before)) (Zhang and Chen 2023, ρAB).
	AdamsBashforth2
	// AdamsBashforth4 is that with the cubic through four, the linear multistep method (LMS) of order 4 of k-diffusion and
	// diffusers: order 4, one score. On equal steps the weights are
	// (55, −59, 37, −9)/24, those of Liu et al. (2022, PNDM).
	AdamsBashforth4
	// ExponentialAB2 is DPMSolver2M with the integral of the line through the denoised points in place of its middle:
	// order 2, one score. x ← e^{−h} x + (1 − e^{−h}) D + (1 − (1 − e^{−h})/h)(h/h_before)(D − D_before)
	// (Hochbruck and Ostermann 2010).
	ExponentialAB2
	// ExponentialAB3 is that with the parabola through three: order 3, one score.
	ExponentialAB3
	// DPMSolver3M, DPM-Solver++(3M), is ExponentialAB3 with half of the parabola's square term, as k-diffusion's dpmpp_3m_sde
	// has it: order 2, one score.
	DPMSolver3M
)

// rule is what the steps of a solver are made of.
type rule struct {
	name   string
	of     sde.Prediction // what a step is a sum of, beside x
	memory int            // how many of these it keeps from the steps before
	staged bool           // whether it takes one more score, on the way
}

var rules = []rule{
	Heun:            {name: "Heun", of: sde.Score, staged: true},
	Euler:           {name: "Euler", of: sde.Score},
	DPMSolver2M:     {name: "DPMSolver2M", of: sde.Data, memory: 1},
	DPMSolver2:      {name: "DPMSolver2", of: sde.Noise, staged: true},
	DPMSolver2S:     {name: "DPMSolver2S", of: sde.Data, staged: true},
	DPMSolverSDE:    {name: "DPMSolverSDE", of: sde.Data, staged: true},
	AdamsBashforth2: {name: "AdamsBashforth2", of: sde.Noise, memory: 1},
	AdamsBashforth4: {name: "AdamsBashforth4", of: sde.Noise, memory: 3},
	ExponentialAB2:  {name: "ExponentialAB2", of: sde.Data, memory: 1},
	ExponentialAB3:  {name: "ExponentialAB3", of: sde.Data, memory: 2},
	DPMSolver3M:     {name: "DPMSolver3M", of: sde.Data, memory: 2},
}

func (s Solver) rule() rule { return rules[s] }

func (s Solver) validate(who string) error {
	if s >= 0 && int(s) < len(rules) {
		return nil
	}
	var names []string
	for _, r := range rules {
		names = append(names, r.name)
	}
	last := len(names) - 1
	return fmt.Errorf("%s: Solver %d: must be %s or %s", who, int(s), strings.Join(names[:last], ", "), names[last])
}

// The coefficients of a step without a stage are the factors of x and of the predictions, the latest first. With a stage
// they are the factors of x and of the prediction in the stage's point, its level, and the factors of x and of the two
// predictions in the end.
const (
	stageX = iota
	stagePrediction
	stageMean
	stageStd
	endX
	endPrediction
	endStage
)

// names are the columns of the coefficients.
func (s Solver) names() []string {
	r := s.rule()
	of := r.of.String()
	if r.staged {
		return []string{"stage x", "stage " + of, "stage mean", "stage std", "x", of, of + " there"}
	}
	names := []string{"x", of}
	for k := range r.memory {
		names = append(names, fmt.Sprintf("%s %d before", of, k+1))
	}
	return names
}

// coefficients are those of step k from levels[k] to the next, with down in place of its Std.
func (s Solver) coefficients(g descent, k int, down float64) []float64 {
	adams := s == AdamsBashforth2 || s == AdamsBashforth4
	if g.ends(k) && (!adams || g.denoise) {
		return s.ending(g.levels[k])
	}
	to := sde.Level{Mean: g.levels[k+1].Mean, Std: down}
	switch {
	case s == Euler:
		return eulerStep(g, k)
	case s == Heun:
		return heunStep(g, k)
	case adams:
		return adamsStep(g, k, s.rule().memory)
	case s.rule().staged:
		return s.middle(g.levels[k], to)
	default:
		return s.exponentialStep(g, k, to)
	}
}

// ending is a step to the mean of the data given x.
func (s Solver) ending(at sde.Level) []float64 {
	r := s.rule()
	ofX, of := tweedie(at)
	switch r.of {
	case sde.Noise:
		of /= -at.Std
	case sde.Data:
		ofX, of = 0, 1
	}
	if r.staged { // at x itself, which is not used
		return []float64{1, 0, at.Mean, at.Std, ofX, of, 0}
	}
	return append([]float64{ofX, of}, make([]float64, r.memory)...)
}

// eulerStep is a step in time, of x′ = f x − ½g²·score, or in σ, of dx/dσ = −σ·score.
func eulerStep(g descent, k int) []float64 {
	dt, drift, half := slopes(g, k, k)
	return []float64{1 - dt*drift, dt * half}
}

// heunStep has the end of Euler's step as its stage.
func heunStep(g descent, k int) []float64 {
	euler, to := eulerStep(g, k), g.levels[k+1]
	dt, drift, half := slopes(g, k, k)
	_, driftThere, halfThere := slopes(g, k, k+1)
	ofStage := -dt * driftThere / 2
	return []float64{euler[0], euler[1], to.Mean, to.Std,
		1 - dt*drift/2 + ofStage*euler[0], dt*half/2 + ofStage*euler[1], dt * halfThere / 2}
}

// slopes is the length of step k, and f and ½g² at a point of the grid. With σ as the time f is 0 and ½g² is σ.
func slopes(g descent, k, point int) (dt, drift, half float64) {
	if g.process == nil {
		return g.levels[k].Std - g.levels[k+1].Std, 0, g.levels[point].Std
	}
	t := g.times[point]
	return g.times[k] - g.times[k+1], g.process.Drift(t), g.process.Diffusion(t) * g.process.Diffusion(t) / 2
}

// middle is the step of the solvers with a stage at √(σσ′). The stage keeps the Mean of the start.
func (s Solver) middle(from, to sde.Level) []float64 {
	m := math.Sqrt(to.Sigma() / from.Sigma()) // σ_m/σ
	stage := sde.Level{Mean: from.Mean, Std: m * from.Std}
	if s == DPMSolver2 {
		r := to.Mean / from.Mean
		return []float64{1, stage.Std - from.Std, stage.Mean, stage.Std, r, 0, to.Std - r*from.Std}
	}
	ofX, ofData := kept(from, stage)
	endX, endData := kept(from, to)
	return []float64{ofX, ofData, stage.Mean, stage.Std, endX, 0, endData}
}

// kept is the factors of x and of the denoised point in x ← a′D + b′ε̂.
func kept(from, to sde.Level) (ofX, ofData float64) {
	return to.Std / from.Std, to.Mean * (1 - to.Sigma()/from.Sigma())
}

// init makes the first state. What is not yet there to be remembered has the factor 0.
func (s Solver) init(x *Node) scorekit.State {
	state := scorekit.State{X: x}
	for range s.rule().memory {
		state.Aux = append(state.Aux, graph.ZerosLike(x))
	}
	return state
}

// step moves every chain once, from the level here(row) on. noise, if not nil, is added to the stage.
func (s Solver) step(vars *mlctx.Context, score scorekit.Score, state scorekit.State, row []*Node, noise *Node) scorekit.State {
	r, x, c := s.rule(), state.X, row[placeColumns:]
	sum := func(a, x, b, y *Node) *Node { return graph.Add(graph.Mul(a, x), graph.Mul(b, y)) }
	latest := sde.PredictAt(vars, score, x, here(row), r.of)
	if r.staged {
		stage := sum(c[stageX], x, c[stagePrediction], latest)
		if noise != nil {
			stage = graph.Add(stage, noise)
		}
		at := sde.NodeLevel{Mean: c[stageMean], Std: c[stageStd]}
		there := sde.PredictAt(vars, score, stage, at, r.of)
		return scorekit.State{X: graph.Add(sum(c[endX], x, c[endPrediction], latest), graph.Mul(c[endStage], there))}
	}
	state.X = sum(c[0], x, c[1], latest)
	for k, before := range state.Aux {
		state.X = graph.Add(state.X, graph.Mul(c[2+k], before))
	}
	state.Aux = slices.Concat([]*Node{latest}, state.Aux)[:r.memory]
	return state
}
