package sde

import (
	"fmt"
	"math"
)

// CosineVP is the variance-preserving SDE whose Mean falls as a cosine from 1 at t = 0 to MinMean at t = 1. With
// ω = arccos(MinMean):
//
//	dx = −½β(t) x dt + √β(t) dW,  β(t) = 2ω tan(ωt)
//	Mean = cos(ωt),  Std = sin(ωt),  prior N(0, I)
//
// It is the continuous form of the squared-cosine schedule (Nichol and Dhariwal 2021) without its offset: see
// [SquaredCosine]. Range: 10⁻³ to where the noise level reaches 1,000, at most 1, because β has no bound at Mean = 0.
type CosineVP struct{ MinMean float64 } // 0 ≤ MinMean < 1

var _ SDE = CosineVP{}

func (c CosineVP) omega() float64 { return math.Acos(c.MinMean) }

func cosineLevel[N number[N]](c CosineVP, t N) (mean, std N) {
	angle := t.scaled(c.omega())
	return angle.cos(), angle.sin()
}

func cosineBeta[N number[N]](c CosineVP, t N) N {
	mean, std := cosineLevel(c, t)
	return std.over(mean).scaled(2 * c.omega())
}

func cosineTime[N number[N]](c CosineVP, sigma N) N { return sigma.atan().scaled(1 / c.omega()) }

// Validate returns an error unless 0 ≤ MinMean < 1.
func (c CosineVP) Validate() error {
	if !(c.MinMean >= 0 && c.MinMean < 1) {
		return fmt.Errorf("sde: CosineVP: MinMean %v: must be at least 0 and below 1", c.MinMean)
	}
	return nil
}

// Beta returns β(t).
func (c CosineVP) Beta(t float64) float64 { return float64(cosineBeta(c, real(t))) }

// Marginal returns cos(ωt) and sin(ωt).
func (c CosineVP) Marginal(t float64) Level { return hostLevel(cosineLevel(c, real(t))) }

// Drift returns −½β(t).
func (c CosineVP) Drift(t float64) float64 { return -c.Beta(t) / 2 }

// Diffusion returns √β(t).
func (c CosineVP) Diffusion(t float64) float64 { return math.Sqrt(c.Beta(t)) }

// Time returns the t of noise level σ: arctan(σ)/ω.
func (c CosineVP) Time(sigma float64) float64 { return float64(cosineTime(c, real(sigma))) }

// MarginalNode is Marginal in a graph.
func (c CosineVP) MarginalNode(t *Node) NodeLevel { return graphLevel(cosineLevel(c, node{t})) }

// DriftNode is Drift in a graph.
func (c CosineVP) DriftNode(t *Node) *Node { return cosineBeta(c, node{t}).scaled(-0.5).Node }

// DiffusionNode is Diffusion in a graph.
func (c CosineVP) DiffusionNode(t *Node) *Node { return cosineBeta(c, node{t}).sqrt().Node }

// TimeNode is Time in a graph.
func (c CosineVP) TimeNode(sigma *Node) *Node { return cosineTime(c, node{sigma}).Node }

// Range returns 10⁻³ and the time of noise level 1,000, at most 1.
func (c CosineVP) Range() (first, last float64) { return 1e-3, min(1, c.Time(1000)) }

// Prior returns N(0, I).
func (c CosineVP) Prior() Prior { return Prior{1} }
