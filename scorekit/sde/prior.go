package sde

import (
	"math"

	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/scorekit/random"
)

// Prior is N(0, Std² I), which stands for the distribution of the state at the last time T. What it leaves out is the
// data that are still in that state, Mean(T)·x₀: for data of covariance C the divergence of the true law from a prior of
// its noise level is at most ½ Mean(T)²·(tr C + ‖E x₀‖²)/Std² nats.
type Prior struct{ Std float64 }

// LogDensity returns the logarithm of the density at x, −‖x‖²/(2 Std²) − d ln(Std √(2π)), in nats.
func (p Prior) LogDensity(x []float64) float64 {
	sum := -float64(len(x)) * (math.Log(p.Std) + 0.5*math.Log(2*math.Pi))
	for _, v := range x {
		sum -= 0.5 * (v / p.Std) * (v / p.Std)
	}
	return sum
}

// LogDensityNode is LogDensity in a graph: [batch, dims...] → [batch].
func (p Prior) LogDensityNode(x *Node) *Node {
	axes := make([]int, x.Rank()-1)
	for i := range axes {
		axes[i] = i + 1
	}
	d := float64(x.Shape().Size()) / float64(x.Shape().Dimensions[0])
	squares := graph.ReduceSum(graph.Square(graph.DivScalar(x, p.Std)), axes...)
	return graph.AddScalar(graph.MulScalar(squares, -0.5), -d*(math.Log(p.Std)+0.5*math.Log(2*math.Pi)))
}

// Draw returns independent draws of the shape dims.
func (p Prior) Draw(rng *random.Source, dims ...int) *Node {
	return graph.MulScalar(rng.Normal(dims...), p.Std)
}
