package implicit

import (
	"fmt"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/random"
)

// dataPath is where scorekit.Fit keeps what is on the device but is no part of a checkpoint.
const dataPath = "/data"

// Draws makes data of a trained generator: every batch is g(ε) of fresh noise, made inside the graph, [n, d]. With
// [scorekit.Draw] they come to the host; as data of [scorekit.Fit] they show any network the generator's law.
//
// It returns an error unless fitted is the result of [Fit], or was loaded from one.
func Draws(fitted *scorekit.Fitted) (scorekit.Data, error) {
	m, err := modelOf(fitted)
	if err != nil {
		return nil, fmt.Errorf("implicit: Draws: %w", err)
	}
	return drawn{m.Generator, fitted}, nil
}

func modelOf(fitted *scorekit.Fitted) (Model, error) {
	if fitted == nil {
		return Model{}, fmt.Errorf("model nil: must be trained by implicit.Fit")
	}
	m, ok := fitted.Model().(Model)
	if !ok {
		return Model{}, fmt.Errorf("model %T: must be trained by implicit.Fit", fitted.Model())
	}
	return m, nil
}

// drawn is the data of a trained generator.
type drawn struct {
	generator Generator
	fitted    *scorekit.Fitted
}

func (d drawn) Shape() []int { return []int{d.generator.Dim()} }

func (d drawn) Batch(vars *mlctx.Context, rng *random.Source, n int) *Node {
	vars = install(vars.In("implicit"), d.fitted)
	noise := graph.ConvertDType(rng.Normal(n, d.generator.NoiseDim()), d.fitted.DType())
	x := d.generator.Generate(vars.In(generatorScope), noise)
	return graph.StopGradient(graph.ConvertDType(x, rng.DType()))
}

// install puts copies of a trained model's weights into vars, not to be trained, unless they are there already. It returns
// vars.
func install(vars *mlctx.Context, fitted *scorekit.Fitted) *mlctx.Context {
	for v := range fitted.Vars().IterVariables() {
		at := vars.InAbsPath(vars.Scope() + v.Scope())
		if v.Scope() == mlctx.RootScope {
			at = vars
		}
		if at.GetVariable(v.Name()) != nil {
			continue
		}
		value, err := v.Value()
		if err == nil {
			value, err = value.LocalClone()
		}
		if err != nil {
			panic(fmt.Errorf("copying the weights of %T: %w", fitted.Model(), err))
		}
		at.VariableWithValue(v.Name(), value).SetTrainable(false)
	}
	return vars
}
