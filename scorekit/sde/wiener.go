package sde

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/pkg/core/graph"
)

// Wiener is the Wiener process (Brownian motion), scaled by Sigma:
//
//	dx = σ dW
//	Mean = 1,  Std = σ√t,  prior N(0, σ²T I),  Cov(W_s, W_t) = σ² min(s, t)
//
// It is W(t) = ∫₀ᵗ ε(s) ds of white noise ε: it starts at 0, is continuous, and its increments over disjoint times are
// independent draws from N(0, σ²Δt). Range: 10⁻³T to T. (Karatzas and Shreve 1991, ch. 2.)
type Wiener struct {
	Sigma   float64 // 0 means 1, the standard process
	Horizon float64 // T; 0 means 1
}

var _ SDE = Wiener{}

func (w Wiener) sigma() float64 { return or(w.Sigma, 1) }

func wienerStd[N number[N]](w Wiener, t N) N { return t.sqrt().scaled(w.sigma()) }

func wienerTime[N number[N]](w Wiener, sigma N) N {
	s := sigma.scaled(1 / w.sigma())
	return s.times(s)
}

// Validate returns an error unless Sigma and Horizon are positive and finite, or 0.
func (w Wiener) Validate() error {
	if err := positive("Wiener", "Sigma", w.sigma()); err != nil {
		return err
	}
	return positive("Wiener", "Horizon", or(w.Horizon, 1))
}

// Marginal returns 1 and σ√t.
func (w Wiener) Marginal(t float64) Level { return Level{1, float64(wienerStd(w, real(t)))} }

// Drift returns 0.
func (w Wiener) Drift(float64) float64 { return 0 }

// Diffusion returns σ.
func (w Wiener) Diffusion(float64) float64 { return w.sigma() }

// Time returns the t at which σ√t is sigma.
func (w Wiener) Time(sigma float64) float64 { return float64(wienerTime(w, real(sigma))) }

// MarginalNode is Marginal in a graph.
func (w Wiener) MarginalNode(t *Node) NodeLevel { return NodeLevel{one(t), wienerStd(w, node{t}).Node} }

// DriftNode is Drift in a graph.
func (w Wiener) DriftNode(t *Node) *Node { return zero(t) }

// DiffusionNode is Diffusion in a graph.
func (w Wiener) DiffusionNode(t *Node) *Node { return graph.MulScalar(one(t), w.sigma()) }

// TimeNode is Time in a graph.
func (w Wiener) TimeNode(sigma *Node) *Node { return wienerTime(w, node{sigma}).Node }

// Range returns 10⁻³T and T.
func (w Wiener) Range() (first, last float64) { return 1e-3 * or(w.Horizon, 1), or(w.Horizon, 1) }

// Prior returns N(0, σ²T I).
func (w Wiener) Prior() Prior { return Prior{w.Marginal(or(w.Horizon, 1)).Std} }

// QuadraticVariationMoments returns mean and variance of Σ(ΔW)² over the increments between times: σ²ΣΔt and 2σ⁴ΣΔt².
// Over n equal steps of [0, T] with σ = 1 they are T and 2T²/n: the sum has a limit, T, and is no random number there.
// It returns an error unless times rise.
func (w Wiener) QuadraticVariationMoments(times []float64) (mean, variance float64, err error) {
	steps, err := w.steps(times)
	for _, dt := range steps {
		v := w.sigma() * w.sigma() * dt
		mean += v
		variance += 2 * v * v
	}
	return mean, variance, err
}

// TotalVariationMoments returns mean and variance of Σ|ΔW| over the increments between times: σΣ√(2Δt/π) and
// σ²(1 − 2/π)ΣΔt. Over n equal steps the mean grows as √n: the length of a path has no limit. It returns an error unless
// times rise.
func (w Wiener) TotalVariationMoments(times []float64) (mean, variance float64, err error) {
	steps, err := w.steps(times)
	for _, dt := range steps {
		v := w.sigma() * w.sigma() * dt
		mean += math.Sqrt(2 * v / math.Pi)
		variance += v * (1 - 2/math.Pi)
	}
	return mean, variance, err
}

func (w Wiener) steps(times []float64) ([]float64, error) {
	if err := w.Validate(); err != nil {
		return nil, err
	}
	if err := rising(times); err != nil {
		return nil, fmt.Errorf("sde: Wiener: %w", err)
	}
	steps := make([]float64, len(times)-1)
	for i := range steps {
		steps[i] = times[i+1] - times[i]
	}
	return steps, nil
}

func one(t *Node) *Node  { return graph.OnesLike(t) }
func zero(t *Node) *Node { return graph.ZerosLike(t) }
