package kde

import (
	"fmt"
	"math"

	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/scorekit/random"
)

// Kernel is a density on the line, symmetric about 0; in d dimensions the kernel is the product over the coordinates,
// K(u) = Πₖ K(uₖ). Each integrates to 1.
type Kernel int

const (
	// Gaussian is K(u) = e^{−u²/2}/√(2π).
	Gaussian Kernel = iota
	// Logistic is K(u) = 1/(eᵘ + 2 + e⁻ᵘ) = ¼ sech²(u/2).
	Logistic
	// Sech2 is K(u) = ½ sech²(u): Logistic with half the bandwidth.
	Sech2
	// Biweight is K(u) = (15/16)(1 − u²)² on |u| < 1, and 0 elsewhere. E‖∇ log K‖⁴ diverges, ∇ log K being of the order of
	// 1/(1 − |u|) near the edge: the loss of objective.ExplicitKDE has a mean but an infinite variance, and settles slowly.
	Biweight
	// Triweight is K(u) = (35/32)(1 − u²)³ on |u| < 1, and 0 elsewhere. E‖∇ log K‖⁴ diverges, if only as a logarithm: the
	// loss of objective.ExplicitKDE has an infinite variance, as with Biweight.
	Triweight
)

func (k Kernel) known() bool { return k >= Gaussian && k <= Triweight }

// String returns the kernel's name.
func (k Kernel) String() string {
	if !k.known() {
		return fmt.Sprintf("Kernel(%d)", int(k))
	}
	return [...]string{"Gaussian", "Logistic", "Sech2", "Biweight", "Triweight"}[k]
}

// Variance returns ∫u²K(u)du: 1, π²/3, π²/12, 1/7 and 1/9. Kernels smooth alike whose h²·Variance are alike; the rules
// for the bandwidth are meant for the Gaussian kernel. It is NaN for an unknown kernel, which [New] refuses.
func (k Kernel) Variance() float64 {
	if !k.known() {
		return math.NaN()
	}
	return [...]float64{1, math.Pi * math.Pi / 3, math.Pi * math.Pi / 12, 1.0 / 7, 1.0 / 9}[k]
}

// width is the part of the bandwidth that u is measured in: in half of it, sech² is the logistic kernel.
func (k Kernel) width() float64 {
	if k == Sech2 {
		return 0.5
	}
	return 1
}

// logScale is the logarithm of the constant that shape leaves out.
func (k Kernel) logScale() float64 {
	return [...]float64{-0.5 * math.Log(2*math.Pi), 0, 0, math.Log(15.0 / 16), math.Log(35.0 / 32)}[k]
}

// power is that of 1 − u², for a kernel of compact support, and else 0.
func (k Kernel) power() float64 { return [...]float64{0, 0, 0, 2, 3}[k] }

// shape adds log K(u), less logScale, and its derivative to the graph, u in units of width. Outside a compact support
// they are −Inf and 0.
func (k Kernel) shape(u *Node) (log, slope *Node) {
	switch {
	case k == Gaussian:
		return graph.MulScalar(graph.Square(u), -0.5), graph.Neg(u)
	case k.power() > 0:
		t := graph.Mul(graph.OneMinus(u), graph.OnePlus(u)) // 1 − u², exact to rounding near ±1
		inside := graph.GreaterThan(t, graph.ZerosLike(t))
		safe := graph.Where(inside, t, graph.OnesLike(t))
		never := graph.BroadcastToDims(graph.Infinity(u.Graph(), u.DType(), -1), t.Shape().Dimensions...)
		log = graph.Where(inside, graph.MulScalar(graph.Log(safe), k.power()), never)
		slope = graph.Where(inside, graph.Div(graph.MulScalar(u, -2*k.power()), safe), graph.ZerosLike(t))
		return log, slope
	default:
		far := graph.Abs(u)
		log = graph.Neg(graph.Add(far, graph.MulScalar(graph.Log1P(graph.Exp(graph.Neg(far))), 2)))
		return log, graph.Neg(graph.Tanh(graph.MulScalar(u, 0.5)))
	}
}

// shapeAt is shape on the host.
func (k Kernel) shapeAt(u float64) (log, slope float64) {
	switch {
	case k == Gaussian:
		return -0.5 * u * u, -u
	case k.power() > 0:
		t := (1 - u) * (1 + u)
		if t <= 0 {
			return math.Inf(-1), 0
		}
		return k.power() * math.Log(t), -2 * k.power() * u / t
	default:
		return -math.Abs(u) - 2*math.Log1p(math.Exp(-math.Abs(u))), -math.Tanh(u / 2)
	}
}

// draw adds n·d independent draws of the kernel, [n, d], to the graph, in units of width. The logistic kernel's are
// log(U/(1−U)). The compact ones are Beta(p+1, p+1) stretched from (0, 1) to (−1, 1), p the power, and that is the law
// of the median of 2p+1 uniform draws.
func (k Kernel) draw(rng *random.Source, n, d int) *Node {
	switch {
	case k == Gaussian:
		return rng.Normal(n, d)
	case k.power() > 0:
		count := 2*int(k.power()) + 1
		return graph.AddScalar(graph.MulScalar(median(rng.Uniform(count, n, d)), 2), -1)
	default:
		u := rng.Uniform(n, d)
		return graph.Log(graph.Div(u, graph.OneMinus(u)))
	}
}

// median returns the median over the first axis, of odd length: passes of compare and exchange, each of which carries the
// largest of those left to the end.
func median(u *Node) *Node {
	count := u.Shape().Dimensions[0]
	v := make([]*Node, count)
	for i := range v {
		v[i] = graph.Squeeze(graph.Slice(u, graph.AxisElem(i)), 0)
	}
	for last := count - 1; last >= count/2; last-- {
		for i := range last {
			v[i], v[i+1] = graph.Min(v[i], v[i+1]), graph.Max(v[i], v[i+1])
		}
	}
	return v[count/2]
}
