package sde

import (
	"fmt"
	"math"
)

// VE is the variance-exploding SDE, with σ(t) = σ_min (σ_max/σ_min)ᵗ:
//
//	dx = σ(t) √(2 ln(σ_max/σ_min)) dW
//	Mean = 1,  Std = σ(t),  prior N(0, σ_max² I)
//
// Std takes the state at t = 0 as data with noise σ_min, as the usual code does; from clean data at t = 0 the process
// itself reaches √(σ(t)² − σ_min²), which is what [Between] 0 and t returns. Range: 10⁻⁵ to 1. (Song et al. 2021, eq. 9,
// 30 and app. C.) Both fields 0 mean 0.01 and 50, the values of that paper for 32 × 32 images of numbers from 0 to 1.
type VE struct{ SigmaMin, SigmaMax float64 } // in the units of the data

var _ SDE = VE{}

func (v VE) sigmas() (low, high float64) {
	if v.SigmaMin == 0 && v.SigmaMax == 0 {
		return 0.01, 50
	}
	return v.SigmaMin, v.SigmaMax
}

func (v VE) logs() (low, ratio float64) {
	least, most := v.sigmas()
	return math.Log(least), math.Log(most / least)
}

func veSigma[N number[N]](v VE, t N) N {
	low, ratio := v.logs()
	return t.scaled(ratio).shifted(low).exp()
}

func veDiffusion[N number[N]](v VE, t N) N {
	_, ratio := v.logs()
	return veSigma(v, t).scaled(math.Sqrt(2 * ratio))
}

func veTime[N number[N]](v VE, sigma N) N {
	low, ratio := v.logs()
	return sigma.log().shifted(-low).scaled(1 / ratio)
}

// Validate returns an error unless 0 < SigmaMin < SigmaMax, both finite.
func (v VE) Validate() error {
	low, high := v.sigmas()
	if err := positive("VE", "SigmaMin", low); err != nil {
		return err
	}
	if !(high > low) || math.IsInf(high/low, 0) {
		return fmt.Errorf("sde: VE: SigmaMax %v: must be above SigmaMin, %v, by a finite factor", high, low)
	}
	return nil
}

// Marginal returns 1 and σ(t).
func (v VE) Marginal(t float64) Level { return Level{1, float64(veSigma(v, real(t)))} }

// Drift returns 0.
func (v VE) Drift(float64) float64 { return 0 }

// Diffusion returns σ(t) √(2 ln(σ_max/σ_min)).
func (v VE) Diffusion(t float64) float64 { return float64(veDiffusion(v, real(t))) }

// Time returns the t of noise level σ: ln(σ/σ_min)/ln(σ_max/σ_min).
func (v VE) Time(sigma float64) float64 { return float64(veTime(v, real(sigma))) }

// MarginalNode is Marginal in a graph.
func (v VE) MarginalNode(t *Node) NodeLevel { return NodeLevel{one(t), veSigma(v, node{t}).Node} }

// DriftNode is Drift in a graph.
func (v VE) DriftNode(t *Node) *Node { return zero(t) }

// DiffusionNode is Diffusion in a graph.
func (v VE) DiffusionNode(t *Node) *Node { return veDiffusion(v, node{t}).Node }

// TimeNode is Time in a graph.
func (v VE) TimeNode(sigma *Node) *Node { return veTime(v, node{sigma}).Node }

// Range returns 10⁻⁵ and 1.
func (v VE) Range() (first, last float64) { return 1e-5, 1 }

// Prior returns N(0, σ_max² I).
func (v VE) Prior() Prior {
	_, high := v.sigmas()
	return Prior{high}
}
