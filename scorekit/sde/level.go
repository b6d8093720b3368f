package sde

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/internal/rows"
	"github.com/scorekit/lab/scorekit"
)

// Node is a GoMLX graph node.
type Node = scorekit.Node

// Level is how much of the data and how much noise a state holds:
//
//	x = Mean·x₀ + Std·z,  z ~ N(0, I)
//
// It is what samplers and conversions need to know about a process at a time; the time itself does not matter to them.
// {1, 0} is the data themselves.
type Level struct {
	Mean float64 // coefficient of the data, not negative
	Std  float64 // standard deviation of the noise, not negative
}

// Sigma returns σ = Std/Mean, the noise level of x/Mean in the units of the data: the σ of a [scorekit.Score].
func (l Level) Sigma() float64 { return l.Std / l.Mean }

// LogSNR returns the logarithm of the signal-to-noise ratio, ln(Mean²/Std²).
func (l Level) LogSNR() float64 { return 2 * math.Log(l.Mean/l.Std) }

// Validate returns an error unless Mean and Std are finite, not negative and not both 0.
func (l Level) Validate() error {
	if !(l.Mean >= 0) || math.IsInf(l.Mean, 0) {
		return fmt.Errorf("sde: level: Mean %v: must be finite and not negative", l.Mean)
	}
	if !(l.Std >= 0) || math.IsInf(l.Std, 0) {
		return fmt.Errorf("sde: level: Std %v: must be finite and not negative", l.Std)
	}
	if l.Mean == 0 && l.Std == 0 {
		return fmt.Errorf("sde: level: Mean 0 and Std 0: one must be positive")
	}
	return nil
}

// Preserving returns the level of noise σ whose squares add up to 1, {1, σ}/√(1+σ²): that of a variance-preserving
// process. {1, σ} itself is that of a variance-exploding one.
func Preserving(sigma float64) Level {
	root := math.Hypot(1, sigma)
	return Level{1 / root, sigma / root}
}

// NodeLevel is a [Level] in a graph: one for all points, scalars, or one for each, [batch].
type NodeLevel struct{ Mean, Std *Node }

// Sigma returns Std/Mean.
func (l NodeLevel) Sigma() *Node { return graph.Div(l.Std, l.Mean) }

// Noised returns Mean·x0 + Std·z, the state that x0 becomes at this level: x0 and z are [batch, dims...].
func (l NodeLevel) Noised(x0, z *Node) *Node {
	return graph.Add(graph.Mul(alike(l.Mean, x0), x0), graph.Mul(alike(l.Std, z), z))
}

// alike reshapes [batch] so that it multiplies [batch, dims...]. A scalar fits as it is.
func alike(a, x *Node) *Node {
	if a.Rank() == 0 {
		return a
	}
	if a.Rank() != 1 || x.Rank() < 1 || a.Shape().Dimensions[0] != x.Shape().Dimensions[0] {
		panic(fmt.Errorf("sde: level of shape %v for points of shape %v: must be a scalar or [batch]", a.Shape().Dimensions, x.Shape().Dimensions))
	}
	return rows.Like(a, x)
}

// each gives every point its own copy of a scalar: [batch].
func each(a, x *Node) *Node {
	if a.Rank() == 0 {
		return graph.BroadcastToDims(a, x.Shape().Dimensions[0])
	}
	return a
}
