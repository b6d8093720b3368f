package random

import (
	"math"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/shapes"
)

// philox is Philox-2×32 with 10 rounds (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"): two uint32 counters
// under a uint32 key become two that are as good as random. In plain arithmetic a compiler turns it into one loop over the vector
// unit, together with what uses the numbers. XLA's own generator, Philox-4×32, is a scalar loop on CPUs that computes all four
// words of a counter for each of them, some fifty times slower.
//
// Threefry, the other generator of that paper, is as fast to run, but LLVM takes for ever to compile some loops with it: looking
// for checksums, it walks every path through the additions and exclusive ors, and there are 3.4 times as many after each of
// its 20 rounds. Here there are 1.6 times as many after each of 10.
func philox(key, a, b *Node) (*Node, *Node) {
	g := key.Graph()
	multiplier := graph.Scalar(g, dtypes.Uint64, uint64(0xD256D193))
	for round := range 10 {
		if round > 0 {
			key = graph.Add(key, graph.Scalar(g, dtypes.Uint32, uint32(0x9E3779B9)))
		}
		product := graph.Mul(graph.ConvertDType(a, dtypes.Uint64), multiplier)
		a, b = graph.BitwiseXor(graph.BitwiseXor(high(product), key), b), low(product)
	}
	return a, b
}

// low and high are the halves of uint64, as uint32.
func low(x *Node) *Node { return graph.ConvertDType(x, dtypes.Uint32) }

func high(x *Node) *Node { return low(graph.BitwiseShiftRightLogicalScalar(x, uint64(32))) }

// words draws two uint32 of all 2³² values for each place of dims. The state is [key, request, unused] of uint64: the first
// counter is the number of the place, the second the number of the request. Half of the key is that of the generator; the
// other half, and that of the request's number, which no program lives to see, turn bits of the second counter.
func (s *Source) words(dims []int) (a, b *Node) {
	part := func(i int) *Node { return graph.Reshape(graph.Slice(s.state, graph.AxisElem(i))) }
	key, request := part(0), part(1)
	places := graph.Reshape(graph.Iota(s.g, shapes.Make(dtypes.Uint32, shapes.Make(dtypes.Uint32, dims...).Size()), 0), dims...)
	s.state = graph.Add(s.state, graph.Const(s.g, []uint64{0, 1, 0}))
	second := graph.BitwiseXor(low(request), graph.BitwiseXor(high(key), high(request)))
	return philox(low(key), places, second)
}

// unit is (w + ½) / 2³² for uint32 w, with 64 bits (w of the high ones, rest of the low ones) in float64.
func unit(w, rest *Node, dtype dtypes.DType) *Node {
	if dtype == dtypes.Float64 {
		fine := graph.MulScalar(graph.AddScalar(graph.ConvertDType(rest, dtype), 0.5), math.Exp2(-64))
		return graph.Add(graph.MulScalar(graph.ConvertDType(w, dtype), math.Exp2(-32)), fine)
	}
	wide := graph.MulScalar(graph.AddScalar(graph.ConvertDType(w, dtypes.Float32), 0.5), math.Exp2(-32))
	return graph.ConvertDType(wide, dtype)
}

// polar is one normal draw of each pair of uniform ones, u in (0, 1) and a share t of a full turn, in [−½, ½]:
// √(−2 ln u) cos 2πt. The cosine is the sine of what is left to a quarter turn, by its series: it needs no reduction of its
// argument, which is what keeps compilers from putting cosines on the vector unit.
func polar(u, t *Node) *Node {
	x := graph.MulScalar(graph.AddScalar(graph.Neg(graph.Abs(t)), 0.25), 2*math.Pi) // in [−π/2, π/2]
	terms := 7                                                                      // the first one left out is below 7·10⁻¹⁰
	if x.DType() == dtypes.Float64 {
		terms = 12 // below 3·10⁻²¹
	}
	square := graph.Square(x)
	series := graph.OnesLike(x)
	for k := terms - 1; k > 0; k-- { // sin x = x (1 − x²/(2·3) (1 − x²/(4·5) (…)))
		series = graph.OneMinus(graph.Mul(graph.MulScalar(square, 1/float64(2*k*(2*k+1))), series))
	}
	return graph.Mul(graph.Sqrt(graph.MulScalar(graph.Log(u), -2)), graph.Mul(x, series))
}
