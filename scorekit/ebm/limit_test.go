package ebm_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/density"
	"github.com/scorekit/lab/scorekit/ebm"
	"github.com/scorekit/lab/scorekit/net"
	"github.com/scorekit/lab/scorekit/objective"
)

// weight is a number to be trained.
func weight(vars *mlctx.Context, name string, value float64, x *ebm.Node) *ebm.Node {
	return vars.VariableWithValue(name, value).ValueGraph(x.Graph())
}

// The gradients of one step and of score matching, and their ratios, of ½λ(x − μ)² and of θx⁴/4, as listed: for μ the
// ratio is 1 at every ε, for λ and θ it tends to 1. A constant of the energy has no part in either. With ε = 10⁻⁵ the
// two energies of the loss agree in 5 of the 16 digits, which 10⁻⁹ allows for.
func TestLimitReference(t *testing.T) {
	var cases []struct {
		ID                string
		Lambda, Mu, Theta float64
		Data, Eps         []float64
		GradLambda        []float64 `json:"cd_grad_lambda"`
		GradMu            []float64 `json:"cd_grad_mu"`
		Grad              []float64 `json:"cd_grad"`
		MatchingLambda    float64   `json:"score_matching_grad_lambda"`
		MatchingMu        float64   `json:"score_matching_grad_mu"`
		Matching          float64   `json:"score_matching_grad"`
		RatioLambda       []float64 `json:"ratio_lambda"`
		RatioMu           []float64 `json:"ratio_mu"`
		Ratio             []float64
	}
	testvalues.Read(t, "limit.json", &cases)
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		for _, c := range cases {
			testvalues.Case(t, c.ID, func(t *testing.T) {
				gaussian := func(vars *mlctx.Context, x, _ *ebm.Node) *ebm.Node {
					x = graph.Reshape(x, -1)
					off := graph.Square(graph.Sub(x, weight(vars, "mu", c.Mu, x)))
					return graph.Add(graph.MulScalar(graph.Mul(off, weight(vars, "lambda", c.Lambda, x)), 0.5), weight(vars, "c", 7, x))
				}
				quartic := func(vars *mlctx.Context, x, _ *ebm.Node) *ebm.Node {
					x = graph.Reshape(x, -1)
					return graph.MulScalar(graph.Mul(graph.Square(graph.Square(x)), weight(vars, "theta", c.Theta, x)), 0.25)
				}
				energy := scorekit.Energy(gaussian)
				if c.Theta != 0 {
					energy = quartic
				}
				var points [][]float64
				for _, v := range c.Data {
					points = append(points, []float64{v})
				}
				table, err := ebm.Limit(t.Context(), b, energy, points, c.Eps)
				if err != nil {
					t.Fatal(err)
				}
				lines := []string{"", "weight    ε         contrastive    ε · score matching   ratio"}
				check := func(name string, matching float64, gradient, ratio []float64) {
					at := slices.Index(table.Weights, name)
					if at < 0 {
						t.Fatalf("%s is not among %v", name, table.Weights)
					}
					testvalues.Near(t, name+": score matching", table.ScoreMatching[at], []float64{matching}, 1e-9)
					for i, row := range table.Rows {
						testvalues.NearNumber(t, name+": gradient", row.Contrastive[at][0], gradient[i], 1e-9)
						testvalues.NearNumber(t, name+": ratio", row.Ratio[at], ratio[i], 1e-9)
						lines = append(lines, fmt.Sprintf("%-8s  %-8g  %-13.6g  %-19.6g  %.8f", name, row.StepSize, row.Contrastive[at][0], row.StepSize*matching, row.Ratio[at]))
						if off := math.Abs(row.Difference[at] - math.Abs(ratio[i]-1)); off > 1e-9 {
							t.Errorf("%s: difference %v for a ratio of %v", name, row.Difference[at], ratio[i])
						}
						if row.StepSize != c.Eps[i] {
							t.Errorf("row of %v, want %v", row.StepSize, c.Eps[i])
						}
					}
				}
				defer func() { t.Log(strings.Join(lines, "\n")) }()
				if c.Theta != 0 {
					check("/theta", c.Matching, c.Grad, c.Ratio)
				} else {
					check("/lambda", c.MatchingLambda, c.GradLambda, c.RatioLambda)
					check("/mu", c.MatchingMu, c.GradMu, c.RatioMu)
					if len(table.Weights) != 2 {
						t.Errorf("weights %v: the constant has no ratio", table.Weights)
					}
				}
			})
		}
	})
}

// For a network in the plane the difference of the gradients is proportional to ε: at a tenth of it, a tenth, as the next
// term of the expansion is of order ε² and the cubic one adds some percent.
func TestLimitNetwork(t *testing.T) {
	p, err := density.Isotropic([]float64{0.5, -0.5}, 1)
	if err != nil {
		t.Fatal(err)
	}
	model := net.EnergyMLP{Hidden: []int{8, 8}, Activation: net.Tanh}
	testbackend.Each(t, func(t *testing.T, b backends.Backend) {
		f, err := scorekit.Fit(context.Background(), b, model, objective.Implicit{}, p, scorekit.WithSteps(20), scorekit.WithDType(dtypes.Float64))
		if err != nil {
			t.Fatal(err)
		}
		points, err := scorekit.Draw(t.Context(), b, p, 32, 1)
		if err != nil {
			t.Fatal(err)
		}
		table, err := ebm.Limit(t.Context(), b, f, points, []float64{1e-3, 1e-4})
		if err != nil {
			t.Fatal(err)
		}
		if len(table.Weights) != 5 { // two matrices, two biases, and the last matrix
			t.Errorf("weights %v: want 5", table.Weights)
		}
		for i, name := range table.Weights {
			far, near := table.Rows[0].Difference[i], table.Rows[1].Difference[i]
			if !(near < 0.01) || !(math.Abs(far/near-10) < 0.5) || !(math.Abs(table.Rows[1].Ratio[i]-1) <= near) {
				t.Errorf("%s: differences %v and %v, ratio %v", name, far, near, table.Rows[1].Ratio[i])
			}
		}
	})
}

// Steps that rounding leaves nothing of are an error with the shortest step that it does leave something of; and there the
// ratio has the two digits that it promises, in both precisions, for data about 0 and far from it. The quadratic energy's
// ratio is known for every step: 1 for μ, 1 − ελ²m₂/(2(λm₂ − 1)) for λ.
func TestLimitOfRounding(t *testing.T) {
	const lambda = 1.4
	for _, c := range []struct {
		mu     float64
		narrow bool
		least  float64 // the shortest step, to a factor of 30
	}{{0.3, false, 1e-13}, {1000, false, 1e-11}, {0.3, true, 5e-5}} {
		energy := scorekit.Energy(func(vars *mlctx.Context, x, _ *ebm.Node) *ebm.Node {
			x = graph.Reshape(x, -1)
			of := func(name string, value float64) *ebm.Node {
				if c.narrow {
					return vars.VariableWithValue(name, float32(value)).ValueGraph(x.Graph())
				}
				return vars.VariableWithValue(name, value).ValueGraph(x.Graph())
			}
			off := graph.Square(graph.Sub(x, of("mu", c.mu)))
			return graph.MulScalar(graph.Mul(off, of("lambda", lambda)), 0.5)
		})
		var wide [][]float64
		var narrow [][]float32
		m2 := 0.0
		const n = 50
		for i := range n {
			off := 2.5*math.Sin(1.7*float64(i)) + 0.4
			wide, narrow, m2 = append(wide, []float64{c.mu + off}), append(narrow, []float32{float32(c.mu + off)}), m2+off*off/n
		}
		limit := func(steps ...float64) (*ebm.LimitTable, error) {
			if c.narrow {
				return ebm.Limit(t.Context(), testbackend.Go(t), energy, narrow, steps)
			}
			return ebm.Limit(t.Context(), testbackend.Go(t), energy, wide, steps)
		}
		_, err := limit(1e-3, 1e-20)
		var least float64
		if err == nil || !strings.HasPrefix(err.Error(), "ebm: Limit: step 1, 1e-20: too short for Float") {
			t.Fatalf("error %v", err)
		}
		if _, e := fmt.Sscanf(err.Error()[strings.LastIndex(err.Error(), " ")+1:], "%g", &least); e != nil {
			t.Fatalf("%v: %v", err, e)
		}
		t.Log(err)
		if !(least > c.least/30) || !(least < c.least*30) {
			t.Errorf("μ = %v: shortest step %v, want about %v", c.mu, least, c.least)
		}
		for _, factor := range []float64{1.01, 1.3, 1.7, 2.9} {
			eps := factor * least
			table, err := limit(eps)
			if err != nil {
				t.Fatal(err)
			}
			for i, name := range table.Weights {
				want := 1.0
				if name == "/lambda" {
					want = 1 - eps*lambda*lambda*m2/(2*(lambda*m2-1))
				}
				if got := table.Rows[0].Ratio[i]; !(math.Abs(got-want) <= 0.01) {
					t.Errorf("μ = %v, step %v: ratio %v for %s, want %v", c.mu, eps, got, name, want)
				}
			}
		}
	}
}
