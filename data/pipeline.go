package data

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"

	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/internal/given"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/random"
)

// Pipeline is the way from data to what a model learns, and back: levels are dequantised, if the data is discrete, and
// the transforms follow. The zero value changes nothing.
//
//	p, err := data.Pipeline{Transforms: data.Chain{data.Standardizer{}}}.FitSet(ctx, set)
//	examples, err := p.Examples(set)                  // training data
//	option, err := p.Option()                         // … saved with the model
//	p, err = data.PipelineOf(fitted)                  // read again
//	samples, err := p.Restore(draws.X)                // samples in the data's units
//
// Log-densities come back through the offsets of [Pipeline.Apply].
type Pipeline struct {
	// Dequantize is for discrete data; the zero value is none.
	Dequantize Dequantizer `json:"dequantize,omitzero"`
	Transforms Chain       `json:"transforms"`
	// Columns, Height, Width and Channels are those of the [Set] that the pipeline was fitted to.
	Columns  []string `json:"columns,omitempty"`
	Height   int      `json:"height,omitempty"`
	Width    int      `json:"width,omitempty"`
	Channels int      `json:"channels,omitempty"`
}

// pipelineKey is where the pipeline is in a model's metadata.
const pipelineKey = "pipeline"

// fitSeed decides the noise that is on discrete data while transforms are fitted.
const fitSeed = 1

func (p Pipeline) isDiscrete() bool { return p.Dequantize != (Dequantizer{}) }

// Fit returns the pipeline with its transforms fitted to the rows, each to what comes before it, as [Chain.Fit] does: it
// goes through the rows once for each that has no numbers yet, and keeps none. A first [MinMax] that is Joint takes the
// range of the levels, where there are any, rather than that of the rows. Errors for columns name them as Columns does.
func (p Pipeline) Fit(rows iter.Seq2[[]float64, error]) (Pipeline, error) {
	fitted, err := p.fit(rows)
	if err != nil {
		var flat *FlatColumnsError
		var dependent *DependentColumnsError
		switch {
		case errors.As(err, &flat):
			flat.Names = p.names(flat.Columns)
		case errors.As(err, &dependent):
			dependent.Names = p.names(dependent.Columns)
		}
		return Pipeline{}, err
	}
	return fitted, nil
}

func (p Pipeline) names(columns []int) []string {
	var names []string
	for _, j := range columns {
		if j >= len(p.Columns) {
			return nil
		}
		names = append(names, p.Columns[j])
	}
	return names
}

func (p Pipeline) fit(rows iter.Seq2[[]float64, error]) (Pipeline, error) {
	p.Transforms = slices.Clone(p.Transforms)
	if p.isDiscrete() {
		if err := p.Dequantize.Validate(); err != nil {
			return p, err
		}
		if len(p.Transforms) > 0 {
			if m, ok := p.Transforms[0].(MinMax); ok && m.Joint && !m.isFitted() {
				m = m.settled()
				cells := p.Dequantize.bins()
				m.Min, m.Max = []float64{cells.Low}, []float64{cells.High}
				p.Transforms[0] = m
			}
		}
		levels := rows
		rows = func(yield func([]float64, error) bool) {
			rng := generator(fitSeed)
			changed(levels, func(row []float64) error { _, err := p.Dequantize.spreadRow(row, rng); return err })(yield)
		}
	}
	var err error
	p.Transforms, err = p.Transforms.fit(rows)
	return p, err
}

// FitSet is [Pipeline.Fit] to the rows of a set, whose columns and image sides the pipeline takes over. Discrete data is
// only dequantised if Dequantize says so: Dequantizer{Levels: set.Levels}. ctx stops it between rows.
func (p Pipeline) FitSet(ctx context.Context, s Set) (Pipeline, error) {
	if err := given.Check("ctx", ctx); err != nil {
		return Pipeline{}, fmt.Errorf("data: %s: %w", s.title(), err)
	}
	if err := s.Validate(); err != nil {
		return Pipeline{}, err
	}
	p.Columns, p.Height, p.Width, p.Channels = slices.Clone(s.Columns), s.Height, s.Width, s.Channels
	fitted, err := p.Fit(until(ctx, TensorRows(s.X)))
	if err != nil {
		return Pipeline{}, fmt.Errorf("data: %s: %w", s.title(), err)
	}
	return fitted, nil
}

// until gives the rows until ctx has ended, whose cause is then the last pair's error.
func until(ctx context.Context, rows iter.Seq2[[]float64, error]) iter.Seq2[[]float64, error] {
	return func(yield func([]float64, error) bool) {
		for row, err := range rows {
			if err == nil {
				err = context.Cause(ctx)
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// Validate returns an error when a part is impossible or not fitted.
func (p Pipeline) Validate() error {
	if p.isDiscrete() {
		if err := p.Dequantize.Validate(); err != nil {
			return err
		}
	}
	return p.Transforms.Validate()
}

// Apply returns what a model sees of x, [n, dims...], of x's dtype, and the offset of each row, with which the model's
// log-density at z becomes one in the data's units, in nats:
//
//	log p(x) = log p(z) + offset
//
// exactly for continuous data, offset = log|det ∂z/∂x|. For discrete data the sum is, on the average over the noise, a
// lower bound of the log-probability of x: see [Dequantizer]. [likelihood.BitsPerDim] makes bits of it. The noise
// follows from seed. It returns an error for a value that is not finite or not a level, named by row and column, and
// what the transforms return.
func (p Pipeline) Apply(x *tensors.Tensor, seed int64) (z *tensors.Tensor, offsets []float64, err error) {
	return p.apply(x, generator(seed))
}

func (p Pipeline) apply(x *tensors.Tensor, rng *rand.Rand) (z *tensors.Tensor, offsets []float64, err error) {
	rows, err := p.rows(x)
	if err != nil {
		return nil, nil, fmt.Errorf("data: Pipeline: Apply: %w", err)
	}
	offsets = make([]float64, len(rows))
	for i, row := range rows {
		if p.isDiscrete() {
			if offsets[i], err = p.Dequantize.spreadRow(row, rng); err != nil {
				return nil, nil, fmt.Errorf("data: Pipeline: Apply: row %d, %w", i, err)
			}
		}
		offsets[i] += p.Transforms.logDet(row)
		if err := p.Transforms.forward(row); err != nil {
			return nil, nil, fmt.Errorf("data: Pipeline: Apply: row %d, %w", i, err)
		}
	}
	if z, err = like(x, rows); err != nil {
		return nil, nil, fmt.Errorf("data: Pipeline: Apply: %w", err)
	}
	return z, offsets, nil
}

// rows returns a copy of the rows of x, which must be ones that p can take.
func (p Pipeline) rows(x *tensors.Tensor) ([][]float64, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	return rowsFor(p.Transforms, x)
}

// Invert returns z, [n, dims...], in the data's units, of z's dtype: the transforms are undone, and discrete data is
// rounded to its levels.
func (p Pipeline) Invert(z *tensors.Tensor) (*tensors.Tensor, error) {
	rows, err := p.rows(z)
	if err != nil {
		return nil, fmt.Errorf("data: Pipeline: Invert: %w", err)
	}
	for _, row := range rows {
		p.Transforms.backward(row)
		if p.isDiscrete() {
			p.Dequantize.round(row)
		}
	}
	x, err := like(z, rows)
	if err != nil {
		return nil, fmt.Errorf("data: Pipeline: Invert: %w", err)
	}
	return x, nil
}

// Restore is [Pipeline.Invert] for samples, [n, dims...], that are to be looked at like the set that the pipeline was
// fitted to: its columns have the same names, its rows are images of the same sides.
func (p Pipeline) Restore(z *tensors.Tensor) (Set, error) {
	x, err := p.Invert(z)
	if err != nil {
		return Set{}, err
	}
	n := x.Shape().Dimensions[0]
	if x, err = reshaped(x, n, x.Size()/n); err != nil {
		return Set{}, fmt.Errorf("data: Pipeline: Restore: %w", err)
	}
	s := Set{Name: "samples", X: x, Columns: slices.Clone(p.Columns), Height: p.Height, Width: p.Width, Channels: p.Channels}
	s.Levels = p.Dequantize.Levels
	return s, s.Validate()
}

// Examples makes training data of a set: rows of d numbers, with labels if the set has them. Continuous data is
// transformed here, once, in float64; discrete data in the graph, with fresh noise in each batch. Its errors are those
// of [Set.Validate] and [Pipeline.Apply].
func (p Pipeline) Examples(s Set) (scorekit.Data, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	return p.examples(s, s.X)
}

// ImageExamples is [Pipeline.Examples] for networks of images: each example is [Height, Width, channels]. The error may
// also be that of [Set.Images].
func (p Pipeline) ImageExamples(s Set) (scorekit.Data, error) {
	x, err := s.Images()
	if err != nil {
		return nil, err
	}
	return p.examples(s, x)
}

func (p Pipeline) examples(s Set, x *tensors.Tensor) (scorekit.Data, error) {
	z, _, err := p.Apply(x, fitSeed) // finds what is wrong before training does
	if err != nil {
		return nil, fmt.Errorf("data: %s: %w", s.title(), err)
	}
	if !p.isDiscrete() {
		return s.examples(z)
	}
	levels, err := s.examples(x)
	if err != nil {
		return nil, err
	}
	return p.Data(levels), nil
}

// Data makes training data of other training data: each batch is dequantised with fresh noise, if the data is discrete,
// and transformed, in the graph and its dtype. Labels stay. Values are not checked: a level that is none stays where it
// is, and what a transform has no image of becomes NaN.
func (p Pipeline) Data(data scorekit.Data) scorekit.Data {
	return scorekit.Augment(data, p.ApplyGraph)
}

// ApplyGraph adds what a model sees of x, [batch, dims...], to its graph, with noise from rng. It panics, as graph
// functions do, when the pipeline is not valid or fitted to another number of columns.
func (p Pipeline) ApplyGraph(rng *random.Source, x *Node) *Node {
	if p.isDiscrete() {
		x = p.Dequantize.ApplyGraph(rng, x)
	}
	return p.Transforms.ApplyGraph(x)
}

// Source makes a source of another one, for [scorekit.Stream]: each batch is what [Pipeline.Apply] makes of it on the
// host. The noise follows from the seed of the run and the number of the batch, so that a resumed run meets the same.
func (p Pipeline) Source(source scorekit.Source) scorekit.Source {
	if c, ok := source.(counted); ok {
		return pipedClasses{piped{source, p}, c}
	}
	return piped{source, p}
}

// counted is a source that tells how many classes it has.
type counted interface{ Classes() int }

type pipedClasses struct {
	piped
	counted
}

type piped struct {
	scorekit.Source
	pipeline Pipeline
}

// Batches gives the source's batches after the pipeline.
func (s piped) Batches(ctx context.Context, seed int64, n int, from int) iter.Seq2[scorekit.SourceBatch, error] {
	return func(yield func(scorekit.SourceBatch, error) bool) {
		k := uint64(from)
		for batch, err := range s.Source.Batches(ctx, seed, n, from) {
			if err == nil {
				rng := rand.New(rand.NewPCG(uint64(seed), k))
				if batch.X, _, err = s.pipeline.apply(batch.X, rng); err != nil {
					err = fmt.Errorf("batch %d: %w", k, err)
				}
			}
			k++
			if !yield(batch, err) || err != nil {
				return
			}
		}
	}
}

// Option saves the pipeline in every checkpoint of a training run, where [PipelineOf] finds it. The error is that of
// [Pipeline.Validate].
func (p Pipeline) Option() (scorekit.FitOption, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	text, err := json.Marshal(p)
	if err != nil {
		return nil, fmt.Errorf("data: Pipeline: %w", err)
	}
	return scorekit.WithMetadata(pipelineKey, string(text)), nil
}

// PipelineOf returns the pipeline that a model, a [scorekit.Fitted], was saved with, and the one that changes nothing
// if it was saved without. It returns an error for one that cannot be read.
func PipelineOf(model interface{ Metadata() map[string]string }) (Pipeline, error) {
	text, ok := model.Metadata()[pipelineKey]
	if !ok {
		return Pipeline{}, nil
	}
	var p Pipeline
	err := json.Unmarshal([]byte(text), &p)
	if err == nil {
		err = p.Validate()
	}
	if err != nil {
		return Pipeline{}, fmt.Errorf("data: PipelineOf: metadata %q: %w", pipelineKey, err)
	}
	return p, nil
}
