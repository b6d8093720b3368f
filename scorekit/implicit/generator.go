package implicit

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/shapes"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/given"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/random"
)

// Node is a GoMLX graph node.
type Node = graph.Node

// Generator makes points of noise: x = g(ε), ε ~ N(0, I). Its law q is that of x. A generator of your own is a type with
// these methods; one that has a Validate method is asked before a training begins.
type Generator interface {
	// Generate adds x to the graph: [batch, NoiseDim] → [batch, Dim]. vars holds the weights. Rows must not influence
	// one another.
	Generate(vars *mlctx.Context, noise *Node) *Node
	// NoiseDim returns how many numbers ε has.
	NoiseDim() int
	// Dim returns how many numbers x has.
	Dim() int
}

// checkGenerator returns an error for a generator that is missing or has impossible settings.
func checkGenerator(g Generator) error {
	if err := given.Check("generator", g); err != nil {
		return err
	}
	if v, ok := g.(scorekit.Validator); ok {
		if err := v.Validate(); err != nil {
			return err
		}
	}
	return checkDims("generator", g.NoiseDim(), g.Dim())
}

func checkDims(who string, inputs, outputs int) error {
	if inputs < 1 || outputs < 1 {
		return fmt.Errorf("%s: from %d numbers to %d: must be at least 1 each", who, inputs, outputs)
	}
	return nil
}

// generate adds n points of g with noise from rng, and panics with an error if g breaks its word about their shape.
func generate(g Generator, vars *mlctx.Context, rng *random.Source, n int) *Node {
	x := g.Generate(vars, rng.Normal(n, g.NoiseDim()))
	if want := shapes.Make(rng.DType(), n, g.Dim()); !x.Shape().Equal(want) {
		panic(fmt.Errorf("generator %T made points of shape %s: must be %s", g, x.Shape(), want))
	}
	return x
}

// dense is x·W + b, W ~ N(0, spread²/in) and b = 0 at the start.
func dense(vars *mlctx.Context, x *Node, out int, spread float64) *Node {
	in := x.Shape().Dimensions[1]
	w := vars.WithInitializer(random.NormalInitializer(vars, spread/math.Sqrt(float64(in)))).
		VariableWithShape("weights", shapes.Make(x.DType(), in, out))
	b := vars.WithInitializer(zero).VariableWithShape("biases", shapes.Make(x.DType(), 1, out))
	return graph.Add(graph.Dot(x, w.ValueGraph(x.Graph())), b.ValueGraph(x.Graph()))
}

func zero(g *graph.Graph, shape shapes.Shape) *Node { return graph.Zeros(g, shape) }
