// Package random draws random numbers inside a GoMLX graph.
//
// A [Source] is made from a random state (see [Seed]) when a graph is built. Every draw advances the state;
// [Source.State] is what the next call must start from. The draws are safe by construction: a normal, uniform or
// Rademacher draw is never Inf or NaN, whatever bits the generator returns.
//
// A source made with steps > 1 draws for that many repetitions of the same graph code at once ([Source.Next] starts
// the next repetition). One large draw costs far less than several small ones, so training and sampling, which
// unroll several steps in a call, draw the noise of all of them in bulk without the step's code knowing.
//
// [Listed] makes a source that hands out given numbers in order instead of random ones: with it an objective or a
// sampler can be run on the noise printed in a paper or recorded from another library.
//
// The generator is Philox-2×32 (Salmon et al. 2011), in graph code; on pure Go it is the backend's own.
//
// Files: source.go (Source, Seed), draws.go (the distributions), philox.go (the generator), listed.go (given numbers),
// initial.go (weights of a network).
package random

import (
	"fmt"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/internal/purego"
)

// Node is a GoMLX graph node.
type Node = graph.Node

// Source draws random numbers in one graph. It belongs to the graph that its state node belongs to and must not be
// used from several goroutines.
type Source struct {
	g     *graph.Graph
	dtype dtypes.DType
	state *Node
	steps int
	step  int
	next  int    // index of the next request within the step
	bulk  []bulk // what the first step asked for, drawn for every step
	given []*Node
	isSet bool // given is in use: a listed source
	// native: draw with the backend's own generator, not with philox, for which pure Go has no shifts of bits.
	native bool
}

// bulk is one request of the first step with the draws of all steps: [steps, dims...].
type bulk struct {
	kind   string
	dims   []int
	values *Node
}

// New returns a source that starts from state (a node holding a [Seed] tensor) and serves steps repetitions of the
// same sequence of draws, all of the given float dtype. It panics, as graph functions do, if steps is below 1 or
// dtype is not a float.
func New(state *Node, dtype dtypes.DType, steps int) *Source {
	if steps < 1 {
		panic(fmt.Errorf("random: New: steps %d: must be at least 1", steps))
	}
	if !dtype.IsFloat() {
		panic(fmt.Errorf("random: New: dtype %s: must be a float", dtype))
	}
	return &Source{g: state.Graph(), dtype: dtype, state: state, steps: steps, native: purego.Is(state.Graph().Backend())}
}

// Seed returns the random state for a seed: a tensor to be given to the graph in which [New] is called.
// The same seed, backend and version give the same draws.
func Seed(seed int64) (*tensors.Tensor, error) {
	state, err := graph.RNGStateFromSeed(seed)
	if err != nil {
		return nil, fmt.Errorf("random: seed %d: %w", seed, err)
	}
	return state, nil
}

// Graph returns the graph that the draws are added to.
func (s *Source) Graph() *graph.Graph { return s.g }

// DType returns the float dtype of the draws.
func (s *Source) DType() dtypes.DType { return s.dtype }

// State returns the random state after all draws so far. It is nil for a [Listed] source.
func (s *Source) State() *Node {
	if s.state == nil {
		return nil
	}
	// On pure Go the generator can return the state in memory that keeps the shape of some other array of its size.
	size := s.state.Shape().Size()
	return graph.Reshape(graph.Reshape(s.state, 1, size), size)
}

// Next starts the next repetition: the draws that follow are matched, one by one, with those of the first.
// It panics, as graph functions do, when more repetitions are started than the source was made for.
func (s *Source) Next() {
	s.step++
	s.next = 0
	if s.step >= s.steps && !s.isSet {
		panic(fmt.Errorf("random: Next: repetition %d of a source made for %d", s.step+1, s.steps))
	}
}

// draw serves one request. In the first repetition it draws for all of them; later it hands out its part. A request
// that differs from the one at the same place in the first repetition is drawn on its own.
func (s *Source) draw(kind string, dims []int, sample func(dims []int) *Node) *Node {
	if s.steps == 1 {
		return sample(dims)
	}
	i := s.next
	s.next++
	if s.step == 0 {
		all := append([]int{s.steps}, dims...)
		s.bulk = append(s.bulk, bulk{kind, append([]int(nil), dims...), sample(all)})
	}
	if i >= len(s.bulk) || s.bulk[i].kind != kind || !equal(s.bulk[i].dims, dims) {
		return sample(dims)
	}
	part := graph.Slice(s.bulk[i].values, graph.AxisElem(s.step))
	return graph.Reshape(part, dims...)
}

func equal(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}
