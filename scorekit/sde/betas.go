package sde

import (
	"fmt"
	"math"
)

// Linear returns the chain of n steps whose β rise linearly from first to last, both included (Ho et al. 2020: 1,000 steps
// from 10⁻⁴ to 0.02). It is the chain of VP{n·first, n·last}: see [Discretize]. It returns an error unless n ≥ 1 and
// 0 < first ≤ last < 1.
func Linear(n int, first, last float64) (Discrete, error) {
	if err := checkBetas("Linear", n, first, last); err != nil {
		return Discrete{}, err
	}
	return FromBetas(even(first, last, n))
}

// ScaledLinear returns the chain of n steps whose √β rise linearly, from √first to √last (the latent diffusion models of
// Rombach et al. 2022: 1,000 steps from 0.00085 to 0.012). It returns an error unless n ≥ 1 and 0 < first ≤ last < 1.
func ScaledLinear(n int, first, last float64) (Discrete, error) {
	if err := checkBetas("ScaledLinear", n, first, last); err != nil {
		return Discrete{}, err
	}
	betas := even(math.Sqrt(first), math.Sqrt(last), n)
	for i, root := range betas {
		betas[i] = root * root
	}
	return FromBetas(betas)
}

func checkBetas(who string, n int, first, last float64) error {
	if n < 1 {
		return fmt.Errorf("sde: %s: %d steps: must be at least 1", who, n)
	}
	if !(first > 0 && first < 1) {
		return fmt.Errorf("sde: %s: first beta %v: must be above 0 and below 1", who, first)
	}
	if !(last >= first && last < 1) {
		return fmt.Errorf("sde: %s: last beta %v: must be at least the first, %v, and below 1", who, last, first)
	}
	return nil
}

// The two constants of the squared-cosine schedule: the offset keeps β from vanishing at the start, the largest β keeps
// ᾱ from vanishing at the end.
const (
	cosineOffset  = 0.008
	largestCosine = 0.999
)

// SquaredCosine returns the chain of n steps with
//
//	ᾱ_t = h((t+1)/n)/h(0),  h(u) = cos²((u+0.008)/1.008 · π/2)
//
// where β_t = 1 − ᾱ_t/ᾱ_{t−1} is kept to at most 0.999: at the last step alone, where h is 0 (Nichol and Dhariwal 2021,
// eq. 17). It returns an error unless n ≥ 1.
func SquaredCosine(n int) (Discrete, error) {
	if n < 1 {
		return Discrete{}, fmt.Errorf("sde: SquaredCosine: %d steps: must be at least 1", n)
	}
	h := func(u float64) float64 {
		c := math.Cos((u + cosineOffset) / (1 + cosineOffset) * math.Pi / 2)
		return c * c
	}
	betas := make([]float64, n)
	for i := range betas {
		betas[i] = min(1-h(float64(i+1)/float64(n))/h(float64(i)/float64(n)), largestCosine)
	}
	return FromBetas(betas)
}

// Discretize returns the chain of n steps with β_k = β(t_{k+1})/n at t_k = k/n: the chain whose limit is the SDE of that
// β(t) on [0, 1]. A step over Δt = 1/n with β_t = β(t)Δt is
//
//	x_{t+Δt} = √(1−βΔt) x_t + √(βΔt) z
//	x_{t+Δt} − x_t = (√(1−βΔt) − 1) x_t + √(βΔt) z = −½β x_t Δt + √β √Δt z + O(Δt²)
//
// and √Δt z is the increment of a Wiener process, so that Δt → 0 gives [VP]'s equation
//
//	dx = −½β(t) x dt + √β(t) dW
//
// (Song et al. 2021, app. B.) State k belongs to t = (k+1)/n, and the last one differs from the SDE's by
//
//	ln ᾱ_{n−1} + ∫₀¹β = −½(∫₀¹β² + β(1) − β(0))/n + O(1/n²)
//
// The other way round, a linear chain of n steps from β_0 to β_{n−1} is one of [VP] with BetaMin = nβ_0 and
// BetaMax = nβ_{n−1}: Linear(1000, 1e-4, 0.02) is that of VP{0.1, 20}. It differs from Discretize(vp.Beta, n) by reaching
// BetaMin at its first step, and its error is −½∫β²/n.
//
// It returns an error unless n ≥ 1, and for a β(t)/n that is not above 0 and below 1: n must be above the largest β(t).
func Discretize(beta func(t float64) float64, n int) (Discrete, error) {
	if n < 1 {
		return Discrete{}, fmt.Errorf("sde: Discretize: %d steps: must be at least 1", n)
	}
	if beta == nil {
		return Discrete{}, fmt.Errorf("sde: Discretize: beta nil: must be a function of time")
	}
	betas := make([]float64, n)
	for i := range betas {
		t := float64(i+1) / float64(n)
		betas[i] = beta(t) / float64(n)
		if !(betas[i] > 0 && betas[i] < 1) {
			return Discrete{}, fmt.Errorf("sde: Discretize: beta(%v) = %v in %d steps: must be positive and below the number of steps", t, beta(t), n)
		}
	}
	return FromBetas(betas)
}

// even returns n numbers from first to last, evenly spaced, both ends exact; first alone for n = 1.
func even(first, last float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = first
		if i > 0 {
			out[i] = first + (last-first)*float64(i)/float64(n-1)
		}
	}
	if n > 1 {
		out[n-1] = last
	}
	return out
}
