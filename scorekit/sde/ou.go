package sde

import "math"

// OrnsteinUhlenbeck is the process that is pulled to 0 at rate θ,
//
//	dx = −θ x dt + σ dW
//	Mean = e^{−θt},  Std = σ√((1 − e^{−2θt})/(2θ)),  prior N(0, σ²/(2θ) I), the law at rest
//
// (Uhlenbeck and Ornstein 1930). With θ = ½ and σ = 1 it is [VP] with β = 1. A process that is pulled to μ is this one for
// x − μ; [MatrixOrnsteinUhlenbeck] has μ and a matrix in place of θ. Range: 10⁻³T to T.
type OrnsteinUhlenbeck struct {
	Theta   float64 // θ; 0 means 1
	Sigma   float64 // σ; 0 means 1
	Horizon float64 // T; 0 means 5/θ, after which Mean is below 0.01
}

var _ SDE = OrnsteinUhlenbeck{}

func (o OrnsteinUhlenbeck) rates() (theta, sigma, horizon float64) {
	theta = or(o.Theta, 1)
	return theta, or(o.Sigma, 1), or(o.Horizon, 5/theta)
}

func ouLevel[N number[N]](o OrnsteinUhlenbeck, t N) (mean, std N) {
	theta, sigma, _ := o.rates()
	mean = t.scaled(-theta).exp()
	return mean, t.scaled(-2 * theta).expm1().scaled(-sigma * sigma / (2 * theta)).sqrt()
}

// ouTime: the squared noise level is σ²(e^{2θt} − 1)/(2θ).
func ouTime[N number[N]](o OrnsteinUhlenbeck, level N) N {
	theta, sigma, _ := o.rates()
	s := level.scaled(1 / sigma)
	return s.times(s).scaled(2 * theta).log1p().scaled(1 / (2 * theta))
}

// Validate returns an error unless Theta, Sigma and Horizon are positive and finite, or 0.
func (o OrnsteinUhlenbeck) Validate() error {
	theta, sigma, horizon := o.rates()
	if err := positive("OrnsteinUhlenbeck", "Theta", theta); err != nil {
		return err
	}
	if err := positive("OrnsteinUhlenbeck", "Sigma", sigma); err != nil {
		return err
	}
	return positive("OrnsteinUhlenbeck", "Horizon", horizon)
}

// Marginal returns e^{−θt} and σ√((1 − e^{−2θt})/(2θ)).
func (o OrnsteinUhlenbeck) Marginal(t float64) Level { return hostLevel(ouLevel(o, real(t))) }

// Drift returns −θ.
func (o OrnsteinUhlenbeck) Drift(float64) float64 {
	theta, _, _ := o.rates()
	return -theta
}

// Diffusion returns σ.
func (o OrnsteinUhlenbeck) Diffusion(float64) float64 {
	_, sigma, _ := o.rates()
	return sigma
}

// Time returns the t of a noise level.
func (o OrnsteinUhlenbeck) Time(sigma float64) float64 { return float64(ouTime(o, real(sigma))) }

// MarginalNode is Marginal in a graph.
func (o OrnsteinUhlenbeck) MarginalNode(t *Node) NodeLevel { return graphLevel(ouLevel(o, node{t})) }

// DriftNode is Drift in a graph.
func (o OrnsteinUhlenbeck) DriftNode(t *Node) *Node { return node{one(t)}.scaled(o.Drift(0)).Node }

// DiffusionNode is Diffusion in a graph.
func (o OrnsteinUhlenbeck) DiffusionNode(t *Node) *Node {
	return node{one(t)}.scaled(o.Diffusion(0)).Node
}

// TimeNode is Time in a graph.
func (o OrnsteinUhlenbeck) TimeNode(sigma *Node) *Node { return ouTime(o, node{sigma}).Node }

// Range returns 10⁻³T and T.
func (o OrnsteinUhlenbeck) Range() (first, last float64) {
	_, _, horizon := o.rates()
	return 1e-3 * horizon, horizon
}

// Prior returns the law at rest, N(0, σ²/(2θ) I).
func (o OrnsteinUhlenbeck) Prior() Prior {
	theta, sigma, _ := o.rates()
	return Prior{sigma / math.Sqrt(2*theta)}
}
