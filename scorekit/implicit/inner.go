package implicit

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/shapes"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"
)

// The inner steps are Adam's (Kingma and Ba 2015), with a shorter memory than usual: what is followed moves.
const (
	beta1   = 0.5
	beta2   = 0.99
	epsilon = 1e-8
)

const defaultRate = 1e-3

func checkInner(steps int, rate float64) error {
	if steps < 0 {
		return fmt.Errorf("%d steps for each of the generator: must not be negative", steps)
	}
	if !(rate >= 0) || rate > 1 {
		return fmt.Errorf("learning rate %v: must be from 0 to 1", rate)
	}
	return nil
}

// inner takes the steps of the networks that follow a generator, inside the graph of the generator's own step. Their
// weights change where the graph is built: what is added after a step sees the new ones.
type inner struct {
	healthy *Node // whether everything was finite up to here, in this step and all before
	flag    *mlctx.Variable
}

// newInner goes on from the step before. The flag lies with the guard of scorekit.Fit, which is not saved: a run that is
// resumed from good weights begins with a good flag.
func newInner(vars *mlctx.Context, g *graph.Graph) *inner {
	flag := vars.InAbsPath("/guard").VariableWithValue("implicit", true).SetTrainable(false)
	return &inner{flag: flag, healthy: flag.ValueGraph(g)}
}

// finish returns the loss of each example of the step, NaN if anything was not finite, which ends the training.
func (in *inner) finish(loss *Node) *Node {
	in.healthy = graph.LogicalAnd(in.healthy, graph.IsFinite(graph.ReduceAllSum(loss)))
	in.flag.SetValueGraph(in.healthy)
	return in.choose(loss, graph.MulScalar(graph.OnesLike(loss), math.NaN()))
}

// descend takes one step down loss, a scalar, with the weights in vars. It leaves them as they are when the loss or its
// gradient is not finite, and from then on.
func (in *inner) descend(vars *mlctx.Context, loss *Node, rate float64) {
	if rate == 0 {
		rate = defaultRate
	}
	g, dtype := loss.Graph(), loss.DType()
	var weights []*mlctx.Variable
	var values []*Node
	for v := range vars.IterVariablesInScope() {
		if v.Trainable && v.InUseByGraph(g) {
			weights, values = append(weights, v), append(values, v.ValueGraph(g))
		}
	}
	if len(weights) == 0 {
		panic(fmt.Errorf("nothing to train in %s: the network has no weights", vars.Scope()))
	}
	gradients := graph.Gradient(loss, values...)
	finite := graph.IsFinite(loss)
	for _, gradient := range gradients {
		finite = graph.LogicalAnd(finite, graph.IsFinite(graph.ReduceAllSum(graph.Square(gradient))))
	}
	in.healthy = graph.LogicalAnd(in.healthy, finite)

	state := func(scope, name string, shape shapes.Shape) *mlctx.Variable {
		return vars.InAbsPath("/implicit"+scope).WithInitializer(zero).VariableWithShape(name, shape).SetTrainable(false)
	}
	count := state(vars.Scope(), "steps", shapes.Make(dtype))
	t := graph.OnePlus(count.ValueGraph(g))
	count.SetValueGraph(in.choose(t, count.ValueGraph(g)))
	unbias := func(beta float64) *Node {
		return graph.OneMinus(graph.Exp(graph.MulScalar(t, math.Log(beta))))
	}
	for i, v := range weights {
		mean := state(v.Scope(), v.Name()+"_mean", v.Shape())
		square := state(v.Scope(), v.Name()+"_square", v.Shape())
		m := mix(mean.ValueGraph(g), gradients[i], beta1)
		s := mix(square.ValueGraph(g), graph.Square(gradients[i]), beta2)
		move := graph.Div(graph.Div(m, unbias(beta1)), graph.AddScalar(graph.Sqrt(graph.Div(s, unbias(beta2))), epsilon))
		mean.SetValueGraph(in.choose(m, mean.ValueGraph(g)))
		square.SetValueGraph(in.choose(s, square.ValueGraph(g)))
		v.SetValueGraph(in.choose(graph.Sub(values[i], graph.MulScalar(move, rate)), values[i]))
	}
}

func mix(old, new *Node, keep float64) *Node {
	return graph.Add(graph.MulScalar(old, keep), graph.MulScalar(new, 1-keep))
}

// choose is yes while everything was finite, else no.
func (in *inner) choose(yes, no *Node) *Node {
	ok := in.healthy
	if yes.Rank() > 0 {
		ok = graph.BroadcastToDims(ok, yes.Shape().Dimensions...)
	}
	return graph.Where(ok, yes, no)
}
