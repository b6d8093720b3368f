package objective

import (
	"fmt"
	"math"
	"slices"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/numbers"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/random"
)

// Levels is a distribution of noise levels for [MultiNoise]: standard deviations, in the units of the data.
type Levels interface {
	scorekit.Validator
	// Draw adds the levels of n examples to the graph, [n], of rng's dtype, all positive: for any other the loss is
	// NaN, at which training stops. vars is what Loss was given: what must last from step to step, such as a count of
	// the steps, is kept in it.
	Draw(vars *mlctx.Context, rng *random.Source, n int) *Node
}

var (
	_ Levels = LogUniform{}
	_ Levels = Ladder{}
	_ Levels = LogNormal{}
	_ Levels = Annealed{}
)

// LogUniform draws a level for each example with ln σ ~ U(ln Min, ln Max).
type LogUniform struct {
	Min, Max float64 // smallest and largest level; 0 < Min ≤ Max
}

// Validate returns an error unless 0 < Min ≤ Max, both finite.
func (l LogUniform) Validate() error {
	if err := numbers.Positive("smallest noise level", l.Min); err != nil {
		return err
	}
	if !(l.Max >= l.Min) || math.IsInf(l.Max, 0) {
		return fmt.Errorf("largest noise level %v: must be finite and at least the smallest, %v", l.Max, l.Min)
	}
	return nil
}

// Draw adds n levels, σ = Min (Max/Min)^u with u ~ U(0, 1).
func (l LogUniform) Draw(_ *mlctx.Context, rng *random.Source, n int) *Node {
	u := rng.Uniform(n)
	return graph.Exp(graph.AddScalar(graph.MulScalar(u, math.Log(l.Max/l.Min)), math.Log(l.Min)))
}

// Ladder draws one of the listed levels for each example, all with the same probability (Song and Ermon 2019, eq. 6).
type Ladder struct {
	Sigmas []float64 // the levels, in any order; at least one
}

// Geometric returns a ladder of so many levels with one ratio between neighbours, from max down to min, as
// sampler.AnnealedLangevin takes them:
//
//	σᵢ = max (min/max)^((i−1)/(levels−1)),  i = 1 … levels
//
// It returns an error unless max > min > 0, both finite, and there are at least 2 levels.
func Geometric(max, min float64, levels int) (Ladder, error) {
	const who = "objective: Geometric"
	if err := numbers.Positive("lowest noise level", min); err != nil {
		return Ladder{}, fmt.Errorf("%s: %w", who, err)
	}
	if !(max > min) || math.IsInf(max, 0) {
		return Ladder{}, fmt.Errorf("%s: highest noise level %v: must be finite and above the lowest, %v", who, max, min)
	}
	if levels < 2 {
		return Ladder{}, fmt.Errorf("%s: %d levels: must be at least 2", who, levels)
	}
	sigmas := make([]float64, levels)
	for i := range sigmas {
		sigmas[i] = max * math.Pow(min/max, float64(i)/float64(levels-1))
	}
	sigmas[levels-1] = min // not off by the rounding of min/max
	return Ladder{sigmas}, nil
}

// Validate returns an error unless there is a level and all are positive and finite.
func (l Ladder) Validate() error {
	if len(l.Sigmas) == 0 {
		return fmt.Errorf("ladder without noise levels: must have at least one")
	}
	for i, s := range l.Sigmas {
		if err := numbers.Positive(fmt.Sprintf("ladder: noise level %d,", i), s); err != nil {
			return err
		}
	}
	return nil
}

// Draw adds n levels.
func (l Ladder) Draw(_ *mlctx.Context, rng *random.Source, n int) *Node {
	all := graph.ConvertDType(graph.Const(rng.Graph(), slices.Clone(l.Sigmas)), rng.DType())
	return graph.Gather(all, rng.Int(len(l.Sigmas), n, 1))
}

// LogNormal draws a level for each example with ln σ ~ N(Mean, Std²) (Karras et al. 2022, table 1, with the mean −1.2
// and the standard deviation 1.2 for data of standard deviation ½).
type LogNormal struct {
	Mean, Std float64 // of ln σ; Std > 0
}

// Validate returns an error unless Mean is finite and Std positive and finite.
func (l LogNormal) Validate() error {
	if math.IsNaN(l.Mean) || math.IsInf(l.Mean, 0) {
		return fmt.Errorf("log-normal levels: mean %v of ln σ: must be finite", l.Mean)
	}
	return numbers.Positive("log-normal levels: standard deviation", l.Std)
}

// Draw adds n levels.
func (l LogNormal) Draw(_ *mlctx.Context, rng *random.Source, n int) *Node {
	return graph.Exp(graph.AddScalar(graph.MulScalar(rng.Normal(n), l.Std), l.Mean))
}

// Annealed gives all examples one level, which falls from training step to training step,
//
//	σ_t = max(Min, Start Factorᵗ),  t = 0, 1, …
//
// ("Lecture 02: Score Matching", σ_t = σ₀αᵗ). A score that is not told the level follows it down; Min is the level that
// it ends at.
//
// The steps are counted in a variable among the weights, one whole number that is not trained. So it is stored in
// checkpoints, and a resumed training goes on where it was; EvaluateLoss of a trained model is at the level after its
// last step, and that of any other at Start.
type Annealed struct {
	Start  float64 // σ₀, positive
	Factor float64 // α, in (0, 1]
	Min    float64 // where it stops falling; 0 < Min ≤ Start
}

// Validate returns an error unless 0 < Min ≤ Start, both finite, and 0 < Factor ≤ 1.
func (a Annealed) Validate() error {
	if err := numbers.Positive("annealed levels: start", a.Start); err != nil {
		return err
	}
	if !(a.Factor > 0 && a.Factor <= 1) {
		return fmt.Errorf("annealed levels: factor %v: must be above 0 and at most 1", a.Factor)
	}
	if !(a.Min > 0 && a.Min <= a.Start) {
		return fmt.Errorf("annealed levels: min %v: must be positive and at most the start, %v", a.Min, a.Start)
	}
	return nil
}

// Draw adds the level of the step, n times, and counts the step. Without vars it is the first step.
func (a Annealed) Draw(vars *mlctx.Context, rng *random.Source, n int) *Node {
	g := rng.Graph()
	t := graph.Scalar(g, dtypes.Int32, 0)
	if vars != nil {
		const name = "annealed_steps"
		vars = vars.In("objective")
		count := vars.GetVariable(name)
		if count == nil {
			count = vars.VariableWithValue(name, int32(0)).SetTrainable(false)
		}
		t = count.ValueGraph(g)
		count.SetValueGraph(graph.AddScalar(t, 1))
	}
	fall := graph.MulScalar(graph.ConvertDType(t, dtypes.Float64), math.Log(a.Factor))
	sigma := graph.ConvertDType(graph.MulScalar(graph.Exp(fall), a.Start), rng.DType())
	return graph.BroadcastToDims(graph.MaxScalar(sigma, a.Min), n)
}
