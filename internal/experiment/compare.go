package experiment

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/scorekit/lab/data"
	"github.com/scorekit/lab/scorekit"
)

// comparison is rows that a model is compared with.
type comparison struct {
	on  string
	set data.Set
}

// compare returns the rows to compare with and, if they are those that the run held out, some that it was trained on.
func (r *Run) compare(ctx context.Context, e Evaluating) (*comparison, *data.Set, error) {
	if e.Data != "" {
		set, err := r.other(ctx, e.Data)
		return &comparison{e.Data, set}, nil, err
	}
	if r.Config.Holdout == 0 {
		return nil, nil, fmt.Errorf("the run held no rows out: name data that it was not trained on with data, or train with a holdout")
	}
	d, err := load(ctx, r.Config)
	if err != nil {
		return nil, nil, err
	}
	if d.facts.Rows != r.Facts.Rows || d.facts.Held != r.Facts.Held || d.facts.dim() != r.Facts.dim() {
		return nil, nil, fmt.Errorf("data %s have changed since the training: %d + %d rows of %d numbers then, %d + %d of %d now", r.Config.Data,
			r.Facts.Rows, r.Facts.Held, r.Facts.dim(), d.facts.Rows, d.facts.Held, d.facts.dim())
	}
	held, err := some(ctx, d.held, d.heldFile, e.Examples, e.Seed, r.Facts)
	if err != nil {
		return nil, nil, err
	}
	train, err := some(ctx, d.train, d.trainFile, max(e.Examples, learnedFrom*min(1, e.Recognition)), e.Seed, r.Facts)
	return &comparison{"held-out rows", held}, &train, err
}

// other opens a file with the columns of the run's data. Labels are read where the run has them.
func (r *Run) other(ctx context.Context, path string) (data.Set, error) {
	c := r.Config
	if slices.Contains(BuiltIn(), path) {
		for _, b := range builtIns {
			if b.name == path {
				set, err := b.open(c.Rows, c.Seed+1)
				return set, err
			}
		}
	}
	return r.read(ctx, path, c)
}

// points opens a file of points without labels.
func (r *Run) points(ctx context.Context, path string) (data.Set, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return data.Set{}, fmt.Errorf("at %q: there is no such file", path)
	}
	c := r.Config
	c.Label, c.LabelFile = "", ""
	if r.Facts.Named { // by name, so that others in the file do not matter
		c.Columns, c.Without = r.Facts.Columns, nil
	} else {
		c.Columns, c.Without = nil, nil
	}
	return r.read(ctx, path, c)
}

// read opens a file and checks that it is like the run's data.
func (r *Run) read(ctx context.Context, path string, c Config) (data.Set, error) {
	var classes []data.OpenOption
	if c.Label != "" || c.LabelFile != "" { // the same numbers for the same classes
		classes = append(classes, data.WithClasses(r.Facts.Classes...))
	}
	file, err := c.openFile(path, classes...)
	if err != nil {
		return data.Set{}, err
	}
	set, err := file.Set(ctx)
	if err != nil {
		return data.Set{}, inWords(err)
	}
	if _, d := set.Dims(); d != r.Facts.dim() {
		return data.Set{}, fmt.Errorf("%s: %d numbers a row: must be %d, as in the data of the run (%s)", path, d, r.Facts.dim(), list(r.Facts.Columns))
	}
	set.Levels = r.pipe.Dequantize.Levels
	return set, nil
}

// examples makes data for a loss of a set, and its transformed points.
func (r *Run) examples(set data.Set) (scorekit.Data, any, error) {
	z, _, err := r.pipe.Apply(set.X, r.Config.Seed)
	if err != nil {
		return nil, nil, err
	}
	out, err := setExamples(r.Config, r.pipe, set)
	return out, z, err
}
