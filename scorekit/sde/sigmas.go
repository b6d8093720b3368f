package sde

import (
	"fmt"
	"math"
)

// GeometricSigmas returns n noise levels from high to low with one ratio between neighbours, both ends exact (Song and
// Ermon 2019; k-diffusion's exponential grid). They are even in ln σ: quantiles of the log-uniform law of σ.
//
// No grid here holds the 0 that some samplers end with: append it.
func GeometricSigmas(high, low float64, n int) ([]float64, error) {
	return PolyexponentialSigmas(high, low, n, 1)
}

// PolyexponentialSigmas returns n noise levels from high to low with ln σ_i = ln low + u^ρ ln(high/low), u from 1 to 0 in
// even steps: for ρ > 1 more of them are small (k-diffusion). It returns an error unless n ≥ 1, high > low > 0 and ρ > 0.
func PolyexponentialSigmas(high, low float64, n int, rho float64) ([]float64, error) {
	if err := checkSigmas("PolyexponentialSigmas", high, low, n, rho); err != nil {
		return nil, err
	}
	return exactEnds(high, low, n, func(u float64) float64 {
		return low * math.Exp(math.Pow(u, rho)*math.Log(high/low))
	}), nil
}

// KarrasSigmas returns n noise levels from high to low that are even in σ^{1/ρ}, both ends exact,
//
//	σ_i = (high^{1/ρ} + i/(n−1) (low^{1/ρ} − high^{1/ρ}))^ρ
//
// (Karras et al. 2022, eq. 5, with ρ = 7). It returns an error unless n ≥ 1, high > low > 0 and ρ > 0.
func KarrasSigmas(high, low float64, n int, rho float64) ([]float64, error) {
	if err := checkSigmas("KarrasSigmas", high, low, n, rho); err != nil {
		return nil, err
	}
	top, bottom := math.Pow(high, 1/rho), math.Pow(low, 1/rho)
	return exactEnds(high, low, n, func(u float64) float64 {
		return math.Pow(bottom+u*(top-bottom), rho)
	}), nil
}

// SigmasOf returns the noise levels √(e^I − 1) of s at n times from last to first of its range, evenly spaced: for
// [VP] the variance-preserving grid of Song et al. (2021) and k-diffusion. It returns an error unless n ≥ 1, and for an
// impossible s.
func SigmasOf(s SDE, n int) ([]float64, error) {
	if s == nil {
		return nil, fmt.Errorf("sde: SigmasOf: process nil: must be given")
	}
	first, last := s.Range()
	times, err := EvenTimes(s, last, first, n)
	if err != nil {
		return nil, err
	}
	for i, t := range times {
		times[i] = s.Marginal(t).Sigma()
	}
	return times, nil
}

// EvenTimes returns n times of s, evenly spaced, the two ends included: from > to for a sampler, from < to for a forward
// path. A single time is from. It returns an error unless n ≥ 1 and the two are finite, not negative and at most the end
// of the range of s.
func EvenTimes(s SDE, from, to float64, n int) ([]float64, error) {
	if s == nil {
		return nil, fmt.Errorf("sde: EvenTimes: process nil: must be given")
	}
	if err := s.Validate(); err != nil {
		return nil, err
	}
	_, last := s.Range()
	for _, t := range []float64{from, to} {
		if !(t >= 0 && t <= last) {
			return nil, fmt.Errorf("sde: EvenTimes: time %v: must be from 0 to %v, the end of the range of %T", t, last, s)
		}
	}
	if n < 1 {
		return nil, fmt.Errorf("sde: EvenTimes: %d times: must be at least 1", n)
	}
	return even(from, to, n), nil
}

func checkSigmas(who string, high, low float64, n int, rho float64) error {
	if err := positive(who, "lowest level", low); err != nil {
		return err
	}
	if !(high > low) || math.IsInf(high, 0) {
		return fmt.Errorf("sde: %s: highest level %v: must be finite and above the lowest, %v", who, high, low)
	}
	if n < 1 {
		return fmt.Errorf("sde: %s: %d levels: must be at least 1", who, n)
	}
	return positive(who, "rho", rho)
}

// exactEnds lists at(u) for u from 1 to 0, with ends that are not off by rounding; high alone for n = 1.
func exactEnds(high, low float64, n int, at func(u float64) float64) []float64 {
	sigmas := make([]float64, n)
	for i := range sigmas {
		sigmas[i] = at(1 - float64(i)/float64(max(1, n-1)))
	}
	sigmas[n-1] = low
	sigmas[0] = high
	return sigmas
}
