package sampler

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/rows"
	"github.com/scorekit/lab/internal/rungekutta"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/random"
	"github.com/scorekit/lab/scorekit/sde"
)

// DormandPrince follows the probability-flow ODE of [ProbabilityFlow] by the Runge–Kutta method of order 5 of Dormand and
// Prince (1980) with steps that it chooses itself, the RK45 of Song et al. (2021, app. D.4). The method has an embedded
// solution of order 4; what the two differ by, e, is the error of a step, and
//
//	error = √(mean over coordinates of (e/(AbsTol + RelTol·max(|x|, |x_new|)))²)
//
// accepts the step where it is at most 1. The next step, or attempt, is min(5, max(1/5, 0.9·error^{−1/5})) times as long
// (Hairer, Nørsett and Wanner 1993, sec. II.4); it begins with 1/100 of the way. No step is longer than half of the time, or
// of the noise level, that it starts at: where the flow is nearly 0, as at the end of [sde.VP], errors are too, and steps
// that grow by them alone would leap over the part where it is not. Each chain has its own time and step and
// does not depend on the others: with some it is done earlier, and waits. The seventh slope of an accepted step is the
// first of the next, so that an attempt takes six scores.
//
// One step of [scorekit.Sample] is one attempt of all chains, at most MaxSteps of them: the run stops as soon as all chains
// are at the end, and is an error if some are not there after MaxSteps (see [scorekit.Finisher]). It looks after every
// attempt, or after as many as [scorekit.WithUnroll] says. A chain whose first slope is not finite, or whose step has become
// so short that it is lost in the rounding of the time, because the score there is not finite or not smooth or the tolerances
// are too small for the dtype, becomes NaN: the run ends as diverged, a [scorekit.DivergedError].
//
// With an SDE the variable is t, from its last time to its first unless From and To say otherwise; without one it is σ, from
// From to To. With Denoise a chain that arrives goes on to the mean of the data given its state, (x + Std²·score)/Mean
// (Tweedie's formula), which its last slope tells.
//
// The score is that of noised data, s(x, σ): see [sde.ScoreAt]. Chains start at draws from the prior of the SDE, from
// N(0, Std²I) at a From before the end of its range, and from N(0, From² I) without an SDE, unless [scorekit.Sample] is told
// otherwise.
//
// Info, without a burn-in: "evaluations", the number of scores taken so far for a chain that was not at its end, and
// "accepted", the number of accepted steps; both are means over the chains.
type DormandPrince struct {
	SDE            sde.SDE
	From, To       float64 // times of the SDE, 0 and 0 for its range; or noise levels; From > To > 0
	RelTol, AbsTol float64 // of a step; 0 means 10⁻⁵
	MaxSteps       int     // largest number of attempts; 0 means 1,000
	Denoise        bool
}

var (
	_ scorekit.Sampler        = DormandPrince{}
	_ scorekit.Starter        = DormandPrince{}
	_ scorekit.Finisher       = DormandPrince{}
	_ scorekit.StatePredictor = DormandPrince{}
)

const dormandPrince = "Dormand–Prince"

// ends returns From and To.
func (d DormandPrince) ends() (from, to float64, err error) {
	from, to = d.From, d.To
	if d.SDE != nil {
		if err := d.SDE.Validate(); err != nil {
			return 0, 0, fmt.Errorf("%s: %w", dormandPrince, err)
		}
		if from == 0 && to == 0 {
			to, from = d.SDE.Range()
		}
		for _, t := range []float64{from, to} {
			if err := usable(dormandPrince, "From and To: time", d.SDE, t); err != nil {
				return 0, 0, err
			}
		}
	} else if from == 0 && to == 0 {
		return 0, 0, fmt.Errorf("%s: neither SDE nor From and To: one must be given", dormandPrince)
	}
	if !(to > 0) || !(from > to) || math.IsInf(from, 0) {
		return 0, 0, fmt.Errorf("%s: From %v and To %v: must be finite and positive, and To below From", dormandPrince, from, to)
	}
	if d.SDE == nil && !single(from*from, 1/to) {
		return 0, 0, fmt.Errorf("%s: From %v and To %v: the square of the one and the inverse of the other must be numbers of float32", dormandPrince, from, to)
	}
	return from, to, nil
}

func (d DormandPrince) tolerances() (relative, absolute float64) {
	relative, absolute = d.RelTol, d.AbsTol
	if relative == 0 {
		relative = 1e-5
	}
	if absolute == 0 {
		absolute = 1e-5
	}
	return relative, absolute
}

// Schedule returns one row an attempt: its number, counted from 1. It returns an error for an impossible SDE, for times or
// levels that do not fall or at which there is no score that float32 holds, for times after the range of the SDE, for
// tolerances that are not positive and finite, and for a negative MaxSteps.
func (d DormandPrince) Schedule() (scorekit.Schedule, error) {
	if _, _, err := d.ends(); err != nil {
		return scorekit.Schedule{}, err
	}
	relative, absolute := d.tolerances()
	if err := positive(dormandPrince, "RelTol", relative); err != nil {
		return scorekit.Schedule{}, err
	}
	if err := positive(dormandPrince, "AbsTol", absolute); err != nil {
		return scorekit.Schedule{}, err
	}
	if d.MaxSteps < 0 {
		return scorekit.Schedule{}, fmt.Errorf("%s: MaxSteps %d: must be positive, or 0 for 1,000", dormandPrince, d.MaxSteps)
	}
	s := constantRows(orDefault(d.MaxSteps, 1000), []string{"attempt"}, 0)
	for k := range s.Rows {
		s.Rows[k] = []float64{float64(k + 1)}
	}
	return s, nil
}

// Start draws the starting points from the prior.
func (d DormandPrince) Start(rng *random.Source, dims ...int) *Node {
	from, _, err := d.ends()
	if err != nil {
		panic(err)
	}
	prior := sde.Prior{Std: from}
	if d.SDE != nil {
		prior = priorAt(d.SDE, from)
	}
	return prior.Draw(rng, dims...)
}

// Places in Aux.
const (
	auxTime        = iota // of each chain: [chains]
	auxStep               // what each chain tries next: [chains]
	auxSlope              // at the chains: [chains, dims...]
	auxEvaluations        // so far, mean over the chains
	auxAccepted           // so far, mean over the chains
)

// Init takes the slope where the chains start. Aux keeps the time and the step of each chain, [chains], the slope,
// [chains, dims...], and two counts.
func (d DormandPrince) Init(vars *mlctx.Context, _ *random.Source, score scorekit.Score, x *Node) scorekit.State {
	from, to, err := d.ends()
	if err != nil {
		panic(err)
	}
	number := func(v float64) *Node { return graph.Scalar(x.Graph(), x.DType(), v) }
	t := levels(number(from), x)
	slope := d.slope(vars, score, x, t)
	x = graph.Where(graph.IsFinite(slope), x, graph.MulScalar(graph.OnesLike(x), math.NaN()))
	return scorekit.State{X: x, Aux: []*Node{t, levels(number((from-to)/100), x), slope, number(1), number(0)}}
}

// slope is dx/dt at the times t, [chains].
func (d DormandPrince) slope(vars *mlctx.Context, score scorekit.Score, x, t *Node) *Node {
	if d.SDE == nil {
		return graph.Neg(graph.Mul(rows.Like(t, x), score(vars, x, t)))
	}
	s := sde.ScoreAt(vars, score, x, d.SDE.MarginalNode(t))
	return graph.Sub(graph.Mul(rows.Like(d.SDE.DriftNode(t), x), x), graph.Mul(rows.Like(d.half(t), x), s))
}

// half is ½g².
func (d DormandPrince) half(t *Node) *Node {
	return graph.MulScalar(graph.Square(d.SDE.DiffusionNode(t)), 0.5)
}

// denoised is Tweedie's formula with the score that a slope tells.
func (d DormandPrince) denoised(x, slope, t *Node) *Node {
	if d.SDE == nil {
		return graph.Sub(x, graph.Mul(rows.Like(t, x), slope)) // x + σ²s, slope −σs
	}
	s := graph.Div(graph.Sub(graph.Mul(rows.Like(d.SDE.DriftNode(t), x), x), slope), rows.Like(d.half(t), x))
	at := d.SDE.MarginalNode(t)
	return graph.Div(graph.Add(x, graph.Mul(rows.Like(graph.Square(at.Std), x), s)), rows.Like(at.Mean, x))
}

// Step makes one attempt for every chain that is not at the end.
func (d DormandPrince) Step(vars *mlctx.Context, _ *random.Source, score scorekit.Score, state scorekit.State, row []*Node) (scorekit.State, scorekit.Info) {
	_, to, err := d.ends()
	if err != nil {
		panic(err)
	}
	x, t, step := state.X, state.Aux[auxTime], state.Aux[auxStep]
	end := graph.BroadcastToDims(graph.Scalar(x.Graph(), x.DType(), to), t.Shape().Dimensions...)
	working := graph.GreaterThan(t, end)
	left := graph.Sub(t, end)
	step = graph.Min(step, graph.MulScalar(t, 0.5)) // at most to half of t
	arrives := graph.GreaterOrEqual(step, left)
	h := graph.Min(step, left)

	slopes := []*Node{state.Aux[auxSlope]}
	var next *Node
	for stage := 1; stage < len(rungekutta.Nodes); stage++ {
		next = graph.Sub(x, graph.Mul(rows.Like(h, x), weighted(rungekutta.Stages[stage], slopes)))
		at := graph.Sub(t, graph.MulScalar(h, rungekutta.Nodes[stage]))
		if rungekutta.Nodes[stage] == 1 {
			at = graph.Where(arrives, end, at) // not off by rounding
		}
		slopes = append(slopes, d.slope(vars, score, next, at))
	}
	relative, absolute := d.tolerances()
	scale := graph.AddScalar(graph.MulScalar(graph.Max(graph.Abs(x), graph.Abs(next)), relative), absolute)
	off := graph.Div(graph.Mul(rows.Like(h, x), weighted(rungekutta.Error[:], slopes)), scale)
	size := float64(x.Shape().Size()) / float64(x.Shape().Dimensions[0])
	wrong := graph.Sqrt(graph.DivScalar(rows.Sum(graph.Square(off)), size))

	one := graph.OnesLike(wrong)
	accepted := graph.LogicalAnd(working, graph.LessOrEqual(wrong, one))
	// An error that is not a number is not below the limit either.
	finite := graph.LessThan(wrong, graph.MulScalar(one, 1e12))
	sane := graph.MaxScalar(graph.Where(finite, wrong, one), 1e-6)
	factor := graph.ClipScalar(graph.MulScalar(graph.Exp(graph.MulScalar(graph.Log(sane), -0.2)), 0.9), 0.2, 5)
	factor = graph.Where(finite, factor, graph.MulScalar(one, 0.2))

	moved := graph.Where(arrives, end, graph.Sub(t, h))
	after := next
	last := slopes[len(slopes)-1]
	if d.Denoise {
		after = graph.Where(wide(arrives, x), d.denoised(next, last, moved), next)
	}
	stuck := graph.LogicalAnd(working, graph.Equal(graph.Sub(t, h), t))
	x = graph.Where(wide(stuck, x), graph.MulScalar(graph.OnesLike(x), math.NaN()), x)
	share := func(which *Node) *Node { return graph.ReduceAllMean(graph.ConvertDType(which, x.DType())) }
	tried := graph.MulScalar(share(working), float64(len(rungekutta.Nodes)-1))
	passed := share(accepted)
	info := scorekit.Info{
		"evaluations": totalAfter(row[0], state.Aux[auxEvaluations], tried),
		"accepted":    totalAfter(row[0], state.Aux[auxAccepted], passed),
	}
	return scorekit.State{
		X: graph.Where(wide(graph.LogicalAnd(accepted, graph.LogicalNot(stuck)), x), after, x),
		Aux: []*Node{
			graph.Where(accepted, moved, t),
			graph.Where(working, graph.Mul(h, factor), step),
			graph.Where(wide(accepted, x), last, state.Aux[auxSlope]),
			graph.Add(state.Aux[auxEvaluations], tried),
			graph.Add(state.Aux[auxAccepted], passed),
		},
	}, info
}

// Waiting returns how many chains are not at the end.
func (d DormandPrince) Waiting(state scorekit.State) *Node {
	_, to, err := d.ends()
	if err != nil {
		panic(err)
	}
	t := state.Aux[auxTime]
	return graph.ReduceAllSum(graph.ConvertDType(graph.GreaterThan(t, graph.Scalar(t.Graph(), t.DType(), to)), t.DType()))
}

// PredictState returns the mean of the data given x at each chain's own time, from its slope (Tweedie's formula). With
// Denoise chains at the end are that already.
func (d DormandPrince) PredictState(_ *mlctx.Context, _ scorekit.Score, state scorekit.State, _ []*Node) *Node {
	t := state.Aux[auxTime]
	clean := d.denoised(state.X, state.Aux[auxSlope], t)
	if !d.Denoise {
		return clean
	}
	_, to, err := d.ends()
	if err != nil {
		panic(err)
	}
	there := graph.LessOrEqual(t, graph.Scalar(t.Graph(), t.DType(), to))
	return graph.Where(wide(there, state.X), state.X, clean)
}

// totalAfter is a diagnostic whose mean over steps 1 … k is the total after step k, given the total before it and what
// step k adds: k·after − (k−1)·before.
func totalAfter(k, before, more *Node) *Node { return graph.Add(before, graph.Mul(k, more)) }

// weighted is Σ wᵢ xᵢ.
func weighted(weights []float64, xs []*Node) *Node {
	var sum *Node
	for i, w := range weights {
		if w == 0 {
			continue
		}
		if term := graph.MulScalar(xs[i], w); sum == nil {
			sum = term
		} else {
			sum = graph.Add(sum, term)
		}
	}
	return sum
}

// wide gives a condition of each row the shape of x: [n] → [n, dims...].
func wide(condition, x *Node) *Node {
	return graph.BroadcastToDims(rows.Like(condition, x), x.Shape().Dimensions...)
}
