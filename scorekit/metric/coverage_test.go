package metric

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/scorekit/autodiff"
	"github.com/scorekit/lab/scorekit/density"
)

// Of 300 estimates each, of numbers known in closed form, about 95 % must be within 1.96 of their own standard errors: the
// share is known to 1.26 %, of which 4 are allowed. The statistics are skewed and their errors estimated from 80 points, for
// which the lower end has another 3 %.
func TestCoverageOfStandardErrors(t *testing.T) {
	const runs, n = 300, 80
	b := testbackend.Go(t)
	wide, err := density.Isotropic([]float64{0, 0}, 2)
	if err != nil {
		t.Fatal(err)
	}
	draw := func(run, which int) [][]float64 { return normal(uint64(10*run+which), n, 2) }
	shifted := func(run int) [][]float64 { return moved(draw(run, 1), 1, []float64{1, 0}) }
	fisher := func(run int) Fisher {
		x := draw(run, 0)
		return compare(moved(x, -1, []float64{0, 0}), moved(x, -0.25, []float64{0, 0}))
	}
	statistic := func(s Statistic, err error) (float64, float64, error) { return s.U, s.StandardError, err }
	// E|z| of z ~ N(m, s²).
	away := func(m, s float64) float64 {
		return s*math.Sqrt(2/math.Pi)*math.Exp(-m*m/(2*s*s)) + m*math.Erf(m/(s*math.Sqrt2))
	}
	// Two places: of the first set's points 0.8 are at one, of the second's 0.2, and neighbours tell which is whose.
	places := func(run, which int, share float64) [][]float64 {
		rng := rand.New(rand.NewPCG(uint64(run), uint64(which)))
		rows := make([][]float64, 400)
		for i := range rows {
			rows[i] = []float64{rng.Float64()}
			if rng.Float64() < share {
				rows[i][0] += 100
			}
		}
		return rows
	}
	lines := []string{"", "estimate                 true    within 1.96 standard errors"}
	for _, m := range []struct {
		name string
		want float64
		of   func(run int) (value, standardError float64, err error)
	}{
		// ½E‖−x + x/4‖² of x ~ N(0, I) in two dimensions, and ½E‖x‖² = 1.
		{"Fisher divergence", 9.0 / 16, func(run int) (float64, float64, error) { f := fisher(run); return f.Divergence, f.StandardError, nil }},
		// Against s_q = −x/4 + (1, 0): of proportional scores the relative divergence is the same at all points.
		{"relative divergence", 9.0/16 + 0.5, func(run int) (float64, float64, error) {
			x := draw(run, 0)
			f := compare(moved(x, -1, []float64{0, 0}), moved(x, -0.25, []float64{1, 0}))
			return f.Relative, f.RelativeError, nil
		}},
		{"implicit form", 1.0/16 - 0.5, func(run int) (float64, float64, error) {
			return ImplicitFisher{}.Estimate(t.Context(), b, wide, draw(run, 0))
		}},
		{"implicit form, a probe", 1.0/16 - 0.5, func(run int) (float64, float64, error) {
			return ImplicitFisher{Probes: 1, Kind: autodiff.Gaussian, Seed: int64(run)}.Estimate(t.Context(), b, wide, draw(run, 0))
		}},
		{"MMD²", 2.0 / 3 * (1 - math.Exp(-1.0/6)), func(run int) (float64, float64, error) {
			return statistic(MMD{Bandwidths: []float64{1}}.Squared(t.Context(), draw(run, 0), shifted(run)))
		}},
		{"energy distance", 2*away(1, math.Sqrt2) - 2*away(0, math.Sqrt2), func(run int) (float64, float64, error) {
			first := func(rows [][]float64) (out [][]float64) {
				for _, r := range rows {
					out = append(out, r[:1])
				}
				return out
			}
			return statistic(Energy{}.Distance(t.Context(), first(draw(run, 0)), first(shifted(run))))
		}},
		{"KSD²", 1.0 / 3, func(run int) (float64, float64, error) {
			y := shifted(run)
			s := stein{RBF, 1, y, moved(y, -1, []float64{0, 0})}
			sums, err := sumPairs(t.Context(), n, n, s.pairs, nil)
			return statistic(s.of(sums), err)
		}},
		{"classifier's accuracy", 0.8, func(run int) (float64, float64, error) {
			c, err := ClassifierTest{Seed: int64(run)}.Test(t.Context(), places(run, 0, 0.2), places(run, 1, 0.8))
			return c.Accuracy, c.StandardError, err
		}},
		{"mass of a mode", 0.3, func(run int) (float64, float64, error) {
			c, err := Modes{Centres: [][]float64{{100}, {0}}, Radius: 2}.Coverage(places(run, 2, 0.3))
			return c.Mass[0], c.Errors[0], err
		}},
	} {
		within := 0.0
		for run := range runs {
			value, standardError, err := m.of(run)
			if err != nil {
				t.Fatalf("%s: %v", m.name, err)
			}
			if math.Abs(value-m.want) <= 1.96*standardError {
				within += 1.0 / runs
			}
		}
		lines = append(lines, fmt.Sprintf("%-23s %7.4f   %.3f", m.name, m.want, within))
		if slack := 4 * math.Sqrt(0.95*0.05/runs); !(within >= 0.95-slack-0.03) || !(within <= 0.95+slack) {
			t.Errorf("%s: a share of %v is within, want about 0.95", m.name, within)
		}
	}
	t.Log(strings.Join(lines, "\n"))
}
