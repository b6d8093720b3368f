package random

import (
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/internal/testbackend"
)

// A random state is three numbers. On pure Go it can come back in memory that an array of just as many had before, with
// that array's shape, which the next call would refuse: each state must serve as the next one's start.
func TestThreeNumbers(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		exec, err := graph.NewExec(b, func(state *Node) []*Node {
			s := New(state, dtypes.Float64, 1)
			k := s.Int(7, 3, 1)
			// Two arrays of three such numbers at once, to be freed after the call.
			wide := graph.ConvertDType(k, dtypes.Uint64)
			squares, sums := graph.Mul(wide, wide), graph.Add(wide, wide)
			return []*Node{graph.ConvertDType(graph.Sub(squares, sums), dtypes.Int32), s.State()}
		})
		if err != nil {
			t.Fatal(err)
		}
		defer exec.Finalize()
		state, err := Seed(1)
		if err != nil {
			t.Fatal(err)
		}
		for call := range 50 {
			out, err := exec.Exec(state)
			if err != nil {
				t.Fatalf("call %d: %v", call, err)
			}
			state = out[1]
			if dims := state.Shape().Dimensions; len(dims) != 1 || dims[0] != 3 {
				t.Fatalf("call %d: state of shape %v", call, dims)
			}
		}
	})
}
