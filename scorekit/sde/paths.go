package sde

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// StandardNormal returns n rows of d independent draws from N(0, 1), the noise that a path of n steps needs. The same seed
// gives the same noise. An n or d below 1 counts as 0.
func StandardNormal(seed int64, n, d int) [][]float64 {
	n, d = max(n, 0), max(d, 0)
	rng := rand.New(rand.NewPCG(uint64(seed), 0))
	rows := make([][]float64, n)
	for i := range rows {
		rows[i] = make([]float64, d)
		for j := range rows[i] {
			rows[i][j] = rng.NormFloat64()
		}
	}
	return rows
}

// ExactPath runs s forward from start through times, with the noise z of each step, without any error of the step size:
// x_{k+1} = r x_k + q z_k with r and q of [Between]. The result is [times][d], with start as its first row. Coordinates
// do not act on one another, so that n paths of one coordinate are one path of n coordinates.
//
// It returns an error unless times rise from 0 or later, z has a row for each step, and rows are as long as start.
func ExactPath(s SDE, times, start []float64, z [][]float64) ([][]float64, error) {
	if err := checkPath(s, times, start, z); err != nil {
		return nil, fmt.Errorf("sde: ExactPath: %w", err)
	}
	steps := make([]Level, len(z))
	for k := range steps {
		var err error
		if steps[k], err = Between(s.Marginal(times[k]), s.Marginal(times[k+1])); err != nil {
			return nil, fmt.Errorf("sde: ExactPath: from time %v to %v: %w", times[k], times[k+1], err)
		}
	}
	return follow(steps, start, z)
}

// EulerMaruyama runs s forward as [ExactPath] does, in steps of the equation as it is written,
//
//	x_{k+1} = x_k + f(t_k) x_k Δt + g(t_k) √Δt z_k
//
// (Maruyama 1955). Its moments are those of [EulerMaruyamaLevels]. It returns an error as ExactPath does.
func EulerMaruyama(s SDE, times, start []float64, z [][]float64) ([][]float64, error) {
	if err := checkPath(s, times, start, z); err != nil {
		return nil, fmt.Errorf("sde: EulerMaruyama: %w", err)
	}
	return follow(eulerSteps(s, times), start, z)
}

// EulerMaruyamaLevels returns the level of x at each of the times, given x at the first, as [EulerMaruyama] reaches it: what
// its steps make of Mean and Std. It returns an error unless times rise from 0 or later.
func EulerMaruyamaLevels(s SDE, times []float64) ([]Level, error) {
	if err := checkTimes(s, times); err != nil {
		return nil, fmt.Errorf("sde: EulerMaruyamaLevels: %w", err)
	}
	levels := make([]Level, len(times))
	levels[0] = Level{1, 0}
	for k, step := range eulerSteps(s, times) {
		levels[k+1] = Level{step.Mean * levels[k].Mean, math.Hypot(step.Mean*levels[k].Std, step.Std)}
	}
	return levels, nil
}

// Covariance returns the covariance of a coordinate at times t and u given its start at time 0,
//
//	Cov(x_t, x_u) = Mean_u/Mean_t · q²,  t ≤ u,  q of [Between] 0 and t
//
// For [Wiener] it is σ² min(t, u). It returns an error unless t and u are finite and not negative.
func Covariance(s SDE, t, u float64) (float64, error) {
	early, late := min(t, u), max(t, u)
	if err := s.Validate(); err != nil {
		return 0, err
	}
	if !(early >= 0) || math.IsInf(late, 0) {
		return 0, fmt.Errorf("sde: Covariance: times %v and %v: must be finite and not negative", t, u)
	}
	start, at := s.Marginal(0), s.Marginal(early)
	between, err := Between(start, at)
	if err != nil {
		return 0, fmt.Errorf("sde: Covariance: %w", err)
	}
	return s.Marginal(late).Mean / at.Mean * between.Std * between.Std, nil
}

// eulerSteps returns what x is multiplied with and the noise that is added in each step. The first may be negative.
func eulerSteps(s SDE, times []float64) []Level {
	steps := make([]Level, len(times)-1)
	for k := range steps {
		dt := times[k+1] - times[k]
		steps[k] = Level{1 + s.Drift(times[k])*dt, s.Diffusion(times[k]) * math.Sqrt(dt)}
	}
	return steps
}

func follow(steps []Level, start []float64, z [][]float64) ([][]float64, error) {
	path := make([][]float64, len(steps)+1)
	path[0] = append([]float64{}, start...)
	for k, step := range steps {
		path[k+1] = make([]float64, len(start))
		for i := range start {
			path[k+1][i] = step.Mean*path[k][i] + step.Std*z[k][i]
			if v := path[k+1][i]; math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, fmt.Errorf("sde: path: coordinate %d after step %d is %v: start and noise must be finite, and the steps small enough", i, k, v)
			}
		}
	}
	return path, nil
}

func checkPath(s SDE, times, start []float64, z [][]float64) error {
	if err := checkTimes(s, times); err != nil {
		return err
	}
	if len(z) != len(times)-1 {
		return fmt.Errorf("noise of %d rows for %d times: must be one less than times", len(z), len(times))
	}
	for k, row := range z {
		if len(row) != len(start) {
			return fmt.Errorf("noise row %d has %d numbers for a start of %d: must be as many", k, len(row), len(start))
		}
	}
	return nil
}

func checkTimes(s SDE, times []float64) error {
	if s == nil {
		return fmt.Errorf("process nil: must be given")
	}
	if err := s.Validate(); err != nil {
		return err
	}
	if err := rising(times); err != nil {
		return err
	}
	if times[0] < 0 {
		return fmt.Errorf("times[0] = %v: must not be negative", times[0])
	}
	for k, t := range times {
		f, g := s.Drift(t), s.Diffusion(t)
		if math.IsNaN(f) || math.IsInf(f, 0) || math.IsNaN(g) || math.IsInf(g, 0) {
			return fmt.Errorf("times[%d] = %v: %T has no finite drift and diffusion there", k, t, s)
		}
	}
	return nil
}

// rising returns an error unless there are times, finite and each above the one before it.
func rising(times []float64) error {
	if len(times) == 0 {
		return fmt.Errorf("no times: there must be at least one")
	}
	for k, t := range times {
		if math.IsNaN(t) || math.IsInf(t, 0) || k > 0 && !(t > times[k-1]) {
			return fmt.Errorf("times[%d] = %v: must be finite and above the one before it", k, t)
		}
	}
	return nil
}
