package random

import (
	"fmt"

	"github.com/gomlx/gomlx/pkg/core/graph"
)

// Listed returns a source that hands out the given nodes in order, each for one request, instead of random draws:
// the way to run an objective or a sampler on recorded noise. A request must have as many elements as the node it
// gets. It panics, as graph functions do, when a request finds the list used up or of another size.
func Listed(g *graph.Graph, values ...*Node) *Source {
	s := &Source{g: g, given: values, steps: 1, isSet: true}
	if len(values) > 0 {
		s.dtype = values[0].DType()
	}
	return s
}

func (s *Source) take(dims []int) *Node {
	if len(s.given) == 0 {
		panic(fmt.Errorf("random: a draw of shape %v was asked for after the listed values were used up", dims))
	}
	v := s.given[0]
	s.given = s.given[1:]
	size := 1
	for _, d := range dims {
		size *= d
	}
	if v.Shape().Size() != size {
		panic(fmt.Errorf("random: a draw of shape %v was asked for but the next listed value has shape %v", dims, v.Shape().Dimensions))
	}
	return graph.Reshape(v, dims...)
}
