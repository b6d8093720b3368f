package objective

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/random"
)

// Weighting is how the losses of different noise levels are weighed against one another.
type Weighting int

const (
	// SigmaSquared weighs by σ²: ½‖σs + z‖², of the same size at every level (Song and Ermon 2019, §4.2).
	SigmaSquared Weighting = iota
	// Plain does not weigh: ½‖s + z/σ‖². Its size grows as 1/σ², so that the smallest levels drown the others.
	Plain
)

// MultiNoise is denoising score matching over a range of noise levels, one drawn for each example,
//
//	loss(x) = ½ w(σ) ‖s(x + σz, σ) + z/σ‖²,  ln σ ~ U(ln Min, ln Max),  z ~ N(0, I)
//
// (Song and Ermon 2019, eq. 5 and 6, with a continuous range in place of a ladder). The score is given σ, [batch]:
// without it one function would have to fit every level at once. The weight w is σ², or 1 with Plain.
//
// The mean of the squares over all coordinates, as a mean-squared-error function computes it, is 2/dim times the plain
// form here.
type MultiNoise struct {
	Min, Max  float64 // smallest and largest noise level, in the units of the data; 0 < Min ≤ Max
	Weighting Weighting
}

var _ scorekit.Objective = MultiNoise{}

// Validate returns an error unless 0 < Min ≤ Max, both finite, and the weighting is known.
func (m MultiNoise) Validate() error {
	if !(m.Min > 0) || math.IsInf(m.Min, 0) {
		return fmt.Errorf("multi-noise objective: smallest noise level %v: must be positive and finite", m.Min)
	}
	if !(m.Max >= m.Min) || math.IsInf(m.Max, 0) {
		return fmt.Errorf("multi-noise objective: largest noise level %v: must be finite and at least the smallest, %v", m.Max, m.Min)
	}
	if m.Weighting != SigmaSquared && m.Weighting != Plain {
		return fmt.Errorf("multi-noise objective: weighting %d: must be SigmaSquared or Plain", m.Weighting)
	}
	return nil
}

// Loss adds the loss of each example, [batch].
func (m MultiNoise) Loss(vars *mlctx.Context, rng *random.Source, score scorekit.Score, x *Node) *Node {
	u := rng.Uniform(x.Shape().Dimensions[0])
	sigma := graph.Exp(graph.AddScalar(graph.MulScalar(u, math.Log(m.Max/m.Min)), math.Log(m.Min)))
	loss := denoise(vars, rng, score, x, sigma)
	if m.Weighting == Plain {
		loss = graph.Div(loss, graph.Square(sigma))
	}
	return loss
}
