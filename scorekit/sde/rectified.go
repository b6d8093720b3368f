package sde

import "math"

// Rectified is the SDE whose states lie on straight lines between data and noise,
//
//	dx = −x/(1−t) dt + √(2t/(1−t)) dW
//	Mean = 1 − t,  Std = t,  prior N(0, I)
//
// the path of rectified flow and conditional optimal transport (Liu et al. 2023; Lipman et al. 2023), whose velocity is
// z − x₀: the prediction [Flow]. Range: 10⁻³ to 1 − 10⁻³, because the drift has no bound at t = 1.
type Rectified struct{}

var _ SDE = Rectified{}

// away is 1 − t.
func away[N number[N]](t N) N { return t.scaled(-1).shifted(1) }

// Validate returns nil.
func (Rectified) Validate() error { return nil }

// Marginal returns 1 − t and t.
func (Rectified) Marginal(t float64) Level { return Level{1 - t, t} }

// Drift returns −1/(1−t).
func (Rectified) Drift(t float64) float64 { return -1 / (1 - t) }

// Diffusion returns √(2t/(1−t)).
func (Rectified) Diffusion(t float64) float64 { return math.Sqrt(2 * t / (1 - t)) }

// Time returns the t of noise level σ: σ/(1+σ).
func (Rectified) Time(sigma float64) float64 { return sigma / (1 + sigma) }

// MarginalNode is Marginal in a graph.
func (Rectified) MarginalNode(t *Node) NodeLevel { return NodeLevel{away(node{t}).Node, t} }

// DriftNode is Drift in a graph.
func (Rectified) DriftNode(t *Node) *Node {
	return node{one(t)}.over(away(node{t})).scaled(-1).Node
}

// DiffusionNode is Diffusion in a graph.
func (Rectified) DiffusionNode(t *Node) *Node {
	return node{t}.scaled(2).over(away(node{t})).sqrt().Node
}

// TimeNode is Time in a graph.
func (Rectified) TimeNode(sigma *Node) *Node {
	return node{sigma}.over(node{sigma}.shifted(1)).Node
}

// Range returns 10⁻³ and 1 − 10⁻³.
func (Rectified) Range() (first, last float64) { return 1e-3, 1 - 1e-3 }

// Prior returns N(0, I).
func (Rectified) Prior() Prior { return Prior{1} }
