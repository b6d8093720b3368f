package density_test

import (
	"math"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	"gonum.org/v1/gonum/integrate/quad"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit/density"
)

// rule is a quadrature rule on the line: Gauss–Legendre panels in u, x = c + sinh u, so that they widen with the
// distance from c, to c+reach and, unless it is one-sided, down to c−reach.
func rule(panels int, c, reach float64, isOneSided bool) (x, w []float64) {
	const perPanel = 10
	step := math.Asinh(reach) / float64(panels)
	at, weight := make([]float64, perPanel), make([]float64, perPanel)
	for k := range panels {
		quad.Legendre{}.FixedLocations(at, weight, float64(k)*step, float64(k+1)*step)
		for i, u := range at {
			x, w = append(x, c+math.Sinh(u)), append(w, weight[i]*math.Cosh(u))
			if !isOneSided {
				x, w = append(x, c-math.Sinh(u)), append(w, weight[i]*math.Cosh(u))
			}
		}
	}
	return x, w
}

// rule returns points of the line or the plane and their weights, as far as x₀ > above.
func (f family) rule(above float64) (points, weights [][]float64) {
	c, reach, panels := f.c, f.reach, 16
	if c == nil {
		c = make([]float64, f.p.Dim())
	}
	if reach == 0 {
		reach = 40
	}
	if f.p.Dim() == 1 {
		panels = 100
	}
	x0, w0 := rule(panels, c[0], reach, f.isOneSided)
	if above > math.Inf(-1) {
		x0, w0 = rule(panels, above, reach, true)
	}
	x1, w1 := []float64{0}, []float64{1}
	if f.p.Dim() == 2 {
		x1, w1 = rule(panels, c[1], reach, f.isOneSided)
	}
	for i, x := range x0 {
		for j, y := range x1 {
			points, weights = append(points, []float64{x, y}[:f.p.Dim()]), append(weights, []float64{w0[i] * w1[j]})
		}
	}
	return points, weights
}

// masses returns ∫ p of each family over the line or the plane, as far as x₀ > above.
func masses(t *testing.T, b backends.Backend, list []family, above func(f family) float64) []float64 {
	t.Helper()
	var inputs [][][]float64
	for _, f := range list {
		points, weights := f.rule(above(f))
		inputs = append(inputs, points, weights)
	}
	sums := runAt(t, b, dtypes.Float64, inputs, func(x []*density.Node) []*density.Node {
		var out []*density.Node
		for i, f := range list {
			p := graph.Exp(f.p.LogDensity(x[2*i]))
			out = append(out, graph.ReduceAllSum(graph.Mul(p, graph.Reshape(x[2*i+1], -1))))
		}
		return out
	})
	return slices.Concat(sums...)
}

// exp(LogDensity) has the integral 1 over the line or the plane. The rule is exact to rounding for smooth densities;
// 1e-8 allows for the centre of a ring, a cone of height e^(−r₀²/2s²) ≤ 4·10⁻⁶ that the panels do not follow.
func TestNormalisation(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		var list []family
		for _, f := range families(t) {
			if !f.isUnnormalised && f.p.Dim() <= 2 {
				list = append(list, f)
			}
		}
		for i, mass := range masses(t, b, list, func(family) float64 { return math.Inf(-1) }) {
			testvalues.NearNumber(t, list[i].name+" integral", mass, 1, 1e-8)
		}
	})
}

// A shell's density, times the area of the sphere, has the integral 1 over the radius, in any dimension.
func TestShellNormalisation(t *testing.T) {
	area := map[int]float64{1: 2, 3: 4 * math.Pi, 4: 2 * math.Pi * math.Pi, 10: math.Pow(math.Pi, 5) / 12}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for d, area := range area {
			r, w := rule(24, 0, 60, true)
			points := make([][]float64, len(r))
			for i := range r {
				points[i] = make([]float64, d)
				points[i][d-1] = -r[i]
			}
			logp := runAt(t, b, dtypes.Float64, [][][]float64{points}, func(x []*density.Node) []*density.Node {
				return []*density.Node{must[density.Ring](t)(density.NewRing(d, 0.8, 0.9)).LogDensity(x[0])}
			})[0]
			mass := 0.0
			for i := range r {
				mass += w[i] * area * math.Pow(r[i], float64(d-1)) * math.Exp(logp[i])
			}
			testvalues.NearNumber(t, "shell's integral", mass, 1, 1e-12)
		}
	})
}
