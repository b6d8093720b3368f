package density

import (
	"math"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
)

func chiSquare(nu float64) line { return StudentT{nu: nu}.logRatio() }

// Quantiles equal those of distributions whose inverse is known, to 1e-12 in both tails.
func TestQuantiles(t *testing.T) {
	normal := newLine(func(x float64) float64 { return -x * x / 2 }, 0, 1, math.Inf(-1), math.Inf(1))
	exponential := newLine(func(x float64) float64 { return -x }, 0, 1, 0, math.Inf(1))
	testvalues.NearNumber(t, "mass of the normal", normal.logMass(), 0.5*math.Log(2*math.Pi), 1e-12)
	for _, z := range []float64{-9.6, -5, -1, -0.01, 0.3, 2, 7, 9.6} {
		above := 0.5 * math.Erfc(z/math.Sqrt2)
		below := 0.5 * math.Erfc(-z/math.Sqrt2)
		got, slope := normal.quantile(z)
		testvalues.NearNumber(t, "normal", got, z, 1e-12)
		testvalues.NearNumber(t, "slope of the normal", slope, 1, 1e-10)
		got, _ = exponential.quantile(z)
		log := -math.Log(above)
		if z < 0 {
			log = -math.Log1p(-below)
		}
		testvalues.NearNumber(t, "exponential", got, log, 1e-12)
		got, _ = chiSquare(2).quantile(z) // exponential, too
		testvalues.NearOne(t, "χ², ν = 2", []float64{got}, []float64{math.Log(log)}, 1e-12)
		got, _ = chiSquare(1).quantile(z) // the square of a normal number y: P(|y| > √c) = erfc √(c/2)
		if z > 0 {
			testvalues.NearNumber(t, "χ², ν = 1", math.Erfc(math.Exp(got/2)/math.Sqrt2), above, 1e-10)
		} else {
			testvalues.NearNumber(t, "χ², ν = 1", math.Erf(math.Exp(got/2)/math.Sqrt2), below, 1e-11)
		}
	}
}

// Interpolated between the rows of its table, a quantile is off by less than 10⁻⁸ for |z| < 5, all but one draw in two
// million, and by 2·10⁻⁷ elsewhere, in units of what one standard deviation of z moves a draw at the median. The worst are
// barriers and backs of rings that are just reached there: a = 10 and 40, κ = 5 and 20.
func TestTable(t *testing.T) {
	lines := map[string]line{
		"χ², ν = 0.05": chiSquare(0.05), "χ², ν = 0.7": chiSquare(0.7), "χ², ν = 5": chiSquare(5), "χ², ν = 10⁹": chiSquare(1e9),
		"ring d=1": Ring{1, 1, 0.5}.radial(), "ring": Ring{2, 4, 0.1}.radial(), "wide ring": Ring{2, 0.1, 3}.radial(),
		"shell d=10": Ring{10, 1, 1}.radial(), "shell d=500": Ring{500, 2, 0.3}.radial(),
		"uniform angle": VonMisesRing{kappa: 0}.side(), "angle": VonMisesRing{kappa: 1.8}.side(), "narrow angle": VonMisesRing{kappa: 1e4}.side(),
		"angle, κ = 5": VonMisesRing{kappa: 5}.side(), "angle, κ = 20": VonMisesRing{kappa: 20}.side(),
		"low well": DoubleWell{1, 0.01, 0}.half(), "well": DoubleWell{1, 1.5, 0}.half(),
		"well, a = 10": DoubleWell{1, 10, 0}.half(), "well, a = 40": DoubleWell{1, 40, 0}.half(),
	}
	var z []float64
	for k := -cells / 2; k < cells/2; k += 5 {
		z = append(z, (float64(k)+0.5)*cell, (float64(k+2)+0.8)*cell)
	}
	z = append(z, -8.697, -8.66, -4.11, 4.05, 8.66)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		var names []string
		got := testvalues.RunIn(t, b, dtypes.Float64, func(in testvalues.Inputs) []*Node {
			var out []*graph.Node
			for name, l := range lines {
				names, out = append(names, name), append(out, l.push(in.Of(z)))
			}
			return out
		})
		for i, name := range names {
			_, unit := lines[name].quantile(0)
			for j, z := range z {
				want, _ := lines[name].quantile(z)
				allowed := 1e-8
				if math.Abs(z) > 5 {
					allowed = 2e-7
				}
				if off := math.Abs(got[i][j]-want) / unit; !(off < allowed) {
					t.Errorf("%s: off by %v at z = %v", name, off, z)
				}
			}
		}
	})
}

// Γ(h+½)/Γ(h) · Γ(h+1)/Γ(h+½) = h.
func TestLogGammaRatio(t *testing.T) {
	for _, nu := range []float64{0.1, 5, 199.5, 250, 1e5, 1e12} {
		testvalues.NearOne(t, "log Γ ratio", []float64{logGammaRatio(nu, 1) + logGammaRatio(nu+1, 1)}, []float64{math.Log(nu / 2)}, 1e-13)
		testvalues.NearOne(t, "log Γ ratio", []float64{logGammaRatio(nu, 3) - logGammaRatio(nu, 1)}, []float64{math.Log((nu + 1) / 2)}, 1e-13)
	}
}
