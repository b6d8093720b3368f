package random

import (
	"math"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/shapes"
)

// threefry is Threefry-2×32 with 20 rounds (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"): two uint32
// counters under two uint32 keys become two that are as good as random. It is a hash, made of additions, rotations and
// exclusive ors: a compiler turns it into one loop over the vector unit, together with what uses the numbers. XLA's own
// generator (Philox, of the same paper) becomes a scalar loop on CPUs, some fifty times slower.
func threefry(key0, key1, counter0, counter1 *Node) (a, b *Node) {
	keys := [3]*Node{key0, key1, graph.BitwiseXor(graph.BitwiseXor(key0, key1), graph.Scalar(key0.Graph(), dtypes.Uint32, uint32(0x1BD11BDA)))}
	rotations := [2][4]uint32{{13, 15, 26, 6}, {17, 29, 16, 24}}
	a, b = graph.Add(counter0, keys[0]), graph.Add(counter1, keys[1])
	for group := range 5 { // of four rounds, each followed by keys
		for _, n := range rotations[group%2] {
			a = graph.Add(a, b)
			b = graph.BitwiseXor(rotate(b, n), a)
		}
		a = graph.Add(a, keys[(group+1)%3])
		b = graph.Add(b, graph.AddScalar(keys[(group+2)%3], float64(group+1)))
	}
	return a, b
}

// rotate turns the bits of x, uint32, left by n.
func rotate(x *Node, n uint32) *Node {
	return graph.BitwiseOr(graph.BitwiseShiftLeftScalar(x, n), graph.BitwiseShiftRightLogicalScalar(x, 32-n))
}

// words draws two uint32 of all 2³² values for each place of dims. The state is [key, request, unused] of uint64: the first
// counter is the number of the place, the second the number of the request, whose high half, if a program lives so long, goes
// into the key.
func (s *Source) words(dims []int) (a, b *Node) {
	low := func(x *Node) *Node { return graph.ConvertDType(x, dtypes.Uint32) }
	high := func(x *Node) *Node { return low(graph.BitwiseShiftRightLogicalScalar(x, uint64(32))) }
	part := func(i int) *Node { return graph.Reshape(graph.Slice(s.state, graph.AxisElem(i))) }
	key, request := part(0), part(1)
	places := graph.Reshape(graph.Iota(s.g, shapes.Make(dtypes.Uint32, shapes.Make(dtypes.Uint32, dims...).Size()), 0), dims...)
	s.state = graph.Add(s.state, graph.Const(s.g, []uint64{0, 1, 0}))
	return threefry(low(key), graph.BitwiseXor(high(key), high(request)), places, low(request))
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
