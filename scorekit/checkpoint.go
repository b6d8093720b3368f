package scorekit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/tensors"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/safetensors"
)

// checkpoint is the whole state of a training run: a description, and every tensor that changes.
type checkpoint struct {
	header
	tensors []safetensors.Tensor
}

// header is the description of a run, stored as JSON in the file's metadata.
type header struct {
	Format    int               `json:"format"`
	Step      int               `json:"step"`
	Model     description       `json:"model"`
	Shape     []int             `json:"shape"` // of one example
	DType     string            `json:"dtype"`
	Objective string            `json:"objective"`
	Optimizer string            `json:"optimizer"`
	Batch     int               `json:"batch"`
	Seed      int64             `json:"seed"`
	EMA       float64           `json:"ema"`
	ClipNorm  float64           `json:"clip_norm"`
	Dropout   *float64          `json:"class_dropout,omitempty"` // nil where no classes were told
	Metadata  map[string]string `json:"metadata,omitempty"`
	Frozen    []string          `json:"frozen,omitempty"` // tensors that are not trained
}

const (
	checkpointFormat = 1
	headerKey        = "scorekit"
)

// header describes the run as it stands.
func (t *training) header() (header, error) {
	model, err := describe(t.model)
	return header{
		Format: checkpointFormat, Step: t.step, Model: model, Shape: t.data.Shape(), DType: t.dtype.String(),
		Objective: settingsOf(t.objective), Optimizer: t.optimizer.describe(),
		Batch: t.batch, Seed: t.seed, EMA: t.ema, ClipNorm: t.clipNorm, Dropout: t.classDropout, Metadata: t.metadata,
	}, err
}

// mismatch compares a stored run with the one that wants to go on from it.
func (h header) mismatch(now header) error {
	var errs []error
	differ := func(what string, stored, wanted any) {
		if fmt.Sprint(stored) != fmt.Sprint(wanted) {
			errs = append(errs, fmt.Errorf("%s: the checkpoint has %v, this run %v", what, stored, wanted))
		}
	}
	if !h.Model.equal(now.Model) {
		differ("model", h.Model, now.Model)
	}
	differ("shape of an example", h.Shape, now.Shape)
	differ("dtype", h.DType, now.DType)
	differ("objective", h.Objective, now.Objective)
	differ("optimizer", h.Optimizer, now.Optimizer)
	differ("batch", h.Batch, now.Batch)
	differ("seed", h.Seed, now.Seed)
	differ("EMA decay", h.EMA, now.EMA)
	differ("clip norm", h.ClipNorm, now.ClipNorm)
	differ("class dropout", dropoutText(h.Dropout), dropoutText(now.Dropout))
	return errors.Join(errs...)
}

// save writes a checkpoint of the run unless there is no folder, no step yet, or one of this step already.
func (t *training) save() error {
	if t.store == nil || t.step == 0 || t.step == t.saved {
		return nil
	}
	t.saved = t.step // also when it fails: the end of the run must not try the same once more
	h, err := t.header()
	if err != nil {
		return err
	}
	c := &checkpoint{header: h}
	for v := range t.vars.IterVariables() {
		if !stored(v) {
			continue
		}
		value, err := v.Value()
		if err != nil {
			return fmt.Errorf("checkpoint: %w", err)
		}
		name := v.ScopeAndName()
		c.tensors = append(c.tensors, safetensors.Tensor{Name: name, Value: value})
		if !v.Trainable {
			c.Frozen = append(c.Frozen, name)
		}
	}
	return t.store.save(c)
}

// stored says whether a variable belongs in a checkpoint: all do but the data and the guard.
func stored(v *mlctx.Variable) bool {
	return v.HasValue() && !inScope(v.Scope(), dataScope) && !inScope(v.Scope(), guardScope)
}

func inScope(scope, top string) bool {
	return scope == "/"+top || strings.HasPrefix(scope, "/"+top+"/")
}

// restore fills the context from the newest checkpoint of the folder, if the run may go on from it.
func (t *training) restore() error {
	paths, err := t.store.list()
	if err != nil || len(paths) == 0 {
		return err
	}
	if !t.resume {
		return fmt.Errorf("checkpoint folder %s holds checkpoints of an earlier run: give WithResume to go on from them, or another folder", t.checkpointDir)
	}
	c, err := t.store.newest()
	if err != nil {
		return err
	}
	now, err := t.header()
	if err != nil {
		return err
	}
	if err := c.mismatch(now); err != nil {
		return fmt.Errorf("cannot go on from the checkpoint in %s: %w", t.checkpointDir, err)
	}
	if c.Step > t.steps {
		return fmt.Errorf("the checkpoint in %s is at step %d: steps %d is less", t.checkpointDir, c.Step, t.steps)
	}
	t.step, t.saved = c.Step, c.Step
	return c.fill(t.vars, "")
}

// fill puts the tensors into vars. With a scope, only those under it are taken, and the scope is dropped.
func (c *checkpoint) fill(vars *mlctx.Context, scope string) error {
	return guard("checkpoint", func() error {
		for _, t := range c.tensors {
			at, name := mlctx.SplitScope(t.Name)
			if scope != "" {
				if !inScope(at, scope) {
					continue
				}
				at = strings.TrimPrefix(at, "/"+scope)
			}
			if at == "" {
				at = "/"
			}
			vars.InAbsPath(at).Checked(false).VariableWithValue(name, t.Value).SetTrainable(!slices.Contains(c.Frozen, t.Name))
		}
		return nil
	})
}

func (c *checkpoint) write(w io.Writer) error {
	text, err := json.Marshal(c.header)
	if err != nil {
		return err
	}
	return safetensors.Write(w, c.tensors, map[string]string{headerKey: string(text)})
}

// readCheckpoint reads one file and checks it.
func readCheckpoint(path string) (*checkpoint, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	list, metadata, err := safetensors.Read(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	c := &checkpoint{tensors: list}
	if err := json.Unmarshal([]byte(metadata[headerKey]), &c.header); err != nil {
		return nil, fmt.Errorf("%s: %w: not a scorekit checkpoint", path, safetensors.ErrDamaged)
	}
	if c.Format != checkpointFormat {
		return nil, fmt.Errorf("%s: checkpoint format %d: this version reads format %d; update scorekit for a later one", path, c.Format, checkpointFormat)
	}
	if err := c.possible(); err != nil {
		return nil, fmt.Errorf("%s: %w: %w", path, safetensors.ErrDamaged, err)
	}
	return c, nil
}

// possible returns an error for a description that no run can have written.
func (h header) possible() error {
	size := 1
	for _, d := range h.Shape {
		if d < 1 || size > math.MaxInt32/d {
			return fmt.Errorf("shape of an example %v: must be positive, of at most %d numbers", h.Shape, math.MaxInt32)
		}
		size *= d
	}
	if len(h.Shape) == 0 || h.Step < 0 {
		return fmt.Errorf("shape of an example %v, step %d: must be there, and not negative", h.Shape, h.Step)
	}
	if h.DType != dtypes.Float32.String() && h.DType != dtypes.Float64.String() {
		return fmt.Errorf("dtype %q: must be %s or %s", h.DType, dtypes.Float32, dtypes.Float64)
	}
	return nil
}

// cloneValue copies a variable's value to the host, so that training can go on.
func cloneValue(v *mlctx.Variable) (*tensors.Tensor, error) {
	value, err := v.Value()
	if err != nil {
		return nil, err
	}
	return value.LocalClone()
}
