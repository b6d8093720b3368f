package ebm

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/shapes"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/given"
	"github.com/scorekit/lab/internal/numbers"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/random"
	"github.com/scorekit/lab/scorekit/sampler"
)

// Annealing is how [AnnealedImportance] goes from a Gaussian to the energy.
type Annealing struct {
	Mean     []float64             // of the Gaussian that chains begin at, one for each number of a point
	Std      float64               // its standard deviation; positive. It must cover the law that is asked for
	Levels   int                   // T, between the Gaussian and the energy; 0 means 500
	Moves    int                   // moves at each level; 0 means 1
	StepSize float64               // ε of a move, in squared units of the data; positive
	Sigma    float64               // noise level given to the energy; 0 gives none
	Seed     int64                 // of all random numbers
	Report   func(scorekit.Report) // told of progress, in levels
}

// Estimate is what [AnnealedImportance] returns.
type Estimate struct {
	LogZ          float64
	StandardError float64   // of LogZ
	EffectiveSize float64   // (Σw)²/Σw²: how many equally heavy chains tell as much; at most the number of chains
	Acceptance    float64   // share of moves that were accepted
	LogWeights    []float64 // log w of each chain
}

// AnnealedImportance estimates log Z = log ∫ e^{−E(x)} dx in any dimension by annealed importance sampling (Neal 2001).
// Each of n chains begins at a draw from the Gaussian p₀ = N(Mean, Std²I) and passes through the laws between,
//
//	f_t(x) = p₀(x)^{1−β_t} e^{−β_t E(x)},   β_t = (t/T)²,  t = 0 … T
//
// at each of them with moves of sampler.MALA, which leave it as it is at any ε. On the way it gathers the weight
//
//	log w = Σ_t (β_t − β_{t−1}) (−E(x_{t−1}) − log p₀(x_{t−1})),   E[w] = Z
//
// The estimate of Z, the mean of w, has no bias, whatever the levels and moves; they decide how much the weights spread.
// That of log Z has the standard error s/(√n w̄), s the standard deviation of the weights, and is low by about half its
// square. Both rest on the weights that were seen: with an effective size of a few, or with a mode that no chain came
// to, they say too little. Then give more levels and moves, a step with an acceptance from 0.4 to 0.9, or a wider Std.
//
// model is as for [LogPartition]. It must have a finite energy everywhere, and e^{−E} must have an integral: for one that
// has none the weights tell nothing, and need not look it.
//
// It returns an error for a model without an energy or whose weights are missing, for impossible settings, for fewer than
// two chains, for an energy so large that its precision hides log Z, for chains or weights that are not finite, and one that wraps ctx's cause when it was stopped.
func AnnealedImportance(ctx context.Context, backend backends.Backend, model scorekit.Model, n int, settings Annealing) (*Estimate, error) {
	var e *Estimate
	err := guard("AnnealedImportance", func() (err error) {
		e, err = annealedImportance(ctx, backend, model, n, settings)
		return err
	})
	return e, err
}

func annealedImportance(ctx context.Context, backend backends.Backend, model scorekit.Model, n int, settings Annealing) (*Estimate, error) {
	if ctx == nil || backend == nil {
		return nil, fmt.Errorf("ctx and backend: both must be given")
	}
	if n < 2 {
		return nil, fmt.Errorf("%d chains: must be at least 2", n)
	}
	if err := settings.check(); err != nil {
		return nil, err
	}
	if settings.Levels == 0 {
		settings.Levels = 500
	}
	settings.Moves = max(1, settings.Moves)
	shape := []int{len(settings.Mean)}
	if err := given.Check("model", model); err != nil {
		return nil, err
	}
	if m, ok := model.(interface{ Shape() []int }); ok && m.Shape() != nil {
		shape = m.Shape()
	}
	size := 1
	for _, d := range shape {
		size *= d
	}
	if size != len(settings.Mean) {
		return nil, fmt.Errorf("mean of %d numbers for points of shape %v: must be one for each number", len(settings.Mean), shape)
	}
	b, err := bind(model, numbers.Tensor(settings.Mean, dtypes.Float64, append([]int{1}, shape...)...), settings.Sigma)
	if err != nil {
		return nil, err
	}
	origin, err := energyAtMean(ctx, backend, b, settings.Mean)
	if err != nil {
		return nil, err
	}
	// A constant of the energy is taken out on the way: weights are stored next to points, in their precision.
	less := func(vars *mlctx.Context, x, sigma *Node) *Node {
		return graph.AddScalar(b.energy(vars, x, sigma), -origin)
	}
	chains := annealing{settings, less, shape}
	// The weight of a chain is the last number of its point.
	unused := scorekit.Score(func(_ *mlctx.Context, x, _ *Node) *Node { return graph.ZerosLike(x) })
	draws, err := scorekit.Sample(ctx, backend, unused, chains, n, scorekit.WithShape(size+1), scorekit.WithVars(b.Vars),
		scorekit.WithDType(b.Points.DType()), scorekit.WithSeed(settings.Seed), scorekit.WithProgress(settings.Report),
		scorekit.WithUnroll(max(1, 4/settings.Moves)), // each move is a gradient to compile
		scorekit.WithLimit(math.MaxFloat32))           // the weights may be far from 1, and are told apart by their logarithms
	if err != nil {
		var diverged *scorekit.DivergedError
		if errors.As(err, &diverged) {
			err = fmt.Errorf("a chain or its weight ran away: the energy must be finite everywhere and grow far out, and the step be short: %w", err)
		}
		return nil, err
	}
	rows, err := scorekit.Rows(draws.X)
	if err != nil {
		return nil, err
	}
	logs := make([]float64, n)
	for i, row := range rows {
		logs[i] = row[size] - origin
	}
	e := estimate(logs)
	e.Acceptance = draws.Info["acceptance"]
	return e, nil
}

// energyAtMean returns the energy at the mean of the Gaussian. It returns an error unless that is a number that the dtype
// knows to a hundredth: to no less is log Z known.
func energyAtMean(ctx context.Context, backend backends.Backend, b *bound, mean []float64) (origin float64, err error) {
	e, err := b.evaluator(backend)
	if err != nil {
		return 0, err
	}
	defer e.exec.Finalize()
	err = e.each(ctx, 1, func(_ int, x []float64) { copy(x, mean) }, func(_ int, energies []float64) { origin = energies[0] })
	if err != nil {
		return 0, err
	}
	if math.IsInf(origin, 1) {
		return 0, fmt.Errorf("the energy at the mean is +Inf: must be finite everywhere")
	}
	if known := math.Abs(origin) * unit(e.dtype); known > 0.01 {
		return 0, fmt.Errorf("the energy at the mean is %.4g, which %s knows to %.2g, and so log Z: must be to a hundredth (take a constant out of the energy, or train it in float64)", origin, e.dtype, known)
	}
	return origin, nil
}

func (a Annealing) check() error {
	if len(a.Mean) == 0 {
		return fmt.Errorf("mean []: must have one number for each of a point")
	}
	for i, m := range a.Mean {
		if math.IsNaN(m) || math.IsInf(m, 0) {
			return fmt.Errorf("mean: number %d is %v: must be finite", i, m)
		}
	}
	for _, s := range []struct {
		what  string
		value float64
	}{{"standard deviation", a.Std}, {"step", a.StepSize}} {
		if err := numbers.Positive(s.what, s.value); err != nil {
			return err
		}
	}
	if a.Levels < 0 {
		return fmt.Errorf("%d levels: must be positive, or 0 for 500", a.Levels)
	}
	if a.Moves < 0 {
		return fmt.Errorf("%d moves a level: must be positive, or 0 for 1", a.Moves)
	}
	return nil
}

// estimate returns the logarithm of the mean weight, with its standard error.
func estimate(logs []float64) *Estimate {
	sum := newLogSum()
	for _, l := range logs {
		sum.add(l, 1)
	}
	n, squares, deviations := float64(len(logs)), 0.0, 0.0
	for _, l := range logs {
		relative := math.Exp(l-sum.log()) * n // w over the mean weight
		squares += relative * relative
		deviations += (relative - 1) * (relative - 1)
	}
	return &Estimate{
		LogZ:          sum.log() - math.Log(n),
		StandardError: math.Sqrt(deviations / (n - 1) / n),
		EffectiveSize: n * n / squares,
		LogWeights:    logs,
	}
}

// annealing is a sampler of points, [chains, size + 1], whose last number is log w.
type annealing struct {
	Annealing
	energy scorekit.Energy
	shape  []int // of a point
}

// Schedule returns β_t and its change, for t = 1 … T.
func (a annealing) Schedule() (scorekit.Schedule, error) {
	s := scorekit.Schedule{Columns: []string{"beta", "change"}}
	before := 0.0
	for t := range a.Levels {
		beta := math.Pow(float64(t+1)/float64(a.Levels), 2)
		s.Rows = append(s.Rows, []float64{beta, beta - before})
		before = beta
	}
	return s, nil
}

// Start draws from the Gaussian; log w = 0.
func (a annealing) Start(rng *random.Source, dims ...int) *Node {
	n := dims[0]
	z := rng.Normal(n, len(a.Mean))
	x := graph.Add(graph.MulScalar(z, a.Std), graph.InsertAxes(a.mean(z), 0))
	return graph.Concatenate([]*Node{x, graph.Zeros(rng.Graph(), shapes.Make(rng.DType(), n, 1))}, 1)
}

func (a annealing) mean(like *Node) *Node {
	return graph.ConvertDType(graph.Const(like.Graph(), a.Mean), like.DType())
}

// Init returns the chains as they start.
func (a annealing) Init(_ *mlctx.Context, _ *random.Source, _ scorekit.Score, x *Node) scorekit.State {
	return scorekit.State{X: x}
}

// Step adds to the weights what the level adds, and moves the chains there.
func (a annealing) Step(vars *mlctx.Context, rng *random.Source, score scorekit.Score, state scorekit.State, row []*Node) (scorekit.State, scorekit.Info) {
	n, d := state.X.Shape().Dimensions[0], len(a.Mean)
	x := graph.Reshape(graph.Slice(state.X, graph.AxisRange(), graph.AxisRange(0, d)), append([]int{n}, a.shape...)...)
	logW := graph.Slice(state.X, graph.AxisRange(), graph.AxisRange(d))
	beta, change := row[0], row[1]

	gain := graph.Sub(a.base(x), a.energy(vars, x, nil)) // −E − log p₀, but for the constant of p₀
	gain = graph.AddScalar(gain, float64(d)*(0.5*math.Log(2*math.Pi)+math.Log(a.Std)))
	logW = graph.Add(logW, graph.InsertAxes(graph.Mul(change, gain), -1))

	moves := sampler.MALA{StepSize: a.StepSize, Energy: func(vars *mlctx.Context, x, _ *Node) *Node {
		return graph.Add(graph.Mul(graph.OneMinus(beta), a.base(x)), graph.Mul(beta, a.energy(vars, x, nil)))
	}}
	chains := moves.Init(vars, rng, score, x)
	tuning := []*Node{graph.ZerosLike(beta)} // none
	var accepted *Node
	for range a.Moves {
		var info scorekit.Info
		chains, info = moves.Step(vars, rng, score, chains, tuning)
		if accepted == nil {
			accepted = info["acceptance"]
		} else {
			accepted = graph.Add(accepted, info["acceptance"])
		}
	}
	state.X = graph.Concatenate([]*Node{graph.Reshape(chains.X, n, d), logW}, 1)
	return state, scorekit.Info{"acceptance": graph.DivScalar(accepted, float64(a.Moves))}
}

// base is ½‖x − Mean‖²/Std², the energy of p₀.
func (a annealing) base(x *Node) *Node {
	flat := graph.Reshape(x, x.Shape().Dimensions[0], len(a.Mean))
	z := graph.DivScalar(graph.Sub(flat, graph.InsertAxes(a.mean(x), 0)), a.Std)
	return graph.MulScalar(graph.ReduceSum(graph.Square(z), 1), 0.5)
}
