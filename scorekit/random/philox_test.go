package random

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/tensors"

	"github.com/scorekit/lab/internal/testbackend"
)

// TestPhilox holds the generator to the known answers of the authors' own program, Random123, for philox2x32 with 10 rounds.
func TestPhilox(t *testing.T) {
	b, ok := testbackend.XLA(t)
	if !ok {
		return // pure Go has neither shifts nor bitcasts, and draws with a generator of its own
	}
	exec, err := graph.NewExec(b, func(in *Node) []*Node {
		part := func(i int) *Node { return graph.Reshape(graph.Slice(in, graph.AxisElem(i))) }
		a, b := philox(part(0), part(1), part(2))
		return []*Node{a, b}
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		in   [3]uint32 // key and counters
		want [2]uint32
	}{
		{[3]uint32{0, 0, 0}, [2]uint32{0xff1dae59, 0x6cd10df2}},
		{[3]uint32{math.MaxUint32, math.MaxUint32, math.MaxUint32}, [2]uint32{0x2c3f628b, 0xab4fd7ad}},
		{[3]uint32{0x13198a2e, 0x243f6a88, 0x85a308d3}, [2]uint32{0xdd7ce038, 0xf62a4c12}},
	} {
		out, err := exec.Exec(c.in[:])
		if err != nil {
			t.Fatal(err)
		}
		if a, b := tensors.ToScalar[uint32](out[0]), tensors.ToScalar[uint32](out[1]); a != c.want[0] || b != c.want[1] {
			t.Errorf("%x: %x %x, want %x", c.in, a, b, c.want)
		}
	}
}

// A maximum over drawn numbers is compiled in seconds, whatever their shape: see philox.
func TestMaximumOfDraws(t *testing.T) {
	b, ok := testbackend.XLA(t)
	if !ok {
		return
	}
	done := make(chan error, 1)
	go func() {
		exec, err := graph.NewExec(b, func(state *Node) *Node {
			z := New(state, dtypes.Float32, 1).Normal(5, 28, 28, 1)
			a := graph.Abs(z)
			inside := graph.LessOrEqual(a, graph.Scalar(z.Graph(), dtypes.Float32, 1e30))
			return graph.ReduceAllMax(graph.Where(inside, a, graph.BroadcastToDims(graph.Infinity(z.Graph(), dtypes.Float32, 1), 5, 28, 28, 1)))
		})
		if err == nil {
			var state *tensors.Tensor
			if state, err = Seed(1); err == nil {
				_, err = exec.Exec(state)
			}
		}
		done <- err
	}()
	select {
	case err := <-done:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(3 * time.Minute):
		t.Fatal("not compiled in three minutes")
	}
}

// TestWords checks that no two requests, and no two places of one, share a counter and a key: all words of four requests
// differ, as those of a hash of different numbers do but for a chance of (2·4·1000)²/2³³, 0.7 %, of one seed; this one has none.
// A request after 2³² others must not repeat the first.
func TestWords(t *testing.T) {
	b, ok := testbackend.XLA(t)
	if !ok {
		return
	}
	exec, err := graph.NewExec(b, func(state *Node) []*Node {
		s := New(state, dtypes.Float32, 1)
		var out []*Node
		for range 4 {
			a, b := s.words([]int{10, 100})
			out = append(out, graph.Reshape(a, 1000), graph.Reshape(b, 1000))
		}
		return append(out, s.State())
	})
	if err != nil {
		t.Fatal(err)
	}
	words := func(state []uint64) (all []uint32, next []uint64) {
		out, err := exec.Exec(state)
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range out[:8] {
			all = append(all, tensors.MustCopyFlatData[uint32](w)...)
		}
		return all, tensors.MustCopyFlatData[uint64](out[8])
	}
	first, next := words([]uint64{11, 7, 3})
	if !slices.Equal(next, []uint64{11, 11, 3}) {
		t.Errorf("state %v after four requests, want [11 11 3]", next)
	}
	second, _ := words(next)
	sorted := append(slices.Clone(first), second...)
	slices.Sort(sorted)
	if n := len(slices.Compact(sorted)); n != 16000 {
		t.Errorf("%d different words of 16,000", n)
	}
	late, _ := words([]uint64{11, 7 + 1<<32, 3})
	same := 0
	for i, w := range late {
		if w == first[i] {
			same++
		}
	}
	if same > 0 {
		t.Errorf("%d words are those of 2³² requests before", same)
	}
}

// TestPolar feeds the ends of the range of random bits through the transform, and compares it with the formula: the draws are
// finite, at most √(66 ln 2), and right to a few roundings of their largest size. In float64 the largest is √(130 ln 2).
func TestPolar(t *testing.T) {
	ends := []uint32{0, 1, 2, 3, 1 << 23, 1<<24 - 1, 1<<30 - 1, 1 << 30, 1<<31 - 1, 1 << 31, 1<<31 + 1, 3 << 30, math.MaxUint32 - 255, math.MaxUint32 - 1, math.MaxUint32}
	n := len(ends)
	b, ok := testbackend.XLA(t)
	if !ok {
		return // pure Go has neither shifts nor bitcasts, and draws with a generator of its own
	}
	exec, err := graph.NewExec(b, func(w *Node) []*Node {
		rows := graph.BroadcastToDims(graph.Reshape(w, n, 1), n, n)
		columns := graph.BroadcastToDims(graph.Reshape(w, 1, n), n, n)
		turn := graph.MulScalar(graph.ConvertDType(graph.Bitcast(columns, dtypes.Int32), dtypes.Float32), math.Exp2(-32))
		single := polar(unit(rows, nil, dtypes.Float32), turn)
		wide := unit(rows, rows, dtypes.Float64)
		double := polar(openInterval(wide), graph.AddScalar(unit(columns, columns, dtypes.Float64), -0.5))
		return []*Node{graph.ConvertDType(single, dtypes.Float64), double, wide}
	})
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Exec(ends)
	if err != nil {
		t.Fatal(err)
	}
	single, double, wide := tensors.MustCopyFlatData[float64](out[0]), tensors.MustCopyFlatData[float64](out[1]), tensors.MustCopyFlatData[float64](out[2])
	for i, a := range ends {
		for j, c := range ends {
			u, t32 := (float64(a)+0.5)/(1<<32), float64(int32(c))/(1<<32)
			want := math.Sqrt(-2*math.Log(min(u, 1))) * math.Cos(2*math.Pi*t32)
			got := single[i*n+j]
			// u is rounded to 2⁻²⁴ of itself: where it is near 1, ln u is off by that, and its root by √(2·2⁻²⁴) at most.
			tolerance := 2e-6
			if u > 0.99 {
				tolerance = math.Sqrt(2 * math.Exp2(-23))
			}
			if !(math.Abs(got-want) <= tolerance) || !(math.Abs(got) <= math.Sqrt(66*math.Ln2)*(1+1e-6)) {
				t.Errorf("float32, bits %x %x: %g, want %g", a, c, got, want)
			}
			if v := double[i*n+j]; !(math.Abs(v) <= math.Sqrt(130*math.Ln2)) {
				t.Errorf("float64, bits %x %x: %g", a, c, v)
			}
			v := wide[i*n+j]
			if !(v > 0 && v <= 1) || math.Abs(v-u) > math.Exp2(-32) {
				t.Errorf("float64, bits %x: uniform %g, want %g", a, v, u)
			}
			turn := (float64(c) + (float64(c)+0.5)*math.Exp2(-32)) * math.Exp2(-32)
			want = math.Sqrt(-2*math.Log(min(v, math.Nextafter(1, 0)))) * math.Cos(2*math.Pi*(turn-0.5))
			if !(math.Abs(double[i*n+j]-want) <= 1e-14) {
				t.Errorf("float64, bits %x %x: %g, want %g", a, c, double[i*n+j], want)
			}
		}
	}
}
