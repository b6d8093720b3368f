package scorekit

import (
	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/fingerprint"
	"github.com/scorekit/lab/internal/kept"
)

// keptSteps are those of the last trainings. Compiling them takes seconds, as long as thousands of steps of a small network, and is
// the same for all seeds, learning rates, numbers of steps and examples of one shape.
var keptSteps = kept.Last[recipe, *stepper]{Most: 4}

// stepper is what a run of Fit compiles: steps, over a context with all that they change.
type stepper struct {
	stepGraph
	vars   *mlctx.Context
	exec   *mlctx.Exec
	spread *spread // over several devices; nil on one

	recipe recipe
	keep   bool // for a later run with the same recipe
	worked bool // the last call did

	// initial is what variables that no initializer fills begin with, as an optimizer's count of steps. It is known when the
	// first graph has been built, and has not run yet.
	initial map[*mlctx.Variable]*tensors.Tensor
}

func newStepper(backend backends.Backend, vars *mlctx.Context, steps stepGraph, devices int) (*stepper, error) {
	s := &stepper{stepGraph: steps, vars: vars}
	var err error
	if s.exec, err = mlctx.NewExec(backend, vars, s.build); err != nil {
		return nil, err
	}
	s.exec.SetMaxCache(-1) // a run has few block lengths, and each is used again after every checkpoint
	if s.spread, err = newSpread(s.exec, steps.dtype, steps.batch, devices); err != nil {
		s.exec.Finalize()
		return nil, err
	}
	return s, nil
}

// recipe returns that of the steps, and false where they are made of more than can be written down.
func (s stepGraph) recipe(backend backends.Backend) (recipe, bool) {
	data, ok := graphOf(s.data)
	if !ok {
		return recipe{}, false
	}
	dropout := -1.0
	if s.dropout != nil {
		dropout = *s.dropout
	}
	return recipeOf(backend, s.model, s.objective, data, s.optimizer.kind(), s.dtype.String(), s.batch, s.labels, dropout, s.clipNorm, s.average)
}

// placed is data that is held on the device, where it can be exchanged for other data of the same graph.
type placed interface {
	Data
	graphOf() string
	place(vars *mlctx.Context, dtype dtypes.DType) error
}

// graphOf writes out all of data that is in a graph, and returns false if that is not known.
func graphOf(data Data) (string, bool) {
	if p, ok := data.(placed); ok {
		return p.graphOf(), true
	}
	return fingerprint.Of("github.com/scorekit/lab/data", data)
}

// remember notes what the variables begin with that have a value before the first run, other than data.
func (s *stepper) remember() {
	if !s.keep || s.initial != nil {
		return
	}
	s.initial = map[*mlctx.Variable]*tensors.Tensor{}
	for v := range s.vars.IterVariables() {
		if v.HasValue() && !isPlaced(v) {
			value, err := cloneValue(v)
			if err != nil {
				panic(err)
			}
			s.initial[v] = value
		}
	}
}

func isPlaced(v *mlctx.Variable) bool { return inScope(v.Scope(), dataScope+"/"+examplesScope) }

// restart fills the variables with what a new run with the seed begins with, state being its random state.
func (s *stepper) restart(seed int64, state *tensors.Tensor, data Data) error {
	s.data, s.worked = data, false
	for v, value := range s.initial {
		own, err := value.LocalClone()
		if err != nil {
			return err
		}
		if err := v.SetValue(own); err != nil {
			return err
		}
	}
	if err := s.vars.In(stateScope).GetVariable(randomName).SetValue(state); err != nil {
		return err
	}
	if err := s.vars.SetRNGStateFromSeed(seed); err != nil {
		return err
	}
	if p, ok := data.(placed); ok {
		return p.place(s.vars.In(dataScope), s.dtype)
	}
	return nil // what has no value now is initialized by the first call, as in a first run
}

// run does a block of steps and returns their statistics, of which every device has a copy.
func (s *stepper) run(args []any) (*tensors.Tensor, error) {
	s.worked = false
	copies, err := s.exec.Exec(args...)
	if err != nil {
		return nil, err
	}
	for _, c := range copies[1:] {
		if err := c.FinalizeAll(); err != nil {
			return nil, err
		}
	}
	s.worked = true
	return copies[0], nil
}

// release ends a run: what was compiled goes, or is kept for the next. It returns the variables, apart from examples, which
// belong to the run.
func (s *stepper) release() *mlctx.Context {
	if !s.keep || !s.worked {
		s.exec.Finalize()
		return s.vars
	}
	own := mlctx.New().Checked(false)
	if err := s.moveTo(own); err != nil {
		s.exec.Finalize()
		return own
	}
	s.data = nil
	keptSteps.Put(s.recipe, s)
	return own
}

// moveTo hands the variables over to another context, and gives the examples back.
func (s *stepper) moveTo(vars *mlctx.Context) error {
	for v := range s.vars.IterVariables() {
		if isPlaced(v) {
			if err := v.Reset(); err != nil {
				return err
			}
			continue
		}
		value, err := v.Value()
		if err != nil {
			return err
		}
		vars.InAbsPath(v.Scope()).VariableWithValue(v.Name(), value).SetTrainable(v.Trainable)
		if err := v.SetValuePreservingOld(nil); err != nil {
			return err
		}
	}
	return nil
}

// Finalize gives back the graphs.
func (s *stepper) Finalize() { s.exec.Finalize() }
