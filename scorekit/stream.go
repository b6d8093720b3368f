package scorekit

import (
	"fmt"
	"slices"

	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/scorekit/random"
)

// Stream makes training data of a source outside the graph, such as a file larger than memory.
//
// [Fit] gives each compiled call the batches of its steps as one block and takes no other way to the host. A goroutine
// reads ahead while the device works: of K steps a call, up to three blocks of K·batch examples are in memory, one in use,
// one ready, one being put together, and nothing else of what the source has. A resumed run starts the source at its place
// and ends with the weights of an uninterrupted one. A cancelled ctx ends a run at once, even while the source is waited
// for; its Batches gets the same ctx, and must return soon after it is cancelled if no goroutine is to be left behind.
// An error of the source, a panic in it, or a batch that is not as it should be, stops training with the last good weights.
//
// A source that has the method Classes() int tells how many classes its examples have, as [Labelled] does; without it they
// are looked for as the batches come.
//
// The result is data for Fit, [FitSteps], [EvaluateLoss] and [Draw], as it is or inside [Augment]. The last two take their n
// examples from the beginning of the source, Draw as one batch and EvaluateLoss as one for each of its blocks. An objective
// that takes more than one batch a step needs data held in memory.
//
// Stream returns an error for a source that is nil or does not have a shape.
func Stream(source Source) (Data, error) {
	if isNil(source) {
		return nil, fmt.Errorf("scorekit: Stream: source nil: must be given")
	}
	shape := source.Shape()
	if len(shape) == 0 || slices.Min(shape) < 1 {
		return nil, fmt.Errorf("scorekit: Stream: source %T: examples of shape %v: must have at least one dimension, each at least 1", source, shape)
	}
	return stream{source, slices.Clone(shape)}, nil
}

// stream is Data that finds its examples in the graph, where a verb has put them: see feed.
type stream struct {
	source Source
	shape  []int
}

var _ Labelled = stream{}

func (s stream) Shape() []int { return slices.Clone(s.shape) }

func (s stream) Validate() error { return validate(s.source) }

// Classes returns how many the source tells of, 0 if it does not tell.
func (s stream) Classes() int {
	n, _ := s.told()
	return n
}

// told returns the number of classes and whether the source tells it.
func (s stream) told() (int, bool) {
	if c, ok := s.source.(interface{ Classes() int }); ok {
		return c.Classes(), true
	}
	return 0, false
}

func (s stream) Batch(vars *mlctx.Context, rng *random.Source, n int) *Node {
	return s.feed(vars, rng.Graph()).take(n, false)[0]
}

func (s stream) LabelledBatch(vars *mlctx.Context, rng *random.Source, n int) (x, classes *Node) {
	both := s.feed(vars, rng.Graph()).take(n, true)
	return both[0], both[1]
}

// feed returns what the verb put into the graph.
func (s stream) feed(vars *mlctx.Context, g *graph.Graph) *feed {
	if vars != nil {
		if f, ok := vars.GetGraphParam(g, feedParam); ok {
			return f.(*feed)
		}
	}
	panic(fmt.Errorf("stream of %T: nothing of it is in this graph: must be the data of Fit, FitSteps, EvaluateLoss or Draw, as it is or inside Augment", s.source))
}

const feedParam = "scorekit_feed"

// feed is a block of examples in a graph, from which each step takes one batch.
type feed struct {
	parts []*Node // the examples and, where they are asked for, their classes: [steps·batch, …]
	batch int
	taken int // batches
}

// put makes f what streams find that are given vars or a scope below it, in the graph of the parts.
func (f *feed) put(vars *mlctx.Context) {
	vars.SetGraphParam(f.parts[0].Graph(), feedParam, f)
}

// take returns the next batch: examples and, if they are there, classes.
func (f *feed) take(n int, classes bool) []*Node {
	rows := f.parts[0].Shape().Dimensions[0]
	switch {
	case n != f.batch:
		panic(fmt.Errorf("stream: a batch of %d examples: must be of %d, as it was read", n, f.batch))
	case (f.taken+1)*n > rows:
		panic(fmt.Errorf("stream: more than one batch was asked for in a step: must be data held in memory, such as Examples"))
	case classes && len(f.parts) == 1:
		panic(fmt.Errorf("stream: the classes were asked for by an objective: must be data held in memory, such as LabelledExamples"))
	}
	batch := make([]*Node, len(f.parts))
	for i, part := range f.parts {
		if rows > n {
			part = graph.Slice(part, graph.AxisRange(f.taken*n, (f.taken+1)*n))
		}
		batch[i] = graph.StopGradient(part)
	}
	f.taken++
	return batch
}

// wrapper is data made of other data.
type wrapper interface{ inner() Data }

// streamOf returns the stream that data are or are made of.
func streamOf(data Data) (stream, bool) {
	for {
		switch d := data.(type) {
		case stream:
			return d, true
		case wrapper:
			data = d.inner()
		default:
			return stream{}, false
		}
	}
}
