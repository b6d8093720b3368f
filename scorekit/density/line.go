package density

import (
	"math"
	"sort"

	"gonum.org/v1/gonum/integrate/quad"
)

// line is a density on an interval, q(x) = e^{logq(x)}, known up to a constant and with one maximum, cut into panels
// on which Gauss–Legendre quadrature is exact to 12 digits. Everything is done on the host, in float64.
type line struct {
	logq         func(x float64) float64
	top          float64   // logq at the maximum; masses are in units of e^top
	edges        []float64 // of the panels, ascending
	below, above []float64 // mass to the left and to the right of each edge
}

const (
	drop      = 110   // parts where q is below e^−drop of its maximum are left out
	agreement = 1e-12 // of a panel's mass and its halves', relative
	rounding  = 1e-8  // below it a difference that halving does not shrink is rounding
	halvings  = 50    // of one panel, at most
)

var gaussX, gaussW = legendre(12)

func legendre(n int) (x, w []float64) {
	x, w = make([]float64, n), make([]float64, n)
	quad.Legendre{}.FixedLocations(x, w, -1, 1)
	return x, w
}

// newLine integrates q over [lo, hi], whose ends may be infinite. mode is where q is largest and scale a length over
// which it changes there.
func newLine(logq func(x float64) float64, mode, scale, lo, hi float64) line {
	l := line{logq: logq, top: logq(mode)}
	left, right := l.end(mode, -scale, lo), l.end(mode, scale, hi)
	l.edges = []float64{left}
	var masses []float64
	for _, part := range [][2]float64{{left, mode}, {mode, right}} {
		if part[0] < part[1] {
			masses = l.panels(masses, part[0], part[1], l.mass(part[0], part[1]), 1, halvings)
		}
	}
	n := len(masses)
	l.below, l.above = make([]float64, n+1), make([]float64, n+1)
	for i := range n {
		l.below[i+1] = l.below[i] + masses[i]
		l.above[n-1-i] = l.above[n-i] + masses[n-1-i]
	}
	return l
}

// end goes from x in growing steps until q is negligible or the bound is passed.
func (l line) end(x, step, bound float64) float64 {
	for {
		next := x + step
		if (next-bound)*step >= 0 {
			return bound
		}
		if l.logq(next) < l.top-drop {
			return next
		}
		step *= 2
	}
}

// mass is ∫ q from a to b by one Gauss–Legendre rule.
func (l line) mass(a, b float64) float64 {
	centre, half, sum := a+(b-a)/2, (b-a)/2, 0.0
	for i, x := range gaussX {
		sum += gaussW[i] * math.Exp(l.logq(centre+half*x)-l.top)
	}
	return half * sum
}

// panels cuts [a, b] until the mass of each panel is that of its halves, and appends their right edges and masses.
// before is the relative difference that the panel is a half of, left how many times it may be cut.
func (l *line) panels(masses []float64, a, b, whole, before float64, left int) []float64 {
	middle := a + (b-a)/2
	first, second := l.mass(a, middle), l.mass(middle, b)
	difference := math.Abs(first + second - whole)
	isRounding := difference <= rounding*whole && difference >= before*whole/10
	if difference <= agreement*whole || isRounding || left == 0 {
		l.edges = append(l.edges, middle, b)
		return append(masses, first, second)
	}
	masses = l.panels(masses, a, middle, first, difference/whole, left-1)
	return l.panels(masses, middle, b, second, difference/whole, left-1)
}

// logMass is log ∫ q.
func (l line) logMass() float64 { return l.top + math.Log(l.below[len(l.below)-1]) }

// quantile returns the x with ∫ q to the left of x = Φ(z) ∫ q, and dx/dz. The mass is counted from the nearer end, so
// that both tails keep their digits.
func (l line) quantile(z float64) (x, slope float64) {
	n := len(l.edges) - 1
	total := l.below[n]
	mass := total * 0.5 * math.Erfc(math.Abs(z)/math.Sqrt2)
	k := sort.SearchFloat64s(l.below, mass) - 1 // the last edge with less than mass below it
	if z > 0 {
		k = sort.Search(n+1, func(i int) bool { return l.above[i] < mass }) - 1
	}
	k = min(max(k, 0), n-1)
	// The mass from the panel's outer edge to x is what is wanted less what lies beyond that edge.
	beyond := func(x float64) float64 { return l.below[k] + l.mass(l.edges[k], x) - mass }
	if z > 0 {
		beyond = func(x float64) float64 { return mass - l.above[k+1] - l.mass(x, l.edges[k+1]) }
	}
	lo, hi := l.edges[k], l.edges[k+1]
	x = lo + (hi-lo)/2
	for range 100 {
		f := beyond(x)
		if f > 0 {
			hi = x
		} else {
			lo = x
		}
		next := x - f/math.Exp(l.logq(x)-l.top)
		if !(next > lo && next < hi) {
			next = lo + (hi-lo)/2
		}
		step := math.Abs(next - x)
		x = next
		if step <= 1e-15*math.Abs(x) || hi-lo <= 1e-15*math.Abs(x) {
			break
		}
	}
	return x, total * math.Exp(-z*z/2-l.logq(x)+l.top) / math.Sqrt(2*math.Pi)
}
