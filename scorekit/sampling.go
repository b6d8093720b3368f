package scorekit

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/shapes"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/purego"
	"github.com/scorekit/lab/scorekit/random"
)

// Starter is implemented by a sampler whose chains begin somewhere else than at draws from N(0, I).
type Starter interface {
	// Start draws the starting points of the chains: [chains, dims...].
	Start(rng *random.Source, dims ...int) *Node
}

// weighted is a model that knows its own weights; shaped one that knows the shape of its points; typed one that
// knows their dtype.
type (
	weighted interface{ Vars() *mlctx.Context }
	shaped   interface{ Shape() []int }
	typed    interface{ DType() dtypes.DType }
)

// fits returns an error if model tells the shape of its points and it is not dims; what says whose shape dims is.
func fits(model Model, what string, dims []int) error {
	if m, ok := model.(shaped); ok && m.Shape() != nil && !slices.Equal(m.Shape(), dims) {
		return fmt.Errorf("%s %v for a model of points of shape %v", what, dims, m.Shape())
	}
	return nil
}

// dtypeOf returns the float type of a model's weights, and otherwise where it does not tell.
func dtypeOf(model Model, otherwise dtypes.DType) dtypes.DType {
	if w, ok := model.(wrapped); ok {
		model = w.of()
	}
	if m, ok := model.(typed); ok {
		return m.DType()
	}
	return otherwise
}

// chains is one run of Sample.
type chains struct {
	*sampleSettings
	backend  backends.Backend
	model    Model
	sampler  Sampler
	n        int
	schedule Schedule
	graphs   *compiled   // the start, the steps, and the model's weights
	foresee  *mlctx.Exec // the sampler's predictions; nil until they are asked for

	step  int
	state []*tensors.Tensor // what goes from call to call, see the constants below; nil after a failed call
}

// Places in the state that goes from call to call.
const (
	atRandom = iota // the random state
	atWatch         // [5]: first bad step or 0, largest |x| at it, largest |x| of the last good step, steps done, chains that wait
	atInfo          // means of the sampler's diagnostics over the good steps past the burn-in, at least one long
	atX             // the chains
	atAux           // the sampler's own
)

func newChains(ctx context.Context, backend backends.Backend, model Model, sampler Sampler, n int, options []SampleOption) (*chains, error) {
	if err := given(argument{"ctx", ctx}, argument{"backend", backend}, argument{"model", model}, argument{"sampler", sampler}); err != nil {
		return nil, err
	}
	s := &sampleSettings{shared: shared{dtype: dtypeOf(model, dtypes.Float32)}, limit: 1e12}
	for i, o := range options {
		if o == nil {
			return nil, fmt.Errorf("option %d nil: must be made by a function of the form WithX", i)
		}
		if err := o.applySample(s); err != nil {
			return nil, err
		}
	}
	if own := dtypeOf(model, s.dtype); own != s.dtype {
		return nil, fmt.Errorf("dtype %s: must be that of the model's weights, %s", s.dtype, own)
	}
	if s.start != nil && s.spread > 0 {
		return nil, fmt.Errorf("WithStart and WithStartNormal: only one may be given")
	}
	if n < 1 {
		return nil, fmt.Errorf("%d chains: must be at least 1", n)
	}
	if err := validate(model, sampler); err != nil {
		return nil, err
	}
	schedule, err := sampler.Schedule()
	if err != nil {
		return nil, err
	}
	if len(schedule.Rows) == 0 {
		return nil, fmt.Errorf("sampler %T: its schedule has no steps", sampler)
	}
	for i, row := range schedule.Rows {
		if len(row) != len(schedule.Columns) {
			return nil, fmt.Errorf("sampler %T: row %d of its schedule has %d numbers for %d columns", sampler, i, len(row), len(schedule.Columns))
		}
	}
	if s.burnIn >= len(schedule.Rows) {
		return nil, fmt.Errorf("burn-in of %d steps: must be less than the sampler's %d", s.burnIn, len(schedule.Rows))
	}
	if s.thin > len(schedule.Rows)-s.burnIn {
		return nil, fmt.Errorf("thinning %d: must be at most the %d steps after the burn-in", s.thin, len(schedule.Rows)-s.burnIn)
	}
	if s.predict {
		if _, err := predictor(sampler); err != nil {
			return nil, fmt.Errorf("WithPredictions: %w", err)
		}
	}
	if s.unroll == 0 {
		s.unroll = 1
		// A Finisher is looked at after every block.
		if _, finishes := sampler.(Finisher); !finishes && !purego.Is(backend) && len(schedule.Rows) >= 50 {
			s.unroll = blockLength(10, len(schedule.Rows), s.keep, s.thin, s.burnIn)
		}
	}
	c := &chains{sampleSettings: s, backend: backend, model: model, sampler: sampler, n: n, schedule: schedule}
	if err := c.prepare(); err != nil {
		if c.graphs != nil {
			c.graphs.Finalize()
		}
		return nil, err
	}
	return c, nil
}

// modelVars returns the context with a model's weights, for one user alone: building a graph writes into it.
func modelVars(model Model, given *mlctx.Context) (*mlctx.Context, error) {
	if given == nil {
		if w, ok := model.(weighted); ok {
			given = w.Vars()
		}
	}
	if given == nil {
		return mlctx.New().Checked(false), nil
	}
	own, err := given.Clone()
	if err != nil {
		return nil, fmt.Errorf("copying the weights: %w", err)
	}
	return own.Checked(false), nil
}

// prepare places the chains at their starting points.
func (c *chains) prepare() error {
	shape, start, err := c.startingPoints()
	if err != nil {
		return err
	}
	seed, err := random.Seed(c.seed)
	if err != nil {
		return err
	}
	rows, err := c.rows(0, 1)
	if err != nil {
		return err
	}
	recipe, ok := recipeOf(c.backend, c.model, c.sampler, c.n, shape, c.dtype.String(), c.limit, c.burnIn, c.start != nil, c.spread)
	ok = ok && c.vars == nil
	if ok {
		c.graphs, _ = keptRuns.Take(recipe)
	}
	if c.graphs == nil {
		c.graphs = &compiled{recipe: recipe}
		if err := c.compile(shape); err != nil {
			return err
		}
	}
	args := []any{seed, rows}
	if start != nil {
		args = append(args, start)
	}
	if c.state, err = c.graphs.init.Exec(args...); err != nil {
		return err
	}
	c.graphs.keep = ok
	return nil
}

// finalize gives back the compiled graphs, for good or for the next run.
func (c *chains) finalize() {
	if c.foresee != nil {
		c.foresee.Finalize()
	}
	if c.graphs.keep {
		keptRuns.Put(c.graphs.recipe, c.graphs)
	} else {
		c.graphs.Finalize()
	}
}

// compile makes the executors of a run. Graphs are built, and compiled, when these are called, which may be in a later run: they
// know a copy of this one that has no points.
func (c *chains) compile(shape []int) (err error) {
	g, given, settings := c.graphs, c.start != nil, *c.sampleSettings
	if g.context, err = modelVars(c.model, c.vars); err != nil {
		return err
	}
	settings.start = nil
	c = &chains{sampleSettings: &settings, backend: c.backend, model: c.model, sampler: c.sampler, n: c.n, graphs: g}
	g.init, err = mlctx.NewExec(c.backend, g.context, func(vars *mlctx.Context, in []*Node) []*Node {
		rng := random.New(in[0], c.dtype, 1)
		var x *Node
		switch starter, ok := c.sampler.(Starter); {
		case given:
			x = in[2]
		case c.spread == 0 && ok:
			x = starter.Start(rng, append([]int{c.n}, shape...)...)
		default:
			x = rng.Normal(append([]int{c.n}, shape...)...)
			if c.spread > 0 {
				x = graph.MulScalar(x, c.spread)
			}
		}
		score := complete(c.model)
		state := c.sampler.Init(vars, rng, score, x)
		if !state.X.Shape().Equal(x.Shape()) {
			panic(fmt.Errorf("sampler %T changed the shape of its chains from %s to %s", c.sampler, x.Shape(), state.X.Shape()))
		}
		// One step is built here only to check its state and to learn the names of the diagnostics; nothing of it is
		// computed.
		_, info := c.next(vars, rng, score, state, rowNodes(in[1], 0))
		g.infoNames = slices.Sorted(maps.Keys(info))
		means := graph.Zeros(rng.Graph(), shapes.Make(c.dtype, max(1, len(g.infoNames))))
		largest := largestAbs(state.X, math.MaxFloat32)
		zero := graph.ZerosLike(largest)
		watch := graph.Stack([]*Node{zero, zero, largest, zero, c.waiting(state, zero)}, 0)
		return append([]*Node{rng.State(), watch, means, state.X}, state.Aux...)
	})
	if err != nil {
		return err
	}
	if g.exec, err = mlctx.NewExec(c.backend, g.context, c.build); err == nil {
		g.exec.SetMaxCache(-1)
	}
	return err
}

// startingPoints returns the shape of one point and, when they were given, the starting points.
func (c *chains) startingPoints() (shape []int, start *tensors.Tensor, err error) {
	shape = c.shape
	if m, ok := c.model.(shaped); ok && shape == nil {
		shape = m.Shape()
	} else if err := fits(c.model, "shape", shape); err != nil {
		return nil, nil, err
	}
	if c.start == nil {
		if shape == nil {
			return nil, nil, fmt.Errorf("model %T does not tell the shape of its points: give WithShape or WithStart", c.model)
		}
		return shape, nil, nil
	}
	if start, err = toTensor(c.start); err != nil {
		return nil, nil, fmt.Errorf("start: %w", err)
	}
	dims := start.Shape().Dimensions
	if dims[0] != c.n {
		return nil, nil, fmt.Errorf("start: %d points for %d chains: must be equal", dims[0], c.n)
	}
	if shape != nil && !slices.Equal(shape, dims[1:]) {
		return nil, nil, fmt.Errorf("start: points of shape %v for a model of points of shape %v", dims[1:], shape)
	}
	start, err = convert(start, c.dtype)
	return dims[1:], start, err
}

// rows returns the schedule's rows of the steps from first up to end as a tensor.
func (c *chains) rows(first, end int) (*tensors.Tensor, error) {
	flat := make([]float64, 0, (end-first)*max(1, len(c.schedule.Columns)))
	for _, row := range c.schedule.Rows[first:end] {
		flat = append(flat, row...)
		if len(row) == 0 {
			flat = append(flat, 0)
		}
	}
	return convert(tensors.FromFlatDataAndDimensions(flat, end-first, max(1, len(c.schedule.Columns))), c.dtype)
}

func rowNodes(rows *Node, k int) []*Node {
	list := make([]*Node, rows.Shape().Dimensions[1])
	for j := range list {
		list[j] = element(rows, k, j)
	}
	return list
}

// complete is the model's score with checks: of its shape, and that no weight is missing from vars. A variable that
// the model brings with its value, such as a table, is not missing.
func complete(model Model) Score {
	bound := bindScore(model)
	return func(vars *mlctx.Context, x, sigma *Node) *Node {
		known := map[*mlctx.Variable]bool{}
		for v := range vars.IterVariables() {
			known[v] = true
		}
		s := bound(vars, x, sigma)
		for v := range vars.IterVariables() {
			if !known[v] && (v.Trainable || !v.HasValue()) {
				panic(fmt.Errorf("model %s has weights that were not given, %s first: use the result of Fit or Load, or WithVars", typeName(model), v.ScopeAndName()))
			}
		}
		return s
	}
}

// next is one step of the sampler with a check of its state.
func (c *chains) next(vars *mlctx.Context, rng *random.Source, score Score, state State, row []*Node) (State, Info) {
	next, info := c.sampler.Step(vars, rng, score, state, row)
	same := next.X.Shape().Equal(state.X.Shape()) && len(next.Aux) == len(state.Aux)
	for i := 0; same && i < len(state.Aux); i++ {
		same = next.Aux[i].Shape().Equal(state.Aux[i].Shape())
	}
	if !same {
		panic(fmt.Errorf("sampler %T changed the shape of its state in a step", c.sampler))
	}
	return next, info
}

// largestAbs is the largest |x|, +Inf when one is NaN or beyond limit.
func largestAbs(x *Node, limit float64) *Node {
	a := graph.Abs(x)
	inside := graph.LessOrEqual(a, graph.Scalar(x.Graph(), x.DType(), limit))
	return graph.ReduceAllMax(graph.Where(inside, a, graph.BroadcastToDims(graph.Infinity(x.Graph(), x.DType(), 1), x.Shape().Dimensions...)))
}

// build adds a block of sampling steps: in holds the schedule's rows and then the state.
func (c *chains) build(vars *mlctx.Context, in []*Node) []*Node {
	rows, in := in[0], in[1:]
	steps := rows.Shape().Dimensions[0]
	g := rows.Graph()
	rng := random.New(in[atRandom], c.dtype, steps)
	score := complete(c.model)
	state := State{X: in[atX], Aux: in[atAux:]}
	watch := in[atWatch]
	part := func(i int) *Node { return graph.Reshape(graph.Slice(watch, graph.AxisElem(i))) }
	bad, at, largest, count := part(0), part(1), part(2), part(3)
	zero := graph.ZerosLike(bad)
	means := in[atInfo]
	for k := range steps {
		if k > 0 {
			rng.Next()
		}
		next, info := c.next(vars, rng, score, state, rowNodes(rows, k))
		count = graph.AddScalar(count, 1)
		now := largestAbs(next.X, math.MaxFloat32)
		fine := graph.LogicalAnd(graph.Equal(bad, zero), graph.LessOrEqual(now, graph.Scalar(g, c.dtype, c.limit)))
		first := graph.LogicalAnd(graph.Equal(bad, zero), graph.LogicalNot(fine))
		bad, at = graph.Where(first, count, bad), graph.Where(first, now, at)
		largest = graph.Where(fine, now, largest)
		// After a divergence the chains stay where they last were good.
		state.X = choose(fine, next.X, state.X)
		for i := range state.Aux {
			state.Aux[i] = choose(fine, next.Aux[i], state.Aux[i])
		}
		if len(c.graphs.infoNames) > 0 {
			values := make([]*Node, len(c.graphs.infoNames))
			for i, name := range c.graphs.infoNames {
				values[i] = graph.ConvertDType(info[name], c.dtype)
			}
			// A running mean, because a sum in float32 would lose what a late step adds. Until the burn-in ends it is
			// of one step.
			weight := graph.MaxScalar(graph.AddScalar(count, -float64(c.burnIn)), 1)
			mean := graph.Add(means, graph.Div(graph.Sub(graph.Stack(values, 0), means), weight))
			means = choose(fine, mean, means)
		}
	}
	watch = graph.Stack([]*Node{bad, at, largest, count, c.waiting(state, zero)}, 0)
	return append([]*Node{rng.State(), watch, means, state.X}, state.Aux...)
}

// end returns the last step of the block that starts after step: blocks end where a state is kept.
func (c *chains) end(step int) int {
	end := min(step+c.unroll, len(c.schedule.Rows))
	if c.keep > 0 {
		end = min(end, step-step%c.keep+c.keep)
	}
	if step < c.burnIn {
		end = min(end, c.burnIn)
	} else if c.thin > 0 {
		done := step - c.burnIn
		end = min(end, c.burnIn+done-done%c.thin+c.thin)
	}
	return end
}

// advance runs one block of steps.
func (c *chains) advance() error {
	end := c.end(c.step)
	rows, err := c.rows(c.step, end)
	if err != nil {
		return err
	}
	args := make([]any, 0, len(c.state)+1)
	args = append(args, rows)
	for _, t := range c.state {
		donated, err := graph.DonateTensorBuffer(t, c.backend, 0)
		if err != nil {
			return err
		}
		args = append(args, donated)
	}
	c.state = nil // handed over
	err = catch(func() (err error) {
		c.state, err = c.graphs.exec.Exec(args...)
		return err
	})
	if err != nil {
		return err
	}
	c.step = end
	return nil
}

// info reads the means of the sampler's diagnostics.
func (c *chains) info() (map[string]float64, error) {
	means, err := floats(c.state[atInfo])
	if err != nil {
		return nil, err
	}
	info := make(map[string]float64, len(c.graphs.infoNames))
	for i, name := range c.graphs.infoNames {
		info[name] = means[i]
	}
	return info, nil
}

// read fetches what the device noted about divergence.
func (c *chains) read() error {
	if c.state == nil {
		return nil // why is known already
	}
	watch, err := floats(c.state[atWatch])
	if err != nil {
		return err
	}
	if watch[0] > 0 {
		c.step = int(watch[0]) - 1
		d := &DivergedError{Step: int(watch[0]), Largest: watch[1], Before: watch[2], Limit: c.limit}
		if i := slices.Index(c.schedule.Columns, "step"); i >= 0 {
			d.StepSize = c.schedule.Rows[c.step][i]
		}
		return d
	}
	return nil
}
