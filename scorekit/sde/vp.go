package sde

import (
	"fmt"
	"math"
)

// VP is the variance-preserving SDE, with β(t) = β_min + t (β_max − β_min) and I(t) = ∫₀ᵗ β = β_min t + ½(β_max − β_min)t²:
//
//	dx = −½β(t) x dt + √β(t) dW
//	Mean = e^{−I/2},  Std = √(1 − e^{−I}),  prior N(0, I)
//
// It is the limit of the DDPM chain: see [Discretize]. Data of variance 1 keep it. Range: 10⁻³ to 1. (Song et al. 2021,
// eq. 11, 29 and 33.) Both fields 0 mean 0.1 and 20, the values of that paper.
type VP struct{ BetaMin, BetaMax float64 }

// SubVP is the sub-variance-preserving SDE: the drift and Mean of [VP], less noise,
//
//	dx = −½β(t) x dt + √(β(t)(1 − e^{−2I(t)})) dW
//	Mean = e^{−I/2},  Std = 1 − e^{−I},  prior N(0, I)
//
// Its standard deviation is the variance of VP. Range: 10⁻³ to 1. (Song et al. 2021, eq. 12 and 29.) Both fields 0 mean
// 0.1 and 20.
type SubVP struct{ BetaMin, BetaMax float64 }

var (
	_ SDE = VP{}
	_ SDE = SubVP{}
)

// linear is β(t) of both, with its defaults.
type linear struct{ first, last float64 }

func linearOf(betaMin, betaMax float64) linear {
	if betaMin == 0 && betaMax == 0 {
		return linear{0.1, 20}
	}
	return linear{betaMin, betaMax}
}

func (b linear) validate(who string) error {
	if !(b.first >= 0) || math.IsInf(b.first, 0) {
		return fmt.Errorf("sde: %s: BetaMin %v: must be finite and not negative", who, b.first)
	}
	if !(b.last >= b.first) || math.IsInf(b.last, 0) {
		return fmt.Errorf("sde: %s: BetaMax %v: must be finite and at least BetaMin, %v", who, b.last, b.first)
	}
	// Beyond this, e^{−I/2} at t = 1 is not a normal number, and states at late times hold nothing of the data.
	if i := (b.first + b.last) / 2; i > 1400 {
		return fmt.Errorf("sde: %s: BetaMin %v and BetaMax %v: their mean must be at most 1400", who, b.first, b.last)
	}
	return nil
}

func betaAt[N number[N]](b linear, t N) N { return t.scaled(b.last - b.first).shifted(b.first) }

func integral[N number[N]](b linear, t N) N {
	return t.scaled((b.last - b.first) / 2).shifted(b.first).times(t)
}

// timeOf solves I(t) = i; in this form nothing cancels.
func timeOf[N number[N]](b linear, i N) N {
	if b.first == 0 { // where both i and what it is divided by may be 0
		return i.scaled(2 / b.last).sqrt()
	}
	root := i.scaled(2 * (b.last - b.first)).shifted(b.first * b.first).sqrt()
	return i.scaled(2).over(root.shifted(b.first))
}

func vpMean[N number[N]](b linear, t N) N { return integral(b, t).scaled(-0.5).exp() }

// gone is 1 − e^{−c I(t)}, the share of c = 1 or 2 times the information that is gone.
func gone[N number[N]](b linear, t N, c float64) N {
	return integral(b, t).scaled(-c).expm1().scaled(-1)
}

func vpLevel[N number[N]](b linear, t N) (mean, std N) { return vpMean(b, t), gone(b, t, 1).sqrt() }

func vpDrift[N number[N]](b linear, t N) N { return betaAt(b, t).scaled(-0.5) }

// vpTime: σ² = e^I − 1.
func vpTime[N number[N]](b linear, sigma N) N { return timeOf(b, sigma.times(sigma).log1p()) }

func subVPLevel[N number[N]](b linear, t N) (mean, std N) { return vpMean(b, t), gone(b, t, 1) }

func subVPDiffusion[N number[N]](b linear, t N) N { return betaAt(b, t).times(gone(b, t, 2)).sqrt() }

// subVPTime: σ = e^{I/2} − e^{−I/2} = 2 sinh(I/2), so that I = 2 ln(s + √(1+s²)) with s = σ/2; and √(1+s²) − 1 is
// s²/(1+√(1+s²)).
func subVPTime[N number[N]](b linear, sigma N) N {
	s := sigma.scaled(0.5)
	square := s.times(s)
	root := square.shifted(1).sqrt()
	return timeOf(b, s.plus(square.over(root.shifted(1))).log1p().scaled(2))
}

func (v VP) beta() linear { return linearOf(v.BetaMin, v.BetaMax) }

// Validate returns an error unless 0 ≤ BetaMin ≤ BetaMax, both finite with a mean of at most 1400.
func (v VP) Validate() error { return v.beta().validate("VP") }

// Beta returns β(t).
func (v VP) Beta(t float64) float64 { return float64(betaAt(v.beta(), real(t))) }

// Marginal returns e^{−I/2} and √(1 − e^{−I}).
func (v VP) Marginal(t float64) Level { return hostLevel(vpLevel(v.beta(), real(t))) }

// Drift returns −½β(t).
func (v VP) Drift(t float64) float64 { return float64(vpDrift(v.beta(), real(t))) }

// Diffusion returns √β(t).
func (v VP) Diffusion(t float64) float64 { return float64(betaAt(v.beta(), real(t)).sqrt()) }

// Time returns the t of noise level σ: I(t) = ln(1+σ²).
func (v VP) Time(sigma float64) float64 { return float64(vpTime(v.beta(), real(sigma))) }

// MarginalNode is Marginal in a graph.
func (v VP) MarginalNode(t *Node) NodeLevel { return graphLevel(vpLevel(v.beta(), node{t})) }

// DriftNode is Drift in a graph.
func (v VP) DriftNode(t *Node) *Node { return vpDrift(v.beta(), node{t}).Node }

// DiffusionNode is Diffusion in a graph.
func (v VP) DiffusionNode(t *Node) *Node { return betaAt(v.beta(), node{t}).sqrt().Node }

// TimeNode is Time in a graph.
func (v VP) TimeNode(sigma *Node) *Node { return vpTime(v.beta(), node{sigma}).Node }

// Range returns 10⁻³ and 1.
func (v VP) Range() (first, last float64) { return 1e-3, 1 }

// Prior returns N(0, I).
func (v VP) Prior() Prior { return Prior{1} }

func (v SubVP) beta() linear { return linearOf(v.BetaMin, v.BetaMax) }

// Validate returns an error unless 0 ≤ BetaMin ≤ BetaMax, both finite with a mean of at most 1400.
func (v SubVP) Validate() error { return v.beta().validate("SubVP") }

// Beta returns β(t).
func (v SubVP) Beta(t float64) float64 { return float64(betaAt(v.beta(), real(t))) }

// Marginal returns e^{−I/2} and 1 − e^{−I}.
func (v SubVP) Marginal(t float64) Level { return hostLevel(subVPLevel(v.beta(), real(t))) }

// Drift returns −½β(t).
func (v SubVP) Drift(t float64) float64 { return float64(vpDrift(v.beta(), real(t))) }

// Diffusion returns √(β(t)(1 − e^{−2I})).
func (v SubVP) Diffusion(t float64) float64 { return float64(subVPDiffusion(v.beta(), real(t))) }

// Time returns the t of noise level σ: I(t) = 2 arsinh(σ/2).
func (v SubVP) Time(sigma float64) float64 { return float64(subVPTime(v.beta(), real(sigma))) }

// MarginalNode is Marginal in a graph.
func (v SubVP) MarginalNode(t *Node) NodeLevel { return graphLevel(subVPLevel(v.beta(), node{t})) }

// DriftNode is Drift in a graph.
func (v SubVP) DriftNode(t *Node) *Node { return vpDrift(v.beta(), node{t}).Node }

// DiffusionNode is Diffusion in a graph.
func (v SubVP) DiffusionNode(t *Node) *Node { return subVPDiffusion(v.beta(), node{t}).Node }

// TimeNode is Time in a graph.
func (v SubVP) TimeNode(sigma *Node) *Node { return subVPTime(v.beta(), node{sigma}).Node }

// Range returns 10⁻³ and 1.
func (v SubVP) Range() (first, last float64) { return 1e-3, 1 }

// Prior returns N(0, I).
func (v SubVP) Prior() Prior { return Prior{1} }
