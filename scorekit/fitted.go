package scorekit

import (
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/atomicfile"
	"github.com/scorekit/lab/internal/safetensors"
)

// Fitted is a model with the weights it was trained to. It is a [Model]; [Sample] and [Evaluate] find its weights by
// themselves. It is not changed by anything that uses it and may be shared between goroutines.
//
// Where the model is [Conditional] its score is that of all classes together, and [Given] is that of one.
type Fitted struct {
	model   Model
	vars    *mlctx.Context
	header  header
	history []StepStats
}

// Fit trains model by minimising the mean of objective over data, and returns it with the moving average of its
// weights (the weights themselves with WithEMA(0)).
//
//	θ ← optimizer(θ, ∇_θ (1/B) Σᵢ loss(xᵢ; θ)),  xᵢ from data, B the batch
//
// A [Conditional] model is trained with the class of each example, some left out: see [WithClassDropout].
//
// Several steps run in one compiled call and the data stay on the device, but for [Stream]. ctx stops it between two calls; the
// checkpoint, if a folder was given, is then up to date. What was compiled for the last four trainings of models, objectives and
// data of this module is kept for the next that differs in nothing but seed, steps, rates, examples or decay of the average.
//
// It returns an error for impossible settings (named, with what is allowed), for a model whose output does not have
// the shape of its input, for a checkpoint that does not match or cannot be written, and for a stop before the last
// step: the error then wraps ctx's cause or the callback's error, or wraps a [*NonFiniteError] when a loss or
// its gradient was NaN or Inf. If training stops after the first step, the result beside the error has the
// last good weights; before that it is nil.
func Fit(ctx context.Context, backend backends.Backend, model Model, objective Objective, data Data, options ...FitOption) (*Fitted, error) {
	t, err := startTraining(ctx, backend, model, objective, data, options)
	if err != nil {
		return nil, err
	}
	defer t.close()
	err = t.run(ctx, func(*FitStep) bool { return true })
	if t.step == 0 {
		return nil, err
	}
	fitted, fittedErr := t.fitted()
	if err == nil && fittedErr != nil {
		err = fmt.Errorf("%s: %w", fitName, fittedErr)
	}
	return fitted, err
}

// fitted copies the weights out of the run.
func (t *training) fitted() (*Fitted, error) {
	h, err := t.header()
	if err != nil {
		return nil, err
	}
	scope := modelScope
	if t.ema > 0 {
		scope = emaScope + "/" + modelScope
	}
	f := &Fitted{model: t.model, vars: mlctx.New().Checked(false), header: h, history: slices.Clone(t.history)}
	for v := range t.vars.IterVariables() {
		frozen := inScope(v.Scope(), modelScope) && !v.Trainable // such as fixed features: they have no average
		if !inScope(v.Scope(), scope) && !frozen {
			continue
		}
		at := strings.TrimPrefix(strings.TrimPrefix(v.Scope(), "/"+emaScope), "/"+modelScope)
		if at == "" {
			at = "/"
		}
		value, err := cloneValue(v)
		if err != nil {
			return nil, fmt.Errorf("copying the weights: %w", err)
		}
		f.vars.InAbsPath(at).VariableWithValue(v.Name(), value).SetTrainable(!frozen)
	}
	return f, nil
}

// Score adds the model's score; vars must hold the weights, as [Fitted.Vars] does.
func (f *Fitted) Score(vars *mlctx.Context, x, sigma *Node) *Node {
	return f.model.Score(vars, x, sigma)
}

// NumClasses returns how many classes the model knows, 0 for one that is not [Conditional].
func (f *Fitted) NumClasses() int { return numClasses(f.model) }

// ScoreGiven adds the model's score given classes, as [Conditional] has it; vars as for Score. It panics, as graph
// functions do, for a model without classes. [Given] is the model that [Sample] and the others take.
func (f *Fitted) ScoreGiven(vars *mlctx.Context, x, sigma, classes *Node) *Node {
	c, ok := f.model.(Conditional)
	if !ok {
		panic(fmt.Errorf("model %T has no classes: must be Conditional", f.model))
	}
	return c.ScoreGiven(vars, x, sigma, classes)
}

// Vars returns the GoMLX context with the weights, for use in a user's own graphs. Treat it as read-only.
func (f *Fitted) Vars() *mlctx.Context { return f.vars }

// Model returns the model that was trained.
func (f *Fitted) Model() Model { return f.model }

// Shape returns the dimensions of one example of the data that the model was trained on.
func (f *Fitted) Shape() []int { return slices.Clone(f.header.Shape) }

// DType returns the float type of the weights.
func (f *Fitted) DType() dtypes.DType {
	if f.header.DType == dtypes.Float64.String() {
		return dtypes.Float64
	}
	return dtypes.Float32
}

// Steps returns how many steps the weights have been trained for.
func (f *Fitted) Steps() int { return f.header.Step }

// History returns the loss and gradient norm of each step of the run that made the model, oldest first; it is empty
// for a model from [Load].
func (f *Fitted) History() []StepStats { return slices.Clone(f.history) }

// Metadata returns the texts stored with [WithMetadata].
func (f *Fitted) Metadata() map[string]string { return maps.Clone(f.header.Metadata) }

// NumParameters returns the number of weights, those that are not trained included.
func (f *Fitted) NumParameters() int {
	if isNil(f) {
		return 0
	}
	return f.vars.NumParameters()
}

// Save writes the model to one file, in the safetensors format, atomically: the weights and the description that
// [Load] rebuilds it from. It returns an error if the file cannot be written; what was there before is then still
// there.
func (f *Fitted) Save(path string) error {
	if isNil(f) {
		return fmt.Errorf("scorekit: Save: model nil: must come from Fit or Load")
	}
	c := &checkpoint{header: f.header}
	c.Frozen = nil // those of the checkpoint it may come from have other names
	for v := range f.vars.IterVariables() {
		value, err := v.Value()
		if err != nil {
			return fmt.Errorf("scorekit: Save: %w", err)
		}
		name := "/" + modelScope + strings.TrimSuffix(v.Scope(), "/") + "/" + v.Name()
		c.tensors = append(c.tensors, safetensors.Tensor{Name: name, Value: value})
		if !v.Trainable {
			c.Frozen = append(c.Frozen, name)
		}
	}
	if err := atomicfile.WriteFunc(path, 0o644, func(w io.Writer) error { return c.write(w) }); err != nil {
		return fmt.Errorf("scorekit: Save: %w", err)
	}
	return nil
}

// Load reads a trained model: a file of [Fitted.Save], one checkpoint, or the newest whole checkpoint in a folder of
// [WithCheckpoints]. The model is rebuilt from its description; the moving average of the weights is taken where
// there is one.
//
// It returns an error for a missing or damaged file, and for a model whose kind is not registered in this program: give
// such a one to [LoadInto].
func Load(path string) (*Fitted, error) { return load("scorekit: Load", path, nil) }

// LoadInto is [Load] for a model that the checkpoint does not describe, such as a user's own function.
func LoadInto(path string, model Model) (*Fitted, error) {
	if err := given(argument{"model", model}); err != nil {
		return nil, fmt.Errorf("scorekit: LoadInto: %w", err)
	}
	return load("scorekit: LoadInto", path, model)
}

func load(name, path string, model Model) (*Fitted, error) {
	c, err := findCheckpoint(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if model == nil {
		if model, err = c.Model.build(); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", name, path, err)
		}
	}
	f := &Fitted{model: model, vars: mlctx.New().Checked(false), header: c.header}
	// The average comes first: a value that is there already is left as it is. What is trained is told by the model's
	// own scope, since no average is.
	for _, scope := range []string{emaScope + "/" + modelScope, modelScope} {
		if err := c.fill(f.vars, scope); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return f, nil
}

func findCheckpoint(path string) (*checkpoint, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return readCheckpoint(path)
	}
	c, err := (&store{dir: path}).newest()
	if err == nil && c == nil {
		err = fmt.Errorf("folder %s holds no checkpoint", path)
	}
	return c, err
}
