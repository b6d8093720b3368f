package ebm

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"

	"github.com/scorekit/lab/internal/given"
	"github.com/scorekit/lab/internal/numbers"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/objective"
	"github.com/scorekit/lab/scorekit/random"
)

// LimitTable compares contrastive divergence with score matching: see [Limit].
type LimitTable struct {
	Weights       []string    // the weights, a name each
	ScoreMatching [][]float64 // the gradient of objective.Implicit for each of Weights, flattened
	Rows          []LimitRow  // one for each ε
}

// LimitRow is one step length.
type LimitRow struct {
	StepSize    float64     // ε
	Contrastive [][]float64 // the gradient of one-step contrastive divergence for each of Weights, flattened
	Ratio       []float64   // for each of Weights: 1 in the limit
	Difference  []float64   // for each of Weights: 0 in the limit
}

const (
	hermite  = 8       // points of the noise along each axis: exact for energies of degree 15 along each
	mostRows = 1 << 18 // of data with noise
)

// Limit shows that contrastive divergence with one short Langevin step is score matching (Hyvärinen 2007). For the gradient
// g_CD(ε) of objective.Contrastive for each of a model's weights, expected over the noise of the step, and g_SM of
// objective.Implicit,
//
//	g_CD(ε) = E[∇_θE(x)] − E[∇_θE(x − ε∇E(x) + √(2ε) z)] = ε g_SM + O(ε²),   g_SM = ∇_θ E[½‖∇E(x)‖² − ΔE(x)]
//
// both means over the points. For −∇E·∇(∇_θE) + Δ(∇_θE) is what the step adds to ∇_θE in the mean, per ε, and with the
// other sign it is ∇_θ of the loss of score matching. A row gives, with g the gradient for one weight, a number or all of a
// matrix,
//
//	Ratio = ⟨g_CD, g_SM⟩ / (ε ‖g_SM‖²),   Difference = ‖g_CD/ε − g_SM‖ / ‖g_SM‖
//
// For the energy ½λ(x − μ)² the ratio for μ is 1 at every ε, and that for λ is 1 − ελ²m₂/(2(λm₂ − 1)), with m₂ the mean of
// (x − μ)².
//
// The mean over z is by Gauss and Hermite's rule with 8 points along each axis, so that points have at most three numbers
// and there are at most 2¹⁸/8ᵈ of them. With ε the two energies of the loss, and the two points, come to differ by less than
// they are known to: rounding makes an error of about u·(‖∇_θE‖ + ‖x·∂ₓ∇_θE‖)/(ε ‖g_SM‖) in the ratio, u = 2⁻⁵³ in float64 and
// 2⁻²⁴ in float32, norms of the spread over the points. The ratio must have two digits; the difference, which falls with ε, has
// fewer.
//
// model is as for [LogPartition], differentiable three times, and is given no noise level. Weights whose score-matching gradient is 0, such as a
// constant of the energy, have no ratio and are left out. ctx stops it between two step lengths.
//
// It returns an error for a model without an energy or without weights to train, for points that are not finite or do not
// fit the model, for a step that is not positive, for one so short that rounding would make an error of more than a hundredth
// in a ratio, with the shortest that does not, and for a gradient that is not finite.
func Limit(ctx context.Context, backend backends.Backend, model scorekit.Model, points any, steps []float64) (*LimitTable, error) {
	var table *LimitTable
	err := guard("Limit", func() (err error) {
		table, err = limit(ctx, backend, model, points, steps)
		return err
	})
	return table, err
}

func limit(ctx context.Context, backend backends.Backend, model scorekit.Model, points any, steps []float64) (*LimitTable, error) {
	if err := cmp.Or(given.Check("ctx", ctx), given.Check("backend", backend)); err != nil {
		return nil, err
	}
	if len(steps) == 0 {
		return nil, fmt.Errorf("no steps: must be at least one")
	}
	for i, eps := range steps {
		if !(eps > 0) || math.IsInf(eps, 0) {
			return nil, fmt.Errorf("step %d, %v: must be positive and finite", i, eps)
		}
	}
	b, err := bind(model, points, 0)
	if err != nil {
		return nil, err
	}
	n := b.Points.Shape().Dimensions[0]
	d := b.Points.Shape().Size() / n
	if d > 3 {
		return nil, fmt.Errorf("points of %d numbers: must be at most 3, as the noise is integrated over", d)
	}
	noise, weights := normalRule(d)
	if rows := n * len(weights); rows > mostRows {
		return nil, fmt.Errorf("%d points of %d numbers with %d values of the noise each: must be at most %d rows in all", n, d, len(weights), mostRows)
	}

	table := &LimitTable{}
	dtype, shape := b.Points.DType(), b.Points.Shape().Dimensions
	gradientsOf := func(vars *mlctx.Context, mean *Node) []*Node { return vars.BuildTrainableVariablesGradientsGraph(mean) }
	found, err := run(ctx, backend, b, func(vars *mlctx.Context, in []*Node) []*Node {
		x := in[0]
		matching := graph.ReduceAllMean(objective.Implicit{}.Loss(vars, nil, scorekit.Energy(b.energy).Score, x))
		table.Weights = nil
		for v := range vars.IterVariables() {
			if v.Trainable && v.InUseByGraph(x.Graph()) {
				table.Weights = append(table.Weights, v.ScopeAndName())
			}
		}
		if len(table.Weights) == 0 {
			panic(fmt.Errorf("model %T: the energy has no weights to train", model))
		}
		return append(gradientsOf(vars, matching), roundings(b.energy, vars, x, in[1], in[2])...)
	}, numbers.Tensor(signs(n), dtype, n), numbers.Tensor(signs(n*d), dtype, shape...))
	if err != nil {
		return nil, err
	}
	all := found
	for i, eps := range steps {
		found, err := run(ctx, backend, b, func(vars *mlctx.Context, in []*Node) []*Node {
			x, z, w := in[0], in[1], in[2]
			dims := x.Shape().Dimensions
			m := z.Shape().Dimensions[0]
			each := append([]int{n, m}, dims[1:]...)
			flat := append([]int{n * m}, dims[1:]...)
			xs := graph.Reshape(graph.BroadcastToDims(graph.InsertAxes(x, 1), each...), flat...)
			zs := graph.Reshape(graph.BroadcastToDims(graph.InsertAxes(graph.Reshape(z, append([]int{m}, dims[1:]...)...), 0), each...), flat...)
			cd := objective.Contrastive{Energy: b.energy, StepSize: eps}
			loss := graph.Reshape(cd.Loss(vars, random.Listed(x.Graph(), zs), scorekit.Energy(b.energy).Score, xs), n, m)
			return gradientsOf(vars, graph.ReduceAllMean(graph.ReduceSum(graph.Mul(loss, graph.InsertAxes(w, 0)), 1)))
		}, numbers.Tensor(noise, dtype, len(weights), d), numbers.Tensor(weights, dtype, len(weights)))
		if err != nil {
			return nil, fmt.Errorf("step %d of %d: %w", i, len(steps), err)
		}
		all = append(all, found...)
	}
	gradients := make([][]float64, len(all))
	for i, t := range all {
		if gradients[i], err = finite(t); err != nil {
			return nil, fmt.Errorf("gradient for %s: %w", table.Weights[i%len(table.Weights)], err)
		}
	}
	k := len(table.Weights)
	matching, rounding, contrastive := gradients[:k], gradients[k:3*k], gradients[3*k:]
	if err := table.check(matching, rounding, steps, dtype); err != nil {
		return nil, err
	}
	table.fill(matching, contrastive, steps)
	if len(table.Weights) == 0 {
		return nil, fmt.Errorf("every score-matching gradient is 0: there is nothing to compare with")
	}
	return table, nil
}

// run computes on the device what build makes of the points and more, unless ctx has ended.
func run(ctx context.Context, backend backends.Backend, b *bound, build func(vars *mlctx.Context, in []*Node) []*Node, more ...any) ([]*tensors.Tensor, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("stopped: %w", context.Cause(ctx))
	}
	exec, err := mlctx.NewExec(backend, b.Vars, build)
	if err != nil {
		return nil, err
	}
	defer exec.Finalize()
	return exec.Exec(append([]any{b.Points}, more...)...)
}

// roundings returns, for each weight, how far its gradient of the energies is spread over the points, and how far that
// follows the relative rounding of the points: the size of the sums over points with random signs.
func roundings(energy scorekit.Energy, vars *mlctx.Context, x, signs, moves *Node) []*Node {
	scale := math.Sqrt(float64(x.Shape().Dimensions[0]))
	spread := func(e *Node) []*Node {
		return vars.BuildTrainableVariablesGradientsGraph(graph.DivScalar(graph.ReduceAllSum(graph.Mul(signs, e)), scale))
	}
	small := math.Sqrt(unit(x.DType()))
	near := graph.Mul(x, graph.OnePlus(graph.MulScalar(moves, small)))
	here, there := energy(vars, x, nil), energy(vars, near, nil)
	return append(spread(here), spread(graph.DivScalar(graph.Sub(there, here), small))...)
}

// signs are n numbers ±1, the same each time.
func signs(n int) []float64 {
	rng := rand.New(rand.NewPCG(0xcd, 1))
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(2*rng.IntN(2) - 1)
	}
	return out
}

// unit is the relative rounding of a number.
func unit(dtype dtypes.DType) float64 {
	if dtype == dtypes.Float64 {
		return 0x1p-53
	}
	return 0x1p-24
}

// check returns an error for a step that rounding leaves no ratio of.
func (t *LimitTable) check(matching, rounding [][]float64, steps []float64, dtype dtypes.DType) error {
	shortest, worst, k := 0.0, "", len(t.Weights)
	for i, sm := range matching {
		if size := floats.Norm(sm, 2); size > 0 {
			if eps := 100 * unit(dtype) * (floats.Norm(rounding[i], 2) + floats.Norm(rounding[k+i], 2)) / size; eps > shortest {
				shortest, worst = eps, t.Weights[i]
			}
		}
	}
	for i, eps := range steps {
		if eps < shortest {
			return fmt.Errorf("step %d, %v: too short for %s, whose rounding would leave less than two digits of the ratio for %s: must be at least %.2g", i, eps, dtype, worst, shortest)
		}
	}
	return nil
}

// fill makes the table of the gradients of score matching and those of each step.
func (t *LimitTable) fill(matching, contrastive [][]float64, steps []float64) {
	names, k := t.Weights, len(t.Weights)
	t.Weights = nil
	for _, eps := range steps {
		t.Rows = append(t.Rows, LimitRow{StepSize: eps})
	}
	for i, sm := range matching {
		square := floats.Dot(sm, sm)
		if square == 0 {
			continue
		}
		t.Weights = append(t.Weights, names[i])
		t.ScoreMatching = append(t.ScoreMatching, sm)
		for j := range t.Rows {
			row, cd := &t.Rows[j], contrastive[j*k+i]
			off := slices.Clone(sm)
			for l := range off {
				off[l] -= cd[l] / row.StepSize
			}
			row.Contrastive = append(row.Contrastive, cd)
			row.Ratio = append(row.Ratio, floats.Dot(cd, sm)/(row.StepSize*square))
			row.Difference = append(row.Difference, floats.Norm(off, 2)/math.Sqrt(square))
		}
	}
}

// finite reads the numbers of a tensor of float32 or float64.
func finite(t *tensors.Tensor) ([]float64, error) {
	values := make([]float64, 0, t.Size())
	err := t.ConstFlatData(func(flat any) {
		switch f := flat.(type) {
		case []float64:
			values = append(values, f...)
		case []float32:
			for _, v := range f {
				values = append(values, float64(v))
			}
		}
	})
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%v: must be finite", v)
		}
	}
	return values, err
}

// normalRule returns the points, d numbers each, and the weights of a mean over N(0, I).
func normalRule(d int) (points, weights []float64) {
	x, w := make([]float64, hermite), make([]float64, hermite)
	quad.Hermite{}.FixedLocations(x, w, math.Inf(-1), math.Inf(1)) // of the integral of e^{−x²}
	total := 1
	for range d {
		total *= hermite
	}
	for i := range total {
		weight, at := 1.0, i
		for range d {
			points = append(points, math.Sqrt2*x[at%hermite])
			weight *= w[at%hermite] / math.Sqrt(math.Pi)
			at /= hermite
		}
		weights = append(weights, weight)
	}
	return points, weights
}
