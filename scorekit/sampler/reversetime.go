package sampler

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/random"
	"github.com/scorekit/lab/scorekit/sde"
)

// What the samplers that run a diffusion backwards have in common: the grid that they step through, and the columns of
// their schedules that say where a step is.

// descent is a grid: the levels of the states, from noise to data.
type descent struct {
	process sde.SDE     // nil for noise levels alone
	times   []float64   // of the levels; nil for noise levels alone
	levels  []sde.Level // the last may be the data themselves
	prior   sde.Prior   // of the first state
	denoise bool        // whether a step to the data must end at their mean
}

// data is the level without noise.
var data = sde.Level{Mean: 1, Std: 0}

// newDescent returns the grid of a process, over its whole range in steps of equal time, otherwise many if steps is 0, or at
// the given times, or that of noise levels. With denoise it ends with the data.
func newDescent(who string, process sde.SDE, steps, otherwise int, times, sigmas []float64, denoise bool) (descent, error) {
	var g descent
	var err error
	switch {
	case process == nil && sigmas == nil:
		return g, fmt.Errorf("%s: neither SDE nor Sigmas: one must be given", who)
	case process != nil && sigmas != nil:
		return g, fmt.Errorf("%s: SDE and Sigmas: only one may be given", who)
	case steps < 0:
		return g, fmt.Errorf("%s: %d steps: must be positive, or 0 for the default", who, steps)
	case times != nil && sigmas != nil:
		return g, fmt.Errorf("%s: Times and Sigmas: only one may be given", who)
	case steps != 0 && times != nil:
		return g, fmt.Errorf("%s: Steps %d and Times: only one may be given", who, steps)
	case steps != 0 && sigmas != nil:
		return g, fmt.Errorf("%s: Steps %d and Sigmas: only one may be given", who, steps)
	case sigmas != nil:
		g, err = noiseDescent(who, sigmas)
	default:
		g, err = timeDescent(who, process, orDefault(steps, otherwise), times)
	}
	if err != nil {
		return g, err
	}
	g.denoise = denoise
	if denoise && g.levels[len(g.levels)-1] != data {
		g.levels = append(g.levels, data)
	}
	if len(g.levels) < 2 {
		return g, fmt.Errorf("%s: grid of one point: must have at least two, or Denoise", who)
	}
	return g, nil
}

// noiseDescent is that of the levels {1, σ}.
func noiseDescent(who string, sigmas []float64) (g descent, err error) {
	for i, s := range sigmas {
		if s == 0 && i > 0 && i == len(sigmas)-1 {
			g.levels = append(g.levels, data)
			continue
		}
		if !(s > 0) || math.IsInf(s, 0) {
			return g, fmt.Errorf("%s: Sigmas[%d] = %v: must be positive and finite; the last of several may be 0", who, i, s)
		}
		if !single(s*s, 1/s) {
			return g, fmt.Errorf("%s: Sigmas[%d] = %v: its square and its inverse must be numbers of float32", who, i, s)
		}
		if i > 0 && s >= sigmas[i-1] {
			return g, fmt.Errorf("%s: Sigmas[%d] = %v: must be below the one before it, %v", who, i, s, sigmas[i-1])
		}
		g.levels = append(g.levels, sde.Level{Mean: 1, Std: s})
	}
	if len(g.levels) == 0 {
		return g, fmt.Errorf("%s: no Sigmas: there must be at least one", who)
	}
	g.prior.Std = sigmas[0]
	return g, nil
}

func timeDescent(who string, process sde.SDE, steps int, times []float64) (g descent, err error) {
	if err := process.Validate(); err != nil {
		return g, fmt.Errorf("%s: %w", who, err)
	}
	first, last := process.Range()
	if times == nil {
		if times, err = sde.EvenTimes(process, last, first, steps+1); err != nil {
			return g, fmt.Errorf("%s: %w", who, err)
		}
	} else if len(times) == 0 {
		return g, fmt.Errorf("%s: no Times: there must be at least one", who)
	}
	g = descent{process: process, times: times}
	for i, t := range times {
		if i > 0 && !(t < times[i-1]) {
			return g, fmt.Errorf("%s: Times[%d] = %v: must be below the one before it, %v", who, i, t, times[i-1])
		}
		if err := usable(who, fmt.Sprintf("Times[%d] =", i), process, t); err != nil {
			return g, err
		}
		g.levels = append(g.levels, process.Marginal(t))
	}
	g.prior = priorAt(process, times[0])
	return g, nil
}

// usable returns an error unless the process has data, noise and finite rates at t, float32 holds them, and t is not after
// the end of its range. It names t by what.
func usable(who, what string, process sde.SDE, t float64) error {
	at := process.Marginal(t)
	drift, diffusion := process.Drift(t), process.Diffusion(t)
	fine := at.Mean > 0 && at.Std > 0
	for _, v := range []float64{1 / at.Mean, at.Std, 1 / at.Std, drift, diffusion} {
		fine = fine && !math.IsNaN(v) && !math.IsInf(v, 0)
	}
	if !fine {
		return fmt.Errorf("%s: %s %v: %T has no finite score, drift and diffusion there", who, what, t, process)
	}
	if _, last := process.Range(); t > last {
		return fmt.Errorf("%s: %s %v: must be at most %v, the end of the range of %T", who, what, t, last, process)
	}
	if !single(1/at.Mean, at.Std*at.Std, 1/at.Std, drift, diffusion*diffusion) {
		return fmt.Errorf("%s: %s %v: float32 does not hold the level %+v of %T, or the rates there", who, what, t, at, process)
	}
	return nil
}

// single tells whether float32 holds all the numbers.
func single(numbers ...float64) bool {
	for _, v := range numbers {
		if !(math.Abs(v) <= math.MaxFloat32) {
			return false
		}
	}
	return true
}

// priorAt is the prior of the process at the end of its range, and at an earlier time N(0, Std²I).
func priorAt(process sde.SDE, t float64) sde.Prior {
	if _, last := process.Range(); t == last {
		return process.Prior()
	}
	return sde.Prior{Std: process.Marginal(t).Std}
}

// variable names what the grid is made of, and at(k) is point k of it.
func (g descent) variable() string {
	if g.process == nil {
		return "sigma"
	}
	return "time"
}

func (g descent) at(k int) float64 {
	switch {
	case g.process == nil:
		return g.levels[k].Std
	case k < len(g.times):
		return g.times[k]
	default:
		return 0 // the data, after the last time
	}
}

// ends tells that step k, from point k to the next, leads to the data.
func (g descent) ends(k int) bool { return g.levels[k+1] == data }

// The first columns of every schedule here: where a step leads, the level at which it takes the score, and the level
// that it reaches.
const (
	atPlace = iota
	atMean
	atStd
	nextMean
	nextStd
	placeColumns
)

// schedule has one row for each step of the grid: its place, and the coefficients that a sampler gives it.
func (g descent) schedule(coefficients func(k int) []float64, names ...string) scorekit.Schedule {
	s := scorekit.Schedule{Columns: append([]string{g.variable(), "mean", "std", "next mean", "next std"}, names...)}
	for k := range len(g.levels) - 1 {
		from, to := g.levels[k], g.levels[k+1]
		s.Rows = append(s.Rows, append([]float64{g.at(k + 1), from.Mean, from.Std, to.Mean, to.Std}, coefficients(k)...))
	}
	return s
}

// here is the level at which a step takes the score.
func here(row []*Node) sde.NodeLevel { return sde.NodeLevel{Mean: row[atMean], Std: row[atStd]} }

// there is the level that a step reaches; in place of the data, which have no score, the one it comes from.
func there(row []*Node) sde.NodeLevel {
	noised := graph.GreaterThan(row[nextStd], graph.ZerosLike(row[nextStd]))
	return sde.NodeLevel{
		Mean: graph.Where(noised, row[nextMean], row[atMean]),
		Std:  graph.Where(noised, row[nextStd], row[atStd]),
	}
}

// foresee is Tweedie's formula after a step, (x + Std²·score)/Mean, which leaves the data as they are.
func foresee(vars *mlctx.Context, score scorekit.Score, x *Node, row []*Node) *Node {
	s := sde.ScoreAt(vars, score, x, there(row))
	return graph.Div(graph.Add(x, graph.Mul(graph.Square(row[nextStd]), s)), row[nextMean])
}

// tweedie is the coefficients of x and of the score in Tweedie's formula, (x + Std²·score)/Mean.
func tweedie(at sde.Level) (ofX, ofScore float64) { return 1 / at.Mean, at.Std * at.Std / at.Mean }

// draw draws the chains' starting points from the prior of a grid.
func draw(g descent, err error, rng *random.Source, dims []int) *Node {
	if err != nil {
		panic(err)
	}
	return g.prior.Draw(rng, dims...)
}

// orDefault is steps, or otherwise where it is 0.
func orDefault(steps, otherwise int) int {
	if steps == 0 {
		return otherwise
	}
	return steps
}
