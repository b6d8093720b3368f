package random

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"github.com/gomlx/gomlx/pkg/core/shapes"
)

// Uniform draws from the uniform distribution on the open interval (0, 1): its logarithm and that of one minus it
// are finite. Shape dims.
func (s *Source) Uniform(dims ...int) *Node {
	if s.isSet {
		return s.take(dims)
	}
	return s.draw("uniform", dims, s.uniform)
}

// uniform keeps the generator's values away from both ends. The largest value that GoMLX returns is the float just
// below 1; the smallest is 0, replaced by half of the smallest step between two of the generator's integers.
func (s *Source) uniform(dims []int) *Node {
	if s.native {
		var u *Node
		s.state, u = graph.RandomUniform(s.state, shapes.Make(s.dtype, dims...))
		return graph.StopGradient(openInterval(u))
	}
	a, b := s.words(dims)
	return graph.StopGradient(openInterval(unit(a, b, s.dtype)))
}

func openInterval(u *Node) *Node {
	floor := math.Exp2(-33)
	ceiling := float64(math.Nextafter32(1, 0))
	switch u.DType() {
	case dtypes.Float64:
		floor, ceiling = math.Exp2(-65), math.Nextafter(1, 0)
	case dtypes.Float16, dtypes.BFloat16:
		floor, ceiling = math.Exp2(-14), 1-math.Exp2(-8)
	}
	return graph.MinScalar(graph.MaxScalar(u, floor), ceiling)
}

// Normal draws from the standard normal distribution N(0, 1) by the Box–Muller transform (Box and Muller 1958). Shape dims.
// The largest possible |z| is √(−2 ln 2⁻³³) ≈ 6.8 in float32 and 9.5 in float64.
func (s *Source) Normal(dims ...int) *Node {
	if s.isSet {
		return s.take(dims)
	}
	return s.draw("normal", dims, s.normal)
}

func (s *Source) normal(dims []int) *Node {
	if !s.native {
		return graph.StopGradient(s.polar(dims))
	}
	size := 1
	for _, d := range dims {
		size *= d
	}
	half := (size + 1) / 2
	u := s.uniform([]int{2, half})
	row := func(i int) *Node { return graph.Reshape(graph.Slice(u, graph.AxisElem(i)), half) }
	return graph.StopGradient(boxMuller(row(0), row(1), size, dims))
}

// polar computes in float32 at least, as half floats could not hold the turns.
func (s *Source) polar(dims []int) *Node {
	if s.dtype == dtypes.Float64 {
		a, b := s.words(dims)
		c, d := s.words(dims)
		return polar(openInterval(unit(a, b, s.dtype)), graph.AddScalar(unit(c, d, s.dtype), -0.5))
	}
	a, b := s.words(dims)
	turn := graph.MulScalar(graph.ConvertDType(graph.Bitcast(b, dtypes.Int32), dtypes.Float32), math.Exp2(-32))
	return graph.ConvertDType(polar(unit(a, nil, dtypes.Float32), turn), s.dtype)
}

// boxMuller turns two rows of uniform draws in (0, 1) into size normal ones.
func boxMuller(u, v *Node, size int, dims []int) *Node {
	radius := graph.Sqrt(graph.MulScalar(graph.Log(u), -2))
	angle := graph.MulScalar(v, 2*math.Pi)
	z := graph.Concatenate([]*Node{graph.Mul(radius, graph.Cos(angle)), graph.Mul(radius, graph.Sin(angle))}, 0)
	if z.Shape().Size() != size {
		z = graph.Slice(z, graph.AxisRangeFromStart(size))
	}
	return graph.Reshape(z, dims...)
}

// Rademacher draws −1 or +1 with equal probability. Shape dims.
func (s *Source) Rademacher(dims ...int) *Node {
	if s.isSet {
		return s.take(dims)
	}
	return s.draw("rademacher", dims, func(dims []int) *Node {
		if !s.native {
			a, _ := s.words(dims)
			bit := graph.ConvertDType(graph.BitwiseShiftRightLogicalScalar(a, uint32(31)), s.dtype)
			return graph.StopGradient(graph.AddScalar(graph.MulScalar(bit, 2), -1))
		}
		u := s.uniform(dims)
		half := graph.Scalar(s.g, u.DType(), 0.5)
		one := graph.OnesLike(u)
		return graph.StopGradient(graph.Where(graph.LessThan(u, half), graph.Neg(one), one))
	})
}

// Int draws integers (int32) uniformly from 0 to n−1. Shape dims. It panics, as graph functions do, if n is below 1
// or beyond the range of int32.
func (s *Source) Int(n int, dims ...int) *Node {
	if n < 1 || n > math.MaxInt32 {
		panic(fmt.Errorf("random: Int: n %d: must be from 1 to %d", n, math.MaxInt32))
	}
	if s.isSet {
		return graph.ConvertDType(s.take(dims), dtypes.Int32)
	}
	return s.draw(fmt.Sprint("int", n), dims, func(dims []int) *Node {
		if !s.native {
			return graph.StopGradient(s.below(n, dims))
		}
		var k *Node
		s.state, k = graph.RandomIntN(s.state, int32(n), shapes.Make(dtypes.Int32, dims...))
		return graph.StopGradient(k)
	})
}

// below is ⌊n·w/2⁶⁴⌋ of 64 random bits w: no integer is more probable than another by more than n/2⁶⁴.
func (s *Source) below(n int, dims []int) *Node {
	a, b := s.words(dims)
	times := func(w *Node) *Node {
		wide := graph.ConvertDType(w, dtypes.Uint64)
		return graph.Mul(wide, graph.Scalar(s.g, dtypes.Uint64, uint64(n)))
	}
	down := func(x *Node) *Node { return graph.BitwiseShiftRightLogicalScalar(x, uint64(32)) }
	return graph.ConvertDType(down(graph.Add(times(a), down(times(b)))), dtypes.Int32)
}
