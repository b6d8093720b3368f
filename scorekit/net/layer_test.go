package net

import (
	"math"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
)

// formula is an activation by the standard library, in forms that do not overflow.
func formula(a Activation, x float64) float64 {
	switch a {
	case Tanh:
		return math.Tanh(x)
	case Softplus:
		return math.Max(x, 0) + math.Log1p(math.Exp(-math.Abs(x)))
	case GELU:
		return x * 0.5 * math.Erfc(-x/math.Sqrt2)
	case Sine:
		return math.Sin(x)
	default:
		return x / (1 + math.Exp(-x))
	}
}

var activations = []Activation{"", SiLU, Tanh, Softplus, GELU, Sine}

// Every activation has the value of its formula, near 0 and far out, where its derivative stays finite; the derivative
// agrees with central differences of the formula to 1e-8, which is (10⁻⁴)²/6 of a third derivative and 10⁻¹⁶/10⁻⁴ of
// rounding.
func TestActivations(t *testing.T) {
	xs := []float64{0, 1e-3, 0.5, -0.5, 1.7, -2.3, 6, -6, 40, -40, 900, -900}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		exec, err := graph.NewExec(b, func(x *Node) []*Node {
			var out []*Node
			for _, a := range activations {
				y := a.apply(x)
				out = append(out, y, graph.Gradient(graph.ReduceAllSum(y), x)[0])
			}
			return out
		})
		if err != nil {
			t.Fatal(err)
		}
		defer exec.Finalize()
		got, err := exec.Exec(xs)
		if err != nil {
			t.Fatal(err)
		}
		for i, a := range activations {
			values, slopes := testvalues.Flat(t, got[2*i]), testvalues.Flat(t, got[2*i+1])
			for k, x := range xs {
				if want := formula(a, x); !(math.Abs(values[k]-want) <= 1e-14*(1+math.Abs(x))) {
					t.Errorf("%q(%v) = %v, want %v", a, x, values[k], want)
				}
				const h = 1e-4
				if want := (formula(a, x+h) - formula(a, x-h)) / (2 * h); !(math.Abs(slopes[k]-want) <= 1e-8*(1+math.Abs(want))) {
					t.Errorf("%q′(%v) = %v, want %v", a, x, slopes[k], want)
				}
			}
		}
	})
}

// sin(f ln σ) and cos(f ln σ) for 16 frequencies from ¼ to 8, evenly spaced in the logarithm: at σ = 1 sines are 0 and
// cosines 1; at σ = e the angles are the frequencies, of which the first, and the 4th from the first by a factor of 2, are written out.
func TestLevelFeatures(t *testing.T) {
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		out, err := graph.ExecOnce(b, levelFeatures, []float64{1, math.E, math.Exp(-2)})
		if err != nil {
			t.Fatal(err)
		}
		rows := out.Value().([][]float64)
		if len(rows) != 3 || len(rows[0]) != 32 {
			t.Fatalf("features of shape %s, want [3, 32]", out.Shape())
		}
		for k := range 16 {
			f := math.Exp2(-2 + 5*float64(k)/15)
			for i, log := range []float64{0, 1, -2} {
				if got, want := rows[i][k], math.Sin(f*log); math.Abs(got-want) > 1e-13 {
					t.Errorf("feature %d at ln σ = %v is %v, want %v", k, log, got, want)
				}
				if got, want := rows[i][16+k], math.Cos(f*log); math.Abs(got-want) > 1e-13 {
					t.Errorf("feature %d at ln σ = %v is %v, want %v", 16+k, log, got, want)
				}
			}
		}
		for k, f := range map[int]float64{0: 0.25, 3: 0.5, 6: 1, 12: 4, 15: 8} {
			if got, want := rows[1][k], math.Sin(f); math.Abs(got-want) > 1e-13 {
				t.Errorf("feature %d at σ = e is %v, want sin %v", k, got, f)
			}
		}
	})
}
