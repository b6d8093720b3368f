package implicit

import (
	"context"
	"testing"

	"github.com/gomlx/gomlx/backends"
	"github.com/gomlx/gomlx/pkg/core/dtypes"
	"github.com/gomlx/gomlx/pkg/core/graph"
	mlctx "github.com/gomlx/gomlx/pkg/ml/context"

	"github.com/scorekit/lab/internal/testbackend"
	"github.com/scorekit/lab/internal/testvalues"
	"github.com/scorekit/lab/scorekit"
	"github.com/scorekit/lab/scorekit/net"
	"github.com/scorekit/lab/scorekit/objective"
	"github.com/scorekit/lab/scorekit/random"
)

// still is the data of a linear generator whose weights stay as they are.
type still struct {
	a [][]float64
	b []float64
}

func (s still) Shape() []int { return []int{len(s.b)} }

func (s still) Batch(vars *mlctx.Context, rng *random.Source, n int) *Node {
	if vars.GetVariable("weights") == nil {
		vars.VariableWithValue("weights", transposed(s.a)).SetTrainable(false)
		vars.VariableWithValue("biases", [][]float64{s.b}).SetTrainable(false)
	}
	return graph.StopGradient(linearOf(s.a).Generate(vars, rng.Normal(n, len(s.a[0]))))
}

// A network sees points of x = Aε + b and learns their score, and this gives the gradient of the entropy: within 5 % of
// A⁻ᵀ, all entries together. The mean is taken over 20,000 draws, which with the exact score is off by 1 % of it (logged
// beside). The network is a perceptron, which is not told that the score is linear.
func TestLearnedEntropyGradient(t *testing.T) {
	a, b := [][]float64{{1.243, 0.189}, {-0.704, 1.053}}, []float64{-0.657, -1.24}
	want := inverseTransposed2(a)
	testbackend.Each(t, func(t *testing.T, be backends.Backend) {
		for _, o := range []scorekit.Objective{objective.Implicit{}, objective.SlicedVR{Projections: 1}} {
			score, err := scorekit.Fit(context.Background(), be, net.MLP{Hidden: []int{32, 32}}, o, still{a, b},
				scorekit.WithSteps(1000), scorekit.WithBatch(256), scorekit.WithEMA(0.99), scorekit.WithDType(dtypes.Float64), scorekit.WithUnroll(1),
				scorekit.WithOptimizer(scorekit.Adam{Rate: scorekit.Rate{Peak: 0.005, Cosine: true}}))
			if err != nil {
				t.Fatal(err)
			}
			at, err := scorekit.Bind(score, normals(20_000, 2, 6, 0))
			if err != nil {
				t.Fatal(err)
			}
			exec, err := mlctx.NewExec(be, at.Vars, func(vars *mlctx.Context, noise *Node) []*Node {
				own := vars.In("generator at rest")
				weights, _ := place(own, noise.Graph(), a, b)
				x := linearOf(a).Generate(own, noise)
				gradient := func(s *Node) *Node { return transpose01(EntropyGradient(x, s, weights)[0]) }
				return []*Node{gradient(at.Score(vars, graph.StopGradient(x), nil)), gradient(lawOf(t, a, b).Score(nil, x, nil))}
			})
			if err != nil {
				t.Fatal(err)
			}
			out, err := exec.Exec(at.Points)
			if err != nil {
				t.Fatal(err)
			}
			exec.Finalize()
			learned, exact := testvalues.Flat(t, out[0]), testvalues.Flat(t, out[1])
			off := relative(learned, want)
			t.Logf("%T: off by %.2f %%; with the exact score %.2f %%", o, 100*off, 100*relative(exact, want))
			if !(off < 0.05) {
				t.Errorf("%T: ∇_A H = %.3f, want %.3f within 5 %%", o, learned, want)
			}
		}
	})
}
