package net

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/density"
)

// −E and the score are those of the density.Mixture made of the coefficients, near the data and where every e^{−E} is
// 0; so E is normalised. Numbers of size N are known to 10⁻¹⁵N in double precision and 10⁻⁷N in single; some tens of
// these are allowed.
func TestMixtureEnergyIsADensity(t *testing.T) {
	points := [][]float64{{0.3, -1.1, 0.8}, {2, 0, -0.4}, {-0.6, 0.9, 1.5}, {300, -200, 100}}
	rtol := map[dtypes.DType]float64{dtypes.Float64: 1e-13, dtypes.Float32: 3e-6}
	for dtype, rtol := range rtol {
		t.Run(dtype.String(), func(t *testing.T) {
			fitted := map[string]*scorekit.Fitted{}
			mixtures := map[string]density.Mixture{}
			for name, m := range map[string]MixtureEnergy{"three": {Components: 3, Spread: 0.7}, "one": {Components: 1}} {
				f := trained(t, m, scorekit.WithDType(dtype), scorekit.WithSteps(3))
				weights, means, stds, err := MixtureEnergy{}.Coefficients(f)
				if err != nil {
					t.Fatal(err)
				}
				sum := 0.0
				for _, w := range weights {
					sum += w
				}
				testvalues.NearNumber(t, name+": sum of the weights", sum, 1, 1e-15)
				components := make([]density.Gaussian, len(weights))
				for k := range components {
					if components[k], err = density.Diagonal(means[k], stds[k]); err != nil {
						t.Fatal(err)
					}
				}
				if mixtures[name], err = density.NewMixture(weights, components...); err != nil {
					t.Fatal(err)
				}
				fitted[name] = f
			}
			order := names(fitted)
			testbackend.Each(t, func(t *testing.T, b backends.Backend) {
				got := run(t, b, together(t, fitted), func(vars *mlctx.Context, g *graph.Graph) (out []*Node) {
					double := graph.Const(g, points)
					x := graph.ConvertDType(double, dtype)
					for _, name := range order {
						m := fitted[name].Model().(MixtureEnergy)
						for _, y := range []*Node{m.Energy(vars.In(name), x, nil), mixtures[name].Energy(double),
							m.Score(vars.In(name), x, nil), mixtures[name].Score(nil, double, nil)} {
							out = append(out, graph.ConvertDType(y, dtypes.Float64))
						}
					}
					return out
				})
				for i, name := range order {
					for k, what := range []string{"energy", "score"} {
						values, wants := got[4*i+2*k], got[4*i+2*k+1]
						for j, want := range wants {
							testvalues.NearOne(t, fmt.Sprintf("%s: %s %d", name, what, j), values[j:j+1], []float64{want}, rtol)
						}
					}
				}
			})
		})
	}
}

// At the start the means have mean 0 and standard deviation Spread, to 5 standard errors of 2000 of them, all standard
// deviations are Spread and all weights alike: E of one component at its mean is d·log(Spread·√(2π)).
func TestMixtureEnergyStart(t *testing.T) {
	const k, d, spread = 50, 40, 3.0
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		vars, got := fresh(t, b, 4, func(vars *mlctx.Context, g *graph.Graph) []*Node {
			MixtureEnergy{Components: k, Spread: spread}.Energy(vars, graph.Zeros(g, testvalues.Shape(1, d)), nil)
			one := MixtureEnergy{Components: 1, Spread: spread}
			x := graph.Zeros(g, testvalues.Shape(1, 2))
			one.Energy(vars.In("one"), x, nil)
			mean := vars.In("one").GetVariable("means").ValueGraph(g)
			return []*Node{one.Energy(vars.In("one"), mean, nil)}
		})
		testvalues.Near(t, "E at the mean", got[0], []float64{2 * math.Log(spread*math.Sqrt(2*math.Pi))}, 1e-14)
		w := weights{t, vars, ""}
		means, _ := w.flat("/", "means")
		mean, squares := 0.0, 0.0
		for _, v := range means {
			mean += v / (k * d)
			squares += v * v / (k * d)
		}
		if !(math.Abs(mean) <= 5*spread/math.Sqrt(k*d)) || !(math.Abs(math.Sqrt(squares)/spread-1) <= 5/math.Sqrt(2*k*d)) {
			t.Errorf("means of mean %v and size %v, want 0 and %v", mean, math.Sqrt(squares), spread)
		}
		for _, name := range []string{"logits", "log_stds"} {
			if v, _ := w.flat("/", name); slices.ContainsFunc(v, func(v float64) bool { return v != 0 }) {
				t.Errorf("%s start at %v, want 0", name, v)
			}
		}
	})
}
