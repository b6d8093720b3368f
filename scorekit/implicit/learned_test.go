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
// beside). The network is a perceptron, which is not told that the score is linear. Denoising learns the score of x + σz, whose
// covariance is AAᵀ + σ²I, and is held to what that gives, (AAᵀ + σ²I)⁻¹A.
func TestLearnedEntropyGradient(t *testing.T) {
	a, b := [][]float64{{1.243, 0.189}, {-0.704, 1.053}}, []float64{-0.657, -1.24}
	testbackend.Each(t, func(t *testing.T, be backends.Backend) {
		for _, test := range []struct {
			o     scorekit.Objective
			sigma float64
		}{{objective.Implicit{}, 0}, {objective.SlicedVR{Projections: 1}, 0}, {objective.Denoising{Sigma: 0.3}, 0.3}} {
			o, want := test.o, noisedEntropyGradient(a, test.sigma)
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
				level := graph.BroadcastToDims(graph.Const(x.Graph(), test.sigma), x.Shape().Dimensions[0])
				gradient := func(s *Node) *Node { return transpose01(EntropyGradient(x, s, weights)[0]) }
				return []*Node{gradient(at.Score(vars, graph.StopGradient(x), nil)), gradient(lawOf(t, a, b).Score(nil, x, level))}
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

// noisedEntropyGradient is (AAᵀ + σ²I)⁻¹A for a matrix of 2 × 2, by rows: A⁻ᵀ without noise.
func noisedEntropyGradient(a [][]float64, sigma float64) []float64 {
	dot := func(x, y []float64) float64 { return x[0]*y[0] + x[1]*y[1] }
	s00, s01, s11 := dot(a[0], a[0])+sigma*sigma, dot(a[0], a[1]), dot(a[1], a[1])+sigma*sigma
	det := s00*s11 - s01*s01
	return []float64{
		(s11*a[0][0] - s01*a[1][0]) / det, (s11*a[0][1] - s01*a[1][1]) / det,
		(s00*a[1][0] - s01*a[0][0]) / det, (s00*a[1][1] - s01*a[0][1]) / det,
	}
}
