package experiment

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"

	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/data"
	"github.com/scorekit/lab/scorekit"
)

// Facts is what a checkpoint says of the data that its model was trained on, beside the [data.Pipeline].
type Facts struct {
	Name     string   `json:"name"`
	Kind     string   `json:"kind"`     // points, table or images
	Rows     int      `json:"rows"`     // to learn from; -1 where only reading to the end would tell
	Held     int      `json:"held_out"` // likewise
	Columns  []string `json:"columns,omitempty"`
	Classes  []string `json:"classes,omitempty"` // their names, in the order of their numbers
	Height   int      `json:"height,omitempty"`
	Width    int      `json:"width,omitempty"`
	Channels int      `json:"channels,omitempty"`
	Low      float64  `json:"low,omitempty"` // the values that are drawn black and white
	High     float64  `json:"high,omitempty"`
	Std      float64  `json:"std"`    // root mean square deviation of the transformed data from their mean
	Named    bool     `json:"named"`  // the columns have names of their own
	Stream   bool     `json:"stream"` // read from the disk while training
}

// dim returns how many numbers an example has.
func (f Facts) dim() int {
	if f.Kind == "images" {
		return f.Height * f.Width * f.Channels
	}
	return len(f.Columns)
}

// dataset is the data of a run, dealt into what is learned from and what is held out. They are in memory, or files that
// are read while training.
type dataset struct {
	facts               Facts
	train, held         data.Set   // X of held is nil without a holdout
	trainFile, heldFile *data.File // nil in memory
	levels              data.Levels
}

// load opens the data of a config and deals them.
func load(ctx context.Context, c Config) (*dataset, error) {
	d := &dataset{}
	for _, b := range builtIns {
		if b.name != c.Data {
			continue
		}
		set, err := b.open(c.Rows, c.Seed)
		if err != nil {
			return nil, err
		}
		if err := c.noFileOptions(); err != nil {
			return nil, err
		}
		d.describeSet(set, b.generated)
		return d, d.deal(set, c)
	}
	file, err := c.openFile(c.Data)
	if err != nil {
		return nil, err
	}
	d.describeFile(file)
	if c.streams(file) {
		d.facts.Stream, d.trainFile = true, file
		if c.Holdout > 0 {
			if d.trainFile, d.heldFile, err = file.Split(1-c.Holdout, c.Seed); err != nil {
				return nil, inWords(err)
			}
			d.facts.Held = d.heldFile.Rows
		}
		d.facts.Rows = d.trainFile.Rows
		return d, ctx.Err()
	}
	set, err := file.Set(ctx)
	if err != nil {
		return nil, inWords(err)
	}
	if set.Columns == nil && d.facts.Named {
		set.Columns = file.Columns
	}
	set.Levels = d.levels
	return d, d.deal(set, c)
}

// deal splits a set in memory.
func (d *dataset) deal(set data.Set, c Config) (err error) {
	if err := set.Validate(); err != nil {
		return err
	}
	d.train = set
	if c.Holdout > 0 {
		n, _ := set.Dims()
		if kept := math.Round((1 - c.Holdout) * float64(n)); kept < 1 || kept > float64(n-1) {
			return fmt.Errorf("holdout %v of %d rows of %s: must leave at least one row on each side: give more rows, another share, or --holdout 0", c.Holdout, n, d.facts.Name)
		}
		if d.train, d.held, err = set.Split(1-c.Holdout, c.Seed); err != nil {
			return err
		}
		d.facts.Held, _ = d.held.Dims()
	}
	d.facts.Rows, _ = d.train.Dims()
	if d.facts.Kind == "images" && d.levels == (data.Levels{}) {
		d.facts.Low, d.facts.High = extremes(set.X)
	}
	return nil
}

func (d *dataset) describeSet(set data.Set, generated bool) {
	f := Facts{Name: set.Name, Kind: "table", Columns: set.Columns, Named: set.Columns != nil}
	_, dim := set.Dims()
	if generated {
		f.Kind = "points"
	}
	if set.Labels != nil {
		for k := range slices.Max(set.Labels) + 1 {
			f.Classes = append(f.Classes, fmt.Sprint(k))
		}
	}
	if set.Height > 0 {
		f.Height, f.Width, f.Channels = set.Height, set.Width, max(1, set.Channels)
	}
	d.levels = set.Levels
	d.finish(f, dim)
}

func (d *dataset) describeFile(file *data.File) {
	f := Facts{Name: filepath.Base(file.Path), Kind: "table", Columns: file.Columns, Named: file.Columns != nil, Classes: file.ClassNames}
	d.levels = file.Levels
	if file.Height > 0 {
		f.Height, f.Width, f.Channels = file.Height, file.Width, file.Channels
	}
	dim := 1
	for _, n := range file.Shape() {
		dim *= n
	}
	d.finish(f, dim)
}

// finish fills in what follows from the rest.
func (d *dataset) finish(f Facts, dim int) {
	if f.Height > 0 {
		f.Kind, f.Columns, f.Named = "images", nil, false
		f.Low, f.High = d.levels.Low, d.levels.High
	} else if f.Columns == nil {
		for j := range dim {
			f.Columns = append(f.Columns, fmt.Sprintf("x%d", j+1))
		}
	}
	d.facts = f
}

// some returns up to n rows of a part: those in memory as they are, else the first of a file in the order of training.
func some(ctx context.Context, set data.Set, file *data.File, n int, seed int64, f Facts) (data.Set, error) {
	if file == nil {
		return set, nil
	}
	have := file.Rows
	if have < 0 { // a batch of more than there are would hold some twice
		have = 0
		for _, err := range file.Values(ctx) {
			if err != nil {
				return data.Set{}, inWords(err)
			}
			if have++; have == n {
				break
			}
		}
	}
	n = min(n, have)
	for batch, err := range file.Batches(ctx, seed, n, 0) {
		if err != nil {
			return data.Set{}, inWords(err)
		}
		x, err := rows(batch.X)
		if err != nil {
			return data.Set{}, err
		}
		set = data.Set{Name: f.Name, X: x, Height: f.Height, Width: f.Width, Channels: f.Channels}
		if f.Named {
			set.Columns = f.Columns
		}
		for _, class := range batch.Classes {
			set.Labels = append(set.Labels, int(class))
		}
		break
	}
	return set, set.Validate()
}

// extremes returns the least and the largest number.
func extremes(x *tensors.Tensor) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	list, err := scorekit.Rows(x)
	if err != nil {
		return 0, 1
	}
	for _, row := range list {
		low, high = min(low, slices.Min(row)), max(high, slices.Max(row))
	}
	return low, high
}

// spread returns the root mean square deviation of the columns from their means.
func spread(x *tensors.Tensor) (float64, error) {
	list, err := scorekit.Rows(x)
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for j := range list[0] {
		e := estimate(column(list, j))
		n := float64(len(list))
		sum += e.StandardError * e.StandardError * (n - 1) / float64(len(list[0]))
	}
	return math.Sqrt(sum), nil
}

// absolute makes the path of a file hold wherever the command is run.
func absolute(c Config) Config {
	for _, path := range []*string{&c.Data, &c.LabelFile} {
		if *path == "" || slices.Contains(BuiltIn(), *path) {
			continue
		}
		if full, err := filepath.Abs(*path); err == nil {
			*path = full
		}
	}
	return c
}
