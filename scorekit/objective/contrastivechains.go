package objective

import (
	"fmt"
	"slices"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/shapes"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/random"
	"github.com/scorekit/lab/scorekit/sampler"
)

// chain returns the sampler of the negatives.
func (c Contrastive) chain() scorekit.Sampler {
	steps, noise := max(1, c.Steps), c.Noise
	if c.Metropolis {
		return sampler.MALA{Energy: c.Energy, StepSize: c.StepSize, Steps: steps}
	}
	if noise == 0 {
		noise = 1
	}
	return sampler.Langevin{StepSize: c.StepSize, Temperature: noise * noise, Steps: steps}
}

// run takes k steps from where the chains begin. One request draws the noise of all steps.
func (c Contrastive) run(vars *mlctx.Context, rng *random.Source, score scorekit.Score, x *Node) *Node {
	chain, g := c.chain(), rng.Graph()
	schedule, err := chain.Schedule()
	if err != nil {
		panic(fmt.Errorf("%s: %w", contrastive, err))
	}
	steps, dims := len(schedule.Rows), x.Shape().Dimensions
	normals := rng.Normal(append([]int{steps}, dims...)...)
	var uniforms *Node
	if c.Metropolis {
		uniforms = rng.Uniform(steps, dims[0])
	}
	bounded := func(vars *mlctx.Context, x, sigma *Node) *Node { return within(score(vars, x, sigma), c.MaxGradient) }
	var state scorekit.State
	for k, row := range schedule.Rows {
		noise := []*Node{graph.Slice(normals, graph.AxisElem(k))}
		if c.Metropolis {
			noise = append(noise, graph.Slice(uniforms, graph.AxisElem(k)))
		}
		listed := random.Listed(g, noise...)
		if k == 0 {
			state = chain.Init(vars, listed, bounded, x)
		}
		numbers := make([]*Node, len(row))
		for i, v := range row {
			numbers[i] = graph.Scalar(g, x.DType(), v)
		}
		state, _ = chain.Step(vars, listed, bounded, state, numbers)
		state.X = within(state.X, c.Limit)
	}
	return state.X
}

// within is v with its numbers brought into [−limit, limit]; 0 is no limit. NaN stays NaN, which no minimum promises.
func within(v *Node, limit float64) *Node {
	if limit == 0 {
		return v
	}
	top := graph.BroadcastToDims(graph.Scalar(v.Graph(), v.DType(), limit), v.Shape().Dimensions...)
	bottom := graph.Neg(top)
	return graph.Where(graph.GreaterThan(v, top), top, graph.Where(graph.LessThan(v, bottom), bottom, v))
}

// begin returns where the chains begin, of the shape of x, and a function that puts where they ended, and the energies
// there, into the buffer.
func (c Contrastive) begin(vars *mlctx.Context, rng *random.Source, x *Node) (starts *Node, store func(ends, energy *Node)) {
	starts, store = graph.StopGradient(x), func(_, _ *Node) {}
	n, dims := x.Shape().Dimensions[0], x.Shape().Dimensions
	if c.Spread > 0 {
		starts = graph.MulScalar(rng.Normal(dims...), c.Spread)
	}
	if c.Buffer == 0 || vars == nil { // without vars nothing can be kept
		return starts, store
	}
	if c.Buffer < n {
		panic(fmt.Errorf("%s: buffer of %d chains for a batch of %d: must be at least the batch", contrastive, c.Buffer, n))
	}
	points := c.kept(vars, "points", x.DType(), append([]int{c.Buffer}, dims[1:]...)...)
	used := c.kept(vars, "used", x.DType(), c.Buffer)
	g := x.Graph()
	all, flags := points.ValueGraph(g), used.ValueGraph(g)

	// The places o, o + 1, …, o + n − 1, round the end of the buffer to its beginning: all different, so that no two chains
	// are put back to one place.
	o := rng.Int(c.Buffer, 1)
	places := around(graph.Add(graph.Iota(g, shapes.Make(dtypes.Int32, n), 0), o), c.Buffer)
	goOn := graph.GreaterThan(graph.Gather(flags, graph.InsertAxes(places, -1)), graph.Scalar(g, x.DType(), 0.5))
	if c.Restart > 0 {
		goOn = graph.LogicalAnd(goOn, graph.GreaterOrEqual(rng.Uniform(n), graph.Scalar(g, x.DType(), c.Restart)))
	}
	starts = graph.Where(goOn, graph.Gather(all, graph.InsertAxes(places, -1)), starts)

	return starts, func(ends, energy *Node) {
		fine := graph.IsFinite(spoilt(graph.LogicalNot(graph.IsFinite(ends)), energy))
		// Seen from a place of the buffer: which chain was taken from it, if any was.
		who := around(graph.Sub(graph.Iota(g, shapes.Make(dtypes.Int32, c.Buffer), 0), o), c.Buffer)
		taken := graph.LessThan(who, graph.Scalar(g, dtypes.Int32, n))
		index := graph.InsertAxes(graph.MinScalar(who, n-1), -1)
		isFine := graph.GreaterThan(graph.Gather(graph.ConvertDType(fine, x.DType()), index), graph.Scalar(g, x.DType(), 0.5))
		points.SetValueGraph(graph.Where(graph.LogicalAnd(taken, isFine), graph.Gather(ends, index), all))
		// A chain that was lost begins anew the next time.
		used.SetValueGraph(graph.Where(taken, graph.ConvertDType(isFine, x.DType()), flags))
	}
}

// around brings whole numbers from −n to 2n − 1 into 0 … n − 1.
func around(i *Node, n int) *Node {
	zero, top := graph.ZerosLike(i), graph.AddScalar(graph.ZerosLike(i), n)
	i = graph.Where(graph.LessThan(i, zero), graph.AddScalar(i, n), i)
	return graph.Where(graph.LessThan(i, top), i, graph.AddScalar(i, -n))
}

// kept returns a variable of zeros that lasts from step to step. It is none of the model's: a trained one does not carry
// chains along.
func (c Contrastive) kept(vars *mlctx.Context, name string, dtype dtypes.DType, dims ...int) *mlctx.Variable {
	vars = vars.InAbsPath("/contrastive").Checked(false)
	v := vars.GetVariable(name)
	if v == nil {
		v = vars.VariableWithValue(name, tensors.FromShape(shapes.Make(dtype, dims...))).SetTrainable(false)
	}
	if !slices.Equal(v.Shape().Dimensions, dims) {
		panic(fmt.Errorf("%s: a buffer of shape %v is wanted, and one of shape %v was kept: Buffer must be that of the run that is gone on with", contrastive, dims, v.Shape().Dimensions))
	}
	return v
}
