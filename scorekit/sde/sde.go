package sde

import (
	"github.com/scorekit/lab/internal/numbers"
	"github.com/scorekit/lab/scorekit"
)

// SDE is a diffusion that turns data into noise by a linear drift,
//
//	dx = f(t) x dt + g(t) dW
//
// so that x at time t, given the data x₀, is Gaussian: Mean(t)·x₀ + Std(t)·z. The two descriptions determine one
// another: Mean′ = f·Mean and (Std²)′ = 2f·Std² + g².
//
// Methods named …Node are the same functions in a graph, of times of any shape and float dtype.
type SDE interface {
	Marginals
	// Validate returns an error that names a setting, its value and what is allowed.
	scorekit.Validator
	// Marginal returns the level of the state at t.
	Marginal(t float64) Level
	// Drift returns f(t).
	Drift(t float64) float64
	// Diffusion returns g(t).
	Diffusion(t float64) float64
	// Time returns the t at which Marginal(t).Sigma() is sigma. It is not limited to the range.
	Time(sigma float64) float64
	DriftNode(t *Node) *Node
	DiffusionNode(t *Node) *Node
	// Range returns the times that samplers run between, last to first: first is late enough for the score to be
	// finite and early enough for its noise not to be seen, and last is where the prior is close.
	Range() (first, last float64)
	// Prior returns the distribution that stands for that of the state at the last time.
	Prior() Prior
}

// Marginals is what a noise-conditional network must be told of a process: which level belongs to which time, and back.
// Every [SDE] has it, and so has [Discrete], whose times are indices.
type Marginals interface {
	// MarginalNode returns the level of the state at t.
	MarginalNode(t *Node) NodeLevel
	// TimeNode returns the t at which MarginalNode(t).Sigma() is sigma.
	TimeNode(sigma *Node) *Node
}

// The formulas of a process return level and rates for both kinds of number.
func hostLevel(mean, std real) Level      { return Level{float64(mean), float64(std)} }
func graphLevel(mean, std node) NodeLevel { return NodeLevel{mean.Node, std.Node} }

// positive returns an error unless v is positive and finite.
func positive(who, field string, v float64) error {
	return numbers.Positive("sde: "+who+": "+field, v)
}

// or is v, or otherwise where v is 0.
func or(v, otherwise float64) float64 {
	if v == 0 {
		return otherwise
	}
	return v
}
